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

ROOT = Path(__file__).parents[2]

CODE_CEILINGS = {
    "parallel assignments": 21,
    "conditional expressions": 781,
    "nested conditional expressions": 0,
    "module docstrings that are questions": 0,
    "indefinite pronouns in docstrings": 46,
}
"""Counts over `src/`. `a, b = x, y` is a parallel assignment."""

WORD_CEILINGS = {
    "doorbell": 21,
    "shelf": 0,
    "aside": 9,
    "surroundings": 0,
    "occasion": 0,
    "given up": 24,
    "put off": 20,
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
PRONOUNS = re.compile(r"\b(?:whoever|whatever|whichever|somebody|nobody|anybody|whose)\b", re.IGNORECASE)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
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


@pytest.mark.parametrize("measure", CODE_CEILINGS)
def test_no_measure_of_the_source_rises(measure: str) -> None:
    assert source_counts()[measure] <= CODE_CEILINGS[measure]


@pytest.mark.parametrize("word", WORD_CEILINGS)
def test_words_that_the_glossary_replaced_stay_out_of_new_text(word: str) -> None:
    assert word_counts()[word] <= WORD_CEILINGS[word], f"say it with the glossary's word instead of {word!r}"


def test_each_measure_counts_what_it_is_named_for() -> None:
    source = '"""Who is it?"""\na, b = 1, 2\nc = (1 if a else 2) if b else 3\n\ndef f():\n    """Nobody knows."""\n'
    assert counts_of(ast.parse(source)) == {
        "parallel assignments": 1,
        "conditional expressions": 2,
        "nested conditional expressions": 1,
        "module docstrings that are questions": 1,
        "indefinite pronouns in docstrings": 1,
    }


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
def test_each_word_is_found_in_prose_and_in_names(word: str, text: str) -> None:
    assert re.findall(WORDS[word], text.lower())
    assert not re.findall(WORDS[word], "beside, occasionally, give upper, output offset")


@cache
def source_counts() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in (ROOT / "src").rglob("*.py"):
        counts += counts_of(ast.parse(path.read_text()))
    return counts


def counts_of(tree: ast.AST) -> Counter[str]:
    counts: Counter[str] = Counter()
    for node in ast.walk(tree):
        counts.update(measures_of(node))
    return counts


def measures_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Tuple(), *_], value=ast.Tuple()):
            yield "parallel assignments"
        case ast.IfExp():
            yield "conditional expressions"
            inner = (below for child in ast.iter_child_nodes(node) for below in ast.walk(child))
            if any(isinstance(below, ast.IfExp) for below in inner):
                yield "nested conditional expressions"
        case _:
            pass
    if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
        yield from ["indefinite pronouns in docstrings"] * len(PRONOUNS.findall(docstring))
        if isinstance(node, ast.Module) and docstring.splitlines()[0].rstrip().endswith("?"):
            yield "module docstrings that are questions"


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
