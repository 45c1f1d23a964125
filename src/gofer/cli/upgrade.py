"""`gofer upgrade`: brings the repository of a company to another version of Gofer, and keeps its changes."""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.app.needed_lines import lines_of_runs
from gofer.app.new_repository.changelog import changes_since
from gofer.app.new_repository.installing import install, install_locked, merge_with_the_installed_version
from gofer.app.new_repository.locking import OWN_LOCK
from gofer.app.new_repository.shipped import shipped
from gofer.app.new_repository.upgrade import SUFFIX, Change, Upgrade, upgrade
from gofer.app.new_repository.writing import INSTALL, LOCK
from gofer.cli.arguments import operations_here
from gofer.cli.terminal import as_typed, print_lines
from gofer.values.errors import ConfigError, TemporaryError

_EXAMPLES = """examples:
  gofer upgrade 0.2.0                                install that version, then merge its files
  gofer upgrade ../gofer/dist/gofer-0.2.0-py3-none-any.whl   the same from a wheel
  gofer upgrade                                      merge the files of the version that is installed

Commit before: every change is a change of files, and `git diff` shows it. Exit code 1: a file has marked conflicts."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer upgrade`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("to", nargs="?", metavar="VERSION", help="a version, or the path of a wheel, to install first")


def execute(arguments: argparse.Namespace) -> int:
    """Install the version, merge its files, and print what happened. Raises ConfigError."""
    if arguments.to is not None:
        install(arguments.to)
        code = merge_with_the_installed_version()
        if code == 0:
            install_locked(Path(LOCK))
        return code
    made = upgrade(Path())
    print_lines(_lines(made))
    print_lines(_needed())
    return int(any(change.action == "conflict" for change in made.changes))


def _lines(made: Upgrade) -> Iterator[str]:
    if made.before == made.after and not made.changes:
        yield f"The files are already those of Gofer {made.after}."
        return
    yield f"Gofer {made.before} is now {made.after}."
    changes: defaultdict[str, list[Change]] = defaultdict(list)
    for change in made.changes:
        changes[change.action].append(change)
    if replaced := changes.pop("replaced", []):
        yield f"  replaced   {len(replaced)} files that you had left alone"
    for action, ones in changes.items():
        for change in ones:
            yield from _told(action, change.path)
    news = changes_since(shipped(), made.before)
    if news:
        yield ""
        yield from news
    if any(change.path == OWN_LOCK for change in made.changes):
        yield ""
        yield as_typed(INSTALL)
    yield ""
    yield as_typed("Next: read `git diff`, then run `gofer check` and `gofer eval`.")


def _needed() -> Sequence[str]:
    """Return the lines that runs on this machine would have needed, or why they cannot be read."""
    here = operations_here()
    if here is None:
        return []
    try:
        with here as opened:
            return asyncio.run(lines_of_runs(opened, Path()))
    except (ConfigError, TemporaryError) as error:
        # The files are merged, whatever is wrong with the recorded runs.
        return [f"The recorded runs cannot be read: {error}"]


def _told(action: str, path: str) -> Iterator[str]:
    match action:
        case "conflict":
            yield f"  conflict   {path}: choose at each line with <<<<<<<"
        case "beside":
            yield f"  kept       {path}, because you changed it; the new text is {path}{SUFFIX}"
            yield f"             git diff --no-index {path} {path}{SUFFIX}"
        case "kept deleted":
            yield f"  deleted    {path} stays deleted, as you left it"
        case "not shipped any more":
            yield f"  kept       {path}, which Gofer does not ship any more"
        case _:
            yield f"  {action:<10} {path}"
