"""Quantities of a text: numbers in any spelling, units, and dates."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.judging.quantities import PLACE, Quantity, measured, same_quantity


def only(text: str) -> Quantity:
    (quantity,) = measured(text).quantities
    return quantity


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("1,5 s", "1500 ms"),
        ("1.5 seconds", "1500 ms"),
        ("12 %", "0.12"),
        ("12 percent", "12%"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1'234'567", "1 234 567".replace(" ", "\u202f")),
        ("1.234,50 €", "€1,234.50"),
        ("2 h", "120 minutes"),
        ("2 kB", "2000 bytes"),
        ("1 KiB", "1024 B"),
        ("1.5k", "1500"),
        ("2 million", "2,000,000"),
        ("2026-03-02", "2 March 2026"),
        ("2.3.2026", "Mar 2, 2026"),
        ("-5", "−5"),
    ],
)
def test_spellings_of_one_quantity_are_the_same_when_units_may_differ(one: str, two: str) -> None:
    assert same_quantity(only(one), only(two), rounded=True) == "same"
    assert same_quantity(only(two), only(one), rounded=True) == "same"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("1,5 s", "15 s"),
        ("12 %", "12"),
        ("5 s", "5 kg"),
        ("5", "-5"),
        ("10 USD", "10 EUR"),
        ("2026-03-02", "2026-02-03"),
        ("0.12", "0"),
        ("1.4", "1"),
        ("1487", "1500"),
    ],
)
def test_other_quantities_differ_even_when_rounding_is_permitted(one: str, two: str) -> None:
    assert same_quantity(only(one), only(two), rounded=True) == "different"


@pytest.mark.parametrize(
    ("exact", "rounded"), [("1487 ms", "1.5 s"), ("0.4567", "0.46"), ("1487", "about 1500"), ("33.3 %", "33%")]
)
def test_rounded_quantity_is_the_same_only_when_rounding_is_permitted(exact: str, rounded: str) -> None:
    assert same_quantity(only(exact), only(rounded), rounded=True) == "same"
    assert same_quantity(only(exact), only(rounded), rounded=False) == "different"


def test_separator_with_two_meanings_leaves_the_decision_open() -> None:
    assert same_quantity(only("1.500"), only("1500"), rounded=False) == "unclear"
    assert same_quantity(only("1,500"), only("1500"), rounded=False) == "same"
    assert same_quantity(only("1,500"), only("1.500"), rounded=False) == "unclear"
    assert same_quantity(only("0.125"), only("125"), rounded=False) == "different"


@pytest.mark.parametrize("text", ["OPS-12", "v1.2.3", "at 14:30", "1. First\n2) Second", "3rd", "#12", "a/12", "c4d"])
def test_names_times_and_list_marks_are_no_quantities(text: str) -> None:
    assert measured(text).quantities == ()


def test_rest_of_a_text_has_a_place_for_each_quantity() -> None:
    found = measured("From 2026-03-02 on, 12 % of 1,500 calls took 1,5 s.")
    assert found.rest == f"From {PLACE} on, {PLACE} of {PLACE} calls took {PLACE}."
    assert [quantity.dimension for quantity in found.quantities] == ["date", "number", "number", "time"]


@given(st.integers(0, 10**12))
def test_integer_is_the_same_with_and_without_separators(number: int) -> None:
    plain = only(str(number))
    assert same_quantity(plain, only(f"{number:,}"), rounded=False) == "same"
    assert same_quantity(plain, only(f"{number:,}".replace(",", "’")), rounded=False) == "same"
    assert same_quantity(plain, only(f"{number:,}".replace(",", ".")), rounded=False) in ("same", "unclear")
    assert plain.value == number


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_sameness_is_symmetric_and_exact_for_integers(one: int, two: int) -> None:
    first = only(f"{one} ms")
    second = only(f"{two} ms")
    same = same_quantity(first, second, rounded=False)
    assert same == same_quantity(second, first, rounded=False)
    assert (same == "same") == (one == two)
    assert first.value == Fraction(one, 1000)


@given(st.text())
def test_any_text_can_be_measured_and_put_together_again(text: str) -> None:
    found = measured(text)
    assert found.rest.count(PLACE) >= len(found.quantities)
