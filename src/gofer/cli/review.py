"""`gofer review`: a model reviews changed prompts, skills and evals by the rules of AGENTS.md, as advice."""

import argparse
import asyncio
import json
from pathlib import Path

from gofer.app.evals.changed_prompts import review_changes
from gofer.app.settings import process_settings
from gofer.cli.arguments import nonempty
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.evals.prompt_review import markdown_lines, review_json
from gofer.values.errors import ConfigError

_EXAMPLES = """\
examples:
  gofer review --changed main                       review what this branch changed
  gofer review --changed origin/main --markdown review.md

The model of the role `judge` in agents/defaults.yaml gets the changed files and AGENTS.md in one request. Its remarks
are advice and change no exit code. Without a review the command says why.
Exit codes: 0 reviewed, or nothing to review; 2 the input was wrong; 3 not reviewed: no model, or an answer that could
not be used; 4 the model did not answer.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer review`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--changed", type=nonempty, metavar="REF", required=True, help="review the changes since the branch left REF"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the remarks as Markdown")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def execute(arguments: argparse.Namespace) -> int:
    """Print the remarks, and write them."""
    if arguments.markdown is not None and not arguments.markdown.parent.is_dir():
        raise ConfigError(f"{arguments.markdown} cannot be written: name a file in an existing folder.")
    with Working("Asks the model"):
        found = asyncio.run(review_changes(Path.cwd(), arguments.changed, process_settings()))
    lines = markdown_lines(found)
    if arguments.json:
        print(json.dumps(review_json(found), indent=2))
    else:
        print_lines(lines)
    if arguments.markdown is not None:
        arguments.markdown.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return found.exit_code
