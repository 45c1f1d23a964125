"""`gofer check`: lists the mistakes in the files that people edit."""

import argparse
import asyncio
import json
import sys
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from gofer.app.catalog import mistakes as workflow_mistakes
from gofer.app.catalog import models, models_in, worst_cases
from gofer.app.doctor.models import unserved
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.evals.repository import former
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.needed_lines import lines_of_runs
from gofer.app.settings import process_settings
from gofer.check.sarif import sarif
from gofer.cli.arguments import operations, place_options
from gofer.cli.terminal import print_lines
from gofer.evals.load import FOLDER as EVALS
from gofer.tools.company import FOLDER as TOOLS
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from gofer.workflows.load import DEFAULTS
from gofer.workflows.mistake import Mistake, in_order
from gofer.workflows.script_source import FOLDER as SCRIPTS
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.subagent import FOLDER as SUBAGENTS

_EXAMPLES = """examples:
  gofer check                            all files of the workflows in agents/, and all files of evals/
  gofer check agents/answer-here.yaml    only this file and answer-here.md
  gofer check coordinators/mark.py       only this script
  gofer check tools/oncall.py            only this tool
  gofer check skills/citing-sources      only this skill and its scripts
  gofer check evals/file-ticket.yaml     only this eval file
  gofer check --runs --stage prod        also print the lines that runs of the last 30 days would have needed
  gofer check --json | jq '.[].rule'     a list of {file, line, column, rule, level, message, hint}
  gofer check --models                   ask each endpoint for its models (one token each), and print a table of them
  gofer check --worst                    what each workflow could do if its model obeyed an attacker
  gofer check --sarif > check.sarif      for code hosts that show mistakes beside the lines

Exit codes: 0 no mistakes (hints are allowed), 1 mistakes found, 2 nothing to check. docs/checks.md explains each rule.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer check`."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a folder of workflows, of a skill or of evals, or single files (default agents and evals)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON list on stdout")
    form.add_argument(
        "--models",
        action="store_true",
        help="also ask each endpoint for its models, and print a table of them: endpoint, key, price, window, reads",
    )
    form.add_argument(
        "--worst",
        action="store_true",
        help="also print what each workflow could do at worst, if its model obeyed an attacker",
    )
    form.add_argument(
        "--runs",
        action="store_true",
        help="also print the lines of `writes`, `links` and `most` that runs of the last 30 days would have needed",
    )
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0 on stdout")
    place_options(parser)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Print every mistake, one per line unless an option chooses another format."""
    paths = [Path(path) for path in arguments.paths or ["agents"]]
    found = in_order(mistake for path in paths for mistake in _check(path))
    if arguments.models and not any(not mistake.is_hint for mistake in found):
        found = in_order([*found, *asyncio.run(_unserved({_folder(path) for path in paths}))])
    if arguments.json:
        print(json.dumps([mistake.to_json() for mistake in found], indent=2))
    elif arguments.sarif:
        print(json.dumps(sarif(found), indent=2))
    else:
        print("".join(f"{mistake}\n" for mistake in found), end="")
        print(_summary(found), file=sys.stderr)
    if any(not mistake.is_hint for mistake in found):
        return 1
    for path in paths:
        if arguments.models:
            print(models(_folder(path)), end="")
        if arguments.worst:
            _print_worst(path)
    if arguments.runs:
        with operations(arguments) as opened:
            print_lines(asyncio.run(lines_of_runs(opened, Path.cwd())))
    return 0


def _print_worst(path: Path) -> None:
    """Print what the workflow of a file could do at worst, or each workflow of a folder."""
    for name, paragraph in worst_cases(_folder(path)).items():
        if path.suffix != ".yaml" or path.stem == name:
            print(f"{name}: {paragraph}")


async def _unserved(folders: Collection[Path]) -> Sequence[Mistake]:
    """Return the models that their endpoints do not have; none without an endpoint."""
    settings = process_settings()
    if not settings.has_model:
        return []
    async with http_client(settings.proxies) as client:
        access = models_of(settings, client)
        return [mistake for folder in folders for mistake in await unserved(access, models_in(folder))]


def _check(path: Path) -> Sequence[Mistake]:
    if not path.exists():
        raise ConfigError(
            f"There is no file or folder {path}; run Gofer in the repository that holds your workflows, or name a "
            "folder of workflows or a file in it."
        )
    if skills := next((parent for parent in (path, *path.parents) if parent.name == SKILLS), None):
        return [found for found in _mistakes(skills.parent / "agents") if found.file.is_relative_to(path)]
    if EVALS in (path.name, path.parent.name):
        found = eval_mistakes(_folder(path), SystemClock())
        return [mistake for mistake in found if mistake.file.is_relative_to(path)]
    folder = _folder(path)
    # The parent of agents/ may contain other YAML files, such as the template of a deployment.
    named = [path for path in folder.glob("*.*") if path.suffix.lower() in (".yml", ".yaml") and path.name != DEFAULTS]
    if (folder / "agents").is_dir() or not named:
        raise ConfigError(f"There is no workflow in {folder}; name a folder that contains workflows.")
    if path.is_dir():
        return [
            *_mistakes(folder),
            *eval_mistakes(folder, SystemClock()),
        ]
    chosen = {path}
    if path.suffix == ".yaml":
        chosen.add(path.with_suffix(".md"))
    return [mistake for mistake in _mistakes(folder) if mistake.file in chosen]


def _mistakes(folder: Path) -> Sequence[Mistake]:
    return workflow_mistakes(folder, former=partial(former, folder.parent))


def _folder(path: Path) -> Path:
    """Return the folder of the workflows that a path belongs to."""
    inner = path / "agents"
    if path.name == EVALS:
        return path.parent / "agents"
    if path.parent.name in (EVALS, SCRIPTS, SUBAGENTS, TOOLS):
        return path.parent.parent / "agents"
    if inner.is_dir():
        return inner
    if path.is_dir():
        return path
    return path.parent


def _summary(found: Sequence[Mistake]) -> str:
    wrong = [mistake for mistake in found if not mistake.is_hint]
    hints = len(found) - len(wrong)
    notes = ""
    if hints:
        notes = f" {hints} hint{'s' * (hints != 1)}."
    if not wrong:
        return f"No mistakes.{notes}"
    files = len({mistake.file for mistake in wrong})
    return f"{len(wrong)} mistake{'s' * (len(wrong) != 1)} in {files} file{'s' * (files != 1)}.{notes}"
