"""The sender of a payload that is read from a file, by the options of a command."""

import argparse
from collections.abc import Sequence

from gofer.app.unverified_payloads import SOURCES, hook_name
from gofer.values.errors import ConfigError


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
