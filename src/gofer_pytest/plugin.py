"""The plugin that pytest loads: its options, and the collection of eval files once `--evals` is given.

Everything else is imported then, so that tests without evals start as fast as before.
"""

import importlib
from pathlib import Path
from typing import Protocol, cast

import pytest

FOLDER = "evals"


class Cases(Protocol):
    """The module `gofer_pytest.cases`."""

    def eval_file(self, parent: pytest.Collector, path: Path) -> pytest.Collector:
        """Return the collector of an eval file."""
        ...

    def close_players(self, config: pytest.Config) -> None:
        """Close what the cases of this process have opened."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of evals."""
    group = parser.getgroup("gofer", "Gofer evals")
    group.addoption("--evals", action="store_true", help="also play the cases of evals/*.yaml, one test for each case")
    group.addoption(
        "--evals-live", action="store_true", help="ask the models instead of using recorded answers; costs money"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the folder of evals beside the configured test paths, unless the command line names paths."""
    folder = config.rootpath / FOLDER
    if _is_on(config) and folder.is_dir() and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args.append(str(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of an eval file; None for every other file, and without `--evals`."""
    if not _is_on(parent.config) or file_path.suffix != ".yaml" or file_path.parent.name != FOLDER:
        return None
    return _cases().eval_file(parent, file_path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the players of this process."""
    if _is_on(config):
        _cases().close_players(config)


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--evals") or config.getoption("--evals-live"))


def _cases() -> Cases:
    return cast(Cases, importlib.import_module("gofer_pytest.cases"))
