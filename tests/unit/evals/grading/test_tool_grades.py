"""The grades of calls: required, forbidden, in order and only, in the words of a report."""

from collections.abc import Sequence

import pytest

from gofer.evals.eval_file import Expectations, Rubric
from gofer.evals.grading.grading import graded
from gofer.evals.plays import Play
from gofer.journal import entries as e
from gofer.journal.entries import Entry
from gofer.projections import progress
from support.evals.played import asks, bundle, ended, failures, made, play_of, played, played_turn, recorded, refused
from support.stand_ins import mention

TICKET = {"project": "PAY", "summary": "Checkout fails"}


def tools(play: Play, **written: object) -> dict[str, list[tuple[str, str, str]]]:
    """Return the failures of each kind of expectation about tools."""
    grades = graded([Expectations.model_validate({"tools": written})], Rubric(), play)
    return {kind: failures(grades, f"tools.{kind}") for kind in written}


def filed(*frames: Sequence[Entry]) -> Play:
    """Return a play that reads a thread, files a ticket and answers."""
    return played(
        [asks(("slack_read_thread", {"channel": "C1"}))],
        made("1.0", "slack_read_thread"),
        [asks(("jira_create_issue", TICKET))],
        made("2.0", "jira_create_issue"),
        *frames,
        [asks(text="PAY-1 is filed.")],
        ended("PAY-1 is filed."),
    )


TWICE = ([asks(("jira_create_issue", TICKET))], made("3.0", "jira_create_issue"))


def test_required_call_with_fitting_arguments_passes() -> None:
    wanted = {
        "jira_create_issue": {"times": 1, "arguments": {"project": "PAY", "summary": {"matches": "(?i)checkout"}}}
    }
    assert tools(filed(), required=["slack_read_thread", wanted]) == {"required": []}


def test_call_made_too_often_is_counted_with_its_call_ids() -> None:
    wanted = {"jira_create_issue": {"times": 1, "arguments": {"project": "PAY"}}}
    assert tools(filed(*TWICE), required=[wanted])["required"] == [
        ("jira_create_issue once with project PAY", "it was called 2 times (calls 2.0 and 3.0)", "3.0")
    ]


def test_call_made_too_seldom_is_counted() -> None:
    wanted = {"jira_create_issue": {"times": 2}}
    assert tools(filed(), required=[wanted])["required"] == [
        ("jira_create_issue 2 times", "it was called once (call 2.0)", "entry 8.0")
    ]


def test_call_that_was_never_made_shows_the_calls_made_instead() -> None:
    assert tools(filed(), required=["slack_post_message"])["required"] == [
        (
            "a call of slack_post_message",
            "it was not called; the run called slack_read_thread and jira_create_issue",
            "entry 8.0",
        )
    ]


def test_run_without_a_call_is_said_to_have_called_no_tool() -> None:
    play = played([asks(text="No idea.")], ended("No idea."))
    assert tools(play, required=["jira_search"])["required"] == [
        ("a call of jira_search", "it was not called; the run called no tool", "entry 4.0")
    ]


def test_differing_argument_is_shown_with_its_call() -> None:
    wanted = {"jira_create_issue": {"arguments": {"project": "OPS", "summary": {"matches": "Checkout"}}}}
    assert tools(filed(), required=[wanted])["required"] == [
        (
            'a call of jira_create_issue with project OPS and summary {"matches": "Checkout"}',
            "in call 2.0 `project` is `PAY`; expected `OPS`",
            "2.0",
        )
    ]


def test_nearest_of_several_calls_is_shown_with_the_number_of_further_arguments() -> None:
    play = played(
        [asks(("jira_create_issue", {"project": "OPS", "type": "Task"}), ("jira_create_issue", {"project": "PAY"}))],
        made("1.0", "jira_create_issue"),
        made("1.1", "jira_create_issue"),
        ended(),
    )
    wanted = {"jira_create_issue": {"arguments": {"project": "PAY", "type": "Bug"}}}
    assert tools(play, required=[wanted])["required"] == [
        (
            "a call of jira_create_issue with project PAY and type Bug",
            "in call 1.1 `type` is missing; expected `Bug`",
            "1.1",
        )
    ]
    both = {"jira_create_issue": {"arguments": {"project": "SEC", "type": "Bug"}}}
    (_, happened, step), *_ = tools(play, required=[both])["required"]
    assert happened == "in call 1.0 `project` is `OPS`; expected `SEC` (1 further argument did not match)"
    assert step == "1.0"


def test_failed_call_is_no_required_call_and_shows_its_error() -> None:
    play = played(
        [asks(("jira_create_issue", TICKET))],
        made("1.0", "jira_create_issue", "error", "Jira answered 500"),
        ended(),
    )
    assert tools(play, required=["jira_create_issue"])["required"] == [
        ("a call of jira_create_issue", "call 1.0 failed: “Jira answered 500”", "1.0")
    ]


@pytest.mark.parametrize(
    ("status", "entries"),
    [
        ("ok", made("1.0", "jira_search")),
        ("error", made("1.0", "jira_search", "error")),
        ("refused", refused("1.0")),
        ("unknown", made("1.0", "jira_search", "unknown")),
    ],
)
def test_expected_outcome_of_a_call_is_compared(status: str, entries: Sequence[Entry]) -> None:
    play = played([asks(("jira_search", {}))], entries, ended())
    for expected in ("ok", "error", "refused", "unknown"):
        passed = not tools(play, required=[{"jira_search": {"status": expected}}])["required"]
        assert passed == (expected == status)
    assert tools(play, required=[{"jira_search": {"status": None}}])["required"] == []


@pytest.mark.parametrize(
    ("entries", "happened"),
    [
        (refused("1.0", "repeated"), "call 1.0 asked for it; the gate refused it (repeated)"),
        (made("1.0", "jira_search", "refused", code="403"), "call 1.0 was refused by its system (403)"),
        (made("1.0", "jira_search", "error", "no luck"), "call 1.0 failed: “no luck”"),
        (made("1.0", "jira_search", "error"), "call 1.0 failed"),
        (made("1.0", "jira_search", "unknown"), "the outcome of call 1.0 is unknown"),
        (made("1.0", "jira_search")[:1], "call 1.0 has no outcome"),
    ],
)
def test_outcome_of_a_call_is_told(entries: Sequence[Entry], happened: str) -> None:
    play = played([asks(("jira_search", {}))], entries, ended())
    assert tools(play, required=["jira_search"])["required"] == [("a call of jira_search", happened, "1.0")]


def test_expected_outcomes_are_named() -> None:
    play = played([asks()], ended())
    wanted = [
        {"jira_search": {"status": "error"}},
        {"jira_search": {"status": "refused"}},
        {"jira_search": {"status": "unknown", "times": 2}},
    ]
    assert [expected for expected, _, _ in tools(play, required=wanted)["required"]] == [
        "a call of jira_search, which must fail",
        "a call of jira_search, which must be refused",
        "jira_search 2 times, whose outcome must be unknown",
    ]


def test_zero_times_requires_that_no_such_call_had_success() -> None:
    wanted = {"jira_create_issue": {"times": 0, "arguments": {"project": "PAY"}}}
    assert tools(filed(), required=[wanted])["required"] == [
        ("no call of jira_create_issue with project PAY", "it was called once (call 2.0)", "2.0")
    ]
    other = {"jira_create_issue": {"times": 0, "arguments": {"project": "OPS"}}}
    assert tools(filed(), required=[other]) == {"required": []}


ABSENT = "the workflow has no tool jira_make_issue any more; the most similar one is jira_create_issue"


def test_renamed_tool_is_named_with_the_most_similar_one() -> None:
    wanted = {"jira_make_issue": {"times": 1, "arguments": {"project": "PAY"}}}
    assert tools(filed(), required=[wanted])["required"] == [
        (
            "jira_make_issue once with project PAY",
            f"{ABSENT}; the run called slack_read_thread and jira_create_issue",
            "entry 8.0",
        )
    ]


def test_renamed_tool_that_the_model_still_asks_for_shows_the_refused_call() -> None:
    play = played([asks(("zzz_tool", {}))], refused("1.0"), ended())
    assert tools(play, required=["zzz_tool"])["required"] == [
        (
            "a call of zzz_tool",
            "the workflow has no tool zzz_tool any more; call 1.0 asked for it; the gate refused it (unknown_tool)",
            "1.0",
        )
    ]


def test_tool_that_a_search_finds_is_a_tool_of_the_workflow() -> None:
    setup = bundle(("jira_search", "jira_create_issue", "slack_post_message"), search_above=2)
    listed = {"function": {"name": "todo_write"}}
    play = play_of(played_turn([asks()], ended(), bundle=type(setup)(setup.loaded, [listed])))
    ((_, happened, _),) = tools(play, required=["jira_search"])["required"]
    assert happened == "it was not called; the run called no tool"


def test_run_that_did_not_start_has_no_known_tools() -> None:
    play = play_of(played_turn(bundle=None))
    ((_, happened, _),) = tools(play, required=["jira_search"])["required"]
    assert happened == "it was not called; the run called no tool"


def test_forbidden_call_that_a_gate_refused_counts_as_made() -> None:
    play = played([asks(("slack_broadcast", {}))], refused("1.0"), ended())
    assert tools(play, forbidden=["slack_broadcast"])["forbidden"] == [
        ("no call of slack_broadcast", "call 1.0 asked for it; the gate refused it (unknown_tool)", "1.0")
    ]


def test_forbidden_call_is_counted_and_its_first_one_named() -> None:
    assert tools(filed(*TWICE), forbidden=["jira_create_issue"])["forbidden"] == [
        (
            "no call of jira_create_issue",
            "it was called 2 times (calls 2.0 and 3.0); call 2.0 was made with success",
            "2.0",
        )
    ]


def test_forbidden_call_is_one_with_its_arguments_and_its_outcome_if_named() -> None:
    for arguments, passes in (({"project": "PAY"}, False), ({"project": "OPS"}, True)):
        written = {"jira_create_issue": {"arguments": arguments}}
        assert (not tools(filed(), forbidden=[written])["forbidden"]) == passes
    assert tools(filed(), forbidden=[{"jira_create_issue": {"status": "error"}}])["forbidden"] == []
    assert tools(filed(), forbidden=[{"jira_create_issue": {"status": "ok"}}])["forbidden"] != []
    (expected, _, _), *_ = tools(filed(), forbidden=[{"jira_create_issue": {"arguments": {"project": "PAY"}}}])[
        "forbidden"
    ]
    assert expected == "no call of jira_create_issue with project PAY"


def test_calls_in_order_may_have_other_calls_between() -> None:
    assert tools(filed(*TWICE), in_order=["slack_read_thread", "jira_create_issue", "jira_create_issue"]) == {
        "in_order": []
    }


def test_call_before_another_one_is_out_of_order() -> None:
    assert tools(filed(), in_order=["jira_create_issue", "slack_read_thread"])["in_order"] == [
        (
            "a call of slack_read_thread after jira_create_issue",
            "it was called only before that (call 1.0; jira_create_issue was call 2.0)",
            "1.0",
        )
    ]


def test_call_missing_from_an_order_is_told_once() -> None:
    expected = ["slack_read_thread", "jira_search", "slack_post_message"]
    assert tools(filed(), in_order=expected)["in_order"] == [
        (
            "a call of jira_search after slack_read_thread",
            "it was not called; the run called slack_read_thread and jira_create_issue",
            "entry 8.0",
        )
    ]


def test_call_repeated_in_an_order_must_be_made_so_often() -> None:
    twice = {"jira_create_issue": {"times": 2}}
    assert tools(filed(*TWICE), in_order=["slack_read_thread", twice])["in_order"] == []
    assert tools(filed(), in_order=[twice])["in_order"] == [
        ("jira_create_issue 2 times", "it was called once (call 2.0)", "entry 8.0")
    ]
    assert tools(filed(), in_order=[{"jira_create_issue": {"times": 2**62}}])["in_order"] != []


def test_order_compares_arguments_and_outcomes() -> None:
    assert tools(filed(), in_order=[{"jira_create_issue": {"arguments": {"project": "PAY"}}}])["in_order"] == []
    assert tools(filed(), in_order=[{"jira_create_issue": {"arguments": {"project": "OPS"}}}])["in_order"] != []


def test_other_tools_than_the_only_ones_are_listed_with_their_first_calls() -> None:
    assert tools(filed(*TWICE), only=["slack_read_thread"])["only"] == [
        ("calls of slack_read_thread only", "the run also called jira_create_issue (call 2.0)", "2.0")
    ]
    assert tools(filed(), only=["slack_read_thread", "jira_create_issue"])["only"] == []
    ((expected, happened, _),) = tools(filed(), only=[])["only"]
    assert expected == "calls of no tool only"
    assert happened == "the run also called slack_read_thread (call 1.0) and jira_create_issue (call 2.0)"


def test_tools_of_every_run_may_always_be_called() -> None:
    play = played([asks(("todo_write", {}))], made("1.0", "todo_write"), ended())
    assert tools(play, only=[])["only"] == []


def test_refused_call_of_another_tool_is_not_one_of_the_only_tools() -> None:
    play = played([asks(("x" * 500, {}))], refused("1.0"), ended())
    ((_, happened, _),) = tools(play, only=["jira_search"])["only"]
    assert happened == f"the run also called {'x' * 64}… (call 1.0)"


def test_calls_of_the_run_itself_are_no_calls_of_the_model() -> None:
    play = played(made("context/1", "slack_read_thread"), [asks(text="Hi.")], ended())
    assert tools(play, only=[], forbidden=["slack_read_thread"]) == {"only": [], "forbidden": []}
    assert tools(play, required=["slack_read_thread"])["required"] != []


def test_call_with_unreadable_arguments_matches_no_arguments() -> None:
    play = played([asks(("jira_create_issue", "{not json"))], refused("1.0", "not_carried_out"), ended())
    wanted = {"jira_create_issue": {"arguments": {"project": "PAY"}, "status": None}}
    assert tools(play, required=[wanted])["required"] == [
        ("a call of jira_create_issue with project PAY", "in call 1.0 the arguments are no JSON object", "1.0")
    ]
    assert tools(play, required=[{"jira_create_issue": {"status": "refused"}}])["required"] == []


def test_call_of_a_subagent_run_counts_and_names_the_call_that_asked_for_the_subagent() -> None:
    started = e.SubagentStarted("1.0", "filer", "File it.", {}, run="run1.sub")
    below = e.SubagentStarted("1.0", "deep", "Deeper.", {}, run="run1.sub.deep")
    subagent = recorded([e.RunAccepted(mention(), "filer")], [asks(("jira_create_issue", TICKET))], [below])
    deeper = recorded([], [], [asks(("slack_post_message", {}))], made("1.0", "slack_post_message"))
    filing = [*subagent, *recorded([], [], [], [], made("1.0", "jira_create_issue"))]
    turn = played_turn(
        [asks(("subagent", {"agent_name": "filer"}))],
        made("1.0", "subagent")[:1],
        [started],
        made("1.0", "subagent")[1:],
        ended(),
        subagents={"run1.sub": filing, "run1.sub.deep": deeper},
    )
    play = play_of(turn)
    assert tools(play, required=["jira_create_issue", "subagent"])["required"] == []
    assert tools(play, forbidden=["slack_post_message"])["forbidden"] == [
        ("no call of slack_post_message", "call 1.0 of the subagent that call 1.0 asked was made with success", "1.0")
    ]
    assert tools(play, in_order=["jira_create_issue", "slack_post_message", "subagent"])["in_order"] == []


def test_long_values_and_many_calls_are_cut() -> None:
    calls = [("jira_create_issue", {"summary": "long " * 10_000}) for _ in range(50)]
    play = played([asks(*calls)], *(made(f"1.{at}", "jira_create_issue") for at in range(50)), ended())
    wanted = {"jira_create_issue": {"times": 1, "arguments": {"summary": "long " * 10_000}}}
    ((expected, happened, step),) = tools(play, required=[wanted])["required"]
    assert len(expected) < 400
    assert happened == "it was called 50 times (calls 1.0, 1.1, 1.2, 1.3, 1.4 and 45 more)"
    assert step == "1.1"


def test_given_calls_of_a_decision_point_are_not_calls_of_the_run() -> None:
    turn = played_turn(
        [asks(("jira_search", {}))],
        made("1.0", "jira_search"),
        [asks(("slack_post_message", {}))],
        given_answers=1,
    )
    assert tools(play_of(turn), forbidden=["jira_search"], only=["slack_post_message"]) == {"forbidden": [], "only": []}
    assert progress.project(turn.entries).tool_calls == 1


def test_too_few_calls_show_the_nearest_other_call_as_well() -> None:
    calls = ("jira_create_issue", {"project": "PAY"}), ("jira_create_issue", {"project": "OPS"})
    play = played([asks(*calls)], made("1.0", "jira_create_issue"), made("1.1", "jira_create_issue"), ended())
    wanted = {"jira_create_issue": {"times": 2, "arguments": {"project": "PAY"}}}
    assert tools(play, required=[wanted])["required"] == [
        (
            "jira_create_issue 2 times with project PAY",
            "it was called once (call 1.0); in call 1.1 `project` is `OPS`; expected `PAY`",
            "1.1",
        )
    ]


def test_earlier_call_with_other_arguments_is_not_called_out_of_order() -> None:
    after = {"slack_read_thread": {"arguments": {"channel": "C2"}}}
    ((_, happened, step),) = tools(filed(), in_order=["jira_create_issue", after])["in_order"]
    assert (happened, step) == ("in call 1.0 `channel` is `C1`; expected `C2`", "1.0")
