"""Searching a text: like grep, in linear time, with every limit said."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.search import CHARACTERS, SECONDS, Found, Search, search
from gofer.values.errors import ToolError
from gofer.values.outside import SystemClock
from support.stand_ins import SetClock


class Ticking:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        self.time += 1
        return self.time


def look(text: str | bytes, pattern: str, **options: int) -> Found:
    data = text.encode() if isinstance(text, str) else text
    return search(data, Search(pattern, **options), SystemClock())  # type: ignore[arg-type]


def test_matches_have_line_numbers_and_neighbours() -> None:
    text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
    assert look(text, "^t", before=1, after=1).text() == "1- one\n2: two\n3: three\n4- four"
    assert look(text, "one|seven", after=1).text() == "1: one\n2- two\n--\n7: seven"
    assert look(text, "eight").text() == "No line matches."


@given(
    st.lists(st.text(alphabet="abé日 \r", max_size=6), max_size=30),
    st.sampled_from(["a", "^b*$", "é|日", "a.b", " $", "x*"]),
)
def test_the_lines_found_are_those_that_match(lines: list[str], pattern: str) -> None:
    text = "\n".join(lines) + "\n" if lines else ""
    plain = text.replace("\r\n", "\n").split("\n")[:-1]
    expected = [n for n, line in enumerate(plain, 1) if re.search(pattern.replace(".", "[^\n]"), line)]
    found = look(text, pattern, max_matches=100)
    assert [line.number for line in found.lines] == expected
    assert found.matches == len(expected)


@given(st.data(), st.integers(0, 3), st.integers(0, 3))
def test_no_line_is_shown_twice_and_all_are_in_order(data: st.DataObject, before: int, after: int) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(["hit\n", "miss\n"]), max_size=40)))
    found = look(text, "hit", before=before, after=after)
    numbers = [line.number for line in found.lines]
    assert numbers == sorted(set(numbers))
    assert all((text.split("\n")[line.number - 1] == "hit") == line.matches for line in found.lines)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?<=a)b", "Look-around"),
        ("a(?!b)", "Look-around"),
        (r"(a)\1", "Back-references"),
        ("(?P<n>a)(?P=n)", "Back-references"),
        ("(?>a)", "Atomic"),
        ("a++b", "Possessive"),
        (r"foo\Z", "^ or $"),
        (r"\Afoo", "^ or $"),
        ("a{2000}", "above 1,000"),
        ("(((a{100}){10}){10})", "repet"),
        ("(a", "missing )"),
        ("a)(b", "not valid"),
        ("x" * 2000, "longer than"),
        ("\ud800", "not valid"),
    ],
)
def test_what_is_not_supported_is_told(pattern: str, said: str) -> None:
    with pytest.raises(ToolError, match=re.escape(said)):
        look("abc", pattern)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(.*)(.*)(.*)NEEDLE", "(a?){200}a{200}b", "(a|aa)+$x"])
def test_a_pattern_that_others_do_not_end_looks_through_all_of_a_text(pattern: str) -> None:
    text = ("a" * 400 + "\n") * 5000
    assert "seconds" not in search(text.encode(), Search(pattern), SetClock()).ended


def test_a_slow_pattern_ends_with_what_was_found_by_then() -> None:
    text = ("needle\n" + "hay\n" * 50_000) * 20
    found = search(text.encode(), Search("needle"), Ticking())
    assert 0 < found.matches < 20
    assert f"in {SECONDS:g} seconds" in found.ended


def test_too_many_matches_and_too_much_text_are_said() -> None:
    assert "first 3 matching lines" in look("x\n" * 9, "x", max_matches=3).ended
    long = look((("word " * 50) + "\n") * 200, "word", max_matches=200)
    assert "does not fit" in long.ended
    assert len(long.text()) < CHARACTERS + 500


def test_a_line_without_end_is_searched_and_shown_around_the_match() -> None:
    chance = random.Random(3)
    line = "".join(chance.choices("abcdefgh ", k=10_000)) * 300
    text = f"first\n{line[:2_000_000]}NEEDLE{line[2_000_000:]}\nlast NEEDLE\n"
    found = look(text, "NEEDLE")
    assert [one.number for one in found.lines] == [2, 3]
    assert "NEEDLE" in found.lines[0].text
    assert len(found.lines[0].text) < 310
    assert found.lines[0].text.startswith("…")


def test_a_match_across_two_pieces_of_a_line_is_found() -> None:
    for at in range((1 << 17) - 4, (1 << 17) + 4):
        assert look("x" * at + "NEEDLE" + "x" * 900_000, "NEEDLE").matches == 1


def test_text_of_another_encoding_is_searched_where_it_is_ascii() -> None:
    found = look("caf\xe9 one\nna\xefve two\n".encode("latin-1"), "^na.ve (two)$")
    assert found.lines[0].number == 2
    assert found.lines[0].text == "na\ufffdve two"


def test_case_can_be_ignored() -> None:
    assert search("Grün\n".encode(), Search("GRÜN", ignore_case=True), SystemClock()).matches == 1
