"""`gofer replay` of a run of each kind, in a process that may not open a connection."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog
from support.app.runs_of_each_kind import PRIVATE, PUBLIC, Kind, Played

GUARDED = """
import sys
from gofer.cli.main import main

def guard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        raise RuntimeError(f"a replay opened a connection: {event}")

sys.addaudithook(guard)
sys.exit(main(sys.argv[1:]))
"""
"""Runs a command of Gofer, and ends with an error as soon as it opens a connection."""


def replay(made: Played, *words: str) -> tuple[int, str, str]:
    """Run `gofer replay` in the repository of the played runs."""
    environment = {**os.environ, "GOFER_DATA": str(made.folder / "state"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, "replay", *words],
        cwd=made.folder / "repository",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def differences(out: str) -> Sequence[Mapping[str, object]]:
    return json.loads(out)["differences"]


@pytest.mark.parametrize("kind", [kind for kind in PUBLIC if kind != "damaged"])
def test_replay_of_each_public_run_is_identical_without_a_connection(of_each_kind: Played, kind: Kind) -> None:
    code, out, err = replay(of_each_kind, of_each_kind.runs[kind], "--json")
    assert (code, json.loads(out)["outcome"], differences(out)) == (0, "identical", []), err


def test_damaged_and_private_runs_are_refused_with_a_reason(of_each_kind: Played) -> None:
    code, _, err = replay(of_each_kind, of_each_kind.runs["damaged"])
    assert (code, "A damaged run cannot be replayed." in err) == (2, True)
    for kind in PRIVATE:
        code, out, err = replay(of_each_kind, of_each_kind.runs[kind])
        assert (code, out) == (2, "")
        assert "There is no run" in err


def test_current_prompt_names_the_words_that_change_in_the_first_request(of_each_kind: Played, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Say hello.")
    code, out, _ = replay(of_each_kind, of_each_kind.runs["answered"], "--prompt", str(prompt))
    assert code == 3
    assert "first difference: llm.request" in out
    assert "+ " in out
    assert "Say hello." in out
    assert "No model answered this request" in out


def test_prompt_of_the_run_itself_changes_no_request(of_each_kind: Played, tmp_path: Path) -> None:
    catalog = checked_catalog(of_each_kind.folder / "repository" / "agents")
    assert "magpie" in catalog.workflows["answered"].system
    prompt = tmp_path / "prompt.md"
    prompt.write_text("You help in #answered. The word of the day is heron-answered.")
    code, out, _ = replay(of_each_kind, of_each_kind.runs["answered"], "--prompt", str(prompt))
    assert (code, "identical" in out) == (0, True)


def test_other_orders_of_two_parallel_subagents_change_no_request(of_each_kind: Played) -> None:
    code, out, _ = replay(of_each_kind, of_each_kind.runs["delegated"], "--permute", "5")
    assert (code, "every request and call stays the same" in out) == (0, True)


def test_steps_of_a_replay_show_words_position_and_equality(of_each_kind: Played) -> None:
    code, out, _ = replay(of_each_kind, of_each_kind.runs["answered"], "--step")
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
def test_wrong_options_are_refused_with_one_sentence(of_each_kind: Played, words: Sequence[str], said: str) -> None:
    code, out, err = replay(of_each_kind, of_each_kind.runs["answered"], *words)
    assert (code, out) == (2, "")
    assert said in err
