"""The `.env` file: line formats, and mistakes reported without values."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.settings import read_dotenv
from gofer.values.errors import ConfigError


def read(folder: Path, text: str) -> dict[str, str]:
    path = folder / ".env"
    path.write_text(text, encoding="utf-8")
    return dict(read_dotenv(path))


def test_missing_dotenv_file_sets_no_variable(tmp_path: Path) -> None:
    assert read_dotenv(tmp_path / ".env") == {}


def test_dotenv_line_forms_are_read(tmp_path: Path) -> None:
    text = (
        "\ufeff# Slack\r\nA=xoxb-1\n\n  export B = \"two words\" # why\nC='a # b'\nD=\nE=  # nothing\nF=a#b\nG=x=y==\n"
    )
    assert read(tmp_path, text) == {
        "A": "xoxb-1",
        "B": "two words",
        "C": "a # b",
        "D": "",
        "E": "",
        "F": "a#b",
        "G": "x=y==",
    }


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("SLACK_BOT_TOKEN hunter2", "this line is not a setting"),
        ("=hunter2", "this line is not a setting"),
        ('SLACK_BOT_TOKEN="hunter2', "the value of SLACK_BOT_TOKEN cannot be read"),
        ("SLACK_BOT_TOKEN=hunter2 hunter2", "the value of SLACK_BOT_TOKEN cannot be read"),
        ("SLACK_BOT_TOKEN='hunter2'x", "the value of SLACK_BOT_TOKEN cannot be read"),
        ("A=hunter2", "A is set a second time"),
    ],
)
def test_unclear_dotenv_line_is_named_without_the_value(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, f"A=1\n# c\n{line}\n")
    assert f".env:3: {sentence}" in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_unreadable_dotenv_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read as text"):
        read_dotenv(tmp_path / ".env")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="cannot be read as text"):
        read_dotenv(tmp_path / "folder")


@given(st.text())
def test_dotenv_file_of_any_text_gives_settings_or_one_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".env"
    path.write_bytes(text.encode("utf-8", "replace"))
    found: Mapping[str, str] = {}
    with contextlib.suppress(ConfigError):
        found = read_dotenv(path)
    assert all(name.isidentifier() and value in text for name, value in found.items())


@given(st.from_regex(r"[A-Za-z0-9+/=_.:#@-]{0,40}", fullmatch=True))
def test_quoted_dotenv_token_is_read_unchanged(tmp_path: Path, token: str) -> None:
    path = tmp_path / ".env"
    path.write_text(f"T=\"{token}\"\nexport U='{token}'\n")
    assert read_dotenv(path) == {"T": token, "U": token}
