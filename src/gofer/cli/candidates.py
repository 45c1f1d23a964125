"""`gofer candidates`: finds requests that could have a workflow of their own, and passages that could be a skill."""

import argparse
import asyncio
import json
from pathlib import Path

from gofer.app.candidates import candidates_of, prompts_of
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.learning.candidates.candidates_text import Found, found_lines, passage_lines, to_json
from gofer.learning.candidates.requests import MOST_READ
from gofer.learning.candidates.shared_passages import shared_passages

_DAYS = 30
_EXAMPLES = f"""examples:
  gofer candidates                   requests of the last {_DAYS} days that are alike, and passages that prompts share
  gofer candidates --stage prod      of the runs on AWS
  gofer candidates --prompts         only the passages; needs no run

Only public runs that ended are read, at most the newest {MOST_READ:,}. Runs that a reaction, a status, a webhook or a
schedule started have their workflow already. No model is asked, and the same runs give the same candidates.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer candidates`."""
    parser.epilog = _EXAMPLES
    days = f"read the runs of the last N days (default {_DAYS})"
    parser.add_argument("--days", type=number(1, 30), default=_DAYS, metavar="N", help=days)
    parser.add_argument("--prompts", action="store_true", help="only compare prompts and skills")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the candidates of the recorded runs and the shared passages of the prompts."""
    texts = prompts_of(Path.cwd())
    passages = shared_passages(texts)
    found: Found | None = None
    if not arguments.prompts:
        with operations(arguments) as opened, Working("Reads the runs"):
            found = asyncio.run(candidates_of(opened, Path.cwd(), arguments.days))
    if arguments.json:
        print(json.dumps(to_json(found, passages), indent=2))
        return 0
    if found is not None:
        print_lines([*found_lines(found), ""])
    print_lines(passage_lines(passages, len(texts)))
    return 0
