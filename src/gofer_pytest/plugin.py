"""The plugin that pytest loads: its options, and the collection of eval files once `--evals` is given.

Everything else is imported then, so that tests without evals start as fast as before.
"""

import importlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Protocol, cast

import pytest

FOLDER = "evals"
GOLDENS = "goldens"
"""The folder of goldens, in the folder of evals."""


class Cases(Protocol):
    """The module `gofer_pytest.cases`."""

    def eval_file(self, parent: pytest.Collector, path: Path) -> pytest.Collector:
        """Return the collector of an eval file."""
        ...


class Repositories(Protocol):
    """The module `gofer_pytest.repositories`."""

    def check_files(self, config: pytest.Config) -> None:
        """Raise UsageError for mistakes in the collected eval files."""
        ...

    def summary(self, config: pytest.Config) -> Sequence[str]:
        """Return the lines about the suite as a whole."""
        ...

    def close_players(self, config: pytest.Config) -> None:
        """Close what the cases of this process have opened."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of evals."""
    group = parser.getgroup("gofer", "Gofer evals")
    group.addoption(
        "--evals", action="store_true", help="also play the cases and goldens of evals/, one test for each case"
    )
    group.addoption(
        "--evals-live", action="store_true", help="ask the models instead of using recorded answers; costs money"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the folder of evals beside the configured test paths, unless the command line names paths."""
    folder = config.rootpath / FOLDER
    if _is_on(config) and folder.is_dir() and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args.append(str(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of an eval file or a golden; None for every other file, and without `--evals`."""
    if not _is_on(parent.config) or file_path.suffix != ".yaml":
        return None
    folder = file_path.parent
    if folder.name == GOLDENS:
        folder = folder.parent
    if folder.name != FOLDER:
        return None
    return _cases().eval_file(parent, file_path)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Check the collected eval files before any case is played. Raises UsageError with their mistakes."""
    try:
        result = yield
    except pytest.UsageError:
        # A case of a file with mistakes is not found; the mistakes say why.
        _check_files(session.config)
        raise
    _check_files(session.config)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the played cases say about the repository as a whole."""
    if not _is_on(config):
        return
    lines = _repositories().summary(config)
    if lines:
        terminalreporter.section("evals")
    for line in lines:
        terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the players of this process."""
    if _is_on(config):
        _repositories().close_players(config)


def _check_files(config: pytest.Config) -> None:
    if _is_on(config):
        _repositories().check_files(config)


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--evals") or config.getoption("--evals-live"))


def _cases() -> Cases:
    return cast(Cases, importlib.import_module("gofer_pytest.cases"))


def _repositories() -> Repositories:
    return cast(Repositories, importlib.import_module("gofer_pytest.repositories"))
