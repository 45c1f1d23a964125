"""`gofer version`, also `gofer --version`: prints the versions of Gofer, Python and the system in one line."""

import argparse
import platform

from gofer.app.new_repository.shipped import gofer_version
from gofer.cli.terminal import print_lines


def options(parser: argparse.ArgumentParser) -> None:
    """Declare no options."""


def execute(arguments: argparse.Namespace) -> int:
    """Print the line."""
    python = platform.python_version()
    print_lines([f"gofer {gofer_version()}, Python {python}, {platform.system()} {platform.machine()}"])
    return 0
