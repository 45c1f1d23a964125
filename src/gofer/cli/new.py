"""`gofer new`: writes a workflow, a tool, a skill or an eval to begin with, which passes `gofer check`."""

import argparse
from pathlib import Path
from typing import cast

from gofer.app.new_files.new_files import KINDS, Kind, Wanted, write_new
from gofer.app.new_files.triggers import KINDS as TRIGGERS
from gofer.app.new_repository.writing import INSTALL, lock_own_packages
from gofer.app.settings import process_settings
from gofer.cli.terminal import as_typed, print_lines
from gofer.values.errors import ConfigError

_EXAMPLES = f"""examples:
  gofer new workflow sum-up                         a workflow with a prompt and two evals
  gofer new workflow tidy --trigger schedule --script   a workflow that is a Python script
  gofer new tool oncall                             a tool in tools/, with a test
  gofer new skill release-notes
  gofer new eval odd-questions --workflow answer-here

Nothing is overwritten. Kinds of triggers: {", ".join(TRIGGERS)}"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer new`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("kind", choices=KINDS, help="what to write")
    parser.add_argument("name", metavar="NAME", help="its name: lower-case letters, digits and hyphens")
    parser.add_argument("--trigger", metavar="KIND", help=f"what starts a workflow (default {TRIGGERS[0]})")
    parser.add_argument("--script", action="store_true", help="the workflow is a Python script instead of a prompt")
    parser.add_argument("--owner", metavar="OWNER", default="", help="the owner of the workflow, such as #my-team")
    parser.add_argument("--workflow", metavar="WORKFLOW", default="", help="the workflow that an eval is about")


def execute(arguments: argparse.Namespace) -> int:
    """Write the files, and print what to do next."""
    kind = cast(Kind, arguments.kind)
    _check_options(arguments, kind)
    wanted = Wanted(
        kind=kind,
        name=arguments.name,
        trigger=arguments.trigger or TRIGGERS[0],
        script=arguments.script,
        workflow=arguments.workflow,
        owner=arguments.owner,
    )
    locks = lock_own_packages(Path())
    made = write_new(wanted, Path())
    commands = [as_typed(command) for command in made.next]
    if any(command.endswith("--live") for command in commands) and not process_settings().has_model:
        commands.insert(-1, "write OPENAI_API_KEY into .env")
    if locks:
        print_lines([f"Wrote {' and '.join(locks)} for the packages of pyproject.toml.", INSTALL])
    print_lines([*(f"Wrote {path}" for path in made.files), f"Next: {', then '.join(commands)}"])
    return 0


def _check_options(arguments: argparse.Namespace, kind: Kind) -> None:
    """Raise ConfigError for an option of another kind."""
    if kind != "workflow" and (arguments.trigger or arguments.script or arguments.owner):
        raise ConfigError("--trigger, --script and --owner belong to `gofer new workflow`.")
    if (kind == "eval") != bool(arguments.workflow):
        raise ConfigError("--workflow belongs to `gofer new eval`, which needs it.")
