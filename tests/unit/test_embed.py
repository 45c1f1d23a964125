"""`gofer.embed.Gofer`: workflows in the process of a program, configured by values."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gofer.app.embedded.state import read_state
from gofer.embed import Actor, ConfigError, Event, Gofer, Model, Tool, scripted
from gofer.journal.coordination import Head
from gofer.journal.entries import RunFinished, RunHandedOver, ToolCall
from gofer.models.language_model import Answer, Unavailable
from gofer.runtime.sweeper import Sweeper
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.messages import ProviderError
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.simulator import SlackSimulator

pytestmark = pytest.mark.anyio

WORKFLOW = """
description: Answers a question.
owner: "#it"
when: [slack.mention]
model: any
{more}
"""


def company(folder: Path, more: str = "") -> Path:
    """Return a folder with one workflow named `answer`."""
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "answer.yaml").write_text(WORKFLOW.format(more=more))
    (agents / "answer.md").write_text("Answer in one word.")
    return folder


class Lookup(Arguments):
    """Whom to look up."""

    team: str


def on_call_tool(name: str = "on_call") -> Tool[Lookup]:
    async def act(call: Call, arguments: Lookup) -> ToolResult:
        return ToolResult(f"Ada is on call for {arguments.team}.", "looked up")

    return Tool(name, "Says who is on call for a team.", "read", Lookup, act)


async def stored(gofer: Gofer) -> Sequence[Head]:
    """Return the heads of all runs; a cancelled call returns no id."""
    return await gofer._program().runner.worker.services.store.heads(100, private=True)


class Waiting:
    """A model that answers once `released` is set."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.asked = asyncio.Event()
        self.released = asyncio.Event()

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.set()
        await self.released.wait()
        return await self._model.ask(body, timeout)


async def test_embedded_run_returns_answer_status_and_journal(tmp_path: Path) -> None:
    model = scripted("Warsaw.")
    async with Gofer(company(tmp_path), model=model) as gofer:
        run = await gofer.run("answer", "What is the capital of Poland?", by="Ada")
    assert (run.answer, run.status, run.reason) == ("Warsaw.", "done", "")
    assert isinstance(run.journal[-2].entry, RunFinished)
    lines = [json.loads(line) for line in run.to_json()]
    assert (lines[0]["address"], lines[0]["kind"], lines[-1]["kind"]) == ("1.0", "run.accepted", "run.checked")
    (request,) = model.requests
    assert "The request, in the words of Ada:\\n> What is the capital of Poland?" in request.decode()


async def test_embedded_run_uses_a_tool_of_the_program(tmp_path: Path) -> None:
    model = scripted({"on_call": {"team": "core"}}, "Ada.")
    folder = company(tmp_path, "tools: [on_call]")
    async with Gofer(folder, tools=[on_call_tool()], model=model) as gofer:
        run = await gofer.run("answer", "Who is on call?")
    assert run.answer == "Ada."
    (call,) = [one.entry for one in run.journal if isinstance(one.entry, ToolCall)]
    assert call.tool == "on_call"
    assert "Ada is on call for core." in model.requests[-1].decode()


async def test_tool_of_the_program_replaces_a_tool_of_gofer(tmp_path: Path) -> None:
    model = scripted({"github_get_issue": {"team": "core"}}, "Ada.")
    folder = company(tmp_path, "tools: [github_get_issue]")
    async with Gofer(folder, tools=[on_call_tool("github_get_issue")], model=model) as gofer:
        await gofer.run("answer", "Who is on call?")
    assert "Ada is on call for core." in model.requests[-1].decode()


async def test_embedded_run_returns_a_typed_answer_as_a_value(tmp_path: Path) -> None:
    output = "output: {type: object, properties: {city: {type: string}}, required: [city], additionalProperties: false}"
    model = scripted('{"city": "Warsaw"}')
    async with Gofer(company(tmp_path, output), model=model) as gofer:
        run = await gofer.run("answer", "What is the capital of Poland?")
    assert run.answer == {"city": "Warsaw"}
    assert "Warsaw" in run.text


async def test_embedded_run_of_a_slack_event_answers_in_the_channel(tmp_path: Path) -> None:
    event = Event(
        source="slack",
        kind="slack.mention",
        identity=("C0DEPLOY0", "1795262400.000100"),
        conversation="slack:C0DEPLOY0",
        actor=Actor("U0NEWCO0"),
        text="<@U0GOFER0> hello",
        place={"team": "T0ACME00", "channel": "C0DEPLOY0"},
    )
    async with Gofer(company(tmp_path), model=scripted("Hello."), world=demo_world()) as gofer:
        first = await gofer.run("answer", event)
        second = await gofer.run("answer", event)
        assert gofer.simulated.system(SlackSimulator) is not None
        shown = json.dumps(gofer.simulated.state(), default=str)
    assert (first.status, first.answer, second.status) == ("done", "Hello.", "done")
    assert first.id != second.id
    assert "Hello." in shown


async def test_event_error_names_the_parameter_to_add(tmp_path: Path) -> None:
    folder = company(tmp_path)
    agents = folder / "agents"
    (agents / "answer.yaml").write_text(
        WORKFLOW.format(more="").replace("[slack.mention]", "[slack.mention, jira.issue_created]")
    )
    (agents / "review.yaml").write_text(WORKFLOW.format(more="").replace("[slack.mention]", "[github.push]"))
    (agents / "review.md").write_text("Review it.")
    async with Gofer(folder, model=scripted("x")) as gofer:
        with pytest.raises(ConfigError, match=r"^Name the sender of this payload \(slack or jira\) by source=\.$"):
            gofer.event("answer", b"{}")
        with pytest.raises(ConfigError, match=r'add it, for example headers=\[\("X-GitHub-Event", "pull_request"\)\]'):
            gofer.event("review", b"{}")


async def test_mistakes_of_the_workflow_folder_are_in_one_error(tmp_path: Path) -> None:
    folder = company(tmp_path, "tools: [no_such_tool]\nlimits: {tool_calls: -1}")
    with pytest.raises(ConfigError) as caught:
        await Gofer(folder, model=scripted("Hi.")).__aenter__()
    assert "agents/answer.yaml" in str(caught.value)


async def test_missing_model_error_names_the_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        await Gofer(company(tmp_path)).__aenter__()


async def test_embedded_runs_in_a_state_folder_outlive_the_block(tmp_path: Path) -> None:
    data = tmp_path / "state"
    async with Gofer(company(tmp_path), store=data, model=scripted("Warsaw.")) as gofer:
        run = await gofer.run("answer", "What is the capital of Poland?")
        with pytest.raises(ConfigError, match="state"):
            await Gofer(tmp_path, store=data, model=scripted("")).__aenter__()
    async with Gofer(tmp_path, store=data, model=scripted("Cracow.")) as gofer:
        again = await gofer.resume(run.id)
    assert (again.answer, again.journal) == (run.answer, run.journal)


async def test_embedded_runs_execute_in_parallel(tmp_path: Path) -> None:
    model = Waiting(scripted("Yes."))
    async with Gofer(company(tmp_path), model=model) as gofer:
        runs = [asyncio.create_task(gofer.run("answer", f"Question {number}?")) for number in range(20)]
        await model.asked.wait()
        model.released.set()
        done = await asyncio.gather(*runs)
    assert {run.status for run in done} == {"done"}
    assert len({run.id for run in done}) == 20


async def test_embedded_run_is_handed_over_when_the_block_is_left(tmp_path: Path) -> None:
    turns = scripted({"on_call": {"team": "core"}}, "Ada.")
    model = Waiting(turns)
    folder = company(tmp_path, "tools: [on_call]")
    data = tmp_path / "state"
    async with Gofer(folder, store=data, tools=[on_call_tool()], model=model) as gofer:
        running = asyncio.create_task(gofer.run("answer", "Who is on call?"))
        await model.asked.wait()
        asyncio.get_running_loop().call_soon(model.released.set)
    run = await running
    assert (run.status, run.answer) == ("handed_over", "")
    assert isinstance(run.journal[-1].entry, RunHandedOver)
    with read_state(data, SystemClock()) as state:
        # The program left no queue message, and `gofer serve` begins with such a sweep.
        assert await state.queue.receive(10, 120, 0) == []
        assert await Sweeper(state.store, state.queue, SystemClock()).sweep(still=0) == 1
    async with Gofer(folder, store=data, tools=[on_call_tool()], model=turns) as gofer:
        assert (await gofer.resume(run.id)).answer == "Ada."


async def test_embedded_gofer_runs_again_after_a_cancelled_call(tmp_path: Path) -> None:
    model = Waiting(scripted("Yes."))
    async with Gofer(company(tmp_path), model=model) as gofer:
        running = asyncio.create_task(gofer.run("answer", "Is it there?"))
        await model.asked.wait()
        asyncio.get_running_loop().call_later(0.1, model.released.set)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await gofer.run("answer", "And now?")).answer == "Yes."


async def test_run_of_a_cancelled_call_is_handed_over_and_can_be_resumed(tmp_path: Path) -> None:
    model = Waiting(scripted({"on_call": {"team": "core"}}, "Ada."))
    folder = company(tmp_path, "tools: [on_call]")
    async with Gofer(folder, tools=[on_call_tool()], model=model) as gofer:
        running = asyncio.create_task(gofer.run("answer", "Who is on call?"))
        await model.asked.wait()
        asyncio.get_running_loop().call_later(0.1, model.released.set)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (cancelled,) = await stored(gofer)
        assert cancelled.status == "queued"
        resumed = await gofer.resume(cancelled.run)
    assert (resumed.answer, resumed.status) == ("Ada.", "done")
    kinds = [type(one.entry) for one in resumed.journal]
    assert (kinds.count(RunHandedOver), kinds.count(ToolCall)) == (1, 1)


async def test_tool_of_an_unconfigured_system_returns_an_error_to_the_model(tmp_path: Path) -> None:
    model = scripted({"github_get_issue": {"repository": "acme/shop", "number": 1}}, "No.")
    async with Gofer(company(tmp_path, "tools: [github_get_issue]"), model=model) as gofer:
        run = await gofer.run("answer", "Is issue 1 open?")
    assert run.status == "done"
    assert "GitHub is not set up here: set GITHUB_TOKEN" in model.requests[-1].decode()


async def test_model_request_without_a_matching_script_fails_the_run_before_any_tool_call(tmp_path: Path) -> None:
    async with Gofer(company(tmp_path), model=scripted({"on_call": {"team": "core"}})) as gofer:
        run = await gofer.run("answer", "Who is on call?")
    assert run.status == "failed"
    assert "no script expects" in run.reason
    assert [one.entry for one in run.journal if isinstance(one.entry, ToolCall)] == []


async def test_embedded_gofer_reads_no_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(dict[str, str]):
        def __getitem__(self, name: str) -> str:
            raise AssertionError(name)

        def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
            raise AssertionError(name)

    company(tmp_path)
    settings: Mapping[str, str] = {"OPENAI_API_KEY": "sk-of-the-program", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    with monkeypatch.context() as patched:
        patched.setattr(os, "environ", Refusing())
        async with Gofer(tmp_path, settings=settings, model=scripted("Yes.")) as gofer:
            run = await gofer.run("answer", "Is it there?")
    assert run.answer == "Yes."


class Away:
    """A model that does not answer until it is back."""

    def __init__(self) -> None:
        self.back: Model | None = None

    async def ask(self, body: bytes, timeout: float) -> Answer:
        if self.back is not None:
            return await self.back.ask(body, timeout)
        raise Unavailable("The model does not answer.", ProviderError("busy"), retry_after=600.0)


async def test_parked_run_stays_parked_when_resumed_early(tmp_path: Path) -> None:
    model = Away()
    async with Gofer(company(tmp_path), model=model) as gofer:
        run = await gofer.run("answer", "Is it there?")
        assert (run.status, run.text) == ("parked", "")
        assert run.reason
        model.back = scripted("Yes.")
        assert (await gofer.resume(run.id)).status == "parked"


async def test_summary_channel_without_slack_does_not_fail_the_run(tmp_path: Path) -> None:
    folder = company(tmp_path)
    (folder / "agents" / "defaults.yaml").write_text('ai_logs: "#ai-logs"')
    async with Gofer(folder, model=scripted("Warsaw.")) as gofer:
        run = await gofer.run("answer", "What is the capital of Poland?")
    assert run.status == "done"


async def test_model_given_as_text_must_be_a_base_url(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        await Gofer(company(tmp_path), model="gpt").__aenter__()


async def test_embedded_run_of_an_event_refuses_the_parameter_by(tmp_path: Path) -> None:
    event = Event("webhook", "webhook", ("1",), "webhook:1", Actor("caller", "bot"), "{}", {"hook": "x"}, private=False)
    async with Gofer(company(tmp_path), model=scripted("Yes.")) as gofer:
        with pytest.raises(ConfigError, match="leave out `by`"):
            await gofer.run("answer", event, by="Ada")


async def test_private_embedded_run_returns_the_answer_without_a_journal(tmp_path: Path) -> None:
    event = Event("program", "program.asked", ("1",), "program:1", Actor("ada"), "Yes?", {}, private=True)
    async with Gofer(company(tmp_path), model=scripted("Yes.")) as gofer:
        run = await gofer.run("answer", event)
        with pytest.raises(ConfigError, match="its contents were deleted"):
            await gofer.resume(run.id)
    assert (run.answer, run.status, run.journal) == ("Yes.", "done", ())
    assert run.progress.event is None
    assert run.progress.outcomes == {}


COMPANY_TOOL = """
from gofer.tool import Arguments, Call, Place, ToolResult, tool


class Page(Arguments):
    \"\"\"Whom to page.\"\"\"

    team: str


def team_of(origin: object, arguments: Page) -> Place:
    if arguments.team == "broken":
        raise KeyError("team")
    return Place("oncall", "other", arguments.team)


@tool(effect="blind", system="OnCall", place=team_of, settings=("ONCALL_ROTA",))
async def oncall_page(call: Call, arguments: Page) -> ToolResult:
    \"\"\"Page a team.\"\"\"
    return ToolResult(f"Really paged {arguments.team} of {call.setting('ONCALL_ROTA')}.", "paged")


@oncall_page.mock
def _mock() -> ToolResult:
    return ToolResult("Paged nobody.", "paged")
"""


async def paged(tmp_path: Path, team: str, **given: object) -> list[str]:
    folder = company(tmp_path, "tools: [oncall_page]")
    (folder / "tools").mkdir()
    (folder / "tools" / "oncall.py").write_text(COMPANY_TOOL)
    settings = {"ONCALL_ROTA": "Platform Team"}
    model = scripted({"oncall_page": {"team": team}}, "Done.")
    async with Gofer(folder, model=model, settings=settings, **given) as gofer:  # type: ignore[arg-type]
        run = await gofer.run("answer", "Page them.")
    assert run.status == "done"
    return [getattr(one, "text", "") for one in run.progress.outcomes.values()]


async def test_company_tool_reaches_the_real_system_and_reads_settings_with_spaces(tmp_path: Path) -> None:
    assert await paged(tmp_path, "payments") == ["Really paged payments of Platform Team."]


async def test_company_tool_answers_with_the_mock_in_a_simulated_world(tmp_path: Path) -> None:
    assert await paged(tmp_path, "payments", world=demo_world()) == ["Paged nobody."]


async def test_error_in_the_place_of_a_company_tool_is_reported_to_the_model(tmp_path: Path) -> None:
    (said,) = await paged(tmp_path, "broken")
    assert "its place cannot be determined (KeyError)" in said


async def test_embedded_gofer_error_explains_correct_use(tmp_path: Path) -> None:
    gofer = Gofer(company(tmp_path), model=scripted("Yes."))
    with pytest.raises(ConfigError, match="async with"):
        await gofer.run("answer", "Is it there?")
    async with gofer:
        with pytest.raises(ConfigError, match="there are: answer"):
            await gofer.run("anwser", "Is it there?")
        with pytest.raises(ConfigError, match="no run"):
            await gofer.resume("0" * 24)
