"""`gofer review`: a model reviews changed prompts, skills and evals by the rules of AGENTS.md, as advice."""

import argparse
import asyncio
from pathlib import Path

from gofer.app.evals.changed_prompts import review_changes
from gofer.app.settings import process_settings
from gofer.cli.arguments import nonempty
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.evals.prompt_review import markdown_lines
from gofer.values.errors import ConfigError

_EXAMPLES = """\
examples:
  gofer review --changed main                       review what this branch changed
  gofer review --changed origin/main --markdown review.md

The model of the role `judge` in agents/defaults.yaml gets the changed files and AGENTS.md in one request. Its remarks
are advice and change no exit code. Without a model the command says that there was no review.
Exit codes: 0 reviewed or not, 2 the input was wrong.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer review`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--changed", type=nonempty, metavar="REF", required=True, help="review the changes since the branch left REF"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the remarks as Markdown")


def execute(arguments: argparse.Namespace) -> int:
    """Print the remarks, and write them."""
    if arguments.markdown is not None and not arguments.markdown.parent.is_dir():
        raise ConfigError(f"{arguments.markdown} cannot be written: name a file in an existing folder.")
    with Working("Asks the model"):
        found = asyncio.run(review_changes(Path.cwd(), arguments.changed, process_settings()))
    lines = markdown_lines(found)
    print_lines(lines)
    if arguments.markdown is not None:
        arguments.markdown.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 0
