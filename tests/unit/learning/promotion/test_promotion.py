"""What runs have in common: origins of all arguments, and figures if it is too little."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.promotion.origins import Constant, Judged, Taken, Template
from gofer.learning.promotion.promotion import FEWEST_RUNS, KEPT_BACK, oldest, promote
from gofer.learning.promotion.promotion_text import promotion_json, promotion_lines
from gofer.learning.promotion.references import Reference
from support.learning.observed_runs import made, observed, orders


def test_each_argument_has_its_origin() -> None:
    promotion = promote("orders", orders())
    find, tell = promotion.steps
    assert {name: found.origin for name, found in find.arguments.items()} == {
        "id": Taken(Reference("body", ("id",))),
        "limit": Constant(5),
    }
    assert tell.arguments["who"].origin == Taken(Reference("result", ("owner", "name"), 0))
    assert isinstance(tell.arguments["text"].origin, Template)
    assert isinstance(tell.arguments["mood"].origin, Judged)
    assert (promotion.answer.origin, promotion.too_little) == (Constant("Done."), "")


def test_items_of_a_loop_are_the_origin_of_its_arguments() -> None:
    runs = []
    for number in range(9):
        people = [f"Owner {number}-{index}" for index in range(1 + number % 3)]
        calls = [made("tell", who=person, text=f"Hello {person}, order {number}.") for person in people]
        runs.append(observed(number, {"id": number, "people": people}, *calls))
    (step,) = promote("orders", runs).steps
    assert step.arguments["who"].origin == Taken(Reference("item"))
    assert step.arguments["text"].origin == Template(
        ("Hello ", Reference("item"), ", order ", Reference("body", ("id",)), ".")
    )


def test_report_names_calls_origins_and_deviations() -> None:
    runs = [*orders(9), observed(9, {"id": "o-9"}, made("log"))]
    lines = list(promotion_lines(promote("orders", runs, 2)))
    assert lines[:3] == [
        "orders: 10 recorded runs.",
        "Not used: 2 runs that had bad feedback or were too large.",
        "9 of 10 take the common path:",
    ]
    assert "call 2  tell  in 9 of 10" in lines
    assert '    text  "Order {body.id} to {body.city}."' in lines
    assert "    mood  judgement (9 different values)" in lines
    assert lines[-1] == "    1 run without call 1 find, without call 2 tell, with log at the begin, such as run09"
    assert promotion_json(promote("orders", runs))["following"] == 9


def test_too_few_runs_are_named() -> None:
    promotion = promote("orders", orders(FEWEST_RUNS - 1))
    assert promotion.too_little == (
        "orders has 4 usable recorded runs, and a draft needs 6: 5 to learn from, and a newer one to verify with."
    )
    assert promote("orders", orders(3), kept_back=1).too_little.startswith("orders has 4 usable recorded runs")
    assert promote("orders", orders(1)).too_little.startswith("orders has 1 usable recorded run,")


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30))
def test_newest_runs_are_never_drafted_from(times: list[int]) -> None:
    runs = [replace(orders(1)[0], at=at) for at in times]
    drafted = [run.at for run in oldest(runs)]
    kept = [at for at in times if at > max(drafted)]
    assert sorted([*drafted, *kept]) == sorted(times)
    assert len(kept) <= max(1, len(times) // KEPT_BACK)
    # Runs of one moment stay together, and some run is always left to draft from.
    assert len(set(times)) < 2 or len(kept) or times.count(max(times)) > len(times) // KEPT_BACK


def test_created_id_is_taken_from_its_call_also_if_all_runs_have_the_same() -> None:
    runs = [
        observed(
            number,
            {"id": f"o-{number}", "owner": "Ada Owner"},
            made("create", {"text": "Created OPS-1: x", "key": "OPS-1", "project": "OPS9"}, project="OPS9"),
            made("tell", text=f"Filed OPS-1 in OPS9 for o-{number}, not OPS-10.", who="Ada Owner"),
            answer="OPS-1",
        )
        for number in range(6)
    ]
    promotion = promote("orders", runs)
    _, tell = promotion.steps
    key = Reference("result", ("key",), 0)
    text = Template(("Filed ", key, " in OPS9 for ", Reference("body", ("id",)), ", not OPS-10."))
    assert tell.arguments["text"].origin == text
    assert promotion.answer.origin == Taken(key)
    lines = list(promotion_lines(promotion))
    assert (
        '    who   always "Ada Owner"; no run has another body.owner, so whether it is constant is not known' in lines
    )


def test_runs_with_different_paths_have_too_little_in_common() -> None:
    runs = [observed(number, {"id": number}, *[made("tell", text="x")] * (number % 4 + 1)) for number in range(10)]
    assert promote("orders", runs).too_little == (
        "The most common path has 1 call, and 3 of 10 runs take it; a draft needs 60%."
    )


def test_runs_without_calls_have_no_path() -> None:
    promotion = promote("orders", [observed(number, {"id": number}) for number in range(10)])
    assert promotion.too_little.startswith("Most of the 10 runs call no tool")
