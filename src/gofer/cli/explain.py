"""`gofer explain`: prints which workflows each payload would start, or the reason why it starts none."""

import argparse
import sys
from pathlib import Path

from gofer.app.catalog import worst_cases
from gofer.app.event_input import way
from gofer.check.explain import Explanation, explain
from gofer.cli.arguments import read_headers, read_hook, sender_options
from gofer.cli.terminal import print_lines
from gofer.sources.manuals import MANUALS, WORKPLACE_MANUAL
from gofer.sources.receivers import RECEIVERS
from gofer.sources.workflow_files import load_catalog


def _payload(source: str, header: str) -> str:
    """Return an example command, with the header that names the kind of event if the source has one."""
    named = ""
    if header:
        named = f'--header "{header}" '
    return f"  gofer explain --source {source} {named}{MANUALS[source].payload}"


_OF_SOURCES = "\n".join(_payload(spec.source, spec.kind_header) for spec in RECEIVERS if spec.source in MANUALS)
_EXAMPLES = f"""examples:
{_OF_SOURCES}
  gofer explain --source webhook --hook new-hire body.json
  gofer explain --source webhook --path /hooks/new-hire --header "Content-Type: text/plain" body.txt
  echo '{{"workflow": "weekly-digest", "scheduled": "2026-11-23T08:00:00Z"}}' | gofer explain --source schedule -
  tail -n 20 deliveries.jsonl | gofer explain --source {WORKPLACE_MANUAL.source} -

A file contains one JSON object, a list of objects, or one object per line. Clicks in {WORKPLACE_MANUAL.system} may \
be forms. For a
webhook, the whole file is one body. With --json, the command prints one line of JSON for each payload:
{{file, kind, dedupe_key, actor, bot, private, workflows, decided, ignored_because, error}}. The key of a schedule ends
with its scheduled time. If several workflows match, `decided` says which one wins and why. If a run must read more
first, such as the name of a channel, `decided` says what it must read, and `workflows` lists all that may win. If no
workflow matches, `ignored_because` names the closest one, its unmet condition, the expected and the actual value, and
the number of other workflows for such events. Without --json, a last line for each workflow that may start says
what it may do, as `gofer check --worst` does: for whom it starts, and what it reads, links, writes and asks. A
schedule may also have the form that EventBridge Scheduler sends: {{"workflow": …, "schedule": …, "at": …}}. Nothing
runs, nothing is stored, and signatures are not verified.
Exit codes: 0 Gofer understood every payload, 2 it did not understand one.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer explain`."""
    sender_options(parser, required=True)
    parser.add_argument("files", nargs="+", metavar="FILE", help="files with the payloads of deliveries; - is stdin")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line on stdout")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Print what each payload would start."""
    headers = read_headers(arguments)
    hook = read_hook(arguments)
    delivery = way(load_catalog(Path("agents")), arguments.source, headers, hook)
    failed = False
    started: set[str] = set()
    for name in arguments.files:
        try:
            raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except OSError as error:
            _print(Explanation(name, error=f"The file cannot be read ({error.strerror})."), arguments)
            failed = True
            continue
        for explanation in explain(name, raw, delivery):
            _print(explanation, arguments)
            failed = failed or explanation.error is not None
            started |= {*explanation.workflows}
    if started and not arguments.json:
        cases = worst_cases(Path("agents"))
        print_lines(f"{name}: {cases[name]}" for name in sorted(started))
    if failed:
        return 2
    return 0


def _print(explanation: Explanation, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(explanation.to_json())
    else:
        print_lines(explanation.lines())
