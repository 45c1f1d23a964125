"""The kinds of triggers of Notion with their conditions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field
from typing_extensions import override

from gofer.workflows.form_parts import Name, Names, mistake
from gofer.workflows.when import Conditions, OddWord, TriggerKind, TriggerSpec, Where, odd
from gofer.workflows.writes import Listable, refuse_pattern

_UUID = re.compile(r"([0-9a-f]{8})" + 3 * r"-?([0-9a-f]{4})" + r"-?([0-9a-f]{12})(?:\?.*)?$", re.IGNORECASE)


def _in_full(value: str) -> str:
    if "*" in value:
        # Gofer stores only a hash of the earlier value, and a hash cannot match a pattern.
        raise mistake(f"`from: {value[:40]}` holds `*`.", "Write the earlier value in full, or leave `from` out.")
    return value


Before = Annotated[Name, AfterValidator(_in_full)]


class InDatabase(Conditions):
    """Conditions on events of a page in Notion."""

    FACTS: ClassVar[Mapping[str, str]] = {"database": ""}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {
        "database": [
            odd(
                r"https?://(?!.*[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}).*",
                "is a link without the id of a database",
                "Write the name of the database, or the link that Notion copies.",
            )
        ]
    }

    database: Names | None = None
    """Databases, by name, by id or by link."""

    @override
    def where(self) -> Where:
        databases = [_undashed(name) for name in self.database or ()]
        # Events contain ids but no names, so a condition on ids only is decided before a run begins.
        fact = "database_id" if all(_UUID.fullmatch(name) for name in databases) else "database"
        return super().where() | ({fact: databases} if databases else {})


class NotionUpdated(InDatabase):
    """A person changes properties of a page in Notion."""

    @override
    def where(self) -> Where:
        return super().where() | {"bot": ["false"]}


class NotionStatus(InDatabase):
    """The status of a page in a database changes. Each change counts once, however often Notion reports it."""

    FACTS: ClassVar[Mapping[str, str]] = {"database": "", "property": "", "from_": "", "to": ""}

    database: Names  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    """The database, by name, by id or by link."""
    property: Name = "Status"
    """The property with the status."""
    from_: Annotated[Before | None, Field(alias="from")] = None
    """The status before the change, in full, without `*`."""
    to: Name | None = None
    """The status after the change."""

    def change(self) -> str:
        """Return the word in the fact `status` that means that this condition is met."""
        return f"{self.property}: {self.from_ or '*'} -> {self.to or '*'}"

    @override
    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        # A new page has no earlier status, so its creation does not count; it triggers `notion.page_created`.
        yield "notion.properties_updated", self.where() | {"status": [self.change()]}


def _checked(value: str) -> str:
    refuse_pattern(value, "Write its id, or the link that Notion gives.")
    if (found := _UUID.search(value)) is None:
        raise mistake("This is not a page or database of Notion.", "Write its id, or the link that Notion gives.")
    return "-".join(found.groups()).lower()


def _plain(entry: str) -> str:
    return entry.replace("-", "")


PAGES = Listable(
    "notion",
    Annotated[str, AfterValidator(_checked)],
    "Pages and databases, by id or link: each with the pages that stand directly in it.",
    example="[5f1c7d2e0a3b4c4d8e9f00000000f0c5]",
    linked=re.compile(r"https://(?:www\.)?notion\.so/(?:[\w%-]+/)*(?:[\w%-]*-)?([0-9a-f]{32})(?![0-9a-f])"),
    plain=_plain,
)
_PLACE = "database: RFCs"

NOTION = TriggerSpec(
    writes=PAGES,
    kinds=(
        TriggerKind("notion.page_created", InDatabase, place=_PLACE),
        TriggerKind("notion.properties_updated", NotionUpdated, place=_PLACE),
        TriggerKind("notion.content_updated", InDatabase, place=_PLACE),
        TriggerKind("notion.commented", InDatabase, continues=True, place=_PLACE),
        TriggerKind("notion.status", NotionStatus, place=_PLACE),
    ),
)


def _undashed(name: str) -> str:
    """Return the id in a text that is an id or a link, without dashes; return any other text unchanged."""
    found = _UUID.search(name)
    return "".join(found.groups()).lower() if found else name
