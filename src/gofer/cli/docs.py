"""`gofer docs`: prints the guides of the installed version."""

import argparse

from gofer.app.new_repository.shipped import shipped
from gofer.cli.terminal import print_lines
from gofer.values.errors import ConfigError

_EXAMPLES = """examples:
  gofer docs                   list the pages
  gofer docs start             print one page, in Markdown
  gofer docs docs/evals.md     print the page that a message names
  gofer docs deploy | less"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer docs`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("page", nargs="?", metavar="PAGE", help="the name of a page; without it, all names are printed")


def execute(arguments: argparse.Namespace) -> int:
    """Print the list of the pages, or one page. Raises ConfigError for a page that does not exist."""
    pages = {path.stem: path for path in sorted((shipped() / "docs").glob("*.md"))}
    if arguments.page is None:
        width = max(map(len, pages))
        print_lines(f"{name:<{width}}  {_title(path.read_text(encoding='utf-8'))}" for name, path in pages.items())
        return 0
    # Messages name a page as a file, and perhaps one of its sections.
    name = arguments.page.partition("#")[0].removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        raise ConfigError(f"There is no page {arguments.page!r}; `gofer docs` lists all pages.")
    print_lines(pages[name].read_text(encoding="utf-8").splitlines())
    return 0


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")
