"""The utilisation of the window in force, and the causes of drift."""

import pytest

from gofer.journal import entries as e
from gofer.journal.workspace_entries import ContextCompacted, SkillLoaded, Weights
from gofer.projections.requests.context import Utilisation, project
from gofer.values.messages import Usage
from support.engine.long_run import ReadingModel, adder, pages, run

pytestmark = pytest.mark.anyio


def request(expected: int, window: int = 48_000, system: int = 500, tools: int = 900) -> e.LlmRequest:
    weights = Weights({"system": system, "tools": tools, "history": expected}, {"words": expected}, window, expected)
    return e.LlmRequest("1.0", "ab", {"model": "gpt-5.4-mini"}, "]}", weights)


def answer(counted: int) -> e.LlmResponse:
    return e.LlmResponse("text", (), "stop", "m", Usage(counted, 10, 0), 0.0, 5)


def compacted(kept: int = 1, last: int = 3) -> ContextCompacted:
    return ContextCompacted("what was", "history_1", kept, 4, (1, last), "model")


def utilisation(*entries: e.Entry) -> Utilisation:
    return project(e.Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))


def test_share_is_of_the_window_in_force_and_not_of_the_window_of_the_model() -> None:
    state = utilisation(request(40_000), answer(43_200))
    assert (state.shares, state.peak, state.window) == ([0.9], 0.9, 48_000)
    assert state.causes == {"full"}


def test_request_without_an_answer_counts_as_expected() -> None:
    assert utilisation(request(24_000)).shares == [0.5]
    assert utilisation(request(24_000), answer(0)).shares == [0.5]


def test_peak_is_the_count_of_the_provider_and_not_a_high_estimate() -> None:
    state = utilisation(request(44_000), answer(40_800))
    assert (state.peak, state.causes) == (0.85, {"full"})


@pytest.mark.parametrize(("counted", "causes"), [(38_000, set()), (38_400, {"full"}), (39_000, {"full"})])
def test_request_of_four_fifths_of_the_window_is_drift(counted: int, causes: set[str]) -> None:
    assert utilisation(request(38_000), answer(counted)).causes == causes
    assert utilisation(request(counted)).causes == causes


@pytest.mark.parametrize(("counted", "stayed"), [(38_000, False), (39_000, True)])
def test_first_request_after_a_compaction_may_not_stay_above_four_fifths(counted: int, stayed: bool) -> None:
    state = utilisation(request(39_000), answer(39_000), compacted(), request(20_000), answer(counted))
    assert state.stayed_high == stayed


def test_later_request_after_a_compaction_does_not_stay_high() -> None:
    state = utilisation(compacted(), request(20_000), answer(20_000), request(40_000), answer(40_000))
    assert state.causes == {"full"}


def test_compaction_of_the_first_message_loses_pinned_text_once() -> None:
    again = ContextCompacted("what was", "history_2", 0, 4, (4, 6), "model")
    state = utilisation(request(1_000), compacted(kept=0), request(1_000), again)
    assert (state.lost, state.causes) == (["first message"], {"lost"})


def test_compaction_loses_the_skills_that_its_turns_loaded() -> None:
    early = [request(1_000), answer(1_000), SkillLoaded("routing"), request(1_000), answer(1_000)]
    state = utilisation(*early, SkillLoaded("tone"), compacted(last=1))
    assert (state.lost, state.loaded) == (["skill routing"], {"tone": 2})


def test_empty_answers_are_no_turns_of_a_compaction() -> None:
    empty = e.LlmResponse("", (), "stop", "m", Usage(1_000, 0, 0), 0.0, 5)
    early = [request(1_000), empty, request(1_000), answer(1_000), SkillLoaded("routing")]
    assert utilisation(*early, compacted(last=1)).lost == ["skill routing"]


def test_skill_that_was_loaded_again_is_lost_again_only_with_its_new_turn() -> None:
    loaded = [request(1_000), answer(1_000), SkillLoaded("routing"), compacted(last=1)]
    again = [request(1_000), answer(1_000), SkillLoaded("routing")]
    state = utilisation(*loaded, *again)
    assert (state.lost, state.loaded) == (["skill routing"], {"routing": 2})


@pytest.mark.parametrize(("system", "tools", "lost"), [(400, 900, "system prompt"), (500, 700, "tools")])
def test_request_with_less_of_its_fixed_beginning_lost_pinned_text(system: int, tools: int, lost: str) -> None:
    state = utilisation(request(1_000), request(1_000, system=system, tools=tools), request(1_000, system=system))
    assert lost in state.lost
    assert state.lost.count(lost) == 1


async def test_long_run_that_compacts_at_four_fifths_shows_no_drift() -> None:
    made = pages(300)
    await run(made, ReadingModel(adder(60, lambda total, through: f"SUM {total} THROUGH PAGE {through}")), 8_000)
    state = project(await made.journal())
    assert 0.7 < state.peak < 0.9
    assert state.causes == set()
