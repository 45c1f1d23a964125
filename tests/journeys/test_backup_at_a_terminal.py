"""`gofer backup` and `gofer restore` at a terminal."""

import json
from pathlib import Path

import pytest

from gofer.app.backup.sealed_keys import known_passphrase, new_passphrase
from gofer.values.errors import ConfigError
from support.app.command_line import gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(autouse=True)
def passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFER_BACKUP_PASSPHRASE", PASSPHRASE)


def test_restore_brings_a_run_back_in_another_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_json(capsys)["run"]
    trace = gofer(capsys, "trace", run, "--json")
    code, out, err = gofer(capsys, "backup", str(tmp_path / "monday"))
    assert (code, out) == (0, "")
    assert "monday is a backup of " in err
    assert " UTC (runs: 1, files: " in err
    code, out, _ = gofer(capsys, "backup", str(tmp_path / "tuesday"), "--json")
    assert (code, json.loads(out)["runs"]) == (0, 1)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "elsewhere"))
    code, out, err = gofer(capsys, "restore", str(tmp_path / "monday"))
    assert (code, out) == (0, "")
    assert "Unfinished runs that wait for `gofer retry RUN`: 0." in err
    assert gofer(capsys, "trace", run, "--json") == trace
    code, _, err = gofer(capsys, "restore", str(tmp_path / "monday"))
    assert (code, "is not empty; move it away" in err) == (2, True)


@pytest.mark.usefixtures("busy_model")
def test_restored_unfinished_run_needs_attention_until_retried(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_json(capsys, code=1)["run"]
    assert gofer(capsys, "backup", str(tmp_path / "monday"))[0] == 0
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "elsewhere"))
    code, out, _ = gofer(capsys, "restore", str(tmp_path / "monday"))
    assert code == 0
    assert out.startswith(f"{run}  needs_attention: restored  ")
    (row,) = json.loads(gofer(capsys, "runs", "--json")[1])
    assert (row["status"], row["reason"].partition(":")[0]) == ("needs_attention", "restored")
    code, _, err = gofer(capsys, "retry", run[:8])
    assert (code, "continues from the backup of" in err) == (0, True)
    (row,) = json.loads(gofer(capsys, "runs", "--json")[1])
    assert row["status"] == "queued"


def test_restore_prints_counts_and_held_runs_as_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_json(capsys)
    gofer(capsys, "backup", str(tmp_path / "monday"))
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "elsewhere"))
    code, out, _ = gofer(capsys, "restore", str(tmp_path / "monday"), "--json")
    restored = json.loads(out)
    assert (code, list(restored)) == (0, ["at", "deleted", "keyless", "held", "private"])
    assert (restored["deleted"], restored["held"], restored["private"]) == (0, [], 0)


def test_restore_without_a_backup_and_backup_without_runs_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        code, _, err = gofer(capsys, "restore", str(folder))
        assert (code, "is not a backup, or its backup did not finish: backup.json is missing" in err) == (2, True)
    code, _, err = gofer(capsys, "backup", str(tmp_path / "monday"))
    assert (code, "There are no runs" in err) == (2, True)


@pytest.mark.parametrize(
    ("command", "told"),
    [("backup", "GOFER_TABLE names an installation on AWS"), ("restore", "This installation is on AWS: restore its")],
)
def test_backup_and_restore_refuse_a_gofer_on_aws(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, told: str
) -> None:
    monkeypatch.setenv("GOFER_TABLE", "gofer-prod")
    code, _, err = gofer(capsys, command, "monday")
    assert (code, err.startswith(f"gofer: {told}")) == (2, True)


def test_backup_without_a_passphrase_writes_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_json(capsys)
    monkeypatch.setenv("GOFER_BACKUP_PASSPHRASE", "")
    code, _, err = gofer(capsys, "backup", str(tmp_path / "monday"))
    assert (code, err.startswith("gofer: Set GOFER_BACKUP_PASSPHRASE, or start the command at a terminal")) == (2, True)
    assert not (tmp_path / "monday").exists()


def test_passphrase_is_typed_twice_for_a_new_backup_and_once_for_a_restore() -> None:
    typed = iter(
        ["the first of them", "the first of them", "the first of them", "the second of them", "three", "", "short"]
    )

    def ask(_prompt: str) -> str:
        return next(typed)

    assert new_passphrase({}, ask).reveal() == "the first of them"
    with pytest.raises(ConfigError, match="The two passphrases differ; nothing was written"):
        new_passphrase({}, ask)
    assert known_passphrase({}, ask).reveal() == "three"
    with pytest.raises(ConfigError, match="Set GOFER_BACKUP_PASSPHRASE"):
        known_passphrase({}, ask)
    for variables in ({}, {"GOFER_BACKUP_PASSPHRASE": "11 of those."[:11]}):
        with pytest.raises(ConfigError, match="fewer than 12 characters and could be guessed; nothing was written"):
            new_passphrase(variables, ask)
