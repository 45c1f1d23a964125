"""The types of arguments on a command line."""

import argparse
import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, cast

from gofer.app.operations import Operations, Place, read_place
from gofer.app.settings import process_variables
from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.values.errors import ConfigError


def number(least: int, most: int) -> Callable[[str], int]:
    """Return a type for argparse: a whole number between two bounds."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse


async def listed(store: Store, prefix: str) -> Head:
    """Return the one run that begins so and that people may see.

    Raises ConfigError when there is none or more than one.
    """
    if not prefix:
        raise ConfigError("The id of the run is empty; `gofer runs` lists the newest.")
    whole = await store.head(prefix)
    if whole is not None and not whole.private:
        # Also when it is older than those that a list holds.
        return whole
    found = [head for head in await store.heads(10_000) if head.run.startswith(prefix)]
    if len(found) != 1:
        problem = "There is no run" if not found else f"{len(found)} runs begin with"
        raise ConfigError(f"{problem} {prefix!r}; `gofer runs` lists the newest.")
    return found[0]


OPENERS = {False: "gofer.app.embedded.operations", True: "gofer.app.aws.operations"}
"""Who opens the state, here and on AWS: only the one that is asked for is imported, for AWS' SDK takes its time."""


class Opener(Protocol):
    """A module that opens the state of a place."""

    def open_operations(self, place: Place) -> AbstractContextManager[Operations]:
        """Return the state. Raises ConfigError, TemporaryError."""
        ...


def place_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    stage = "the stage on AWS to act on, as `prod`: what belongs to it stands in Parameter Store below /gofer/NAME/;"
    otherwise = "without it what GOFER_TABLE and its like in the environment name, or else this machine"
    # Not given is something else than empty: `--stage "$STAGE"` does not mean this machine.
    parser.add_argument("--stage", type=told, metavar="NAME", help=f"{stage} {otherwise}")
    parser.add_argument("--profile", type=told, metavar="NAME", help="the profile of your AWS configuration to use")


def told(text: str) -> str:
    """Return a name that is not empty, as a type for argparse: an empty one is an unset variable of a shell."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; is the variable set that should say it?")
    return text


def chosen_place(arguments: argparse.Namespace) -> Place:
    """Return the place that the options and the environment name. Raises ConfigError."""
    return read_place(process_variables(), arguments.stage or "", arguments.profile or "")


def operations(arguments: argparse.Namespace) -> AbstractContextManager[Operations]:
    """Return the state that they name, until the block ends. Raises ConfigError, TemporaryError."""
    place = chosen_place(arguments)
    return cast(Opener, importlib.import_module(OPENERS[place.away])).open_operations(place)
