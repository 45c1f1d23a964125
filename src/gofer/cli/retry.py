"""`gofer retry RUN`: continues an abandoned or a parked run."""

import argparse
import asyncio
import json
import sys

from gofer.app.operations import Operations
from gofer.cli.arguments import listed_run, operations, place_options
from gofer.runtime.retry import Retried, retry
from gofer.values.outside import random_id

_EXAMPLES = """what it does, by what became of the run:
  not ended      it goes on at once: a parked run makes its next attempt now, and one whose queue message
                 became a dead letter is queued again
  needs attention because it could not be continued (its workers were lost, its journal could not be read, a bug)
                 the same, once whatever was wrong is corrected: a deploy, a restored body
  needs attention because it was restored from a backup
                 it goes on from there: it looks for its answer before it posts one, and what its tools changed
                 after the backup may be done again
  ended          nothing: `done`, `failed`, `limited`, `cancelled` are the last entry of a journal. Correct what its
                 reason says and ask anew, as with another message in the same thread; that run is told what this
                 one found

A run goes on from its journal: a call that happened is not made again, one that nobody can tell about is looked for
or shown as unknown, never repeated.

examples:
  gofer retry 3f2a                        RUN as `gofer runs` lists it; the first characters are enough
  gofer retry 3f2a --stage prod           on AWS

Exit codes: 0 it is queued, 1 it has ended or cannot be read, 2 there is no such run.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer retry`."""
    parser.add_argument("run", metavar="RUN", help="id of the run; its first characters are enough")
    parser.add_argument("--json", action="store_true", help="{run, enqueued, message} on stdout")
    place_options(parser)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Requeue the run, or explain the options for a finished one."""
    with operations(arguments) as opened:
        run, retried = asyncio.run(_retry(opened, arguments.run))
    if arguments.json:
        print(json.dumps({"run": run, "enqueued": retried.enqueued, "message": retried.message}))
    else:
        print(retried.message, file=sys.stderr)
    if retried.enqueued:
        return 0
    return 1


async def _retry(opened: Operations, prefix: str) -> tuple[str, Retried]:
    # A person who has the complete id of an unlisted run already knows about it.
    head = await opened.stores.journals.head(prefix) or await listed_run(opened.stores.journals, prefix)
    return head.run, await retry(head.run, opened.stores, opened.clock, random_id())
