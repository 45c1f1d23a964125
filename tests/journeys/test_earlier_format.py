"""State of format 1 with this version: each command refuses it with instructions and leaves it unchanged."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from frozen.folder import build
from gofer.app.embedded.integrity import DATABASE
from gofer.cli.main import main

FORMAT_1 = Path(__file__).parents[1] / "frozen" / "format_1"
"""The state of one machine after the second frame of a run, written by the earlier version."""
TOLD = (
    "was written by an earlier version of Gofer (format 7, and this version reads format 8); "
    "finish its runs with that version, or move {folder} away to begin anew."
)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of format 1, which GOFER_DATA names."""
    texts = {path.relative_to(FORMAT_1).as_posix(): path.read_text() for path in FORMAT_1.rglob("*.*")}
    folder = tmp_path / "state"
    build(texts, 2, folder)
    settings = {"SLACK_API_URL": "http://127.0.0.1:1", "SLACK_BOT_TOKEN": "x", "SLACK_SIGNING_SECRET": "s"}
    for name, value in {**settings, "OPENAI_API_KEY": "k", "GOFER_DATA": str(folder)}.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["trace", "577234ccd137035fa34b7f85"],
        ["export", "--since", "2026-01-01", "--json"],
        ["cancel", "577234ccd137035fa34b7f85"],
        ["serve", "--port", "0"],
    ],
    ids=lambda words: words[0],
)
def test_command_refuses_state_of_an_earlier_version_and_leaves_the_file_unchanged(
    state: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (state / DATABASE).read_bytes()
    assert main(words) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"gofer: {state / DATABASE} {TOLD.format(folder=state)}"
    assert (state / DATABASE).read_bytes() == before


def test_restore_refuses_a_backup_of_an_earlier_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = tmp_path / "backup"
    backup.mkdir()
    (backup / "backup.json").write_text(json.dumps(_manifest()))
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    monkeypatch.setenv("GOFER_BACKUP_PASSPHRASE", "correct horse battery staple")
    assert main(["restore", str(backup)]) == 2
    told = "was written by an earlier version of Gofer (format 1, and this version reads format 2)"
    assert f"gofer: {backup / 'backup.json'} {told}; restore it with that version." in capsys.readouterr().err
    assert not (tmp_path / "state" / DATABASE).exists()


def _manifest() -> Mapping[str, object]:
    file = {"size": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    return {"format": 1, "at": 0, "files": {DATABASE: file}, "sealed": file}
