"""The next step of a recorded run with the current files and a live model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from gofer.evals.affected import FileVersion, RecordedWork, affected_runs
from gofer.evals.golden_works import GoldenWork
from gofer.evals.next_step import MOST_ASKED, first_request, with_next_steps
from gofer.models.language_model import Answer
from gofer.replay.recorded_run import RecordedRun
from gofer.values.errors import TemporaryError
from support.engine.memory_run import ListModel, MemoryRun, memory_run, says
from support.evals.recorded_work import Work, recorded_work, with_system

pytestmark = pytest.mark.anyio
OTHER = "You are another test."


def looking() -> MemoryRun:
    made = memory_run(says("", ("look", {"text": "a"})), says("done"))
    made.tool("look", "read")
    return made


@dataclass
class Asked:
    """The sentences about the next steps of some runs, and the requests that were sent."""

    sentences: list[str]
    requests: list[bytes]


async def recorded_golden() -> GoldenWork:
    work = await recorded_work(looking())
    recorded = RecordedRun(work.run, work.journals, work.bundles)
    return GoldenWork(work.run, work.journals, work.bundles, recorded)


async def asked(works: Sequence[RecordedWork], *answers: Answer | Exception) -> Asked:
    first = works[0]
    current = {"answer-here": with_system(first.bundles[first.run], OTHER)}
    model = ListModel(list(answers))
    found = await with_next_steps(affected_runs(works, FileVersion(current)), works, current, lambda _: model)
    return Asked([run.next_step for run in found], model.requests)


async def test_same_calls_with_other_spacing_are_the_same_step() -> None:
    result = await asked([await recorded_golden()], says("", ("look", '{ "text" : "a" }')))
    assert result.sentences == ['The next step stays: look {"text":"a"}.']


async def test_other_call_of_a_golden_is_shown_beside_the_recorded_one() -> None:
    result = await asked([await recorded_golden()], says("I know."))
    assert result.sentences == ['The next step differs: look {"text":"a"} before, an answer in words now.']


async def test_calls_of_a_stored_run_are_shown_without_values() -> None:
    made = memory_run(says("", ("look", {"text": "SECRET"})), says("done"))
    made.tool("look", "read")
    work = await recorded_work(made)
    same = await asked([work], says("", ("look", {"text": "SECRET"})))
    assert same.sentences == ["The next step stays: look (text)."]
    other_value = await asked([work], says("", ("look", {"text": "HIDDEN"})))
    assert other_value.sentences == ["The next step differs in the arguments of look (text)."]
    other_tool = await asked([work], says("I know."))
    assert other_tool.sentences == ["The next step differs: look (text) before, an answer in words now."]


async def test_names_that_a_model_invents_for_a_stored_run_are_not_shown() -> None:
    work = await recorded_work(looking())
    result = await asked([work], says("", ("SECRET", {}), ("look", {"SECRET": 1}), ("look", "SECRET")))
    expected = "a tool that the prompt does not list, look (), look (unreadable arguments)"
    assert result.sentences == [f"The next step differs: look (text) before, {expected} now."]


async def test_request_has_the_current_prompt_and_the_recorded_history() -> None:
    made = looking()
    work = await recorded_work(made)
    result = await asked([work], says(""))
    recorded = json.loads(made.model.requests[0])
    sent = json.loads(result.requests[0])
    assert sent["messages"][0]["content"] == OTHER
    assert sent["messages"][1:] == recorded["messages"][1:]
    assert first_request(work, work.bundle) == made.model.requests[0]


async def test_model_without_an_answer_leaves_the_step_unknown() -> None:
    work = await recorded_work(looking())
    result = await asked([work], TemporaryError("503"))
    assert result.sentences == ["The model gave no answer, so the next step is not known."]


async def test_unaffected_runs_are_not_asked_about_and_the_others_up_to_a_limit() -> None:
    work = await recorded_work(looking())
    current = {"answer-here": work.bundle}
    model = ListModel([])
    await with_next_steps(affected_runs([work], FileVersion(current)), [work], current, lambda _: model)
    assert model.requests == []
    works = [Work(f"run{number}", work.entries, {f"run{number}": work.bundle}) for number in range(MOST_ASKED + 5)]
    result = await asked(works, *[says("")] * MOST_ASKED)
    assert len(result.requests) == MOST_ASKED
