"""The grades of the world: added, changed, removed, unchanged and counted values."""

from collections.abc import Mapping

import pytest

from gofer.app.embedded.run_once import difference
from gofer.evals.eval_file import Case, Expectations, Rubric, Turn
from gofer.evals.grading.grading import case_run, graded, graded_case
from gofer.journal import entries as e
from support.evals.played import asks, ended, failures, made, play_of, played, played_turn

BEFORE: Mapping[str, object] = {
    "slack": {"channels": {"C1": {"messages": [{"ts": "1.0", "text": "hello"}]}}},
    "jira": {"PAY-1": {"summary": "old", "labels": ["a"], "gone": True}},
    "notion": {},
}
AFTER: Mapping[str, object] = {
    "slack": {
        "channels": {
            "C1": {
                "messages": [{"ts": "1.0", "text": "hello"}, {"ts": "2.0", "text": "PAY-2 is filed", "thread": "1.0"}]
            },
            "C/2": {"messages": [{"ts": "3.0", "text": "new here"}, {"ts": "4.0", "text": "and again"}]},
        }
    },
    "jira": {"PAY-1": {"summary": "new", "labels": ["a"]}, "PAY-2": {"summary": "Checkout", "project": "PAY"}},
    "notion": {},
}
CHANGES = difference(BEFORE, AFTER)
MESSAGES = "/slack/channels/*/messages/*"


def world(changes: Mapping[str, object] = CHANGES, **written: object) -> dict[str, list[tuple[str, str, str]]]:
    """Return the failures of each kind of expectation about the world."""
    play = played(
        [asks(("jira_create_issue", {}), ("jira_search", {}))],
        made("1.0", "jira_create_issue"),
        made("1.1", "jira_search"),
        ended(),
        world=changes,
    )
    grades = graded([Expectations.model_validate({"world": written})], Rubric(), play)
    return {kind: failures(grades, f"world.{kind}") for kind in written}


@pytest.mark.parametrize(
    ("pattern", "matcher", "passes"),
    [
        ("/jira/PAY-2", {"project": "PAY"}, True),
        ("/jira/PAY-2", {"project": "OPS"}, False),
        ("/jira/*", {"summary": {"contains": "Check"}}, True),
        ("/jira/PAY-3", {}, False),
        ("/jira/PAY-2/summary", "Checkout", True),
        (MESSAGES, {"thread": "1.0"}, True),
        (MESSAGES, {"text": "and again"}, True),
        ("/slack/channels/C~12/messages/3.0", {"text": "new here"}, True),
        ("/slack/**/text", "and again", True),
        ("**", {"project": "PAY"}, True),
        ("/slack/**", {"project": "PAY"}, False),
        ("/slack/channels/*", {"text": "and again"}, False),
        ("/slack/**/messages/**/4.0", {"text": "and again"}, True),
    ],
)
def test_one_added_value_at_a_path_must_match(pattern: str, matcher: object, passes: bool) -> None:
    assert (not world(added={pattern: matcher})["added"]) == passes


def test_missing_added_value_lists_the_added_values() -> None:
    assert world(added={"/notion/*": {"title": "RFC"}})["added"] == [
        (
            'a new value at /notion/* that matches {"title": "RFC"}',
            "the run added /slack/channels/C1/messages/2.0, /slack/channels/C~12 and /jira/PAY-2",
            "1.0",
        )
    ]
    assert world({}, added={"/notion/*": {}})["added"] == [("a new value at /notion/*", "the run added nothing", "1.0")]


def test_added_value_that_does_not_match_says_why() -> None:
    assert world(added={"/jira/*": {"project": "OPS"}})["added"] == [
        (
            'a new value at /jira/* that matches {"project": "OPS"}',
            "`/jira/PAY-2.project` is `PAY`; expected `OPS`",
            "1.0",
        )
    ]
    ((_, happened, _),) = world(added={MESSAGES: {"thread": "9"}})["added"]
    assert happened == (
        "`/slack/channels/C1/messages/2.0.thread` is `1.0`; expected `9` (and 2 more values did not match)"
    )


def test_changed_value_is_compared_with_its_new_value() -> None:
    assert world(changed={"/jira/*/summary": "new"}) == {"changed": []}
    assert world(changed={"/jira/PAY-1/summary": "old"})["changed"] == [
        (
            "a changed value at /jira/PAY-1/summary that matches old",
            "`/jira/PAY-1/summary` is `new`; expected `old`",
            "1.0",
        )
    ]
    assert world(changed={"/jira/PAY-1/labels": ["a"]})["changed"] == [
        ('a changed value at /jira/PAY-1/labels that matches ["a"]', "the run changed /jira/PAY-1/summary", "1.0")
    ]


def test_removed_value_is_found_by_its_path() -> None:
    assert world(removed="/jira/*/gone") == {"removed": []}
    assert world(removed=["/jira/PAY-2"])["removed"] == [
        ("the removal of /jira/PAY-2", "the run removed /jira/PAY-1/gone", "1.0")
    ]


@pytest.mark.parametrize(
    ("pattern", "happened"),
    [
        ("jira", "the run added /jira/PAY-2, changed /jira/PAY-1/summary and removed /jira/PAY-1/gone"),
        ("/jira/PAY-2", "the run added /jira/PAY-2"),
        ("/jira/PAY-2/summary", "the run added /jira/PAY-2"),
        ("/jira/PAY-1", "the run changed /jira/PAY-1/summary and removed /jira/PAY-1/gone"),
        ("/slack/channels/*/topic", "the run added /slack/channels/C~12"),
        (
            "/**/messages",
            "the run added /slack/channels/C1/messages/2.0, added /slack/channels/C~12, added /jira/PAY-2,",
        ),
        ("notion", ""),
        ("/jira/PAY-1/labels", ""),
        ("/jira/PAY", ""),
    ],
)
def test_change_at_around_or_below_an_unchanged_path_fails(pattern: str, happened: str) -> None:
    found = world(unchanged=[pattern])["unchanged"]
    if not happened:
        assert found == []
        return
    ((expected, words, step),) = found
    assert (expected, step) == (f"no change of {pattern}", "1.0")
    assert words.startswith(happened)


@pytest.mark.parametrize(
    ("pattern", "number", "happened"),
    [
        ("/jira/*", 1, ""),
        (MESSAGES, 3, ""),
        ("/notion/*", 0, ""),
        ("/slack/**", 2, ""),
        ("/jira/*", 2, "the run added 1 value: /jira/PAY-2"),
        ("/jira/*", 0, "the run added 1 value: /jira/PAY-2"),
        ("/notion/*", 1, "the run added nothing there"),
    ],
)
def test_added_values_are_counted_each_once(pattern: str, number: int, happened: str) -> None:
    expected = []
    if happened:
        noun = "value" if number == 1 else "values"
        expected = [(f"{number} new {noun} at {pattern}", happened, "1.0")]
    assert world(counts={pattern: number})["counts"] == expected


def test_unlisted_changes_leave_no_count_and_no_unchanged_path_certain() -> None:
    changes = {**CHANGES, "more": 1_200}
    assert world(changes, counts={"/jira/*": 1})["counts"] == [
        (
            "1 new value at /jira/*",
            "the run added 1 value: /jira/PAY-2; further changes that are not listed: 1,200",
            "1.0",
        )
    ]
    assert world(changes, unchanged=["notion"])["unchanged"] == [
        ("no change of notion", "not known: further changes that are not listed: 1,200", "1.0")
    ]
    ((_, happened, _),) = world(changes, added={"/notion/*": {}})["added"]
    assert happened.endswith("; further changes that are not listed: 1,200")


def test_difference_of_more_changes_than_are_listed_is_noticed() -> None:
    many = difference({"jira": {}}, {"jira": {f"PAY-{number}": {} for number in range(500)}})
    assert world(many, counts={"/jira/*": 200})["counts"] != []


def test_real_systems_leave_the_world_ungraded_and_shown() -> None:
    written: dict[str, object] = {"added": {"/jira/*": {}}, "unchanged": ["notion"]}
    grades = graded(
        [Expectations.model_validate({"world": written})], Rubric(), played(ended(), live_tools=True, world=CHANGES)
    )
    of_world = [grade for grade in grades if grade.dimension.startswith("world.")]
    assert [grade.dimension for grade in of_world] == ["world.added", "world.unchanged"]
    assert not any(grade.passed or grade.blocks for grade in of_world)
    assert of_world[0].happened == ("the tools reached real systems, so Gofer does not know what the run changed there")


def test_step_of_a_world_grade_is_the_last_write_or_the_last_answer() -> None:
    play = played([asks(("jira_search", {}))], made("1.0", "jira_search"), [asks(text="Hm.")], ended())
    grades = graded([Expectations.model_validate({"world": {"added": {"/jira/*": {}}}})], Rubric(), play)
    ((_, _, step),) = failures(grades, "world.added")
    assert step == "entry 6.0"


def test_case_expects_the_changes_of_its_whole_play_and_later_turns_expect_their_own() -> None:
    first = difference({"jira": {}}, {"jira": {"PAY-1": {}}})
    second = difference({"jira": {"PAY-1": {}}}, {"jira": {"PAY-1": {}, "PAY-2": {}}})
    both = difference({"jira": {}}, {"jira": {"PAY-1": {}, "PAY-2": {}}})
    play = play_of(played_turn(ended(), world=first), played_turn(ended(), world=second), world=both)
    later = Turn.model_validate({"trigger": {}, "expect": {"world": {"counts": {"/jira/*": 1}}}})
    case = Case.model_validate({"name": "two", "expect": {"world": {"counts": {"/jira/*": 2}}}})
    grades = graded_case(case.model_copy(update={"then": (later,)}), play)
    assert failures(grades, "world.counts") == []
    assert [grade.turn for grade in grades if grade.dimension == "world.counts"] == [1, 2]


def test_unknown_effect_of_a_call_counts_as_a_write() -> None:
    turn = (
        [asks(("jira_create_issue", {}))],
        [e.ToolCall("1.0", "jira_create_issue", "blind"), e.ToolUnknown("1.0", "")],
    )
    play = played(*turn, [asks(text="Hm.")], ended())
    grades = graded([Expectations.model_validate({"world": {"added": {"/jira/*": {}}}})], Rubric(), play)
    ((_, _, step),) = failures(grades, "world.added")
    assert step == "1.0"


@pytest.mark.parametrize(
    ("systems", "path", "word"),
    [((), "/jira/*", "no world"), ((), "**", "no world"), (("slack",), "jira", "no `jira`")],
)
def test_system_that_the_world_lacks_makes_the_run_no_evidence(systems: tuple[str, ...], path: str, word: str) -> None:
    for kind, written in (("unchanged", [path]), ("counts", {path: 0})):
        play = played(ended(), systems=systems)
        grades = graded([Expectations.model_validate({"world": {kind: written}, "checks": "none"})], Rubric(), play)
        run = case_run(1, play, grades)
        assert (run.outcome, word in run.problem) == ("no_evidence", True)


def test_systems_that_the_world_has_are_graded_beside_an_absent_one() -> None:
    play = played(ended(), systems=("slack",), world=CHANGES)
    expect = Expectations.model_validate({"world": {"unchanged": ["jira", "slack"]}, "checks": "none"})
    run = case_run(1, play, graded([expect], Rubric(), play))
    assert [grade.missing for grade in run.grades if not grade.passed] == ["no_evidence", ""]
    assert run.outcome == "failed"
