"""Fixtures of journeys: a terminal without this machine's settings, a model that is always busy, and played runs."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.app.command_line import Command
from support.app.company import ROOT
from support.app.runs_of_each_kind import Played, played
from support.http.threaded_server import Requests, serving
from support.processes.forked_program import forked_program


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """Restore Python's logging as it was before the test."""
    root, ours = logging.getLogger(), logging.getLogger("gofer")
    handlers, levels = list(root.handlers), (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository as the current folder, state of its own, and none of this machine's settings."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    models, slack = (
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"),
    )
    traces = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    for name in (*models, *slack, *traces, "JIRA_BASE_URL", "JIRA_API_TOKEN", "NOTION_TOKEN", "GITHUB_TOKEN"):
        # Empty instead of deleted: it also wins over a line of .env in the repository.
        monkeypatch.setenv(name, "")


class Busy(Requests):
    """A provider of models that answers 503 with a Retry-After of one hour."""

    def take(self) -> None:
        self.body()
        self.reply(503, headers={"Retry-After": "3600"})


@pytest.fixture
def busy_model(terminal: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving(Busy) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield


@pytest.fixture(scope="session")
def forked_gofer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with a program `gofer` that starts fast, for the PATH of a shell."""
    with forked_program(tmp_path_factory.mktemp("forked") / "bin") as programs:
        yield programs


@pytest.fixture(scope="session")
def of_each_kind(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Return a run of each kind, played once for all journeys that only read."""
    return asyncio.run(played(tmp_path_factory.mktemp("runs")))


@pytest.fixture
def state(of_each_kind: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands work on the state of the played runs, in the repository of these runs."""
    monkeypatch.setenv("GOFER_DATA", str(of_each_kind.folder / "state"))
    monkeypatch.chdir(of_each_kind.folder / "repository")


@pytest.fixture
def command(state: None, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command, and returns its exit code and everything that it printed."""

    def run(*words: str) -> tuple[int, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out + err

    return run
