"""`make same-code`: commits that only move, rename or reword code, and commits that change it."""

import pytest

from same_code.__main__ import report
from same_code.pairs import paired
from same_code.statements import statements

BEFORE = {
    "src/a.py": '''"""A module."""
import json

LIMIT = 3

def spoken(words: list[str], limit: int = LIMIT) -> str:
    """Say words."""
    if len(words) > limit:
        raise ValueError(f"{len(words)} words are more than {limit}")
    return json.dumps(words[:limit])
''',
    "src/b.py": "import logging\n\n_log = logging.getLogger(__name__)\n\ndef noted(text):\n    _log.info(text)\n",
}


def lines(after: dict[str, str]) -> list[str]:
    return [*report(paired(statements(BEFORE), statements(after)))]


def changed(file: str, old: str, new: str) -> list[str]:
    assert old in BEFORE[file]
    return lines({**BEFORE, file: BEFORE[file].replace(old, new)})


def test_docstrings_comments_and_imports_are_not_compared() -> None:
    assert changed("src/a.py", '"""Say words."""', '"""Return words as JSON."""  # A comment.') == []
    assert changed("src/a.py", "import json", "import json as json\n") == []


def test_moved_and_renamed_code_counts_as_the_same() -> None:
    text = BEFORE["src/a.py"].replace("LIMIT", "MOST").replace("spoken", "as_json")
    assert lines({"src/room/words.py": text, "src/b.py": BEFORE["src/b.py"]}) == [
        "moved     src/a.py -> src/room/words.py (2)",
        "renamed   LIMIT -> MOST (2)",
        "renamed   spoken -> as_json (1)",
    ]


def test_divided_module_may_repeat_the_logger() -> None:
    text = "import logging\n\n_log = logging.getLogger(__name__)\n\n"
    assert lines({**BEFORE, "src/b.py": text, "src/c.py": f"{text}def noted(text):\n    _log.info(text)\n"}) == [
        "moved     src/b.py -> src/c.py (1)"
    ]


def test_error_text_with_reordered_values_is_reported_as_reworded() -> None:
    (line,) = changed("src/a.py", "{len(words)} words are more than {limit}", "at most {limit} words, not {len(words)}")
    assert line.startswith("reworded  ' words are more than ' -> 'at most  words, not '")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("words[:limit]", "words[limit:]"),
        (">", ">="),
        ("dumps(words", "dumps(limit"),
    ],
)
def test_changed_code_is_reported_as_removed_and_added(old: str, new: str) -> None:
    assert {line.split()[0] for line in changed("src/a.py", old, new)} == {"REMOVED", "ADDED"}


def test_swapped_names_are_reported_as_changed_code() -> None:
    assert changed("src/b.py", "noted(text):\n    _log.info(text)", "noted(_log):\n    _log.info(_log)") != []
    text = "def noted(text, other):\n    return text - other\n"
    swapped = "def noted(text, other):\n    return other - text\n"
    found = [*report(paired(statements({"src/b.py": text}), statements({"src/b.py": swapped})))]
    assert [line.split()[0] for line in found] == ["REMOVED", "ADDED"]
