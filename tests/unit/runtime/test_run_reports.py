"""Run reports in the channel for logs: their text, and failures that do not affect the run."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest
from typing_extensions import override

from gofer.journal.check_entries import RunChecked, Verdict
from gofer.journal.entries import RunFinished, RunStarted, ToolCall, ToolUnknown
from gofer.journal.hidden_runs import hide
from gofer.journal.log import read_journal
from gofer.journal.purposes import SUMMARY
from gofer.projections.attempts import CRASHES
from gofer.projections.progress import Progress
from gofer.runtime.deliver import AT_WORK
from gofer.runtime.run_reports import Ended, Observers, checks_to_report, failed_checks, summary
from gofer.sources.slack.parts import one_message
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.messages import Usage
from gofer.workflows.check_limits import Checks
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import ListModel, says
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import CATALOG, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

LOADED = CATALOG.workflows["answer-here"]


def test_run_report_names_usage_tools_and_status() -> None:
    progress = Progress(
        workflow="answer-here",
        started=RunStarted("0123456789abcdef", False),
        usage=Usage(12_345, 678),
        cost_usd=0.01234,
        accepted_at=1_000,
        last_at=5_250,
        called={"slack_read_thread": 2, "jira_search": 1},
        models=["m-1", "m-2"],
    )
    told = summary(progress, RunFinished("needs_attention", "nobody can tell"), LOADED, "https://logs/run1")
    assert told.split("  \n") == [
        "`answer-here`: needs attention after 4.2 s, 12,345 tokens in and 678 out, 0.0123 USD",
        "Configuration: model `m-1` and `m-2`, coordinator llm, bundle 0123456789ab",
        "Tools: `jira_search` ×1, `slack_read_thread` ×2",
        "Reason: `nobody can tell`",
        "[Logs](https://logs/run1)",
    ]


def test_run_report_of_a_run_without_a_workflow_names_no_model_and_no_tool() -> None:
    told = summary(Progress(workflow="gone", cost_usd=None), RunFinished("failed", "no workflow"), None, "")
    assert told.split("  \n") == [
        "`gone`: failed after 0.0 s, 0 tokens in and 0 out, cost unknown",
        "Configuration: model none",
        "Tools: none",
        "Reason: `no workflow`",
    ]


@pytest.mark.parametrize("reason", ["<!channel> *now*\n# [x](http://evil)", "x" * 20_000, "```\n@here"])
def test_run_report_shows_the_reason_as_one_escaped_line(reason: str) -> None:
    told = summary(Progress(workflow="w"), RunFinished("failed", reason), None, "")
    sent = one_message(told)
    assert sent is not None
    (line,) = [line for line in sent.splitlines() if line.startswith("Reason: ")]
    assert (line.count("`"), line[-1], len(line) < 320) == (2, "`", True)
    assert "<!channel" not in sent
    assert sent.splitlines()[-1] == line


@dataclass
class Logged:
    """A worker with a channel for logs. Posts there raise `trouble`, and are keyed, so a post in doubt is repeated."""

    made: MemoryWorker
    trouble: Callable[[], BaseException] | None = None
    posted: list[PostMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        worker = self.made.worker
        post = worker.services.tools["slack_post_message"]

        async def act(call: Call, arguments: PostMessage) -> ToolResult:
            if not arguments.channel:
                return await post.act(call, arguments)
            if self.trouble:
                raise self.trouble()
            self.posted.append(arguments)
            return ToolResult("Posted", "posted")

        tools = MappingProxyType(
            {**worker.services.tools, "slack_post_message": replace(post, act=act, effect="keyed")}
        )
        self.move("#ai-logs")
        self.made.worker = replace(self.made.worker, services=replace(worker.services, tools=tools))

    def move(self, channel: str) -> None:
        """Change the channel for logs."""
        catalog = replace(catalog_of(self.made.worker), defaults=Defaults(ai_logs=channel))
        self.made.worker = replace(self.made.worker, workflows=FixedCatalog(catalog))


async def test_run_report_is_posted_once_after_the_answer() -> None:
    logged = Logged(memory_worker(says("Hello.")))
    await logged.made.accept("run1")
    await logged.made.work_once()
    assert logged.made.posted == ["Hello."]
    assert [posted.channel for posted in logged.posted] == ["#ai-logs"]
    assert await logged.made.status("run1") == "done"


class MovingClock(SetClock):
    """A clock that moves on whenever it is read."""

    @override
    def now(self) -> float:
        self.advance(0.371)
        return super().now()


async def test_run_report_takes_its_duration_from_recorded_times() -> None:
    made = MemoryWorker(ListModel([says("Hello.")]), clock=MovingClock())
    logged = Logged(made)
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    entries = recorded.entries
    summarised = next(at for at, one in enumerate(entries) if getattr(one.entry, "call", "") == SUMMARY)
    seconds = (entries[summarised - 1].at - entries[0].at) / 1000
    assert f"done after {seconds:,.1f} s," in logged.posted[0].text
    again = await replayed(made, recorded)
    assert (again.outcome, again.divergences) == ("identical", [])


@pytest.mark.parametrize("trouble", [ToolError("no such channel"), TemporaryError("no answer"), KeyError("bug")])
async def test_failed_run_report_does_not_change_the_status_of_the_run(trouble: Exception) -> None:
    logged = Logged(memory_worker(says("Hello.")), lambda: trouble)
    await logged.made.accept("run1")
    await logged.made.work_once()
    assert await logged.made.status("run1") == "done"
    assert logged.posted == []


async def test_crashes_during_the_run_report_do_not_fail_the_run() -> None:
    logged = Logged(memory_worker(says("Hello.")), Crashed)
    await logged.made.accept("run1")
    for _ in range(CRASHES + 2):
        await logged.made.work_once_or_crash()
        logged.made.clock.advance(130)
    entries = [recorded.entry for recorded in await read_journal("run1", logged.made.store, logged.made.blobs)]
    assert logged.made.posted == ["Hello."]
    assert AT_WORK not in logged.made.posted
    assert [entry.call for entry in entries if isinstance(entry, ToolUnknown)] == [SUMMARY]
    assert entries[-2] == RunFinished("done")


@pytest.mark.not_replayed("a setting changes during the run")
async def test_run_report_in_doubt_is_reposted_unchanged_to_the_same_channel() -> None:
    logged = Logged(memory_worker(says("Hello.")), Crashed)
    await logged.made.accept("run1")
    await logged.made.work_once_or_crash()
    logged.trouble = None
    logged.move("#elsewhere")
    logged.made.clock.advance(130)
    await logged.made.work_once()
    entries = [recorded.entry for recorded in await read_journal("run1", logged.made.store, logged.made.blobs)]
    (call,) = [entry for entry in entries if isinstance(entry, ToolCall) and entry.call == SUMMARY]
    assert [dict(posted) for posted in logged.posted] == [{**dict(call.arguments or {}), "thread_ts": ""}]
    assert logged.posted[0].channel == "#ai-logs"


READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"channel": "C0DEPLOY0", "ts": "1795262400.000100"})


def looping() -> MemoryWorker:
    """Return a worker whose model asks three times for the same, and then answers."""
    made = memory_worker(says("", READ), says("", READ), says("", READ), says("Hello."))
    made.grant("slack_read_thread")
    return made


async def test_run_report_names_failed_checks_and_counts_warnings() -> None:
    made = looping()
    logged = Logged(made)
    loaded = catalog_of(made.worker).workflows["answer-here"]
    checks = Checks.model_validate({"llm-call-budget": {"limit": 2}})
    workflow = loaded.workflow.model_copy(update={"checks": checks, "tools": (Grant(name="slack_read_thread"),)})
    catalog = Catalog({"answer-here": replace(loaded, workflow=workflow)}, Defaults(ai_logs="#ai-logs"))
    made.worker = replace(made.worker, workflows=FixedCatalog(catalog))
    await made.accept("run1", private=False)
    await made.work_once()
    (posted,) = logged.posted
    (line,) = [line for line in posted.text.splitlines() if line.startswith("Checks: ")]
    assert line.rstrip() == (
        "Checks: `no-tool-loops` failed: `Tools were called with the same arguments: slack_read_thread 3 times.`; "
        "1 warning"
    )


async def test_failed_check_is_one_log_line_with_the_run_and_the_names(caplog: pytest.LogCaptureFixture) -> None:
    made = looping()
    await made.accept("run1", private=False)
    await made.work_once()
    (line,) = [one for one in caplog.records if one.getMessage().startswith("a run failed its checks")]
    assert line.levelname == "ERROR"
    assert vars(line)["fields"] == {
        "run": "run1",
        "workflow": "answer-here",
        "checks": ["no-tool-loops"],
        "warnings": 0,
        "implies": ["reasoning_collapse"],
    }


async def test_failed_check_of_a_private_run_is_neither_logged_nor_measured(caplog: pytest.LogCaptureFixture) -> None:
    made = looping()
    thread = made.worker.services.tools["slack_read_thread"]

    async def private(call: Call, arguments: Arguments) -> ToolResult:
        return ToolResult("Thread in a private channel", "read", {"private": True})

    tools = MappingProxyType({**made.worker.services.tools, "slack_read_thread": replace(thread, act=private)})
    ended: list[Ended] = []
    services = replace(made.worker.services, tools=tools)
    made.worker = replace(made.worker, services=services, observers=Observers(ended.append))
    await made.accept("run1")
    await made.work_once()
    (one,) = ended
    assert one.progress is not None
    assert one.progress.checked is not None
    assert [verdict.check for verdict in failed_checks(one.progress.checked.verdicts)] == ["no-tool-loops"]
    assert one.is_private
    assert not [line for line in caplog.records if "checks" in line.getMessage()]


@pytest.mark.not_replayed("no operator may read such a run")
async def test_run_in_a_channel_made_private_while_at_work_is_neither_reported_nor_measured(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = looping()
    logged = Logged(made)
    thread = made.worker.services.tools["slack_read_thread"]
    read_before: list[Call] = []

    async def read(call: Call, arguments: Arguments) -> ToolResult:
        # The run reads its context before it lets the model work.
        if read_before:
            await hide("run1", made.store, 1)
        read_before.append(call)
        return ToolResult("Thread in #deploys", "read", {"private": False})

    tools = MappingProxyType({**made.worker.services.tools, "slack_read_thread": replace(thread, act=read)})
    ended: list[Ended] = []
    services = replace(made.worker.services, tools=tools)
    made.worker = replace(made.worker, services=services, observers=Observers(ended.append))
    await made.accept("run1", private=False)
    await made.work_once()
    assert (await made.status("run1"), [one.is_private for one in ended]) == ("done", [True])
    assert logged.posted == []
    assert "run1" not in "".join(str(vars(line)) for line in caplog.records)


async def test_failed_request_of_a_run_in_a_channel_made_private_names_no_run_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = memory_worker(*[TemporaryError("The provider is busy")] * 3)
    await made.accept("run1", private=False)
    await hide("run1", made.store, 1)
    await made.work_once()
    assert "The provider is busy" in caplog.text
    assert "run1" not in "".join(str(vars(line)) for line in caplog.records)


def test_failed_check_of_an_ignored_run_is_not_reported() -> None:
    checked = RunChecked((Verdict("no-tool-loops", passed=False),))
    progress = Progress(started=RunStarted("b", private=False), checked=checked, finished=RunFinished("ignored"))
    assert checks_to_report(progress) == ()
    assert checks_to_report(replace(progress, finished=RunFinished("done"))) == checked.verdicts
