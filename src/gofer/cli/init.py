"""`gofer init`: writes the repository of a company, with workflows to begin with."""

import argparse
from pathlib import Path

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import PARTS_TO_BEGIN_WITH, Asked, chosen_parts, named_owners, write_repository
from gofer.cli.terminal import print_lines
from gofer.values.parts import PARTS

_EXAMPLES = f"""examples:
  gofer init acme-gofer                                write a repository with {" and ".join(STARTERS)}
  gofer init acme-gofer --with file-ticket,review-rfc  with other shipped workflows
  gofer init acme-gofer --aws                          with what deploys to AWS
  gofer init acme-gofer --owners ada,bob               with the people who accept changes, for CODEOWNERS
  gofer init . --repository https://git.example.com/acme/gofer   in this folder; answers link to its prompts there

Nothing is overwritten. A README.md and a .gitignore that are there keep their text, and get that of Gofer below it."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer init`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="the folder of the repository (default .)")
    parser.add_argument(
        "--with",
        dest="workflows",
        default=",".join(STARTERS),
        metavar="NAMES",
        help="names of shipped workflows, separated by commas (default %(default)s)",
    )
    parser.add_argument(
        "--parts",
        default=",".join(PARTS_TO_BEGIN_WITH),
        metavar="NAMES",
        help=f"parts of Gofer to install, of {', '.join(sorted(PARTS))} (default %(default)s)",
    )
    parser.add_argument("--aws", action="store_true", help="with what deploys to AWS, and the part `aws` of Gofer")
    parser.add_argument("--owners", default="", metavar="NAMES", help="the people who accept changes, for CODEOWNERS")
    parser.add_argument("--repository", default="", metavar="URL", help="the address of the repository, for links")


def execute(arguments: argparse.Namespace) -> int:
    """Write the repository, and print what to do next."""
    names = [name.strip() for name in arguments.workflows.split(",") if name.strip()]
    parts = chosen_parts(f"{arguments.parts},aws" if arguments.aws else arguments.parts)
    owners = named_owners(arguments.owners)
    asked = Asked(arguments.folder, names or STARTERS, parts, arguments.repository, arguments.aws, owners)
    made = write_repository(asked)
    lines = [f"Wrote {len(made.files)} files into {arguments.folder}: the workflows {', '.join(asked.workflows)}."]
    if made.kept:
        lines.append(f"The text that was in {' and '.join(made.kept)} stays there, above that of Gofer.")
    if not owners:
        lines.append("No person accepts changes yet: write who does into CODEOWNERS.")
    if arguments.folder != Path():
        lines.append(f"Next: cd {arguments.folder}, and follow README.md from “The first hour” on.")
    else:
        lines.append("Next: follow README.md from “The first hour” on.")
    print_lines(lines)
    return 0
