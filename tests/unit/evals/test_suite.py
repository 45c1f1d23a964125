"""The suite plays cases as often as their outcome needs, within budgets, and continues where it was broken off."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from typing_extensions import override

from gofer.evals.eval_file import Runs
from gofer.evals.kept_runs import KeptRuns, unchanged
from gofer.evals.plan import Coordinator, PlannedCase
from gofer.evals.plays import Evidence, Play
from gofer.evals.results import CaseResult, CaseRun, RunOutcome, SuiteResult
from gofer.evals.suite import Suite
from gofer.values.errors import ConfigError
from support.evals.stand_in_plays import StandInPlays, parts_of, planned_cases, results_of

OUTCOMES: st.SearchStrategy[RunOutcome] = st.sampled_from(["passed", "failed", "no_evidence", "infrastructure"])
STATUSES = st.sampled_from(["done", "failed"])
RUNS = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sampled_from(["all", "any", *(f"{k}/{n}" for k in range(1, n + 1))]),
        st.lists(OUTCOMES, min_size=n),
    )
)
COORDINATORS: st.SearchStrategy[Coordinator] = st.sampled_from(["llm", "script"])


def exit_code(results: Sequence[CaseResult]) -> int:
    return SuiteResult(cases=results, at=0, seconds=0).exit_code


def test_clear_pass_is_played_no_further() -> None:
    plays = StandInPlays()
    (result,) = results_of(planned_cases("a", runs=Runs(n=5, require="2/5")), plays)
    assert (result.outcome, result.passed, result.planned) == ("passed", 2, 5)
    assert len(plays.played) == 2


def test_clear_failure_is_played_no_further() -> None:
    plays = StandInPlays({"tickets/a": ["failed", "failed"]})
    (result,) = results_of(planned_cases("a", runs=Runs(n=5, require="4/5")), plays)
    assert result.outcome == "failed"
    assert len(plays.played) == 2


@given(RUNS, st.lists(STATUSES, min_size=6, max_size=6), COORDINATORS)
def test_early_stop_never_changes_the_outcome(
    runs: tuple[int, str, list[RunOutcome]], statuses: list[str], coordinator: Coordinator
) -> None:
    n, require, outcomes = runs
    wanted = Runs(n=n, require=require)
    pattern = {"tickets/a": outcomes}
    early = StandInPlays(pattern, {"tickets/a": statuses})
    whole = StandInPlays(pattern, {"tickets/a": statuses})
    (stopped,) = results_of(planned_cases("a", runs=wanted, coordinator=coordinator, retries=0), early)
    (every,) = results_of(planned_cases("a", runs=wanted, coordinator=coordinator, retries=0, repeat=n), whole)
    assert stopped.outcome == every.outcome
    assert len(early.played) <= len(whole.played) == n


@given(RUNS, st.integers(0, 5), COORDINATORS, st.integers(1, 4))
def test_resumed_suite_gives_the_result_of_one_without_a_break(
    tmp_path_factory: pytest.TempPathFactory,
    runs: tuple[int, str, list[RunOutcome]],
    stop_after: int,
    coordinator: Coordinator,
    at_once: int,
) -> None:
    n, require, outcomes = runs
    pattern = {"tickets/b": ["failed"], "tickets/a": [one for one in outcomes if one != "infrastructure"]}
    planned = planned_cases("a", "b", runs=Runs(n=n, require=require), coordinator=coordinator, retries=0)
    prints = {case.name: "same" for case in planned}
    kept = KeptRuns(tmp_path_factory.mktemp("kept") / "runs.jsonl")
    asyncio.run(broken_off(planned, StandInPlays(pattern, stop_after=stop_after), kept, at_once))
    again = StandInPlays(pattern)
    earlier = unchanged(kept.read(), prints)
    suite = Suite(planned, parts_of(again), fingerprints=prints, earlier=earlier)
    asyncio.run(suite.play())
    assert as_json(suite.results()) == as_json(results_of(planned, StandInPlays(pattern)))
    finished = {(case, run.number) for case, found in earlier.items() for run in found}
    assert finished.isdisjoint(again.played)


def as_json(results: Sequence[CaseResult]) -> bytes:
    """Return results as JSON, in which lists and tuples are alike."""
    return TypeAdapter(Sequence[CaseResult]).dump_json(results)


async def broken_off(
    planned: Sequence[PlannedCase], plays: StandInPlays, kept: KeptRuns, at_once: int
) -> Sequence[CaseResult]:
    """Play until the plays hang, cancel the suite, and return its results."""
    prints = {case.name: "same" for case in planned}
    suite = Suite(planned, parts_of(plays, kept, at_once=at_once), fingerprints=prints)
    playing = asyncio.create_task(suite.play())
    for _ in range(200):
        await asyncio.sleep(0)
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    return suite.results()


def test_broken_off_suite_reports_the_cases_that_were_not_played(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path / "runs.jsonl")
    plays = StandInPlays(stop_after=1)
    results = asyncio.run(broken_off(planned_cases("a", "b"), plays, kept, 1))
    assert [result.outcome for result in results] == ["passed", "not_played"]
    assert len(kept.read()) == 1


@given(st.lists(OUTCOMES, min_size=3, max_size=3), st.sampled_from(["live", "recorded", "scripted"]))
def test_outcome_without_evidence_is_never_green(outcomes: list[RunOutcome], evidence: Evidence) -> None:
    plays = StandInPlays({"tickets/a": outcomes}, evidence=evidence)
    results = results_of(planned_cases("a", runs=Runs(n=3, require="2/3"), retries=0), plays)
    assert (exit_code(results) == 0) == (outcomes.count("passed") >= 2)


def test_scripted_answers_give_no_pass_rate_of_a_prompt() -> None:
    (result,) = results_of(planned_cases("a", runs=Runs(n=3)), StandInPlays(evidence="scripted"))
    assert (result.outcome, result.interval) == ("passed", None)


def test_grade_of_a_play_without_evidence_never_passes() -> None:
    class Generous(StandInPlays):
        @override
        async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
            return replace(await super().graded(planned, number, play), outcome="passed")

    (result,) = results_of(planned_cases("a"), Generous({"tickets/a": ["no_evidence"]}))
    assert result.outcome == "no_evidence"
    assert result.runs[0].problem == "No recorded answer."


def test_seeded_flaky_case_is_judged_by_its_requirement() -> None:
    drawn = random.Random(11)
    outcomes: list[RunOutcome] = [drawn.choice(["passed", "failed"]) for _ in range(20)]
    passed = outcomes.count("passed")
    for required, outcome in ((passed, "passed"), (passed + 1, "failed")):
        plays = StandInPlays({"tickets/a": outcomes})
        (result,) = results_of(planned_cases("a", runs=Runs(n=20, require=f"{required}/20")), plays)
        assert result.outcome == outcome


def test_failure_of_infrastructure_is_played_again_and_does_not_count() -> None:
    plays = StandInPlays(recovers_after=2)
    (result,) = results_of(planned_cases("a"), plays)
    assert (result.outcome, result.runs[0].attempts) == ("passed", 3)
    assert result.runs[0].cost_usd == pytest.approx(0.03)


def test_lasting_failure_of_infrastructure_is_no_failure_of_the_case() -> None:
    plays = StandInPlays({"tickets/a": ["infrastructure"]})
    (result,) = results_of(planned_cases("a"), plays)
    assert (result.outcome, len(plays.played), exit_code([result])) == ("infrastructure", 3, 4)


def test_script_with_two_statuses_fails_although_each_run_passed() -> None:
    plays = StandInPlays(statuses={"tickets/a": ["done", "needs_attention", "done"]})
    runs = Runs(n=3, require="1/3")
    (result,) = results_of(planned_cases("a", runs=runs, coordinator="script"), plays)
    assert (result.outcome, result.consistency) == ("failed", 0.5)
    assert result.notes == [
        "A script must end alike each time; its runs ended as done, needs_attention. Remove what differs in it."
    ]
    (model,) = results_of(planned_cases("a", runs=runs), plays)
    assert model.outcome == "passed"


def test_budget_ends_the_plays_of_its_file() -> None:
    plays = StandInPlays(cost_usd=0.02)
    planned = planned_cases("a", "b", "c", budget_usd=0.03)
    suite = Suite(planned, parts_of(plays, at_once=1))
    asyncio.run(suite.play())
    results = suite.results()
    assert [result.outcome for result in results] == ["passed", "over_budget", "over_budget"]
    assert exit_code(results) == 5
    assert len(plays.played) == 2
    assert results[2].notes == [
        "The cases of the file cost 0.0400 USD of their budget_usd 0.03: raise it, or play fewer runs."
    ]


def test_cost_of_judges_of_a_script_counts_for_the_budget() -> None:
    class Judged(StandInPlays):
        @override
        async def graded(self, planned: PlannedCase, number: int, play: Play) -> CaseRun:
            return replace(await super().graded(planned, number, play), llm_calls=0)

    results = results_of(planned_cases("a", runs=Runs(n=5), budget_usd=0.03), Judged(cost_usd=0.02))
    assert results[0].outcome == "over_budget"


def test_budget_ends_the_repetitions_after_failures_of_infrastructure() -> None:
    plays = StandInPlays(cost_usd=0.02, recovers_after=5)
    (result,) = results_of(planned_cases("a", retries=5, budget_usd=0.03), plays)
    assert (result.outcome, len(plays.played)) == ("over_budget", 2)


def test_failed_attempts_of_other_runs_count_for_the_budget() -> None:
    plays = StandInPlays(cost_usd=0.02, recovers_after=1)
    results = results_of(planned_cases("a", "b", retries=5, budget_usd=0.03), plays)
    assert "over_budget" in {result.outcome for result in results}


def test_recorded_answers_cost_no_budget() -> None:
    plays = StandInPlays(cost_usd=0.02, evidence="recorded")
    assert exit_code(results_of(planned_cases("a", "b", "c", budget_usd=0.03), plays)) == 0


def test_model_without_a_price_is_over_any_budget() -> None:
    (result,) = results_of(planned_cases("a", budget_usd=1.0), StandInPlays(cost_usd=None))
    assert result.outcome == "over_budget"
    assert "price" in result.notes[0]


def test_case_that_cannot_be_played_ends_the_suite_with_its_error() -> None:
    class Broken(StandInPlays):
        @override
        async def play(self, planned: PlannedCase, number: int) -> Play:
            raise ConfigError("evals/tickets.yaml names the world `w`, which does not exist; write evals/w.yaml.")

    with pytest.raises(ConfigError, match=r"write evals/w\.yaml"):
        results_of(planned_cases("a", "b", runs=Runs(n=3)), Broken())


def test_finished_runs_are_announced_in_order_of_their_end() -> None:
    seen: list[str] = []
    plays = StandInPlays()
    parts = parts_of(plays, at_once=1)
    suite = Suite(
        planned_cases("a", "b"),
        replace(parts, finished=lambda planned, run: seen.append(f"{planned.name} {run.outcome}")),
    )
    asyncio.run(suite.play())
    assert seen == ["tickets/a passed", "tickets/b passed"]
