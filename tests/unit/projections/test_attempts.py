import pytest

from gofer.projections.attempts import CRASHES, SUSPECT, UNREAD, UNSTORED, Attempts


def test_first_attempt_leads_to_no_verdict() -> None:
    first = Attempts()
    assert [first.may_have_acted, first.suspect, first.unreadable, first.poisoned] == [False] * 4


@pytest.mark.parametrize("attempts", [Attempts(receives=2), Attempts(unread=1)])
def test_attempt_without_a_mark_in_the_journal_may_have_acted(attempts: Attempts) -> None:
    assert attempts.may_have_acted


@pytest.mark.parametrize("attempts", [Attempts(crashed=CRASHES), Attempts(unstored=UNSTORED)])
def test_attempts_recorded_in_the_journal_count_as_not_having_acted(attempts: Attempts) -> None:
    assert not attempts.may_have_acted


@pytest.mark.parametrize(
    ("below", "reached", "verdict"),
    [
        (Attempts(unread=SUSPECT - 1), Attempts(unread=SUSPECT), "suspect"),
        (Attempts(crashed=SUSPECT - 1), Attempts(crashed=SUSPECT), "suspect"),
        (Attempts(unread=UNREAD - 1), Attempts(unread=UNREAD), "unreadable"),
        (Attempts(crashed=CRASHES - 1), Attempts(crashed=CRASHES), "poisoned"),
        (Attempts(unstored=UNSTORED - 1), Attempts(unstored=UNSTORED), "poisoned"),
    ],
)
def test_attempt_verdict_is_reached_exactly_at_the_threshold(below: Attempts, reached: Attempts, verdict: str) -> None:
    assert (getattr(below, verdict), getattr(reached, verdict)) == (False, True)


@pytest.mark.parametrize("attempts", [Attempts(receives=1_000), Attempts(unstored=UNSTORED)])
def test_run_that_only_meets_outages_is_not_suspect(attempts: Attempts) -> None:
    assert not attempts.suspect
