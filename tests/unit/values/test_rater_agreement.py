"""The agreement of two raters: known tables, and what holds for every table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.rater_agreement import RaterAgreement

COUNTS = st.integers(0, 500)
TABLES = st.builds(RaterAgreement, both_good=COUNTS, both_bad=COUNTS, wrongly_good=COUNTS, wrongly_bad=COUNTS)


def test_known_table() -> None:
    found = RaterAgreement(both_good=20, both_bad=15, wrongly_good=5, wrongly_bad=10)
    assert (found.examples, found.agreed, found.share, found.base_rate, found.fewest) == (50, 35, 0.7, 0.6, 20)
    assert found.kappa == pytest.approx(0.4)


def test_no_examples_have_no_kappa() -> None:
    assert (RaterAgreement().share, RaterAgreement().kappa) == (0, None)


@given(TABLES)
def test_kappa_is_at_most_the_share_and_one_for_full_agreement(found: RaterAgreement) -> None:
    if found.kappa is None:
        assert not found.fewest
    else:
        assert -1 <= found.kappa <= found.share + 1e-9
        assert (found.kappa == pytest.approx(1)) == (found.agreed == found.examples)
