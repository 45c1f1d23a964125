"""The options that several commands share: numbers, runs, places, senders of payloads, and questions at a terminal."""

import argparse
import getpass
import importlib
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, cast

from gofer.app.event_input import SOURCES, hook_name
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


OPENERS = {False: "gofer.app.embedded.state", True: "gofer.app.aws.operations"}
"""The modules that open the state, here and on AWS: only the chosen one is imported, for AWS' SDK takes its time."""


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


def asking() -> Callable[[str], str] | None:
    """Return what asks for a secret without showing it, or None where there is no terminal."""
    if not sys.stdin.isatty():
        return None
    return getpass.getpass


def progress(done: str) -> Callable[[int, int], None]:
    """Return what shows on one line how many files were dealt with; nothing where there is no terminal."""
    shown = sys.stderr.isatty()

    def tell(count: int, total: int) -> None:
        if shown and (count % 100 == 0 or count == total):
            print(f"\r{done} {count} of {total} files", end="", file=sys.stderr, flush=True)
        if shown and count == total:
            print(file=sys.stderr)

    return tell


def sender_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Declare the options."""
    parser.add_argument("--source", required=required, choices=sorted(SOURCES), help="who sends such payloads")
    parser.add_argument(
        "--header", action="append", default=[], metavar='"NAME: VALUE"', help="a header that comes with each payload"
    )
    hook = parser.add_mutually_exclusive_group()
    hook.add_argument("--hook", default="", metavar="NAME", help="the webhook that is called; needed if there are more")
    hook.add_argument("--path", default="", metavar="/hooks/NAME", help="the same as a path")


def read_headers(arguments: argparse.Namespace) -> Sequence[tuple[str, str]]:
    """Return the headers. Raises ConfigError."""
    return [_header(text) for text in arguments.header]


def read_hook(arguments: argparse.Namespace) -> str:
    """Return the name of the webhook, or the empty string. Raises ConfigError."""
    if arguments.path:
        return hook_name(arguments.path)
    return arguments.hook


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"--header is {text[:60]!r}; write a name, a colon and a value.")
    return name.strip(), value.strip()
