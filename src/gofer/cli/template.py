"""`gofer template`: prints the parts of `template.yaml` that a source needs to receive deliveries on AWS."""

import argparse
from pathlib import Path

from gofer.app.source_template import add_source, source_template
from gofer.app.whole_files import write_all
from gofer.sources.receivers import BY_SOURCE
from gofer.values.errors import ConfigError

_SOURCE = list(BY_SOURCE)[-1]
EPILOG = f"""examples:
  gofer template {_SOURCE}                         print the parts, each with its place in the template
  gofer template {_SOURCE} --into template.yaml    insert each part at its place
docs/write-a-source.md describes every step."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer template`."""
    parser.epilog = EPILOG
    parser.add_argument("source", choices=list(BY_SOURCE), help="the name of the source")
    parser.add_argument("--into", metavar="FILE", type=Path, help="the template to insert the parts into")


def execute(arguments: argparse.Namespace) -> int:
    """Print the parts, or write them into a template."""
    spec = BY_SOURCE[arguments.source]
    if arguments.into is None:
        print(source_template(spec), end="")
        return 0
    if not arguments.into.is_file():
        raise ConfigError(f"There is no file {arguments.into}; name the template of the deployment.")
    write_all({arguments.into: add_source(spec, arguments.into.read_text(encoding="utf-8")).encode()})
    return 0
