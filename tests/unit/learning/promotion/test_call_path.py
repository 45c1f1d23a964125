"""The common path of runs: its steps, unordered reads, loops, and how other runs deviate."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.promotion.call_path import Loop, common_path
from gofer.learning.promotion.observed_run import ObservedRun
from gofer.learning.promotion.references import Reference
from support.learning.observed_runs import made, observed


def notified(number: int, owners: int) -> ObservedRun:
    """Return a run that finds some owners and tells each of them."""
    people = [{"name": f"Owner {number}-{index}"} for index in range(owners)]
    told = [made("tell", who=person["name"], text=f"Order o-{number}") for person in people]
    found = made("find", {"text": "", "people": people}, id=f"o-{number}")
    return observed(number, {"id": f"o-{number}"}, found, *told)


def test_calls_of_most_runs_are_the_path() -> None:
    runs = [observed(n, {"id": f"o-{n}"}, made("find", id=f"o-{n}"), made("tell", text="x")) for n in range(9)]
    runs.append(observed(9, {"id": "o-9"}, made("find", id="o-9"), made("log"), made("tell", text="x"), made("log")))
    runs.append(observed(10, {"id": "o-10"}, made("tell", text="x")))
    path = common_path(runs)
    assert [step.tool for step in path.steps] == ["find", "tell"]
    assert (len(path.following), len(path.having(0)), len(path.having(1))) == (9, 10, 11)
    assert path.deviations == [
        ("with log after call 1, with log after call 2", ["run09"]),
        ("without call 1 find", ["run10"]),
    ]


def test_additional_call_is_the_one_with_other_arguments() -> None:
    runs = [observed(n, {"id": f"o-{n}"}, made("tell", text=f"hello o-{n}")) for n in range(5)]
    runs.append(observed(5, {"id": "o-5"}, made("tell", text="by the way"), made("tell", text="hello o-5")))
    path = common_path(runs)
    assert [call.arguments["text"] for call in path.runs[5].steps[0]] == ["hello o-5"]
    assert path.runs[5].deviation == "with tell at the begin"


@given(st.lists(st.permutations([("find", "id"), ("find", "city"), ("look", "id")]), min_size=3, max_size=6))
def test_reads_of_one_turn_have_no_order(orders: Sequence[Sequence[tuple[str, str]]]) -> None:
    runs: list[ObservedRun] = []
    for number, order in enumerate(orders):
        body = {"id": f"o-{number}", "city": f"City {number}"}
        reads = [made(tool, turn=1, what=body[field]) for tool, field in order]
        runs.append(observed(number, body, *reads, made("tell", turn=2, text="x")))
    path = common_path(runs)
    assert len(path.following) == len(runs)
    for followed in path.runs:
        assert [followed.steps[step][0].arguments.get("what") for step in (0, 1)] == [
            followed.run.event.text.split('"')[7],
            followed.run.event.text.split('"')[3],
        ]


def test_calls_for_each_item_of_a_list_are_one_step() -> None:
    path = common_path([notified(number, 1 + number % 3) for number in range(9)])
    assert [step.tool for step in path.steps] == ["find", "tell"]
    assert path.steps[1].loop == Loop(Reference("result", ("people",), 0), "who", ("name",))
    assert [len(run.steps[1]) for run in path.runs] == [1, 2, 3] * 3
    assert len(path.following) == 9


def test_repeated_calls_without_a_list_are_no_loop() -> None:
    runs = [observed(n, {"id": n}, *[made("tell", text="x")] * (1 + n % 2)) for n in range(9)]
    path = common_path(runs)
    assert [step.loop for step in path.steps] == [None]
    assert len(path.following) == 5


@given(st.lists(st.lists(st.sampled_from(["find", "tell", "log"]), max_size=6), min_size=1, max_size=8))
def test_path_is_the_same_for_runs_in_any_order(tools: Sequence[Sequence[str]]) -> None:
    runs = [observed(number, {"id": number}, *map(made, called)) for number, called in enumerate(tools)]
    path = common_path(runs)
    other = common_path(runs[::-1])
    assert [step.tool for step in path.steps] == [step.tool for step in other.steps]
    assert {run.run.run: run.deviation for run in path.runs} == {run.run.run: run.deviation for run in other.runs}
    for run in path.runs:
        assert run.follows == ([call.tool for call in run.run.calls] == [step.tool for step in path.steps])
