"""`gofer package`: makes the packages of the functions in template.yaml."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gofer.app.packaging.archive import size, zipped
from gofer.app.packaging.packages import KINDS, check_folder, handler_of, package
from gofer.cli.terminal import print_lines

_EXAMPLES = """examples:
  gofer package OUT WorkerFunction        one function for Lambda, as `sam build` asks for it
  gofer package build/functions           all of them for Lambda, each in a folder, and zipped beside it
  gofer package build/functions --here    the same for this interpreter, from the libraries installed here"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer package`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("out", type=Path, help="the folder of the packages, which is emptied first")
    parser.add_argument("function", nargs="?", default="", help="logical id in template.yaml (default all functions)")
    parser.add_argument("--here", action="store_true", help="for this interpreter instead of Lambda's")
    parser.add_argument("--without-bytecode", action="store_true", help="to measure what bytecode is good for")
    parser.add_argument("--uv", default="uv", metavar="PROGRAM", help="the program uv, which installs for Lambda")


def execute(arguments: argparse.Namespace) -> int:
    """Make the requested packages, and print the sizes of all."""
    here = Path()
    check_folder(here)
    uv = "" if arguments.here else arguments.uv
    bytecode = not arguments.without_bytecode
    if arguments.function:
        _tell(package(handler_of(arguments.function), arguments.out, here, uv, bytecode=bytecode))
        return 0
    for handler in KINDS:
        target = arguments.out / handler
        _tell(package(handler, target, here, uv, bytecode=bytecode))
        archive = zipped(target)
        print_lines([f"{handler:10} {size(target) / 1e6:6.1f} MB, zipped {archive.stat().st_size / 1e6:5.1f} MB"])
    return 0


def _tell(left: Sequence[Path]) -> None:
    for path in left:
        print(f"{path} is not for this Python, so it has no bytecode.", file=sys.stderr)
