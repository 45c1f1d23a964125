"""`gofer replay` of a run of each kind, in a process that may not open a connection."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog
from support.app.command_line import Command
from support.app.runs_of_each_kind import PRIVATE, PUBLIC, Played

GUARDED = """
import sys
from gofer.cli.main import main

def guard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        raise RuntimeError(f"a replay opened a connection: {event}")

sys.addaudithook(guard)
for run in sys.argv[1:]:
    main(["replay", run, "--json"])
    print("#")
"""
"""Replays runs, and ends with an error as soon as a replay opens a connection."""


def replayed_under_guard(made: Played, runs: Sequence[str]) -> tuple[Sequence[Mapping[str, object]], str]:
    """Return what `gofer replay --json` prints for each run, and its errors, in a process without connections."""
    environment = {**os.environ, "GOFER_DATA": str(made.folder / "state"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, *runs],
        cwd=made.folder / "repository",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return [json.loads(part) for part in done.stdout.split("#\n")[:-1]], done.stderr


def test_replay_of_each_public_run_is_identical_without_a_connection(of_each_kind: Played) -> None:
    runs = [of_each_kind.runs[kind] for kind in PUBLIC if kind != "damaged"]
    replays, errors = replayed_under_guard(of_each_kind, runs)
    assert errors == ""
    assert [(one["run"], one["outcome"], one["differences"]) for one in replays] == [
        (run, "identical", []) for run in runs
    ]


def test_damaged_and_private_runs_are_refused_with_a_reason(of_each_kind: Played, command: Command) -> None:
    code, said = command("replay", of_each_kind.runs["damaged"])
    assert (code, "A damaged run cannot be replayed." in said) == (2, True)
    for kind in PRIVATE:
        code, said = command("replay", of_each_kind.runs[kind])
        assert (code, "There is no run" in said) == (2, True)


def test_other_prompt_is_named_as_the_change_beside_the_recorded_answer(
    of_each_kind: Played, command: Command, tmp_path: Path
) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Say hello.")
    code, out = command("replay", of_each_kind.runs["answered"], "--prompt", str(prompt))
    assert code == 3
    assert "your change: the prompt, read first in request" in out
    assert "first difference" not in out
    assert "no model answered it, because the recorded run did not send it" in out
    assert "    replayed     none: the replay ended before it; add --model live to ask a" in out


def test_prompt_of_the_run_itself_changes_no_request(of_each_kind: Played, command: Command, tmp_path: Path) -> None:
    catalog = checked_catalog(of_each_kind.folder / "repository" / "agents")
    assert "magpie" in catalog.workflows["answered"].system
    prompt = tmp_path / "prompt.md"
    prompt.write_text("You help in #answered. The word of the day is heron-answered.")
    code, out = command("replay", of_each_kind.runs["answered"], "--prompt", str(prompt))
    assert (code, "identical" in out) == (0, True)


def test_other_orders_of_two_parallel_subagents_change_no_request(of_each_kind: Played, command: Command) -> None:
    code, out = command("replay", of_each_kind.runs["delegated"], "--permute", "5")
    assert (code, "every request and call stays the same" in out) == (0, True)


def test_steps_of_a_replay_show_words_position_and_equality(of_each_kind: Played, command: Command) -> None:
    code, out = command("replay", of_each_kind.runs["answered"], "--step")
    assert code == 0
    assert "── 1 of " in out
    assert "= as recorded" in out
    assert "may the address form go out today?" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--override", "1.0"), "write CALL=FILE"),
        (("--override", "99.0=/dev/null"), "The run has no call '99.0'"),
        (("--until", "99.0"), "The run has no call '99.0'"),
        (("--prompt", "missing.md"), "missing.md cannot be read"),
    ],
)
def test_wrong_options_are_refused_with_one_sentence(
    of_each_kind: Played, command: Command, words: Sequence[str], said: str
) -> None:
    code, printed = command("replay", of_each_kind.runs["answered"], *words)
    assert (code, said in printed) == (2, True)
