"""The plan chooses cases by name and tag, and counts their runs."""

from pathlib import Path

import pytest

from gofer.evals.eval_file import Case, Eval, Runs
from gofer.evals.load import LoadedEval
from gofer.evals.plan import chosen, plan, required_runs
from gofer.values.errors import ConfigError
from gofer.workflows.yaml_source import Source

TICKETS = LoadedEval(
    Source(Path("evals/tickets.yaml")),
    Eval(
        workflow="file-ticket",
        tags=("slow",),
        cases=(Case(name="plain", tags=("smoke",)), Case(name="duplicate", runs=Runs(n=3, require="2/3"))),
    ),
)
ANSWERS = LoadedEval(Source(Path("evals/answers.yaml")), Eval(workflow="answer", cases=(Case(name="plain"),)))
EVERY = plan([TICKETS, ANSWERS], {"answer": "script"})


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], ["tickets/plain", "tickets/duplicate", "answers/plain"]),
        (["tickets"], ["tickets/plain", "tickets/duplicate"]),
        (["evals/tickets.yaml"], ["tickets/plain", "tickets/duplicate"]),
        (["evals"], ["tickets/plain", "tickets/duplicate", "answers/plain"]),
        (["plain"], ["tickets/plain", "answers/plain"]),
        (["answers/plain", "duplicate"], ["tickets/duplicate", "answers/plain"]),
    ],
)
def test_cases_are_chosen_by_file_folder_and_name(names: list[str], found: list[str]) -> None:
    assert [case.name for case in chosen(EVERY, names, [])] == found


def test_cases_are_chosen_by_tags_of_the_file_and_of_the_case() -> None:
    assert [case.name for case in chosen(EVERY, [], ["slow"])] == ["tickets/plain", "tickets/duplicate"]
    assert [case.name for case in chosen(EVERY, [], ["smoke"])] == ["tickets/plain"]


def test_unknown_name_is_refused_with_the_known_cases() -> None:
    with pytest.raises(ConfigError, match=r"called 'nope'; the cases are tickets/plain, tickets/duplicate"):
        chosen(EVERY, ["nope"], [])
    with pytest.raises(ConfigError, match="No case has the tag 'fast'; the tags are slow, smoke"):
        chosen(EVERY, [], ["fast"])


@pytest.mark.parametrize(
    ("require", "planned", "required"),
    [("all", 4, 4), ("any", 4, 1), ("2/3", 3, 2), ("2/3", 10, 7), ("1/3", 1, 1), ("3/3", 7, 7)],
)
def test_required_runs_keep_their_share_of_the_planned_ones(require: str, planned: int, required: int) -> None:
    n = 1
    if "/" in require:
        n = int(require[-1])
    assert required_runs(Runs(n=n, require=require), planned) == required


def test_repeated_cases_play_all_runs() -> None:
    once = {case.name: case for case in EVERY}
    repeated = {case.name: case for case in plan([TICKETS], {}, repeat=9)}
    assert (once["tickets/duplicate"].planned, once["tickets/duplicate"].plays_all) == (3, False)
    assert (repeated["tickets/duplicate"].planned, repeated["tickets/duplicate"].required) == (9, 6)
    assert repeated["tickets/duplicate"].plays_all


def test_coordinator_of_a_case_is_that_of_its_workflow() -> None:
    assert [case.coordinator for case in EVERY] == ["llm", "llm", "script"]
