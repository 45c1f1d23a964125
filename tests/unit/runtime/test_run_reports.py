"""What is told of a run in the channel for logs, and that no trouble with it becomes the run's."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest

from gofer.journal.entries import RunFinished, RunStarted, ToolCall, ToolUnknown
from gofer.journal.log import read_journal
from gofer.journal.purposes import SUMMARY
from gofer.projections.attempts import CRASHES
from gofer.projections.progress import Progress
from gofer.runtime.deliver import AT_WORK
from gofer.runtime.run_reports import summary
from gofer.sources.slack.parts import one_message
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.messages import Usage
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import CATALOG, Lost, Office, office
from support.runtime.worker_parts import Unchanging, catalog_of

pytestmark = pytest.mark.anyio

LOADED = CATALOG.workflows["answer-here"]


def test_it_names_what_was_used_and_how_it_ended() -> None:
    progress = Progress(
        workflow="answer-here",
        started=RunStarted("0123456789abcdef", False),
        usage=Usage(12_345, 678),
        cost_usd=0.01234,
        accepted_at=1_000,
        called={"slack_read_thread": 2, "jira_search": 1},
        models=["m-1", "m-2"],
    )
    told = summary(progress, RunFinished("needs_attention", "nobody can tell"), LOADED, 5_250, "https://logs/run1")
    assert told.split("  \n") == [
        "`answer-here`: needs attention after 4.2 s, 12,345 tokens in and 678 out, 0.0123 USD",
        "Configuration: model `m-1` and `m-2`, coordinator llm, bundle 0123456789ab",
        "Tools: `jira_search` ×1, `slack_read_thread` ×2",
        "Reason: `nobody can tell`",
        "[Logs](https://logs/run1)",
    ]


def test_a_run_that_never_began_says_so_by_what_it_lacks() -> None:
    told = summary(Progress(workflow="gone", cost_usd=None), RunFinished("failed", "no workflow"), None, 0, "")
    assert told.split("  \n") == [
        "`gone`: failed after 0.0 s, 0 tokens in and 0 out, cost unknown",
        "Configuration: model none",
        "Tools: none",
        "Reason: `no workflow`",
    ]


@pytest.mark.parametrize("reason", ["<!channel> *now*\n# [x](http://evil)", "x" * 20_000, "```\n@here"])
def test_a_reason_is_one_line_that_pages_nobody(reason: str) -> None:
    told = summary(Progress(workflow="w"), RunFinished("failed", reason), None, 0, "")
    sent = one_message(told)
    assert sent is not None
    (line,) = [line for line in sent.splitlines() if line.startswith("Reason: ")]
    assert (line.count("`"), line[-1], len(line) < 320) == (2, "`", True)
    assert "<!channel" not in sent
    assert sent.splitlines()[-1] == line


@dataclass
class Logged:
    """An office with a channel for logs, where posting goes as it is told, and again when nobody knows how it went."""

    made: Office
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
        """Names another channel."""
        catalog = replace(catalog_of(self.made.worker), defaults=Defaults(ai_logs=channel))
        self.made.worker = replace(self.made.worker, workflows=Unchanging(catalog))


async def test_it_is_posted_once_after_the_answer() -> None:
    logged = Logged(office(says("Hello.")))
    await logged.made.accept("run1")
    await logged.made.hear()
    assert logged.made.posted == ["Hello."]
    assert [posted.channel for posted in logged.posted] == ["#ai-logs"]
    assert await logged.made.status("run1") == "done"


@pytest.mark.parametrize("trouble", [ToolError("no such channel"), TemporaryError("no answer"), KeyError("bug")])
async def test_a_post_that_fails_leaves_the_run_as_its_answer_did(trouble: Exception) -> None:
    logged = Logged(office(says("Hello.")), lambda: trouble)
    await logged.made.accept("run1")
    await logged.made.hear()
    assert await logged.made.status("run1") == "done"
    assert logged.posted == []


async def test_workers_that_are_lost_over_it_do_not_make_the_run_poison() -> None:
    logged = Logged(office(says("Hello.")), Lost)
    await logged.made.accept("run1")
    for _ in range(CRASHES + 2):
        await logged.made.hear_lost()
        logged.made.clock.advance(130)
    entries = [recorded.entry for recorded in await read_journal("run1", logged.made.store, logged.made.blobs)]
    assert logged.made.posted == ["Hello."]
    assert AT_WORK not in logged.made.posted
    assert [entry.call for entry in entries if isinstance(entry, ToolUnknown)] == [SUMMARY]
    assert entries[-1] == RunFinished("done")


async def test_what_was_in_doubt_is_said_as_it_was_where_it_was() -> None:
    logged = Logged(office(says("Hello.")), Lost)
    await logged.made.accept("run1")
    await logged.made.hear_lost()
    logged.trouble = None
    logged.move("#elsewhere")
    logged.made.clock.advance(130)
    await logged.made.hear()
    entries = [recorded.entry for recorded in await read_journal("run1", logged.made.store, logged.made.blobs)]
    (call,) = [entry for entry in entries if isinstance(entry, ToolCall) and entry.call == SUMMARY]
    assert [dict(posted) for posted in logged.posted] == [{**dict(call.arguments or {}), "thread_ts": ""}]
    assert logged.posted[0].channel == "#ai-logs"
