"""Candidates among requests: planted subjects are found, unrelated requests make none, and the order is fixed."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.candidates.candidates import FEWEST_RUNS, candidates
from gofer.learning.candidates.requests import Request
from support.learning.subjects import HOUR, noise, request, subjects


def test_three_subjects_among_noise_are_three_candidates() -> None:
    found = candidates(subjects(300))
    assert len(found) == 3
    assert {one.tools[0].name for one in found} == {"notion_search", "slack_read_thread", "jira_search"}
    assert all(one.people > 5 and one.usd is not None for one in found)


def test_unrelated_requests_make_no_candidate() -> None:
    assert candidates(noise(200)) == []


@given(st.integers(0, 2**32))
def test_candidates_are_always_the_same_for_the_same_requests(seed: int) -> None:
    requests = subjects(60, seed)
    assert candidates(requests) == candidates(list(requests))


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_each_run_is_in_one_candidate_at_most(seed: int, count: int) -> None:
    found = candidates(subjects(count, seed))
    runs = [run for one in found for run in one.runs]
    assert len(runs) == len(set(runs))
    assert len({one.name for one in found}) == len(found)


def days(count: int, apart: int) -> Sequence[Request]:
    texts = ("where is the invoice of the order", "send the invoice of the order", "invoice of which order")
    return [request(number, texts[number % 3], at=number * apart) for number in range(count)]


@pytest.mark.parametrize(
    ("requests", "count"),
    [(days(FEWEST_RUNS, 24 * HOUR), 1), (days(FEWEST_RUNS - 1, 24 * HOUR), 0), (days(20, 1000), 0)],
)
def test_candidate_needs_five_runs_on_two_days(requests: Sequence[Request], count: int) -> None:
    assert len(candidates(requests)) == count


def test_cost_of_a_candidate_is_unknown_if_that_of_a_run_is() -> None:
    first, *others = days(6, 24 * HOUR)
    (found,) = candidates([replace(first, usd=None), *others])
    assert (found.usd, found.usd_per_run) == (None, None)


def test_order_of_requests_changes_no_member_of_clear_subjects() -> None:
    requests = list(subjects(300))
    found = {frozenset(one.runs) for one in candidates(requests)}
    random.Random(1).shuffle(requests)
    shuffled = {frozenset(one.runs) for one in candidates(requests)}
    for one in found:
        assert max(len(one & other) / len(one | other) for other in shuffled) > 0.9
