"""`gofer promote WORKFLOW`: finds what its runs have in common, drafts a script, and verifies one."""

import argparse
import asyncio
import json
from pathlib import Path

from gofer.app.promotion import draft_of, promotion_of, verification_of, write_draft
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.evals.results import NO_EVIDENCE
from gofer.learning.promotion.draft import Draft
from gofer.learning.promotion.promotion import Promotion
from gofer.learning.promotion.promotion_text import (
    promotion_json,
    promotion_lines,
    verification_json,
    verification_lines,
)
from gofer.learning.promotion.recorded_runs import MOST_RUNS
from gofer.values.errors import ConfigError

_EXAMPLES = """examples:
  gofer promote new-hire-checklist                      what its runs have in common, and where the draft would go
  gofer promote new-hire-checklist --out /tmp/draft     write the draft into a folder
  gofer promote new-hire-checklist --write              write the draft into this repository
  gofer promote new-hire-checklist --verify coordinators/new_hire_checklist.py
                                                        how many recorded runs does the script reproduce?

Only public runs that a model decided and that ended as done are read, those of the newest prompt first, without those
with bad feedback. A verification calls nothing outside: the script gets the recorded results, and its subagent answers
what the recorded model decided.

The newest fifth of the runs is kept for the verification: a draft is right if it reproduces runs that it was not
drafted from.

Exit codes: 0 drafted, or every run is reproduced; 1 the runs have too little in common, or a run is not reproduced; 2
wrong input; 3 every run is reproduced, and the script was drafted from all of them.
"""
_RUNS = 100


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer promote`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("workflow", metavar="WORKFLOW", help="name of the workflow")
    parser.add_argument(
        "--runs",
        metavar="N",
        type=number(1, MOST_RUNS),
        default=_RUNS,
        help=f"read at most N runs (default {_RUNS}, at most {MOST_RUNS})",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", metavar="FOLDER", help="write the draft into this folder")
    where.add_argument("--write", action="store_true", help="write the draft into this repository")
    where.add_argument("--verify", metavar="SCRIPT", help="run a script on the recorded runs instead of drafting one")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print what the runs have in common and the draft, or the verification of a script."""
    if arguments.verify is not None:
        return _verify(arguments)
    folder = _folder(arguments)
    with operations(arguments) as opened, Working("Reads the runs"):
        promotion = asyncio.run(promotion_of(opened, Path.cwd(), arguments.workflow, arguments.runs))
    if promotion.too_little:
        return _refuse(promotion, arguments)
    made = draft_of(promotion, Path.cwd())
    if folder is not None:
        write_draft(made, folder, force=arguments.force)
    if arguments.json:
        draft = {"script": made.script, "files": dict(made.new), "diff": made.diff, "written": folder is not None}
        print(json.dumps({**promotion_json(promotion), "draft": draft}, indent=2))
        return 0
    print_lines(promotion_lines(promotion))
    _print_draft(promotion, made, folder)
    return 0


def _folder(arguments: argparse.Namespace) -> Path | None:
    if arguments.write:
        return Path()
    if arguments.force and arguments.out is None:
        raise ConfigError("--force replaces the files of a draft; add --write, or --out FOLDER.")
    if arguments.out is not None:
        if not arguments.out:
            raise ConfigError("--out is empty; name a folder.")
        return Path(arguments.out)
    return None


def _refuse(promotion: Promotion, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps({**promotion_json(promotion), "draft": None}, indent=2))
    else:
        print_lines([*promotion_lines(promotion), "", f"No draft: {promotion.too_little}"])
    return 1


def _print_draft(promotion: Promotion, made: Draft, folder: Path | None) -> None:
    print()
    if folder is None:
        print("The draft would go into these files; --write writes them, and --out FOLDER elsewhere:")
    else:
        print("The draft is in these files:")
    for path in made.new:
        print(f"    {(folder or Path()) / path}")
    print()
    print("The workflow file stays as it is. This change makes the script its coordinator:")
    print()
    print(made.diff, end="")
    print()
    script = (folder or Path()) / made.script
    print(f"Verify the script before you apply the change: gofer promote {promotion.workflow} --verify {script}")


def _verify(arguments: argparse.Namespace) -> int:
    script = Path(arguments.verify)
    with operations(arguments) as opened, Working("Replays the runs with the script"):
        verification = asyncio.run(verification_of(opened, Path.cwd(), arguments.workflow, script, arguments.runs))
    if arguments.json:
        print(json.dumps(verification_json(verification), indent=2))
    else:
        print_lines(verification_lines(verification))
    if verification.is_complete and verification.drafted_until and not verification.new:
        return NO_EVIDENCE
    return int(not verification.is_complete)
