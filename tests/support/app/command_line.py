"""Commands of the command line, run in this process."""

import json
from collections.abc import Callable

import pytest

from gofer.cli.main import main
from support.app.company import ROOT

Command = Callable[..., tuple[int, str]]
"""A function that runs a command, and returns its exit code and everything that it printed."""

EVENT = str(ROOT / "tests" / "events" / "slack_app_mention.json")


def gofer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict:
    exit_code, out, _ = gofer(capsys, "run", "answer-here", "--event", EVENT, "--json")
    assert exit_code == code
    return json.loads(out)
