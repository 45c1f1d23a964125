"""Plays of the evals of this repository and of small ones: repeatable, and honest about their evidence."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.settings import read_settings
from gofer.evals.eval_file import Case
from gofer.evals.grading.grading import graded_case
from gofer.evals.load import LoadedEval, load_evals
from gofer.evals.plays import Play
from gofer.journal.entries import LlmRequest, LlmResponse, Recorded, RunParked, ToolCall, ToolResult
from gofer.values.errors import ConfigError
from gofer.values.model_script import load_scripts
from gofer_simulators.offline_model import offline_model
from support.app.company import ROOT
from support.property_examples import examples

pytestmark = pytest.mark.anyio

CASES = [(loaded, case) for loaded in load_evals(ROOT / "evals") for case in loaded.eval.cases]
DEFAULTS = """\
models: {default: gpt-5.4-mini}
limits: {tool_calls: 9, llm_calls: 9, tokens: 90000, minutes: 5, usd: 1}
"""
PAGER = """\
description: Restart a service.
owner: "#ops"
when: [slack.mention]
tools: [slack_read_thread, slack_post_message]
writes: {slack: ["#deploys"]}
"""


@asynccontextmanager
async def shipped(playing: Playing | None = None) -> AsyncIterator[Player]:
    async with open_player(read_settings({}), ROOT, playing or Playing()) as player:
        yield player


def journals(play: Play) -> Sequence[Sequence[Recorded]]:
    return [turn.entries for turn in play.turns]


def entries(play: Play, kind: type[Any]) -> list[Any]:
    return [one.entry for turn in play.turns for one in turn.entries if isinstance(one.entry, kind)]


@pytest.mark.parametrize(("loaded", "case"), CASES, ids=[f"{one.name}/{case.name}" for one, case in CASES])
async def test_case_of_this_repository_passes_with_recorded_answers(loaded: LoadedEval, case: Case) -> None:
    async with shipped() as player:
        play = await player.play(loaded, case, 1)
    assert (play.no_evidence, play.infrastructure) == ("", "")
    failed = [grade for grade in graded_case(case, play) if grade.blocks and not grade.passed]
    assert [(grade.dimension, grade.happened) for grade in failed] == []


def test_each_shipped_workflow_has_two_cases_and_two_are_decision_points() -> None:
    cases: dict[str, int] = {}
    for loaded, _ in CASES:
        cases[loaded.eval.workflow] = cases.get(loaded.eval.workflow, 0) + 1
    shipped_workflows = {path.stem for path in (ROOT / "agents").glob("*.yaml")} - {"defaults"}
    assert {workflow for workflow, number in cases.items() if number >= 2} == shipped_workflows
    assert len([case for _, case in CASES if case.decision is not None]) >= 2


@examples(0.4)
@given(st.sampled_from(CASES), st.integers(1, 100), st.integers(1, 100))
def test_every_play_of_a_case_has_the_same_journal(chosen: tuple[LoadedEval, Case], one: int, other: int) -> None:
    """The journals hold the ids, times and hashes of all requests, so equal journals mean equal requests."""

    async def play_twice() -> tuple[Play, Play]:
        async with shipped() as first, shipped() as second:
            await second.play(*CASES[0], 1)
            return await first.play(*chosen, one), await second.play(*chosen, other)

    before, after = asyncio.run(play_twice())
    assert journals(before) == journals(after)
    assert (before.world, before.latency_ms) == (after.world, after.latency_ms)


async def test_plays_at_the_same_time_do_not_change_each_other() -> None:
    async with shipped() as player:
        alone = [await player.play(*chosen, 1) for chosen in CASES[:6]]
        together = await asyncio.gather(*(player.play(*chosen, 1) for chosen in CASES[:6]))
    assert [journals(play) for play in alone] == [journals(play) for play in together]


class Folder:
    """A repository with one workflow and one eval."""

    def __init__(self, path: Path, workflow: str = PAGER, prompt: str = "Help.") -> None:
        self.path = path
        self.settings: Mapping[str, str] = {}
        for name in ("agents", "evals/scripts"):
            (path / name).mkdir(parents=True)
        (path / "agents" / "defaults.yaml").write_text(DEFAULTS)
        (path / "agents" / "pager.yaml").write_text(workflow)
        self.prompt(prompt)

    def prompt(self, text: str) -> None:
        (self.path / "agents" / "pager.md").write_text(text)

    def steps(self, *steps: object) -> None:
        text = yaml.safe_dump([{"name": "any", "steps": list(steps)}])
        (self.path / "evals" / "scripts" / "pager.yaml").write_text(text)

    async def play(self, playing: Playing, **case: object) -> Play:
        whole = {"name": "one", "trigger": {"payload": mention()}, **case}
        (self.path / "evals" / "pager.yaml").write_text(
            yaml.safe_dump({"workflow": "pager", "world": "demo", "cases": [whole]})
        )
        (loaded,) = load_evals(self.path / "evals")
        async with open_player(read_settings(self.settings), self.path, playing) as player:
            return await player.play(loaded, loaded.eval.cases[0], 1)


def mention(text: str = "<@U0GOFER0> restart it") -> Mapping[str, object]:
    return {
        "type": "event_callback",
        "team_id": "T0ACME00",
        "api_app_id": "A0GOFER0",
        "event_id": "Ev1",
        "event_time": 1772441940,
        "authorizations": [{"team_id": "T0ACME00", "user_id": "U0GOFER0", "is_bot": True}],
        "event": {
            "type": "app_mention",
            "user": "U0CAPTN0",
            "team": "T0ACME00",
            "channel": "C0DEPLOY0",
            "ts": "1772441940.000100",
            "event_ts": "1772441940.000100",
            "thread_ts": "1772438880.000000",
            "text": text,
        },
    }


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


RECORD = Playing("scripted", record=True)


async def test_changed_prompt_is_no_evidence_and_names_the_first_changed_request(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_read_thread": {}}]}, {"text": "Restarted."})
    recorded = await folder.play(RECORD)
    assert (recorded.evidence, recorded.no_evidence) == ("scripted", "")
    again = await folder.play(Playing())
    assert (again.evidence, again.no_evidence) == ("scripted", "")
    folder.prompt("Help, and be brief.")
    changed = await folder.play(Playing())
    assert changed.no_evidence.startswith("Request 1.1 has no answer.")
    assert changed.no_evidence.startswith("Request 1.1 has no answer.")
    assert "the prompt differs" in changed.no_evidence


async def test_changed_result_of_a_tool_names_the_message_that_differs(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_read_thread": {}}]}, {"text": "Restarted."})
    await folder.play(RECORD)
    changed = await folder.play(Playing(), mocks={"slack_read_thread": {"arguments": {"link": ""}, "text": "Nothing."}})
    assert changed.no_evidence.startswith("Request 1.")
    assert "message" in changed.no_evidence
    assert "prompt" not in changed.no_evidence


async def test_recording_removes_answers_that_no_request_uses(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_read_thread": {}}]}, {"text": "Restarted."})
    await folder.play(RECORD)
    path = folder.path / "evals" / "answers" / "pager.json"
    assert path.read_text().count('"request"') == 2
    folder.steps({"text": "Restarted."})
    await folder.play(RECORD)
    assert path.read_text().count('"request"') == 1
    first = path.read_text()
    await folder.play(RECORD)
    assert path.read_text() == first


async def test_answers_recorded_before_an_error_are_written(folder: Folder) -> None:
    folder.steps({"text": "Restarted."})
    await folder.play(Playing("scripted"))
    (loaded,) = load_evals(folder.path / "evals")

    async def play_and_fail() -> None:
        async with open_player(read_settings({}), folder.path, RECORD) as player:
            await player.play(loaded, loaded.eval.cases[0], 1)
            raise ConfigError("Another eval is wrong.")

    with pytest.raises(ConfigError):
        await play_and_fail()
    assert "Restarted." in (folder.path / "evals" / "answers" / "pager.json").read_text()


async def test_request_without_a_scripted_answer_is_no_evidence(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_read_thread": {}}]})
    play = await folder.play(Playing("scripted"))
    assert play.no_evidence.startswith("Request 1.2 has no answer.")


async def test_case_without_a_world_calls_mocks_only(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_post_message": {"channel": "#deploys", "text": "hello"}}]}, {"text": "Done."})
    (folder.path / "evals").mkdir(exist_ok=True)
    play = await folder.play(Playing("scripted"), world={})
    assert play.no_evidence == ""
    assert play.world["added"] == {}
    assert entries(play, ToolCall)


@pytest.mark.parametrize(("approve", "posted"), [({"slack_post_message": True}, 2), ({"slack_post_message": False}, 1)])
async def test_decision_of_a_person_in_the_file_continues_the_run(
    tmp_path: Path, approve: Mapping[str, bool], posted: int
) -> None:
    made = Folder(tmp_path, f'{PAGER}approve: {{tools: [slack_post_message], by: "@leads"}}\n')
    made.steps({"calls": [{"slack_post_message": {"channel": "#deploys", "text": "hello"}}]}, {"text": "Done."})
    waiting = await made.play(Playing("scripted"))
    assert [one.reason for one in entries(waiting, RunParked)] == ["approval"]
    assert waiting.turns[0].progress.finished is None
    assert [one.text for one in waiting.turns[0].seen if one.kind == "button"] == ["Approve", "Deny"]
    decided = await made.play(Playing("scripted"), approve=approve)
    finished = decided.turns[0].progress.finished
    assert finished is not None
    assert finished.status == "done"
    own = {one.place for one in decided.turns[0].seen if one.kind == "message" and one.text in ("hello", "Done.")}
    assert len(own) == posted


async def test_decision_point_begins_with_its_history_and_ends_after_one_answer(folder: Folder) -> None:
    folder.steps({"text": "unused"}, {"calls": [{"slack_post_message": {"channel": "#deploys", "text": "no"}}]})
    history = [{"calls": [{"tool": "slack_read_thread", "text": "Nothing new.", "status": "ok"}]}]
    plan = [{"id": "1", "description": "look", "status": "in_progress"}]
    play = await folder.play(Playing("scripted"), decision={"history": history}, expect={"next": []})
    assert play.turns[0].given_answers == 1
    assert [one.text for one in entries(play, ToolResult) if one.call == "1.0"] == ["Nothing new."]
    given, asked = entries(play, LlmResponse)
    assert [ask.tool for ask in given.tool_calls] == ["slack_read_thread"]
    assert [ask.tool for ask in asked.tool_calls] == ["slack_post_message"]
    assert len(entries(play, LlmRequest)) == 2
    assert not [one for one in entries(play, ToolCall) if one.tool == "slack_post_message" and one.call == "2.0"]
    assert "hello" not in str(play.world)
    planned = await folder.play(Playing("scripted"), decision={"history": history, "plan": plan}, expect={"next": []})
    assert planned.turns[0].given_answers == 2


async def test_pause_between_turns_takes_no_time_and_is_no_latency(folder: Folder) -> None:
    folder.steps({"calls": [{"slack_read_thread": {}}]}, {"text": "Done."})
    async with asyncio.timeout(5):
        play = await folder.play(Playing("scripted"), then=[{"trigger": {"payload": mention("<@U0GOFER0> again")}}])
    first, second = (turn.entries for turn in play.turns)
    assert second[0].at - first[-1].at >= 60_000
    assert play.latency_ms < 60_000
    assert len(play.turns) == 2


async def test_answers_of_a_live_model_are_evidence_and_can_be_recorded(folder: Folder) -> None:
    script = load_scripts("- {name: any, steps: [{text: Restarted.}]}", "a test")
    async with serve(offline_model(script)) as url:
        folder.settings = {"OPENAI_BASE_URL": f"{url}/v1"}
        live = await folder.play(Playing("live", record=True))
    assert (live.evidence, live.infrastructure) == ("live", "")
    recorded = await folder.play(Playing())
    assert (recorded.evidence, recorded.no_evidence) == ("recorded", "")
    assert '"kind": "model"' in (folder.path / "evals" / "answers" / "pager.json").read_text()
    texts = [[one.text for one in entries(play, LlmResponse)] for play in (live, recorded)]
    assert texts[0] == texts[1]


async def test_provider_that_does_not_answer_is_a_failure_of_infrastructure(folder: Folder) -> None:
    async def refuse(_: Request) -> Response:
        return JSONResponse({"error": {"message": "no such key", "code": "invalid_api_key"}}, status_code=401)

    async with serve(Starlette(routes=[Route("/v1/chat/completions", refuse, methods=["POST"])])) as url:
        folder.settings = {"OPENAI_BASE_URL": f"{url}/v1"}
        play = await folder.play(Playing("live"))
    assert "API key" in play.infrastructure
    assert play.no_evidence == ""


async def test_live_tools_have_new_ids_and_the_real_time_in_each_play(folder: Folder) -> None:
    script = load_scripts("- {name: any, steps: [{text: Restarted.}]}", "a test")
    async with serve(offline_model(script)) as url:
        folder.settings = {"OPENAI_BASE_URL": f"{url}/v1", "SLACK_API_URL": f"{url}/api", "SLACK_BOT_TOKEN": "xoxb-x"}
        plays = [await folder.play(Playing("live", live_tools=True)) for _ in range(2)]
    assert all(play.live_tools for play in plays)
    assert len({turn.run for play in plays for turn in play.turns}) == 2
    assert all(turn.progress.accepted_at > 1_772_442_000_000 for play in plays for turn in play.turns)


async def test_live_tools_and_recording_need_a_live_model() -> None:
    with pytest.raises(ConfigError, match="--live"):
        Playing(live_tools=True)
    with pytest.raises(ConfigError, match="--record"):
        Playing("live", record=True, live_tools=True)
    with pytest.raises(ConfigError, match="--record"):
        Playing(record=True)


UNMOCKED = '''\
from pathlib import Path

from gofer.tool import Arguments, Call, Place, ToolResult, tool


class Note(Arguments):
    """The arguments of a note."""


@tool(effect="keyed", place=lambda origin, arguments: Place("notes", "other", "all"))
async def note_write(call: Call, arguments: Note) -> ToolResult:
    """Write a note."""
    Path("FILE").write_text("written")
    return ToolResult("Written.", "wrote")
'''


@pytest.mark.parametrize("mocks", [{}, {"note_write": {"text": "Mocked."}}], ids=["refused", "mocked"])
async def test_writing_tool_of_a_company_without_a_mock_is_not_called_in_an_eval(
    tmp_path: Path, mocks: Mapping[str, object]
) -> None:
    made = Folder(tmp_path, PAGER.replace("slack_read_thread", "note_write"))
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "notes.py").write_text(UNMOCKED.replace("FILE", str(tmp_path / "written")))
    made.steps({"calls": [{"note_write": {}}]}, {"text": "Done."})
    play = await made.play(Playing("scripted"), mocks=mocks)
    assert not (tmp_path / "written").exists()
    (result,) = [one for one in entries(play, ToolResult) if one.call == "1.0"]
    if mocks:
        assert (result.status, result.text) == ("ok", "Mocked.")
    else:
        assert (result.status, result.text[:32]) == ("error", "note_write writes and has no moc")
