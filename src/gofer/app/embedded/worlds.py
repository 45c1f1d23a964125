"""The states of simulated worlds, kept apart from the state of the real systems.

A run of a simulated world counts as done in no real system, and no process that reaches real systems goes on with it.
Where nothing real was set up yet, simulated runs are kept in GOFER_DATA itself, which is marked. A mark that a process
with real systems finds makes it move the whole state into a folder beside its own.
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
"""The folder of simulated runs, within that of the state."""
MOCKED = "mocked"
"""The folder of runs with mocks, within that of the state."""

_log = logging.getLogger(__name__)


def apart(settings: Settings) -> Settings:
    """Return settings whose state is that of a simulated world, and never that of real systems. Raises ConfigError."""
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
    """Move the state of a simulated world out of a folder that real systems are served from now. Raises ConfigError."""
    if not (data / WORLD).exists():
        return
    with serving(data):
        target = next(folder for folder in _folders(data) if not (folder / DATABASE).exists())
        make_folder(target)
        try:
            # The mark goes last: a process that is killed before leaves it to the next one.
            for path in sorted(_state_of(data), key=lambda path: (path.name == WORLD, path.name == DATABASE)):
                path.rename(target / path.name)
        except OSError as error:
            raise refused(data, error) from error
    _log.warning("runs of a simulated world were moved to %s; real ones are kept in %s", target, data)


def _is_real(data: Path) -> bool:
    known = (data / DATABASE).exists() or (data / KEY).exists()
    return known and not (data / WORLD).exists()


def _folders(data: Path) -> Iterator[Path]:
    yield data / FOLDER
    yield from (data / f"{FOLDER}-{number}" for number in count(2))


def _state_of(data: Path) -> Iterator[Path]:
    for path in data.iterdir():
        if path.name not in (LOCK, MOCKED) and not path.name.startswith(FOLDER):
            yield path
