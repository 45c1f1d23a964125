"""`gofer suggest WORKFLOW`: proposes an edit of a prompt or a skill from recorded runs, and proves it by replay."""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from gofer.app.settings import process_settings
from gofer.app.suggestions.suggesting import Wanted, suggest
from gofer.cli.arguments import number, operations, place_options
from gofer.cli.terminal import only_errors_logged, print_lines
from gofer.learning.suggestions.suggestion_text import suggestion_json, suggestion_lines
from gofer.values.errors import ConfigError

MOST_DAYS = 365
_DAYS = 30
_EXAMPLES = """examples:
  gofer suggest file-ticket                       evidence of 30 days, a proposal, its proof, and a branch
  gofer suggest file-ticket --days 7 --usd 1      fewer days, and at most one US dollar
  gofer suggest file-ticket --no-branch           prove the proposal, and write no branch
  gofer suggest file-ticket --stage prod --body pr.md
                                                  learn from the runs of a stage; write the text of the pull request

"No suggestion" is the normal outcome. The command reads public runs with bad feedback, low reviews, failed checks and
failing tools. If they have something in common, it asks the model of the role `suggester` for one edit and one eval
case, and proves both in a temporary checkout of the present commit: the case fails without the edit and passes with it,
the replays of good runs do not get worse, and the suite does not regress. It writes a new branch, and pushes and merges
nothing. Your working tree stays as it is.

Exit codes: 0 a proven suggestion, or no suggestion; 2 wrong input; 3 not proven, because no live model is set up, or
no answer of the model could be used; 4 a model did not answer; 5 the limit of --usd is reached.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer suggest`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("workflow", metavar="WORKFLOW", help="name of the workflow")
    parser.add_argument(
        "--days",
        metavar="N",
        type=number(1, MOST_DAYS),
        default=_DAYS,
        help=f"learn from the runs of the last N days (default {_DAYS})",
    )
    parser.add_argument(
        "--usd",
        metavar="LIMIT",
        type=_amount,
        help="stop when this many US dollars are spent (default: `suggest` in agents/defaults.yaml)",
    )
    parser.add_argument("--no-branch", action="store_true", help="write no branch")
    parser.add_argument("--body", type=Path, metavar="FILE", help="write the text of the pull request, in Markdown")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the suggestion or why there is none, and write the branch and the text of the pull request."""
    body = arguments.body
    if body is not None and (body.is_dir() or not body.parent.is_dir()):
        raise ConfigError(f"{body} cannot be written: name a file in an existing folder.")
    wanted = Wanted(
        workflow=arguments.workflow, days=arguments.days, usd=arguments.usd, with_branch=not arguments.no_branch
    )
    with operations(arguments) as opened, only_errors_logged():
        made = asyncio.run(suggest(process_settings(), Path.cwd(), opened, wanted, _say))
    if body is not None and made.pull_request:
        body.write_text(made.pull_request, encoding="utf-8")
    if arguments.json:
        print(json.dumps(suggestion_json(made), indent=2))
        return made.exit_code
    print_lines(suggestion_lines(made))
    if made.pull_request and body is None:
        print_lines(["", "The text of the pull request:", "", *made.pull_request.splitlines()])
    return made.exit_code


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount <= 1_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount above 0 and at most 1000")
    return amount
