"""The tables of what Gofer makes of each member of a vendor's vocabulary, in the page of the vendor.

`make vocabulary` writes them between two marks of each page. A test compares the pages with what the code reads.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from gofer.sources.github.receiver import EVENTS as GITHUB_EVENTS
from gofer.sources.jira.adf_text import MARKS, NODES
from gofer.sources.jira.field_types import FIELD_TYPES
from gofer.sources.notion.content import BLOCKS as NOTION_BLOCKS
from gofer.sources.notion.get_file import STORED as NOTION_FILES
from gofer.sources.notion.inline import MENTIONS as NOTION_MENTIONS
from gofer.sources.notion.inline import PARTS as NOTION_PARTS
from gofer.sources.notion.properties import PROPERTIES as NOTION_PROPERTIES
from gofer.sources.notion.properties import RESULTS as NOTION_RESULTS
from gofer.sources.slack.attached_files import FILE
from gofer.sources.slack.block_text import BLOCKS, ELEMENTS
from gofer.sources.slack.message_text import ATTACHMENT, SUBTYPES
from gofer.sources.slack.names import REFERENCES
from gofer.sources.slack.rich_text import RICH
from gofer.sources.webhook import senders

DOCUMENTS = Path(__file__).parents[2] / "docs"
BEGIN = "<!-- made by `make vocabulary` -->\n"
END = "<!-- until here -->\n"


class Tabled(Protocol):
    """A vocabulary, or another list that a page shows as a table."""

    def table(self) -> str:
        """Return the table in Markdown."""
        ...


PAGES: Mapping[str, Sequence[Tabled]] = {
    "github.md": [GITHUB_EVENTS],
    "jira.md": [NODES, MARKS, FIELD_TYPES],
    "slack.md": (BLOCKS, ELEMENTS, RICH, REFERENCES, ATTACHMENT, FILE, SUBTYPES),
    "notion.md": [
        NOTION_BLOCKS,
        NOTION_PARTS,
        NOTION_MENTIONS,
        NOTION_PROPERTIES,
        NOTION_RESULTS,
        NOTION_FILES,
    ],
    "webhooks.md": [senders],
}
"""The vocabularies by the page that shows them, in the order of the page."""


def page(text: str, vocabularies: Sequence[Tabled]) -> str:
    """Return a page with the tables between its marks."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    tables = "\n\n".join(vocabulary.table() for vocabulary in vocabularies)
    return f"{before}{BEGIN}\n{tables}\n\n{END}{after}"


def main() -> None:
    """Write the tables of all pages."""
    for name, vocabularies in PAGES.items():
        path = DOCUMENTS / name
        path.write_text(page(path.read_text(), vocabularies))


if __name__ == "__main__":
    main()
