"""`gofer sweep`: how is everything that stands still continued, once?"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gofer.bootstrap.laptop import open_laptop, working
from gofer.bootstrap.settings import Settings, process_settings
from gofer.cli.numbers import number
from gofer.errors import ConfigError
from gofer.journal.coordination import Head
from gofer.journal.store import Store

BATCH = 1_000


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer sweep`."""
    parser.add_argument("--json", action="store_true", help="{ended, waiting}: run ids on stdout")
    parser.add_argument(
        "--seconds", type=number(1, 86_400), default=120, metavar="N", help="wait for runs so long (default 120)"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Continues what an earlier process left under way, and stops."""
    settings = process_settings()
    if not settings.slack_bot_token:
        raise ConfigError("Set SLACK_BOT_TOKEN; without a Slack nobody can be answered.")
    ended, waiting = asyncio.run(_sweep(settings, arguments.seconds))
    if arguments.json:
        print(json.dumps({"ended": ended, "waiting": waiting}))
    else:
        print(f"{len(ended)} runs ended, {len(waiting)} wait.", file=sys.stderr)
    return 1 if waiting else 0


async def _sweep(settings: Settings, seconds: int) -> tuple[list[str], list[str]]:
    async with open_laptop(settings, Path.cwd()) as laptop:
        store = laptop.state.store
        before = await _unfinished(store)
        async with working(laptop.worker):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await _all_ended(store)
        left = {head.run for head in await _unfinished(store)}
    return [head.run for head in before if head.run not in left], sorted(left)


async def _all_ended(store: Store) -> None:
    while True:
        if not await _unfinished(store):
            return
        await asyncio.sleep(0.05)


async def _unfinished(store: Store) -> Sequence[Head]:
    return await store.unfinished(2**62, BATCH)
