"""Which Gofer does a command act on: the one of this folder, or one on AWS?"""

import argparse
import importlib
from contextlib import AbstractContextManager
from typing import Protocol, cast

from gofer.bootstrap.operations import Operations, Place, read_place
from gofer.bootstrap.settings import process_variables

OPENERS = {False: "gofer.bootstrap.operations_here", True: "gofer.bootstrap.operations_aws"}
"""Who opens the state, here and on AWS: only the one that is asked for is imported, for AWS' SDK takes its time."""


class Opener(Protocol):
    """A module that opens the state of a place."""

    def open_operations(self, place: Place) -> AbstractContextManager[Operations]:
        """The state. Raises ConfigError, TemporaryError."""
        ...


def place_options(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    stage = "the stage on AWS to act on, as `prod`: what belongs to it stands in Parameter Store below /gofer/NAME/;"
    otherwise = "without it what GOFER_TABLE and its like in the environment name, or else this machine"
    # Not given is something else than empty: with `--stage "$STAGE"` nobody means this machine.
    parser.add_argument("--stage", type=told, metavar="NAME", help=f"{stage} {otherwise}")
    parser.add_argument("--profile", type=told, metavar="NAME", help="the profile of your AWS configuration to use")


def told(text: str) -> str:
    """A name that is not empty, as a type for argparse: an empty one is a variable of a shell that nobody set."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; is the variable set that should say it?")
    return text


def chosen_place(arguments: argparse.Namespace) -> Place:
    """The place that the options and the environment name. Raises ConfigError."""
    return read_place(process_variables(), arguments.stage or "", arguments.profile or "")


def operations(arguments: argparse.Namespace) -> AbstractContextManager[Operations]:
    """The state that they name, until the block ends. Raises ConfigError, TemporaryError."""
    place = chosen_place(arguments)
    return cast(Opener, importlib.import_module(OPENERS[place.away])).open_operations(place)
