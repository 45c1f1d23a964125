"""How is the embedded state opened for commands that look after runs?"""

import contextlib
from collections.abc import Generator

from gofer.app.embedded.state import read_state
from gofer.app.operations import Operations, Place
from gofer.values.outside import SystemClock


@contextlib.contextmanager
def open_operations(place: Place) -> Generator[Operations]:
    """The state of the folder that GOFER_DATA names. Raises ConfigError when there is none, TemporaryError."""
    clock = SystemClock()
    with read_state(place.data, clock) as state:
        yield Operations(state.stores, clock)
