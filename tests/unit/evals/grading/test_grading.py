"""The grades of a whole play, and the run of the case that follows from them."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.embedded.run_once import difference
from gofer.evals.eval_file import Case, Expectations, Rubric
from gofer.evals.grading.dimensions import DIMENSIONS, JUDGE
from gofer.evals.grading.folded_text import folded
from gofer.evals.grading.grading import case_run, graded, graded_case
from gofer.evals.plays import Play, PlayedTurn
from gofer.evals.results import Grade
from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import Entry
from gofer.projections import calls as calls_projection
from gofer.projections import progress
from support.engine.memory_run import memory_run, says
from support.evals.played import asks, bundle, ended, failures, made, play_of, played, played_turn, refused
from support.steps import steps

ELSEWHERE = {"replay", "trajectory", "grade"}
"""The dimensions that compare a play with a golden, and that of graders of one's own."""
EVERYTHING: Mapping[str, object] = {
    "status": ["done"],
    "tools": {"required": ["a"], "forbidden": ["b"], "in_order": ["a"], "only": ["a"]},
    "world": {"added": {"/a": 1}, "changed": {"/b": 1}, "removed": "/c", "unchanged": "d", "counts": {"/e": 1}},
    "output": {"contains_any": ["a"], "contains_all": ["b"], "not_contains": ["c"], "json": {"d": 1}},
    "checks": "all",
    "next": ["a"],
}
EVERY_CRITERION: Mapping[str, object] = {
    "expected_status": ["limited"],
    "min_confidence": 0.5,
    "require_actions": ["a"],
    "require_runbook_evidence": True,
    "forbidden_phrases": ["a"],
    "max_latency_ms": 1,
    "schema": {"type": "object"},
    "max_cost_usd": 0.0,
    "max_llm_calls": 0,
    "max_tool_calls": 0,
}


def test_status_of_a_run_of_a_case_is_that_of_its_answer() -> None:
    output = {"type": "object", "properties": {"status": {"type": "string"}, "state": {"type": "string"}}}
    fields = {"status": "resolved", "state": "closed"}
    play = play_of(played_turn(ended("x", output=fields), bundle=bundle(output=output)))
    assert case_run(1, play, []).status == "resolved"
    assert case_run(1, play, [], status_field="state").status == "closed"
    assert case_run(1, played(ended("x")), []).status == "done"


def test_every_dimension_can_be_graded_and_is_listed() -> None:
    expect = Expectations.model_validate(EVERYTHING)
    rubric = Rubric.model_validate(EVERY_CRITERION)
    for play in (played([asks(text="x")], ended()), played(ended(), live_tools=True)):
        assert {grade.dimension for grade in graded([expect], rubric, play)} == set(DIMENSIONS) - ELSEWHERE
    assert not any(name.startswith(JUDGE) for name in DIMENSIONS)


def test_failure_has_words_and_a_passed_grade_has_none() -> None:
    play = played([asks(text="x")], ended("x", "failed", "no luck"), evidence="live")
    expect = Expectations.model_validate(EVERYTHING)
    for grade in graded([expect], Rubric.model_validate(EVERY_CRITERION), play):
        assert bool(grade.expected) == bool(grade.happened) == (not grade.passed)
        assert len(grade.expected) < 600
        assert not grade.expected.endswith(".")
        assert not grade.happened.endswith(".")


def test_file_without_expectations_grades_status_and_checks() -> None:
    end = ended(verdicts=[Verdict("no-tool-loops", passed=True)])
    grades = graded_case(Case.model_validate({"name": "plain"}), played([asks(text="x")], end))
    assert {grade.dimension.partition(".")[0] for grade in grades} == {"status", "check"}
    assert all(grade.passed for grade in grades)


def test_later_turns_have_their_own_expectations() -> None:
    then = [
        {"trigger": {}, "expect": {"output": {"contains_all": "second"}}},
        {"trigger": {}, "expect": {"output": {"contains_all": "third"}}},
    ]
    case = Case.model_validate({"name": "turns", "then": then, "expect": {"output": {"contains_all": "first"}}})
    turns = [played_turn(ended(f"the {word} answer"), run=word) for word in ("first", "second", "other")]
    grades = graded_case(case, play_of(*turns))
    of_output = [(grade.turn, grade.passed) for grade in grades if grade.dimension == "output.contains_all"]
    assert of_output == [(1, True), (2, True), (3, False)]
    assert [grade.turn for grade in grades if grade.dimension == "status"] == [1, 2, 3]


def test_turn_that_was_not_played_fails() -> None:
    case = Case.model_validate({"name": "turns", "then": [{"trigger": {}}]})
    grades = graded_case(case, played(ended()))
    assert failures(grades, "status") == [
        ("a run for turn 2 of the conversation", "the play ended before that turn", "")
    ]
    assert grades[-1].turn == 2


def test_case_run_sums_the_usage_of_all_turns() -> None:
    turn = played_turn([asks(("jira_search", {}))], made("1.0", "jira_search"), [asks(text="x")], ended(), run="a")
    parked = played_turn([asks(text="y")], [e.RunParked("model", 9)], run="b")
    run = case_run(3, play_of(turn, parked), [], attempts=2)
    assert (run.number, run.attempts, list(run.runs)) == (3, 2, ["a", "b"])
    assert (run.input_tokens, run.output_tokens, run.llm_calls, run.tool_calls) == (300, 30, 3, 1)
    assert run.cost_usd == pytest.approx(0.03)
    assert (run.status, run.latency_ms, run.evidence) == ("parked", 1_200, "scripted")
    assert (list(run.models), run.agent_version) == (["model-1"], "hash of the bundle")


def test_unknown_price_of_one_turn_leaves_the_cost_unknown() -> None:
    turns = played_turn([asks(usd=None)]), played_turn([asks(usd=1.0)])
    assert case_run(1, play_of(*turns), []).cost_usd is None


def test_given_answers_are_no_models_of_the_play() -> None:
    turn = played_turn([asks(text="given")], [asks(text="new")], given_answers=1)
    assert list(case_run(1, play_of(turn), []).models) == ["model-1"]
    assert case_run(1, play_of(turn), []).llm_calls == 1
    only_given = played_turn([asks(text="given")], given_answers=1)
    assert list(case_run(1, play_of(only_given), []).models) == []


PASSED = Grade("status", passed=True)
FAILED = Grade("status", passed=False)
ADVICE = Grade("judge.tone", passed=False, blocks=False)
WORLD = Grade("world.added", passed=False, blocks=False)


@pytest.mark.parametrize(
    ("grades", "fields", "outcome", "problem"),
    [
        ([PASSED], {}, "passed", ""),
        ([PASSED, ADVICE], {}, "passed", ""),
        ([PASSED, FAILED], {}, "failed", ""),
        ([FAILED], {"infrastructure": "No provider."}, "infrastructure", "No provider."),
        ([FAILED], {"no_evidence": "Request 1.2."}, "failed", "Request 1.2."),
        ([PASSED], {"no_evidence": "Request 1.2."}, "no_evidence", "Request 1.2."),
        ([PASSED, WORLD], {"live_tools": True}, "no_evidence", "The tools reached real systems"),
        ([FAILED, WORLD], {"live_tools": True}, "failed", ""),
        ([PASSED], {"live_tools": True}, "passed", ""),
    ],
)
def test_outcome_of_a_run_follows_from_its_grades(
    grades: Sequence[Grade], fields: dict[str, object], outcome: str, problem: str
) -> None:
    run = case_run(1, played(ended(), **fields), grades)
    assert run.outcome == outcome
    assert run.problem.startswith(problem)
    assert bool(run.problem) == bool(problem)


def test_play_without_a_run_is_never_passed() -> None:
    empty = play_of()
    assert case_run(1, empty, graded([], Rubric(max_llm_calls=1), empty)).outcome == "infrastructure"
    assert case_run(1, empty, graded([Expectations()], Rubric(), empty)).outcome == "failed"
    assert case_run(1, empty, []).status == ""


def test_run_of_the_engine_is_graded_by_its_journal() -> None:
    run = memory_run(
        says("", ("post", {"text": "hello"}), ("broadcast", {"text": "all"})), says("Posted the greeting.")
    )
    run.tool("post", "blind")
    asyncio.run(run.run())
    entries = asyncio.run(run.journal())
    play = play_of(PlayedTurn("run1", entries, progress.project(entries), run.bundle()))
    tools = {"required": [{"post": {"times": 1, "arguments": {"text": "hello"}}}], "forbidden": ["broadcast"]}
    grades = graded([Expectations.model_validate({"tools": tools, "checks": "none"})], Rubric(), play)
    assert failures(grades, "tools.required") == []
    assert failures(grades, "tools.forbidden") == [
        ("no call of broadcast", "call 1.1 asked for it; the gate refused it (unknown_tool)", "1.1")
    ]


def long_play(calls: int) -> Play:
    frames: list[Sequence[Entry]] = []
    for number in range(1, calls + 1):
        frames.append([asks(("jira_search", {"text": f"word {number}"}))])
        frames.append(made(f"{number}.0", "jira_search", text="found " * 20))
    return played(*frames, [asks(text="Done.")], ended())


def test_play_of_ten_times_as_many_calls_is_graded_in_ten_times_as_many_steps() -> None:
    expect = Expectations.model_validate(
        {
            "tools": {
                "required": [{"jira_search": {"times": 1, "arguments": {"text": "nothing"}}}, "slack_post_message"],
                "forbidden": [{"jira_search": {"arguments": {"text": "bad"}}}, "slack_post_message"],
                "in_order": ["jira_search"] * 20 + [{"jira_search": {"arguments": {"text": "never"}}}],
                "only": ["jira_create_issue"],
            },
            "checks": "none",
        }
    )

    def grade(play: Play) -> None:
        grades = graded([expect], Rubric(max_tool_calls=5, max_llm_calls=5, max_latency_ms=1), play)
        assert all(len(grade.happened) < 1_000 for grade in grades)

    few, many = long_play(100), long_play(1_000)
    assert steps(lambda: grade(many)) < 11 * steps(lambda: grade(few))


TOOL = st.sampled_from(["slack_read_thread", "jira_search", "jira_create_issue", "slack_post_message"])
ARGUMENTS = st.dictionaries(st.sampled_from(["project", "text", "count"]), st.text(max_size=5) | st.integers(-5, 5))
OUTCOME = st.sampled_from(["ok", "error", "unknown", "refused by a gate"])
CALL = st.tuples(TOOL, ARGUMENTS, OUTCOME)
ANSWER = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(folded)


def play_with(turns: Sequence[Sequence[tuple[str, dict[str, object], str]]], answer: str) -> Play:
    """Return a play whose model makes these calls in each of its answers, and then answers."""
    frames: list[Sequence[Entry]] = []
    for number, calls in enumerate(turns, 1):
        frames.append([asks(*((tool, arguments) for tool, arguments, _ in calls))])
        for at, (tool, _, outcome) in enumerate(calls):
            if outcome == "refused by a gate":
                frames.append(refused(f"{number}.{at}"))
            else:
                frames.append(made(f"{number}.{at}", tool, outcome))
    keys = {f"PAY-{number}": {"calls": len(calls)} for number, calls in enumerate(turns)}
    world = difference({"jira": {}}, {"jira": keys})
    return play_of(played_turn(*frames, [asks(text=answer)], ended(answer)), world=world)


def derived(play: Play) -> dict[str, object]:
    """Return the expectations that describe a play exactly."""
    made_calls = list(calls_projection.project(play.turns[0].entries).calls.values())
    exact = [
        {
            call.tool: {
                "arguments": {name: {"equals": value} for name, value in (call.arguments or {}).items()},
                "status": call.status,
            }
        }
        for call in made_calls
    ]
    names = {call.tool for call in made_calls}
    added = play.world["added"]
    assert isinstance(added, dict)
    return {
        "status": "done",
        "tools": {
            "required": exact,
            "in_order": exact,
            "only": sorted(names),
            "forbidden": sorted({"slack_broadcast", *TOOLS} - names),
        },
        "world": {"added": added, "counts": {"/jira/*": len(added)}, "unchanged": ["slack", "notion"]},
        "output": {"contains_all": [play.turns[0].progress.concluded.text]},  # type: ignore[union-attr]
        "checks": "none",
    }


TOOLS = ("slack_read_thread", "jira_search", "jira_create_issue", "slack_post_message")


@given(st.lists(st.lists(CALL, min_size=1, max_size=3), max_size=4), ANSWER)
def test_play_always_passes_its_own_derived_expectations(
    turns: Sequence[Sequence[tuple[str, dict[str, object], str]]], answer: str
) -> None:
    play = play_with(turns, answer)
    grades = graded([Expectations.model_validate(derived(play))], Rubric(), play)
    assert [grade for grade in grades if not grade.passed] == []


@given(st.lists(st.lists(CALL, min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_play_without_a_required_call_or_with_a_forbidden_one_always_fails(
    turns: Sequence[Sequence[tuple[str, dict[str, object], str]]], data: st.DataObject
) -> None:
    play = play_with(turns, "Done.")
    expect = derived(play)
    dropped = data.draw(st.sampled_from(sorted({tool for calls in turns for tool, _, _ in calls})))
    left = [[call for call in calls if call[0] != dropped] for calls in turns]
    without = play_with([calls for calls in left if calls], "Done.")
    grades = graded([Expectations.model_validate(expect)], Rubric(), without)
    assert failures(grades, "tools.required") != []
    assert failures(grades, "tools.in_order") != []
    at = data.draw(st.integers(0, len(turns)))
    more = [*turns[:at], [("slack_broadcast", {}, data.draw(OUTCOME))], *turns[at:]]
    grades = graded([Expectations.model_validate(expect)], Rubric(), play_with(more, "Done."))
    assert len(failures(grades, "tools.forbidden")) == 1
    assert len(failures(grades, "tools.only")) == 1


def test_expectations_of_a_case_with_a_user_are_about_the_whole_conversation() -> None:
    first = played_turn([asks(("jira_search", {}))], made("1.0", "jira_search"), ended("My secret."), world={})
    last = played_turn([asks(text="Moved.")], ended("Moved."), run="run2", world={})
    play = play_of(first, last, world={"added": {"/jira/PAY-1": {}}})
    expect = {
        "tools": {"required": ["jira_search"], "forbidden": ["jira_create_issue"]},
        "world": {"added": {"/jira/PAY-1": {}}},
        "output": {"contains_all": "Moved", "not_contains": "secret"},
        "checks": "none",
    }
    case = Case.model_validate({"name": "a", "trigger": {"text": "Move it."}, "user": "A customer.", "expect": expect})
    grades = graded_case(case, play)
    assert [(grade.dimension, grade.turn) for grade in grades if not grade.passed] == [("output.not_contains", 1)]
    forbidden = case.model_copy(update={"expect": Expectations.model_validate({"tools": {"forbidden": "jira_search"}})})
    (found,) = [one for one in graded_case(forbidden, play) if one.dimension == "tools.forbidden"]
    assert (found.passed, found.turn, found.step) == (False, 2, "")
    assert "call 1.0 of turn 1" in found.happened
