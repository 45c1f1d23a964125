"""Searching a text with patterns: linear time, line numbers, and limits that are reported."""

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
    """A clock that advances a second on every reading."""

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


def test_text_search_shows_line_numbers_and_context_lines() -> None:
    text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
    assert look(text, "^t", before=1, after=1).text() == "1- one\n2: two\n3: three\n4- four"
    assert look(text, "one|seven", after=1).text() == "1: one\n2- two\n--\n7: seven"
    assert look(text, "eight").text() == "No line matches."


@given(
    st.lists(st.text(alphabet="abé日 \r", max_size=6), max_size=30),
    st.sampled_from(["a", "^b*$", "é|日", "a.b", " $", "x*"]),
)
def test_text_search_finds_exactly_the_matching_lines(lines: list[str], pattern: str) -> None:
    text = "\n".join(lines) + "\n" if lines else ""
    plain = text.replace("\r\n", "\n").split("\n")[:-1]
    expected = [n for n, line in enumerate(plain, 1) if re.search(pattern.replace(".", "[^\n]"), line)]
    found = look(text, pattern, max_matches=100)
    assert [line.number for line in found.lines] == expected
    assert found.matches == len(expected)


@given(st.data(), st.integers(0, 3), st.integers(0, 3))
def test_text_search_shows_each_line_once_and_in_order(data: st.DataObject, before: int, after: int) -> None:
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
def test_text_search_refuses_an_unsupported_pattern_with_the_reason(pattern: str, said: str) -> None:
    with pytest.raises(ToolError, match=re.escape(said)):
        look("abc", pattern)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(.*)(.*)(.*)NEEDLE", "(a?){200}a{200}b", "(a|aa)+$x"])
def test_text_search_runs_catastrophic_patterns_in_linear_time(pattern: str) -> None:
    text = ("a" * 400 + "\n") * 5000
    assert "seconds" not in search(text.encode(), Search(pattern), SetClock()).ended


def test_text_search_over_the_time_limit_returns_the_matches_so_far() -> None:
    text = ("needle\n" + "hay\n" * 50_000) * 20
    found = search(text.encode(), Search("needle"), Ticking())
    assert 0 < found.matches < 20
    assert f"in {SECONDS:g} seconds" in found.ended


def test_text_search_says_when_matches_or_text_exceed_the_limit() -> None:
    assert "first 3 matching lines" in look("x\n" * 9, "x", max_matches=3).ended
    long = look((("word " * 50) + "\n") * 200, "word", max_matches=200)
    assert "does not fit" in long.ended
    assert len(long.text()) < CHARACTERS + 500


def test_text_search_shows_a_very_long_line_around_the_match() -> None:
    chance = random.Random(3)
    line = "".join(chance.choices("abcdefgh ", k=10_000)) * 300
    text = f"first\n{line[:2_000_000]}NEEDLE{line[2_000_000:]}\nlast NEEDLE\n"
    found = look(text, "NEEDLE")
    assert [one.number for one in found.lines] == [2, 3]
    assert "NEEDLE" in found.lines[0].text
    assert len(found.lines[0].text) < 310
    assert found.lines[0].text.startswith("…")


def test_text_search_finds_a_match_across_two_chunks() -> None:
    for at in range((1 << 17) - 4, (1 << 17) + 4):
        assert look("x" * at + "NEEDLE" + "x" * 900_000, "NEEDLE").matches == 1


def test_text_search_works_on_the_ascii_part_of_other_encodings() -> None:
    found = look("caf\xe9 one\nna\xefve two\n".encode("latin-1"), "^na.ve (two)$")
    assert found.lines[0].number == 2
    assert found.lines[0].text == "na\ufffdve two"


def test_text_search_can_ignore_case() -> None:
    assert search("Grün\n".encode(), Search("GRÜN", ignore_case=True), SystemClock()).matches == 1
