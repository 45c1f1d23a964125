"""`gofer template`: prints what a source needs in `template.yaml` to receive deliveries on AWS."""

import argparse

from gofer.app.source_template import source_template
from gofer.sources.receivers import BY_SOURCE

EPILOG = "Paste it below Resources of template.yaml; docs/write-a-source.md has every step."


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer template`."""
    parser.epilog = EPILOG
    parser.add_argument("source", choices=list(BY_SOURCE), help="the source, as events name it")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the block."""
    print(source_template(BY_SOURCE[arguments.source]), end="")
    return 0
