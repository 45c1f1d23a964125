"""Goldens as cases of a suite."""

import shutil
from pathlib import Path

import pytest

from gofer.evals.case_begin import DecisionPoint
from gofer.evals.eval_file import Expectations, OutputExpectations, Runs, ToolExpectations
from gofer.evals.goldens.golden_cases import case_of, load_cases
from gofer.evals.goldens.golden_file import Golden, read_golden_file
from gofer.evals.plan import chosen, plan

ROOT = Path(__file__).parents[4]
GOLDENS = ROOT / "evals" / "goldens"


@pytest.fixture
def golden() -> Golden:
    return read_golden_file(GOLDENS / "ticket-from-a-reaction.yaml")


def test_each_golden_is_a_case_that_names_choose() -> None:
    cases = plan(load_cases(ROOT / "evals"), {})
    names = [case.name for case in chosen(cases, ["goldens"], ())]
    assert names == [f"goldens/{path.stem}" for path in sorted(GOLDENS.glob("*.yaml"))]
    for name in ("rfc-review", "goldens/rfc-review", str(GOLDENS / "rfc-review.yaml")):
        assert [case.name for case in chosen(cases, [name], ())] == ["goldens/rfc-review"]


def test_later_turns_keep_their_own_expectations(golden: Golden) -> None:
    second = golden.turns[0].model_copy(update={"expect": Expectations(status=("parked",))})
    case = case_of(golden.model_copy(update={"turns": (golden.turns[0], second), "not_contains": ("no outage",)}))
    assert case.expect == golden.turns[0].expect
    (then,) = case.then
    assert then.expect.status == ("parked",)
    assert then.expect.output.not_contains == ("no outage",)


def test_case_is_played_as_often_as_its_golden_says(golden: Golden) -> None:
    assert case_of(golden).runs is None
    assert case_of(golden.model_copy(update={"runs": Runs(n=3)})).runs == Runs(n=3)


def test_decision_point_expects_its_next_calls_and_no_outcome(golden: Golden) -> None:
    expect = Expectations(
        tools=ToolExpectations(required=("jira_search",), forbidden=("jira_create_issue",)),
        output=OutputExpectations(contains_all=("PAY",)),
    )
    turn = golden.turns[0].model_copy(update={"expect": expect})
    changes = {"turns": (turn, turn), "decision": DecisionPoint(), "next": ("jira_search",)}
    case = case_of(golden.model_copy(update=changes))
    assert (case.expect.next, case.then) == (("jira_search",), ())
    assert case.expect.tools == ToolExpectations(forbidden=("jira_create_issue",))
    assert case.expect.output == OutputExpectations()


def test_case_of_an_eval_file_plays_a_golden_with_its_own_expectations(tmp_path: Path) -> None:
    shutil.copytree(GOLDENS, tmp_path / "goldens")
    expect = "expect: {output: {contains_all: [PAY-18]}}"
    text = f"workflow: file-ticket\ncases:\n  - name: own\n    golden: ticket-from-a-reaction\n    {expect}\n"
    (tmp_path / "file-ticket.yaml").write_text(text)
    first = load_cases(tmp_path)[0]
    (case,) = first.eval.cases
    assert case.expect.output.contains_all == ("PAY-18",)
    assert case.expect.tools == ToolExpectations()
    assert case.golden == "ticket-from-a-reaction"


def test_golden_with_a_mistake_is_a_case_with_only_its_name_beside_the_others(tmp_path: Path) -> None:
    shutil.copytree(GOLDENS, tmp_path / "goldens")
    (tmp_path / "goldens" / "Not A Name.yaml").write_text("workflow: file-ticket\n")
    (tmp_path / "goldens" / "rfc-review.yaml").write_text("{")
    found = {f"{one.name}/{case.name}": case for one in load_cases(tmp_path) for case in one.eval.cases}
    assert len(found) == len([*GOLDENS.glob("*.yaml")]) + 1
    for name in ("Not A Name", "rfc-review"):
        case = found[f"goldens/{name}"]
        assert (case.golden, case.expect) == (name, Expectations())
    assert found["goldens/ticket-from-a-reaction"].expect != Expectations()
