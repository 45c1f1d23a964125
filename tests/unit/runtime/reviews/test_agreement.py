"""The agreement of reviews with feedback: which runs count, and every reason why reviews do not count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.head_facts import HeadFacts
from gofer.runtime.reviews.agreement import Pair, agreement_of, not_counting, pair_of

COUNTS = st.integers(0, 200)


@pytest.mark.parametrize(
    ("facts", "pair"),
    [
        (HeadFacts(good=2, effective=True), (True, True)),
        (HeadFacts(bad=1, effective=True), (False, True)),
        (HeadFacts(good=1, effective=False), (True, False)),
        (HeadFacts(bad=3, effective=False), (False, False)),
        (HeadFacts(good=1, bad=1, effective=True), None),
        (HeadFacts(effective=True), None),
        (HeadFacts(good=1), None),
    ],
)
def test_run_counts_if_people_agree_and_its_review_gave_a_verdict(facts: HeadFacts, pair: Pair | None) -> None:
    assert pair_of(facts) == pair


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ({}, "not measured: 0 of at least 20 reviewed runs have feedback."),
        ({(True, True): 19}, "not measured: 19 of at least 20"),
        ({(True, True): 40, (False, False): 4}, "the rarer verdict has 4."),
        ({(True, True): 15, (False, True): 15}, "agrees with people about 15 of 30 runs, which is below 80%."),
        ({(True, True): 80, (False, True): 15, (False, False): 5}, "beyond chance (kappa) is below 0.6."),
        ({(True, True): 20, (False, False): 10, (False, True): 2}, ""),
    ],
)
def test_reviews_count_only_beside_measured_agreement(pairs: dict[Pair, int], reason: str) -> None:
    found = not_counting(agreement_of(pairs))
    assert reason in found
    assert bool(found) == bool(reason)


@given(COUNTS, COUNTS)
def test_reviewer_that_always_gives_one_verdict_never_counts(good: int, bad: int) -> None:
    assert not_counting(agreement_of({(True, True): good, (False, True): bad}))
    assert not_counting(agreement_of({(True, False): good, (False, False): bad}))
