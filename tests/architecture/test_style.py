"""A ratchet for plain words and plain code: each measure may fall, and none may rise.

A ceiling is the figure of the day it was last lowered. Lower it in the same commit that brings the figure down.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from plain_words import measures

ROOT = Path(__file__).parents[2]

PER_1000_LINES = {
    measures.PARALLEL: 0.2,
    measures.CONDITIONAL: 4,
    measures.NESTED: 0,
    measures.REFERENCE: 0,
    measures.QUESTION: 0,
}
"""Occurrences in `src/` per 1,000 lines. `a, b = x, y` is a parallel assignment."""
PRONOUNS_PER_1000_WORDS = 0.4
"""Indefinite pronouns in docstrings."""
UNCLEAR_TEST_NAMES = 0
"""Names of tests in which a pronoun takes the place of the feature."""

WORD_CEILINGS = {
    "doorbell": 0,
    "shelf": 0,
    "aside": 1,
    "surroundings": 0,
    "occasion": 0,
    "given up": 0,
    "put off": 0,
}
"""Occurrences in code, documents and data files. None of these words has an ordinary meaning here."""

WORDS = {
    "doorbell": r"doorbell",
    "shelf": r"shel(?:f|ves)",
    "aside": r"(?<![a-z])aside(?![a-z])",
    "surroundings": r"surroundings",
    "occasion": r"occasion(?!al)",
    "given up": r"(?<![a-z])g(?:ive|ives|iven|ave|iving)[ _]up(?![a-z])",
    "put off": r"(?<![a-z])put(?:s|ting)?[ _-]off(?![a-z])",
}
WORDS_OF_BUILDERS = re.compile(
    r"\b(?:frames?|(?<!code )fences?|fenced|claims?|claimed|permits?|memos?)\b", re.IGNORECASE
)
"""Words for parts of the code, which a person who uses, writes for or operates Gofer never meets."""
FOR_BUILDERS = ("architecture.md", "glossary.md", "reliability.md")
"""The pages that explain these words."""
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ""}
FOLDERS = (
    "src",
    "handlers",
    "deploy",
    "docs",
    "agents",
    "subagents",
    "skills",
    ".agents",
    "coordinators",
    "tests",
    ".github",
)


@pytest.mark.parametrize("measure", PER_1000_LINES)
def test_measure_of_the_source_stays_below_the_ceiling(measure: str) -> None:
    assert today().per_1000_lines(measure) <= PER_1000_LINES[measure]


def test_docstrings_use_few_indefinite_pronouns() -> None:
    assert today().pronouns_per_1000_words() <= PRONOUNS_PER_1000_WORDS


def test_unclear_test_names_stay_below_the_ceiling() -> None:
    assert today().unclear_tests <= UNCLEAR_TEST_NAMES


@pytest.mark.parametrize("word", WORD_CEILINGS)
def test_replaced_glossary_words_stay_below_their_ceilings(word: str) -> None:
    assert word_counts()[word] <= WORD_CEILINGS[word], f"say it with the glossary's word instead of {word!r}"


GUIDES = [ROOT / "README.md", *(path for path in (ROOT / "docs").glob("*.md") if path.name not in FOR_BUILDERS)]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_guide_for_people_has_no_word_that_only_builders_know(guide: Path) -> None:
    words = WORDS_OF_BUILDERS.findall(CODE.sub("", guide.read_text(encoding="utf-8")))
    assert not words, f"say what the reader sees instead of {', '.join(words)}"


def test_measures_of_code_are_counted() -> None:
    source = """\'\'\'Who is it?\'\'\'
a, b = 1, 2
c = (1 if a else 2) if b else 3
if d := c:
    pass

def f():
    \'\'\'Nobody knows.\'\'\'

def g():
    \'\'\'See Store.get.\'\'\'
"""
    assert measures.counts_of(ast.parse(source)) == {
        measures.PARALLEL: 1,
        measures.CONDITIONAL: 2,
        measures.NESTED: 1,
        measures.WALRUS: 1,
        measures.QUESTION: 1,
        measures.PRONOUN: 1,
        measures.REFERENCE: 1,
    }


def test_documents_and_test_names_are_counted() -> None:
    version = {
        "src/a.py": '"""A module."""\n',
        "tests/test_a.py": "def test_what_is_due(): ...\n\nasync def test_a_due_run_is_purged(): ...\n",
        "README.md": "one two",
        "docs/a.md": "one",
        "docs/decisions/0001.md": "one two three",
    }
    found = measures.measured(version)
    assert (found.tests, found.unclear_tests, found.short_modules, found.docstring_words) == (2, 1, 1, 2)
    assert found.document_words == {"README.md": 2, "docs/": 1, "docs/decisions/": 3}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("doorbell", "class Doorbell"),
        ("shelf", "two shelves"),
        ("aside", "ask_aside("),
        ("surroundings", "its surroundings"),
        ("occasion", "an occasion"),
        ("given up", "gave up, give_up_calls"),
        ("put off", "put_off, put off"),
    ],
)
def test_replaced_glossary_word_is_found_in_prose_and_in_names(word: str, text: str) -> None:
    assert re.findall(WORDS[word], text.lower())
    assert not re.findall(WORDS[word], "beside, occasionally, give upper, output offset")


@cache
def today() -> measures.Measured:
    files = (path for folder in ("src", "tests", "docs") for path in (ROOT / folder).rglob("*"))
    return measures.measured(
        {
            path.relative_to(ROOT).as_posix(): path.read_text()
            for path in files
            if path.suffix in (".py", ".md") and "broken" not in path.parts
        }
    )


@cache
def word_counts() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in texts():
        if path == Path(__file__):
            continue
        text = path.read_text(errors="replace").lower()
        for word, pattern in WORDS.items():
            counts[word] += len(re.findall(pattern, text))
    return counts


def texts() -> Iterator[Path]:
    """Every text of the project but this test."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                yield path
    yield from (path for path in ROOT.iterdir() if path.suffix in {".md", ".yaml", ".toml"} or path.name == "Makefile")
