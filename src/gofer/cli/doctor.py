"""`gofer doctor`: says what works in this installation, what does not, and what to do."""

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from gofer.app.catalog import model_roles
from gofer.app.doctor.examination import examine
from gofer.app.doctor.finding import Finding
from gofer.app.doctor.role import abilities, models_of_role
from gofer.app.doctor.served_window import ServedWindows
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import keys_of, models_of
from gofer.app.settings import Settings, process_settings
from gofer.cli.terminal import print_lines
from gofer.cli.working import Working
from gofer.sources.workflow_files import load_catalog
from gofer.values.outside import SystemClock

_MARKS = {"works": "✓", "wrong": "✗", "away": "…", "off": "–"}
_EXAMPLES = """examples:
  gofer doctor               ask every system that the workflows use, and each model
  gofer doctor --offline     look at this machine and its files only
  gofer doctor --model default
                             ask each model of a role up to four small questions, and say what it can do and what not

Nothing is written or posted, and secrets are never printed. Without --model, each model is asked for one call of a
small tool.
✓ works  ✗ a person must act  … does not answer now  – not set up

Exit codes: 0 nothing is wrong, 1 something is wrong or does not answer, 2 the settings cannot be read.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer doctor`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--offline", action="store_true", help="ask nothing outside of this machine")
    which.add_argument("--model", metavar="ROLE", help="ask only the models of this role of agents/defaults.yaml")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def execute(arguments: argparse.Namespace) -> int:
    """Print every finding, and what to do about it."""
    settings = process_settings()
    with Working("Asks the systems"):
        found = asyncio.run(_examined(settings, offline=arguments.offline, role_name=arguments.model))
    if arguments.json:
        print(json.dumps({"findings": [asdict(finding) for finding in found]}, indent=2))
    else:
        print_lines(_lines(found))
    return int(any(finding.state in ("wrong", "away") for finding in found))


async def _examined(settings: Settings, *, offline: bool, role_name: str | None) -> Sequence[Finding]:
    async with http_client(settings.proxies) as client:
        if role_name is not None:
            asked = models_of_role(model_roles(load_catalog(Path.cwd() / "agents")), role_name)
            windows = ServedWindows(SharedHttp(client), keys_of(settings))
            return await abilities(models_of(settings, client), windows, asked)
        return await examine(settings, Path.cwd(), SharedHttp(client), client, SystemClock(), offline=offline)


def _lines(found: Sequence[Finding]) -> Iterator[str]:
    width = max(len(finding.subject) for finding in found)
    for finding in found:
        yield f"{_MARKS[finding.state]} {finding.subject:<{width}}  {finding.text}"
        if finding.remedy:
            yield f"  {'':<{width}}  {finding.remedy}"
    wrong = sum(finding.state == "wrong" for finding in found)
    away = sum(finding.state == "away" for finding in found)
    off = sum(finding.state == "off" for finding in found)
    yield ""
    yield f"{wrong} wrong, {away} without an answer, {off} not set up."
