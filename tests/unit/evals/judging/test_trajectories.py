"""The comparison of a played run with a recorded one, turn by turn."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.eval_file import Criterion, Tolerance
from gofer.evals.judging.judge import Judge
from gofer.evals.judging.judged_trajectory import judged_trajectory
from gofer.evals.judging.trajectories import SAME_TURN, ComparedTurn, compared
from gofer.evals.judging.turn_facts import CallFacts, TurnFacts, turns_of
from gofer.models.language_model import Unavailable
from gofer.values.messages import ProviderError
from support.judged_plays import entries, judge, play, verdict

pytestmark = pytest.mark.anyio


def calls(*channels: str) -> TurnFacts:
    return TurnFacts(
        "Let me look.", [CallFacts("look", {"channel": channel}, id=f"id-{channel}") for channel in channels]
    )


async def turns(
    recorded: list[TurnFacts], played: list[TurnFacts], tolerance: Tolerance | None = None, asked: Judge | None = None
) -> list[ComparedTurn]:
    criterion = SAME_TURN.model_copy(update={"tolerance": tolerance or Tolerance()})
    return list(await compared(recorded, played, criterion, asked))


async def test_equal_runs_are_correct_by_code_in_each_turn() -> None:
    run = [calls("a", "b"), calls("c"), TurnFacts("Done.")]
    found = await turns(run, run)
    assert [(turn.number, turn.verdict, turn.decided_by) for turn in found] == [
        (1, "CORRECT", "code"),
        (2, "CORRECT", "code"),
        (3, "CORRECT", "code"),
    ]


@given(st.permutations(["a", "b", "c"]))
async def test_parallel_calls_may_come_in_any_order(order: list[str]) -> None:
    recorded = [calls("a", "b", "c"), TurnFacts("Done.")]
    found = await turns(
        recorded, [calls(*order), TurnFacts("Done.")], Tolerance(order="exact", tool_only_turns="exact")
    )
    assert {turn.verdict for turn in found} == {"CORRECT"}


async def test_tool_only_turns_may_be_split_and_joined_unless_turns_must_be_exact() -> None:
    joined = [calls("a", "b"), TurnFacts("Done.")]
    split = [calls("a"), calls("b"), TurnFacts("Done.")]
    for recorded, played in ((joined, split), (split, joined)):
        assert {turn.verdict for turn in await turns(recorded, played)} == {"CORRECT"}
        exact = await turns(recorded, played, Tolerance(tool_only_turns="exact"))
        assert "INCORRECT" in {turn.verdict for turn in exact}


async def test_turn_with_another_call_is_incorrect_and_named() -> None:
    recorded = [calls("a"), calls("b"), TurnFacts("Done.")]
    first, second, third = await turns(recorded, [calls("a"), calls("x"), TurnFacts("Done.")])
    assert (first.verdict, third.verdict) == ("CORRECT", "CORRECT")
    assert (second.verdict, second.decided_by, second.step) == ("INCORRECT", "code", "id-x")
    assert (second.recorded, second.played) == ('look {"channel":"b"}', 'look {"channel":"x"}')


async def test_missing_and_additional_answers_are_incorrect() -> None:
    run = [calls("a"), TurnFacts("Done.")]
    assert (await turns(run, run[:1]))[1].reason == "The answer is missing."
    assert (await turns(run[:1], run))[0].reason == "The answer was not recorded."
    assert [turn.reason for turn in await turns([], run)] == ["The call was not recorded."]


async def test_judge_is_asked_only_about_free_text() -> None:
    asked, sent = judge(lambda _: verdict("CORRECT", "It was the pool.", "Same cause."))
    recorded = [calls("a"), TurnFacts("The pool was full.")]
    _, answer = await turns(recorded, [calls("a"), TurnFacts("It was the pool.")], asked=asked)
    assert (answer.verdict, answer.decided_by) == ("CORRECT", "judge")
    assert answer.reason == "Same cause. Quote: “It was the pool.”"
    assert sent.asked[0]["material"] == {
        "recorded": [{"text": "The pool was full."}],
        "played": [{"text": "It was the pool."}],
    }
    found = await turns(recorded, [calls("a"), TurnFacts("The pool was full.")], asked=asked)
    assert len(sent.bodies) == 1
    assert {turn.decided_by for turn in found} == {"code"}


async def test_other_number_is_incorrect_before_a_judge_is_asked() -> None:
    asked, sent = judge(lambda _: verdict("CORRECT"))
    (turn,) = await turns([TurnFacts("12 tickets are open.")], [TurnFacts("I see 13 open tickets.")], asked=asked)
    assert (turn.verdict, turn.decided_by) == ("INCORRECT", "code")
    assert sent.bodies == []


async def test_turn_without_a_judge_or_its_answer_has_no_verdict() -> None:
    run = [TurnFacts("The pool was full.")]
    other = [TurnFacts("It was the pool.")]
    (unjudged,) = await turns(run, other)
    assert (unjudged.verdict, unjudged.missing) == (None, "no_evidence")
    silent, _ = judge(lambda _: Unavailable("503", ProviderError("busy")))
    (unanswered,) = await turns(run, other, asked=silent)
    assert (unanswered.verdict, unanswered.missing) == (None, "infrastructure")


async def test_run_with_too_many_calls_is_incorrect_at_once() -> None:
    (turn,) = await turns([TurnFacts("Done.")], [calls(*map(str, range(501)))])
    assert turn.reason == "The run has more than 500 calls."


async def test_grades_of_code_block_and_grades_of_an_unmeasured_judge_do_not(tmp_path: Path) -> None:
    golden = entries("The pool was full.", [("look", {"channel": "a"}, "full")])
    played = play(entries("It is DNS.", [("look", {"channel": "b"}, "full")]))
    asked, _ = judge(lambda _: verdict("INCORRECT", "It is DNS.", "Another cause."))
    code, judged = await judged_trajectory([turns_of(golden)], played, SAME_TURN, asked, tmp_path)
    assert (code.dimension, code.passed, code.blocks, code.step) == ("trajectory", False, True, "1.0")
    assert code.expected == 'turn 1: look {"channel":"a"}'
    assert (judged.dimension, judged.passed, judged.blocks) == ("judge.trajectory", False, False)
    assert judged.happened == "It is DNS. (Another cause. Quote: “It is DNS.”)"
    assert "Does not block: The criterion has no labels" in judged.explanation


async def test_run_of_a_golden_that_was_not_played_is_a_failure_of_its_turn(tmp_path: Path) -> None:
    golden = turns_of(entries("Done."))
    first, second = await judged_trajectory([golden, golden], play(entries("Done.")), SAME_TURN, None, tmp_path)
    assert (first.passed, first.score) == (True, 1.0)
    assert (second.passed, second.turn, second.happened) == (False, 2, " (The answer is missing.)")


@pytest.mark.parametrize("model", ["judge-model", "judge-model-2026"])
async def test_judge_does_not_compare_runs_of_its_own_model(model: str, tmp_path: Path) -> None:
    asked, sent = judge(lambda _: verdict("CORRECT"))
    played = play(entries("It was the pool.", model=model))
    code, judged = await judged_trajectory(
        [turns_of(entries("The pool was full."))], played, Criterion(id="same", ask="Same?"), asked, tmp_path
    )
    assert code.passed
    assert (judged.passed, judged.blocks, judged.missing) == (False, False, "no_evidence")
    assert "no model judges itself" in judged.happened
    assert len(sent.bodies) == (model == "judge-model-2026")
