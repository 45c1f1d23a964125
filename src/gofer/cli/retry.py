"""`gofer retry RUN`: continues an abandoned or a parked run."""

import argparse
import asyncio
import json
import sys

from gofer.app.operations import Operations
from gofer.cli.arguments import operations, place_options
from gofer.runtime.run_reader import listed_run
from gofer.runtime.run_retry import Retried, retry
from gofer.values.outside import random_id

_EXAMPLES = """effect, by the state of the run:
  unfinished     The run continues at once: a parked run makes its next attempt now, and a run whose queue message
                 became a dead letter is queued again.
  needs attention because no worker could continue it (its workers crashed, its journal was unreadable, a bug)
                 The run is queued again. First correct the cause, such as with a deploy or a restored body.
  needs attention because it was restored from a backup
                 The run continues from the backup. It looks for its answer before it posts one. Tools may repeat
                 changes that they made after the backup.
  finished       Nothing: `done`, `failed`, `limited`, `cancelled` and `ignored` are final, and so is
                 `needs_attention` because the outcome of a call is unknown. Correct the cause that the reason
                 names and ask again, such as with another message in the same thread; the new run sees what this
                 run found.

A run continues from its journal. It never repeats a completed call. Gofer makes a call in doubt again where that is
safe, or looks for it in the other system; otherwise it marks the call as unknown.

examples:
  gofer retry 3f2a                        RUN is an id that `gofer runs` lists; its first characters are enough
  gofer retry 3f2a --stage prod           on AWS

Exit codes: 0 the run is queued, 1 the run is finished or unreadable, 2 there is no such run.
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
