"""Agreement with labels: kappa with its interval, and every reason why a criterion does not block."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.eval_file import Criterion
from gofer.evals.judging.agreement import AGAIN, Agreement, not_blocking
from gofer.evals.judging.labels import Labels
from gofer.evals.judging.question import PROMPT_SHA256, criterion_sha256

CRITERION = Criterion(id="cause", ask="Does it name the cause?", labels="cause.jsonl")
LABELS = Labels((), "l" * 64)
URL = "https://models.example/v1"
COUNTS = st.integers(0, 200)


def agreement(
    both_correct: int = 10,
    both_incorrect: int = 10,
    wrongly_correct: int = 0,
    wrongly_incorrect: int = 0,
    **more: object,
) -> Agreement:
    values = {
        "criterion": "cause",
        "criterion_sha256": criterion_sha256(CRITERION),
        "labels_sha256": LABELS.sha256,
        "prompt_sha256": PROMPT_SHA256,
        "judge": "judge-model",
        "endpoint": URL,
        "measured_on": date(2026, 3, 2),
        "both_correct": both_correct,
        "both_incorrect": both_incorrect,
        "wrongly_correct": wrongly_correct,
        "wrongly_incorrect": wrongly_incorrect,
    }
    return Agreement.model_validate({**values, **more})


def reason(measured: Agreement | None, criterion: Criterion = CRITERION, judge: str = "judge-model") -> str:
    return not_blocking(criterion, judge, URL, LABELS, measured)


def test_kappa_of_a_known_table() -> None:
    # Twenty both yes, fifteen both no, five and ten apart: agreement 0.7, chance 0.5.
    measured = agreement(20, 15, 5, 10)
    assert (measured.accuracy, measured.kappa) == (0.7, pytest.approx(0.4))
    assert measured.base_rate == 0.6
    interval = measured.kappa_interval
    assert interval is not None
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.125, 0.618)


def test_judge_that_always_says_correct_has_no_agreement_beyond_chance() -> None:
    measured = agreement(90, 0, 10, 0)
    assert (measured.accuracy, measured.kappa) == (0.9, pytest.approx(0))
    assert "beyond chance" in reason(measured)


def test_perfect_agreement_on_twenty_examples_keeps_an_interval() -> None:
    interval = agreement().kappa_interval
    assert interval is not None
    assert interval.low < 0.7 < interval.high == pytest.approx(1)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_figures_stay_within_their_ranges(a: int, b: int, c: int, d: int) -> None:
    measured = agreement(a, b, c, d)
    assert 0 <= measured.accuracy <= 1
    assert 0 <= measured.base_rate <= 1
    kappa = measured.kappa
    interval = measured.kappa_interval
    assert (kappa is None) == (interval is None)
    if kappa is not None and interval is not None:
        assert -1 <= interval.low <= kappa + 1e-9
        assert kappa <= interval.high + 1e-9
        assert interval.high <= 1 + 1e-9


def test_measured_and_high_agreement_may_block() -> None:
    assert reason(agreement()) == ""
    assert reason(agreement(9, 9, 1, 1)) == ""


@pytest.mark.parametrize(
    "measured",
    [
        agreement(judge="other-model"),
        agreement(endpoint="http://127.0.0.1:9/v1"),
        agreement(endpoint=""),
        agreement(unanswered=3),
        agreement(prompt_sha256="other"),
        agreement(criterion_sha256="other"),
        agreement(labels_sha256="other"),
        None,
    ],
)
def test_outdated_or_missing_measurement_does_not_block(measured: Agreement | None) -> None:
    assert reason(measured).endswith(AGAIN)


@pytest.mark.parametrize(
    ("measured", "why"),
    [
        (agreement(9, 9), "Label 20 examples or more"),
        (agreement(26, 4), "5 or more of each label"),
        (agreement(10, 10, 5, 5), "agrees with 20 of 30 labels, which is below 80%"),
        (agreement(10, 10, without_verdict=10), "agrees with 20 of 30 labels"),
        (agreement(steered=1, steering_tried=10), "1 of 10 examples could make the judge say CORRECT"),
    ],
)
def test_low_agreement_does_not_block(measured: Agreement, why: str) -> None:
    assert why in reason(measured)


def test_least_agreement_of_the_criterion_decides() -> None:
    strict = CRITERION.model_copy(update={"least_agreement": 0.95})
    assert "below 95%" in reason(agreement(9, 9, 1, 1), strict)


def test_measurement_of_another_endpoint_names_the_base_url() -> None:
    measured = agreement(endpoint="http://127.0.0.1:9/v1")
    assert "with judge-model of another endpoint, http://127.0.0.1:9/v1." in reason(measured)
    # A check knows the base URL of no default endpoint.
    assert not_blocking(CRITERION, "judge-model", "", LABELS, measured) == ""
    assert "does not name the endpoint" in not_blocking(CRITERION, "judge-model", "", LABELS, agreement(endpoint=""))


def test_incomplete_measurement_says_how_many_labels_are_judged() -> None:
    assert reason(agreement(unanswered=4)) == f"The agreement is measured on 20 of 24 labels. {AGAIN}"
