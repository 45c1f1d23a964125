"""The states of simulated worlds, separate from the state of the real systems.

A process that reaches real systems must never continue a simulated run, nor count its work as done. As long as no real
system is set up, simulated runs are stored in GOFER_DATA itself, and the file `world` marks the folder. A process with
real systems that finds this mark first moves the whole state into a subfolder.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from gofer.app.embedded.integrity import DATABASE, KEY, WORLD
from gofer.app.embedded.state import LOCK, make_folder, serving
from gofer.app.embedded.state_files import refused, write_secret
from gofer.app.settings import Settings

FOLDER = "simulated"
"""The subfolder with the state of simulated runs."""
MOCKED = "mocked"
"""The subfolder with the state of runs with mocks."""
EVALS = "evals"
"""The subfolder with the state of the runs of evals, and with the history of their scores."""

_log = logging.getLogger(__name__)


def apart(settings: Settings) -> Settings:
    """Return settings with a folder for the state of a simulated world, never of real systems. Raises ConfigError."""
    data = settings.data
    if settings.reaches_people or _is_real(data):
        return replace(settings, data=data / FOLDER)
    make_folder(data)
    try:
        write_secret(data / WORLD, "")
    except OSError as error:
        raise refused(data / WORLD, error) from error
    return settings


def move_apart(data: Path) -> None:
    """Move the state of a simulated world out of the folder that will hold the state of real systems.

    Raises ConfigError.
    """
    if not (data / WORLD).exists():
        return
    with serving(data):
        target = next(folder for folder in _folders(data) if not (folder / DATABASE).exists())
        make_folder(target)
        try:
            # The mark moves last. If this process is killed before, the next process finds the mark and continues.
            for path in sorted(_state_of(data), key=lambda path: (path.name == WORLD, path.name == DATABASE)):
                path.rename(target / path.name)
        except OSError as error:
            raise refused(data, error) from error
    moved = (
        "runs of a simulated world were moved to %s, where `GOFER_DATA=%s gofer runs` lists them; real ones are in %s"
    )
    _log.warning(moved, target, target, data)


def _is_real(data: Path) -> bool:
    known = (data / DATABASE).exists() or (data / KEY).exists()
    return known and not (data / WORLD).exists()


def _folders(data: Path) -> Iterator[Path]:
    yield data / FOLDER
    yield from (data / f"{FOLDER}-{number}" for number in count(2))


def _state_of(data: Path) -> Iterator[Path]:
    for path in data.iterdir():
        if path.name not in (LOCK, MOCKED, EVALS) and not path.name.startswith(FOLDER):
            yield path
