"""Every command on a full disk, without rights, on a state of a newer version, and with a file that does not exist.

One sentence says what happened, and the exit code says whose trouble it is: 2 for wrong input, 1 for the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gofer.cli.main import COMMANDS
from support.processes import commands_in_trouble

TESTS = Path(__file__).parents[1]
READS_ONLY = {"docs", "check", "schema", "explain", "extract", "version", "manifest"}
"""Commands that read files of the company and nothing else."""
NOT_SET_UP = {"publish"}
"""Commands that end before the trouble, because a setting is missing. This one writes nothing here."""
ADVICE = {"review"}
"""Commands whose exit code says that they could not advise."""
FREE = {"version": {"init", "new", "eval", "restore", "upgrade", "template", "package"}}
"""Commands that the trouble does not concern."""
LISTS = {"doctor"}
"""Commands that list everything that is missing, one a line."""


def played(folder: Path, trouble: str) -> Mapping[str, Mapping[str, Any]]:
    program = [sys.executable, commands_in_trouble.__file__, str(folder), trouble]
    environment = {"PYTHONPATH": str(TESTS), "PATH": os.environ["PATH"]}
    ended = subprocess.run(program, check=False, cwd=TESTS, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def wanted(name: str, trouble: str) -> int:
    if name in READS_ONLY or name in FREE.get(trouble, ()):
        return 0
    if name in NOT_SET_UP:
        return 2
    return 3 if name in ADVICE else 1


def restore_rights(folder: Path) -> None:
    """Let pytest remove the folder."""
    for path in (folder, folder / "acme", folder / "acme" / ".gofer"):
        path.chmod(0o700)
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)


def test_command_on_a_full_disk_says_one_sentence_and_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    play_each_command(tmp_path, "full")


@pytest.mark.rehearsal(
    "tests/journeys/test_commands_in_trouble.py::test_command_on_a_full_disk_says_one_sentence_and_leaves_no_half_of_a_file"
)
@pytest.mark.parametrize("trouble", ["forbidden", "version"])
def test_command_without_rights_or_of_an_earlier_version_says_one_sentence(tmp_path: Path, trouble: str) -> None:
    play_each_command(tmp_path, trouble)


def play_each_command(tmp_path: Path, trouble: str) -> None:
    """Play each command on a machine in trouble, and compare its exit code, its words and its files."""
    folder = tmp_path / "company"
    folder.mkdir()
    try:
        results = played(folder, trouble)
    finally:
        restore_rights(folder)
    assert set(results) == set(COMMANDS)
    assert {name: one["code"] for name, one in results.items()} == {name: wanted(name, trouble) for name in COMMANDS}
    failed = {name: one for name, one in results.items() if one["code"] in (1, 2)}
    assert {name: one["said"] for name, one in failed.items() if "Traceback" in one["said"]} == {}
    assert {name: one["said"] for name, one in failed.items() if not is_one_sentence(name, one["said"])} == {}
    copies = str(Path(tempfile.gettempdir(), tempfile.gettempprefix()))
    assert {name: one["said"] for name, one in failed.items() if copies in one["said"]} == {}
    assert {name: one["made"] for name, one in failed.items() if one["made"]} == {}


def test_command_with_an_absent_file_or_run_says_one_sentence_and_exits_with_2(tmp_path: Path) -> None:
    results = played(tmp_path, "absent")
    assert {name: one["code"] for name, one in results.items()} == dict.fromkeys(results, 2)
    assert len(results) >= 20
    assert {name: one["said"] for name, one in results.items() if len(one["said"].splitlines()) != 1} == {}
    assert {name: one["made"] for name, one in results.items() if one["made"]} == {}


def is_one_sentence(name: str, said: str) -> bool:
    return name in LISTS or (said.startswith("gofer: ") and len(said.splitlines()) == 1)


def test_output_on_a_full_disk_ends_a_command_with_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        program = [sys.executable, "-m", "gofer.cli.main", "docs"]
        ended = subprocess.run(program, check=False, stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stderr == b"gofer: A file does not fit on the disk; free some space and start again.\n"
