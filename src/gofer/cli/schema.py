"""`gofer schema`: prints the JSON Schemas of workflow files, subagent files, defaults and eval files."""

import argparse
from pathlib import Path

from gofer.app.catalog import tool_names
from gofer.evals.editor_schema import eval_schema
from gofer.sources.workflow_files import defaults_schema, subagent_schema, workflow_schema

_EXAMPLES = """examples:
  gofer schema > agents/workflow.schema.json
  gofer schema --defaults > agents/defaults.schema.json
  gofer schema --subagent > subagents/subagent.schema.json
  gofer schema --eval > evals/eval.schema.json

Editors with a YAML language server then offer completion and explanations. Begin a file of agents/ with
`# yaml-language-server: $schema=workflow.schema.json`, a file of subagents/ with
`# yaml-language-server: $schema=subagent.schema.json`, and a file of evals/ with
`# yaml-language-server: $schema=eval.schema.json`.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer schema`."""
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--defaults", action="store_true", help="print the schema of defaults.yaml instead")
    other.add_argument("--subagent", action="store_true", help="print the schema of files in subagents/ instead")
    other.add_argument("--eval", action="store_true", help="print the schema of files in evals/ instead")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    if arguments.defaults:
        print(defaults_schema(), end="")
    elif arguments.subagent:
        print(subagent_schema(tool_names(Path.cwd())), end="")
    elif arguments.eval:
        print(eval_schema(), end="")
    else:
        print(workflow_schema(tool_names(Path.cwd())), end="")
    return 0
