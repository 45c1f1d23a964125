"""`gofer publish`: makes workflows live on AWS without a deploy, and rolls back to earlier ones."""

import argparse
import asyncio
import importlib
import json
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from gofer.app.catalog import mistakes, price_list, worst_cases
from gofer.app.evals.repository import former
from gofer.app.operations import Place
from gofer.cli.arguments import OPENERS, chosen_place, nonempty, number, place_options
from gofer.cli.working import Working
from gofer.values.errors import ConfigError
from gofer.workflows.load import WORST_CASES
from gofer.workflows.mistake import refuse
from gofer.workflows.model_roles import FILE as PRICE_LIST
from gofer.workflows.publication import AGENTS, read_files
from gofer.workflows.publish.publisher import Published, Publisher

_EXAMPLES = """The command checks all files like `gofer check`, stores agents/, subagents/ and skills/ in the bucket
as one immutable bundle, writes the schedules, and moves the pointer to the bundle. The functions use it within 30
seconds; running runs keep the files they started with. Scripts in coordinators/ are code and come with a deploy.

examples:
  gofer publish --stage prod --dry-run             show which workflows and schedules would change
  gofer publish --stage prod                       make the files live; publishing again repairs the schedules
  gofer publish --stage prod --list                list the bundles, newest first; * marks the live one
  gofer publish --stage prod --roll-back NAME      make an earlier bundle live again, with its schedules

Exit codes: 0 success, 1 someone else published at the same time or AWS did not answer, 2 mistakes in files or settings.
"""


class Opener(Protocol):
    """A module that opens a stage for publishing."""

    def open_publisher(self, place: Place, root: Path) -> AbstractContextManager[Publisher]:
        """Return the publisher of a stage. Raises ConfigError."""
        ...


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer publish`."""
    parser.add_argument("root", nargs="?", default=".", metavar="PATH", help="the repository (default this folder)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="only list the published bundles")
    what.add_argument("--roll-back", type=nonempty, metavar="NAME", help="make an earlier bundle live again")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument(
        "--limit", type=number(1, 10_000), default=20, metavar="N", help="list at most N bundles (default 20)"
    )
    keys = "print {name, before, moved, workflows, schedules} on stdout, or with --list {current, at, bundles}"
    parser.add_argument("--json", action="store_true", help=keys)
    place_options(parser)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Publish, roll back or list."""
    root = Path(arguments.root)
    place = chosen_place(arguments)
    if not place.away and not place.variables.get("GOFER_BUCKET"):
        raise ConfigError("Name the stage to publish to with --stage; on this machine Gofer uses the files directly.")
    if not arguments.list and not arguments.roll_back:
        _check(root)
    with cast(Opener, importlib.import_module(OPENERS[True])).open_publisher(place, root) as publisher:
        if arguments.list:
            asyncio.run(_list(publisher, arguments))
        else:
            with Working("Publishes"):
                published = asyncio.run(_publish(publisher, root, arguments))
            _show(published, arguments)
    return 0


def _check(root: Path) -> None:
    if not (root / AGENTS).is_dir():
        raise ConfigError(
            f"There is no folder {root / AGENTS}; run the command in the repository that contains your workflows."
        )
    refuse(mistakes(root / AGENTS, former=partial(former, root)))


async def _publish(publisher: Publisher, root: Path, arguments: argparse.Namespace) -> Published:
    if arguments.roll_back:
        return await publisher.roll_back(arguments.roll_back, dry=arguments.dry_run)
    folder = root / AGENTS
    # What a function cannot compute: it has neither the price library nor, for its pages, the tools.
    computed = {PRICE_LIST: price_list(folder), WORST_CASES: json.dumps(worst_cases(folder))}
    files = {**read_files(root), **{f"{AGENTS}/{name}": text for name, text in computed.items()}}
    return await publisher.publish(files, dry=arguments.dry_run)


async def _list(publisher: Publisher, arguments: argparse.Namespace) -> None:
    names, current = await publisher.listing(arguments.limit)
    live = ""
    at = ""
    if current:
        live = current.name
        at = current.at
    if arguments.json:
        print(json.dumps({"current": live, "at": at, "bundles": list(names)}, indent=2))
        return
    for name in names:
        if name == live:
            print(f"* {name}  since {at}")
        else:
            print(f"  {name}")
    if not names:
        print("Nothing is published yet.", file=sys.stderr)


def _show(published: Published, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(json.dumps(published.to_json(), indent=2))
        return
    workflows = published.workflows
    schedules = published.schedules
    for sign, names in (("+", workflows.added), ("~", workflows.changed), ("-", workflows.removed)):
        print("".join(f"{sign} {name}\n" for name in names), end="")
    for sign, entries in (("+", schedules.added), ("~", schedules.changed)):
        print("".join(f"{sign} {entry.name}  {entry.expression} {entry.zone}\n" for entry in entries), end="")
    print("".join(f"- {name}\n" for name in schedules.removed), end="")
    print(_sentence(published, dry=arguments.dry_run), file=sys.stderr)


def _sentence(published: Published, *, dry: bool) -> str:
    before = ""
    if published.before:
        before = f", after {published.before}"
    match published.moved, dry:
        case True, True:
            return f"This bundle would be live{before}; nothing was changed."
        case True, False:
            return f"{published.name} is live within 30 seconds{before}."
        case _:
            return f"{published.name} is already live; nothing else {'would be' if dry else 'was'} published."
