"""The verification of a script: reproduced calls, and the first difference of each other run in words."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.learning.promotion.observed_run import ObservedCall, ObservedRun
from gofer.learning.promotion.promotion_text import verification_json, verification_lines
from gofer.learning.promotion.verification import Trial, first_difference, verify
from support.learning.observed_runs import made, observed, orders

RUN = orders(1)[0]


def repeated(run: ObservedRun, stopped: str = "") -> Trial:
    """Return a trial that makes the recorded calls."""
    return Trial([replace(call, turn=0) for call in run.calls], run.answer, stopped)


def changed(call: ObservedCall, **arguments: object) -> ObservedCall:
    return replace(call, turn=0, arguments={**call.arguments, **arguments})


def difference(trial: Trial) -> tuple[int, str]:
    found = first_difference(RUN, trial, with_answer=True)
    assert found is not None
    return found.call, found.words


def test_repeated_calls_are_no_difference() -> None:
    assert first_difference(RUN, repeated(RUN), with_answer=True) is None


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([changed(RUN.calls[0], id="other"), RUN.calls[1]], (1, "argument id of find")),
        ([RUN.calls[0]], (2, "the recorded run called tell, and the script ended")),
        ([RUN.calls[1]], (1, "the recorded run called find, and the script tell")),
        ([*RUN.calls, made("log")], (3, "the script called log, and the recorded run made no further call")),
    ],
)
def test_first_other_call_is_the_difference(calls: list[ObservedCall], expected: tuple[int, str]) -> None:
    assert difference(Trial(calls, RUN.answer)) == expected


def test_difference_has_both_values() -> None:
    calls = [RUN.calls[0], changed(RUN.calls[1], text="other", more=["x"])]
    found = first_difference(RUN, Trial(calls, ""), with_answer=True)
    assert found is not None
    assert (found.recorded, found.produced) == ('"Order o-0 to City 0."', '"other"')
    calls[1] = changed(RUN.calls[1], more="x" * 500)
    found = first_difference(RUN, Trial(calls, ""), with_answer=True)
    assert found is not None
    assert (found.recorded, len(found.produced)) == ("left out", 161)


def test_other_answer_and_other_end_are_differences() -> None:
    assert difference(replace(repeated(RUN), answer="No.")) == (0, "the answer differs")
    assert first_difference(RUN, replace(repeated(RUN), answer="No."), with_answer=False) is None
    assert difference(repeated(RUN, "it failed.")) == (0, "the script made all calls, and then ended: it failed")


def test_reads_of_one_turn_may_come_in_any_order() -> None:
    reads = [made("find", id="a", turn=1), made("look", id="b", turn=1)]
    run = observed(0, {}, *reads, made("tell", turn=2))
    assert first_difference(run, Trial([reads[1], reads[0], made("tell")], run.answer), with_answer=True) is None
    writes = [made("tell", id="a", turn=1), made("tell", id="b", turn=1)]
    run = observed(0, {}, *writes)
    assert first_difference(run, Trial(writes[::-1], run.answer), with_answer=True) is not None


def test_report_counts_calls_and_explains_other_runs() -> None:
    runs = [*orders(9), observed(9, {"id": "o-9", "city": "City 9", "express": True}, made("log"))]
    trials: Mapping[str, Trial] = {run.run: repeated(run) for run in runs[:9]}
    trials = {**trials, "run09": repeated(orders(10)[9])}
    found = verify("orders", "coordinators/orders.py", runs, trials, with_answer=True, judged=True)
    assert (found.reproduced, found.is_complete) == (9, False)
    assert list(verification_lines(found)) == [
        "coordinators/orders.py on 10 recorded runs of orders.",
        "With the recorded judgement: the subagent answers what the recorded model decided.",
        "",
        "call 1   find        9 of 10",
        "call 2   tell        9 of 10",
        "end      the answer  10 of 10",
        "total                9 of 10",
        "",
        "run09 is not reproduced. Call 1: the recorded run called log, and the script find.",
        "    recorded  log {}",
        '    script    find {"id":"o-9","limit":5}',
        "    In its event, `body.express` is true, and always false in reproduced runs.",
        "    gofer trace run09 --full",
        "    gofer replay run09 --step",
    ]
    (other,) = verification_json(found)["not_reproduced"]  # type: ignore[misc]
    assert (other["run"], other["call"], other["traits"]) == (
        "run09",
        1,
        ["`body.express` is true, and always false in reproduced runs"],
    )
