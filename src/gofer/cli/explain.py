"""`gofer explain`: what would each of these raw payloads start?"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from gofer.explain import Explanation, Way, explain
from gofer.triggers.door import Door
from gofer.triggers.slack import SlackDoor
from gofer.workflows.load import load_catalog
from gofer.workflows.routes import read_routes

_DOORS: Mapping[str, Door] = {"slack": SlackDoor(())}
_EXAMPLES = """examples:
  gofer explain --source slack tests/events/slack_app_mention.json
  tail -n 20 deliveries.jsonl | gofer explain --source slack -

A file holds one JSON object, a list of them, or one on each line. For each, one line of JSON is printed:
{file, kind, dedupe_key, actor, bot, private, workflows, ignored_because, error}. Nothing runs, nothing is stored,
and no signature is asked for. Exit codes: 0 every payload was understood, 2 one was not.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer explain`."""
    parser.add_argument("--source", required=True, choices=sorted(_DOORS), help="who sends such payloads")
    parser.add_argument("files", nargs="+", metavar="FILE", help="payloads as the vendor sends them; - is stdin")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Prints one line of JSON for each payload."""
    way = Way(_DOORS[arguments.source], read_routes(load_catalog(Path("agents")).routes()))
    failed = False
    for name in arguments.files:
        try:
            raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except (OSError, ValueError):
            print(Explanation(name, error="The file cannot be read.").to_json())
            failed = True
            continue
        for explanation in explain(name, raw, way):
            print(explanation.to_json())
            failed = failed or explanation.error is not None
    return 2 if failed else 0
