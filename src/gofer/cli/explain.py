"""`gofer explain`: what would each of these raw payloads start?"""

import argparse
import sys
from pathlib import Path

from gofer.bootstrap.doors import PATHS, open_doors
from gofer.errors import ConfigError
from gofer.explain import Explanation, Way, explain
from gofer.workflows.load import load_catalog
from gofer.workflows.routes import read_routes

_EXAMPLES = """examples:
  gofer explain --source slack tests/events/slack_app_mention.json
  tail -n 20 deliveries.jsonl | gofer explain --source slack -
  gofer explain --source github --header "X-GitHub-Event: push" tests/events/github_push.json

A file holds one JSON object, a list of them, or one on each line. For each, one line of JSON is printed:
{file, kind, dedupe_key, actor, bot, private, workflows, ignored_because, error}. Nothing runs, nothing is stored,
and no signature is asked for. Exit codes: 0 every payload was understood, 2 one was not.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer explain`."""
    parser.add_argument("--source", required=True, choices=sorted(PATHS), help="who sends such payloads")
    parser.add_argument(
        "--header", action="append", default=[], metavar='"NAME: VALUE"', help="a header that comes with each payload"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="payloads as the vendor sends them; - is stdin")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Prints one line of JSON for each payload."""
    routes = read_routes(load_catalog(Path("agents")).routes())
    headers = [_header(text) for text in arguments.header]
    way = Way(open_doors()[arguments.source], routes, PATHS[arguments.source], headers)
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


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"--header is {text[:60]!r}; write a name, a colon and a value.")
    return name.strip(), value.strip()
