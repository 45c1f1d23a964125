"""`gofer explain`: prints which workflows each payload would start, or the reason why it starts none."""

import argparse
import sys
from pathlib import Path

from gofer.app.event_input import way
from gofer.check.explain import Explanation, explain
from gofer.cli.arguments import read_headers, read_hook, sender_options
from gofer.sources.manuals import MANUALS, WORKPLACE_MANUAL
from gofer.sources.receivers import RECEIVERS
from gofer.sources.workflow_files import load_catalog


def _payload(source: str, header: str) -> str:
    """Return an example command, with the header that names the kind of event if the source has one."""
    named = f'--header "{header}" ' if header else ""
    return f"  gofer explain --source {source} {named}{MANUALS[source].payload}"


_OF_SOURCES = "\n".join(_payload(spec.source, spec.kind_header) for spec in RECEIVERS if spec.source in MANUALS)
_EXAMPLES = f"""examples:
{_OF_SOURCES}
  gofer explain --source webhook --hook new-hire body.json
  gofer explain --source webhook --path /hooks/new-hire --header "Content-Type: text/plain" body.txt
  echo '{{"workflow": "weekly-digest", "scheduled": "2026-11-23T08:00:00Z"}}' | gofer explain --source schedule -
  tail -n 20 deliveries.jsonl | gofer explain --source {WORKPLACE_MANUAL.source} -

A file holds one JSON object, a list of them, or one on each line; what people press in {WORKPLACE_MANUAL.system} may \
be a form. For a
webhook a file is one body, whatever stands in it. For each payload one line of JSON is printed:
{{file, kind, dedupe_key, actor, bot, private, workflows, decided, ignored_because, error}}; the key of a schedule ends
with the time it is for. Where several workflows match, `decided` says which one wins and why. Where a run has to read
more first, such as the name of a channel, `decided` says what, and `workflows` names all that may win. Where no
workflow matches, `ignored_because` names the nearest one, the condition that is not met, what it wants, what the
payload has, and how many more workflows listen. A schedule may also be what EventBridge Scheduler sends:
{{"workflow": …, "schedule": …, "at": …}}. Nothing runs, nothing is stored, and no signature is asked for.
Exit codes: 0 every payload was understood, 2 one was not.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer explain`."""
    sender_options(parser, required=True)
    parser.add_argument("files", nargs="+", metavar="FILE", help="payloads as their sender sends them; - is stdin")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Print one line of JSON for each payload."""
    headers = read_headers(arguments)
    hook = read_hook(arguments)
    delivery = way(load_catalog(Path("agents")), arguments.source, headers, hook)
    failed = False
    for name in arguments.files:
        try:
            raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except (OSError, ValueError):
            print(Explanation(name, error="The file cannot be read.").to_json())
            failed = True
            continue
        for explanation in explain(name, raw, delivery):
            print(explanation.to_json())
            failed = failed or explanation.error is not None
    if failed:
        return 2
    return 0
