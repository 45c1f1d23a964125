"""The `openai` package is loaded by the first question to a model, and by no command that asks no model."""

import subprocess
import sys

import pytest

from support.http.threaded_server import Requests, serving

pytestmark = pytest.mark.usefixtures("terminal")

SHOW = """
import sys
from gofer.cli.main import main
for line in sys.argv[1:]:
    code = main(line.split())
    print("\\nafter", line.split()[0], code, any(name.partition(".")[0] == "openai" for name in sys.modules))
"""


def shown(*lines: str) -> list[str]:
    """Run commands in one fresh process; return the exit code of each, and whether the package is loaded."""
    done = subprocess.run([sys.executable, "-c", SHOW, *lines], capture_output=True, text=True, check=True)
    return [line.removeprefix("after ") for line in done.stdout.splitlines() if line.startswith("after ")]


def test_commands_and_pages_of_a_demo_with_the_offline_model_load_no_package() -> None:
    told = shown("demo --exit", "runs", "stats", "check", "eval answer-here")
    assert [line.rpartition(" ")[2] for line in told] == ["False"] * 5
    assert told[0] == "demo 0 False"


class Says(Requests):
    """A model that says hello."""

    def take(self) -> None:
        self.body()
        self.reply(200, b'{"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}')


def test_question_to_a_model_loads_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Says) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        told = shown("check", "run answer-here --event evals/payloads/answer-here-linked-decision.json")
    assert [line.rpartition(" ")[2] for line in told] == ["False", "True"]
