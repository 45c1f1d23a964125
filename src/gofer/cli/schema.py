"""`gofer schema`: which JSON Schema describes the files people write?"""

import argparse

from gofer.bootstrap.catalog import tool_names
from gofer.workflows.json_schema import defaults_schema, workflow_schema

_EXAMPLES = """examples:
  gofer schema > agents/workflow.schema.json
  gofer schema --defaults > agents/defaults.schema.json

A workflow file that begins with `# yaml-language-server: $schema=workflow.schema.json` gets completion and
explanations in editors with a YAML language server.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer schema`."""
    parser.add_argument("--defaults", action="store_true", help="the schema of defaults.yaml instead")
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    print(defaults_schema() if arguments.defaults else workflow_schema(tool_names()), end="")
    return 0
