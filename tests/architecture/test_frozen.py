"""The frozen corpus of journals, requests, state, schemas and output, compared with today's."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

import pytest

from frozen.calls import missing
from frozen.corpus import texts
from frozen.names import renamed
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.journal.entries import KINDS

DATA = Path(__file__).parents[1] / "frozen" / "data"
SHOWN = 20
"""Maximum of differences that a failure prints."""
LONGEST = 160
"""Characters of a differing line that are shown."""


@pytest.fixture(scope="module")
def stored() -> Mapping[str, str]:
    """The corpus as it is stored."""
    paths = (path for path in DATA.rglob("*") if path.is_file())
    return {path.relative_to(DATA).as_posix(): path.read_bytes().decode() for path in paths}


@pytest.fixture(scope="module")
def frozen(stored: Mapping[str, str]) -> Mapping[str, str]:
    """The corpus in today's words."""
    return {path: renamed(text) for path, text in stored.items()}


def test_regenerated_corpus_equals_the_frozen_one(stored: Mapping[str, str], frozen: Mapping[str, str]) -> None:
    # The folder is opened as it was stored: words within its sealed frames cannot be replaced.
    found = list(differences(frozen, texts(stored)))
    assert not found, "\n".join([f"{len(found)} differences:", *found[:SHOWN]])


def test_frozen_journals_hold_each_kind_of_entry(frozen: Mapping[str, str]) -> None:
    journals = "".join(text for path, text in frozen.items() if path.startswith("journals/"))
    assert [kind for kind in KINDS if f'"kind": "{kind}"' not in journals] == []


def test_frozen_corpus_calls_each_tool_of_a_vendor() -> None:
    assert missing(list(build_tools(read_settings({})))) == []


@pytest.mark.parametrize(
    "path", ["journals/full-window.jsonl", "requests/slack.jsonl", "state.jsonl", "schemas/tools.jsonl", "check.txt"]
)
def test_changed_byte_of_the_corpus_is_reported_with_file_and_line(frozen: Mapping[str, str], path: str) -> None:
    rows = frozen[path].split("\n")
    changed = "\n".join([rows[0], f"{rows[1]}.", *rows[2:]])
    (told,) = differences({path: frozen[path]}, {path: changed})
    assert told.startswith(f"{path}:2\n  was ")


def test_renamed_word_of_the_corpus_is_replaced_only_as_a_whole_word() -> None:
    names = {"run.owned": "run.taken", "owned": "held"}
    assert renamed('"run.owned" owned disowned', names) == '"run.taken" held disowned'


def test_object_with_a_renamed_key_stays_sorted() -> None:
    names = {"a": "z"}
    assert renamed('{"a": 1, "b": {"a": 2, "c": 3}}', names) == '{"b": {"c": 3, "z": 2}, "z": 1}'
    assert renamed('{"a":1,"b":2}', names) == '{"b":2,"z":1}'
    assert renamed('{"b":1,"a":2}', names) == '{"b":1,"z":2}'


def differences(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield each line that differs, with its file, its number and both texts."""
    for path in sorted(was.keys() | now.keys()):
        before = was.get(path, "").split("\n")
        after = now.get(path, "").split("\n")
        for number, (old, new) in enumerate(zip_longest(before, after), start=1):
            if old != new:
                old_part, new_part = parted(old, new)
                yield f"{path}:{number}\n  was {old_part}\n  is  {new_part}"


def parted(old: str | None, new: str | None) -> tuple[str, str]:
    """Return both lines from shortly before the place where they part."""
    if old is None or new is None:
        return shown(old), shown(new)
    pairs = zip_longest(old, new)
    at = next(number for number, (one, other) in enumerate(pairs) if one != other)
    begin = max(0, at - LONGEST // 4)
    return shown(old[begin:]), shown(new[begin:])


def shown(line: str | None) -> str:
    """Return a line for the report, or a text that names it as missing."""
    if line is None:
        return "(no such line)"
    return line[:LONGEST]
