"""The options that several commands share: numbers, runs, stages, payloads, and input at a terminal."""

import argparse
import asyncio
import getpass
import importlib
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Protocol, cast

from gofer.app.embedded.integrity import DATABASE
from gofer.app.embedded.worlds import EVALS
from gofer.app.event_input import SOURCES, hook_name
from gofer.app.operations import Operations, Place, read_place
from gofer.app.settings import process_variables
from gofer.values.errors import ConfigError


def number(least: int, most: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers from `least` to `most`."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse


OPENERS = {False: "gofer.app.embedded.state", True: "gofer.app.aws.operations"}
"""The modules that open the state, on this machine and on AWS. Only one is imported, because the AWS SDK loads
slowly."""


class Opener(Protocol):
    """A module that opens the state of an installation."""

    def open_operations(self, place: Place) -> AbstractContextManager[Operations]:
        """Return the state. Raises ConfigError, TemporaryError."""
        ...


def place_options(parser: argparse.ArgumentParser) -> None:
    """Add --stage and --profile to a parser."""
    stage = "the stage on AWS to act on, such as `prod`; its settings are in Parameter Store below /gofer/NAME/;"
    otherwise = "without --stage, the installation that GOFER_TABLE names in the environment, or else this machine"
    # An empty name is refused: `--stage "$STAGE"` with an unset variable must not act on this machine.
    parser.add_argument("--stage", type=nonempty, metavar="NAME", help=f"{stage} {otherwise}")
    parser.add_argument("--profile", type=nonempty, metavar="NAME", help="the profile of your AWS configuration to use")


def nonempty(text: str) -> str:
    """Return the text. Raise ArgumentTypeError for an empty text, which usually comes from an unset shell variable."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; check that the shell variable is set")
    return text


def chosen_place(arguments: argparse.Namespace) -> Place:
    """Return the installation that the options and the environment name. Raises ConfigError."""
    return read_place(process_variables(), arguments.stage or "", arguments.profile or "")


def operations(arguments: argparse.Namespace) -> AbstractContextManager[Operations]:
    """Open the state of the chosen installation until the block ends. Raises ConfigError, TemporaryError."""
    return _opened(chosen_place(arguments))


def operations_here() -> AbstractContextManager[Operations] | None:
    """Open the state on this machine; None without one. Raises ConfigError, TemporaryError."""
    place = read_place(process_variables(), "", "")
    if place.away or not (place.data / DATABASE).exists():
        return None
    return _opened(place)


@contextmanager
def operations_with(run: str, arguments: argparse.Namespace) -> Generator[Operations]:
    """Open the state of the chosen installation; for the whole id of a run of evals, the state with these runs.

    Raises ConfigError, TemporaryError.
    """
    place = chosen_place(arguments)
    evals = replace(place, variables={**place.variables, "GOFER_DATA": str(place.data / EVALS)})
    if not place.away and (evals.data / DATABASE).exists():
        with _opened(evals) as opened:
            if asyncio.run(opened.stores.journals.head(run)) is not None:
                yield opened
                return
    with _opened(place) as opened:
        yield opened


def _opened(place: Place) -> AbstractContextManager[Operations]:
    return cast(Opener, importlib.import_module(OPENERS[place.away])).open_operations(place)


def asking() -> Callable[[str], str] | None:
    """Return a function that reads a secret from the terminal without echo, or None without a terminal."""
    if not sys.stdin.isatty():
        return None
    return getpass.getpass


def progress(done: str) -> Callable[[int, int], None]:
    """Return a function that shows the number of processed files on one line. It prints nothing without a terminal."""
    is_terminal = sys.stderr.isatty()

    def report(count: int, total: int) -> None:
        if is_terminal and (count % 100 == 0 or count == total):
            print(f"\r{done} {count} of {total} files", end="", file=sys.stderr, flush=True)
        if is_terminal and count == total:
            print(file=sys.stderr)

    return report


def sender_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add --source, --header, --hook and --path to a parser."""
    parser.add_argument(
        "--source", required=required, choices=sorted(SOURCES), help="the system that sends the payloads"
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar='"NAME: VALUE"', help="a header of each payload's request"
    )
    hook = parser.add_mutually_exclusive_group()
    hook.add_argument(
        "--hook", default="", metavar="NAME", help="the webhook that receives the payload; needed if there are several"
    )
    hook.add_argument("--path", default="", metavar="/hooks/NAME", help="the path of the webhook, instead of --hook")


def read_headers(arguments: argparse.Namespace) -> Sequence[tuple[str, str]]:
    """Return the headers of --header. Raises ConfigError."""
    return [_header(text) for text in arguments.header]


def read_hook(arguments: argparse.Namespace) -> str:
    """Return the name of the webhook; empty if the options name none. Raises ConfigError."""
    if arguments.path:
        return hook_name(arguments.path)
    return arguments.hook


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"--header is {text[:60]!r}; write a name, a colon and a value.")
    return name.strip(), value.strip()
