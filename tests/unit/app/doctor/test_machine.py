"""Findings about this machine: the settings file, the folder of the state, its database and the disk."""

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from gofer.app.doctor.finding import Finding
from gofer.app.doctor.machine import machine
from gofer.app.embedded.alarms import LEAST_FREE
from gofer.app.embedded.integrity import DATABASE, KEY
from gofer.app.embedded.state import installation_key, open_state
from gofer.journal.coordination import Head
from gofer.values.errors import ConfigError
from support.stand_ins import NOON, SetClock


def found(root: Path) -> Mapping[str, Finding]:
    return {finding.subject: finding for finding in machine(root, root / "state")}


def test_new_repository_has_no_fault(tmp_path: Path) -> None:
    assert {finding.state for finding in found(tmp_path).values()} == {"works"}


def test_settings_that_others_can_read_are_named_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("SLACK_BOT_TOKEN=xoxb-secret\n")
    path.chmod(0o644)
    assert found(tmp_path)[".env"].remedy == "Run: chmod 600 .env"
    path.chmod(0o600)
    assert found(tmp_path)[".env"].text == "1 settings, readable by you only"
    path.write_text("SLACK_BOT_TOKEN xoxb-secret\n")
    assert found(tmp_path)[".env"].state == "wrong"
    assert "secret" not in found(tmp_path)[".env"].text


def test_undamaged_database_is_named_with_its_size(tmp_path: Path) -> None:
    with open_state(tmp_path / "state", SetClock()):
        pass
    assert "is undamaged" in found(tmp_path)["state"].text


@pytest.mark.anyio
async def test_missing_installation_key_beside_runs_is_wrong(tmp_path: Path) -> None:
    clock = SetClock()
    with open_state(tmp_path / "state", clock) as state:
        installation_key(tmp_path / "state")
        await state.store.create_head(Head("run", "w", "conversation", int(NOON * 1000)))
    (tmp_path / "state" / KEY).unlink()
    with pytest.raises(ConfigError) as refused:
        installation_key(tmp_path / "state")
    assert (found(tmp_path)["keys"].state, found(tmp_path)["keys"].text) == ("wrong", str(refused.value))


def test_damaged_database_is_wrong(tmp_path: Path) -> None:
    with open_state(tmp_path / "state", SetClock()):
        pass
    path = tmp_path / "state" / DATABASE
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE x (a TEXT)")
        connection.executemany("INSERT INTO x VALUES (?)", [("y" * 500,) for _ in range(200)])
    connection.close()
    raw = bytearray(path.read_bytes())
    raw[-20_000:-10_000] = b"\xff" * 10_000
    path.write_bytes(raw)
    assert found(tmp_path)["state"].state == "wrong"


def test_full_disk_is_wrong(tmp_path: Path) -> None:
    (disk,) = [one for one in machine(tmp_path, tmp_path, lambda _: LEAST_FREE - 1) if one.subject == "disk"]
    assert disk.state == "wrong"


def test_replaced_installation_key_is_named_with_the_date_of_its_removal(tmp_path: Path) -> None:
    with open_state(tmp_path / "state", SetClock()):
        pass
    path = tmp_path / "state" / KEY
    path.write_text(f"{'1' * 64}\n")
    assert "keys" not in found(tmp_path)
    path.write_text(f"{'2' * 64},{'1' * 64}\n")
    os.utime(path, (NOON, NOON))
    text = "2 installation keys since 2026-11-21; all but the first may go on 2026-12-22"
    assert (found(tmp_path)["keys"].state, found(tmp_path)["keys"].text) == ("works", text)
    path.write_text("2222")
    assert found(tmp_path)["keys"].state == "wrong"
