"""A vendor's published vocabulary: one table of what Gofer makes of each member, for readings and for documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Reader = TypeVar("Reader")


@dataclass(frozen=True, slots=True)
class Member(Generic[Reader]):
    """One member of a vocabulary, such as one type of block."""

    words: str
    """What becomes of it: for people, and without a reader also for the model."""
    reader: Reader | None = None
    """What reads it; None if Gofer only names it, as in "(a chart)"."""

    @property
    def cell(self) -> str:
        """Return the words for a table in a document."""
        if self.reader is None:
            return f'"({self.words})"'
        return self.words


@dataclass(frozen=True, slots=True)
class Vocabulary(Generic[Reader]):
    """The members that a vendor publishes for one place of what it sends."""

    title: str
    """What its members are, such as "block of a message"."""
    kind: str
    """One member in words, such as "block"."""
    members: Mapping[str, Member[Reader]]
    """Each member by the name that the vendor sends."""
    column: str = "what the model reads"
    """The heading of what becomes of the members."""

    def reader(self, name: str) -> Reader | None:
        """Return what reads a member; None if it is only named, or unknown."""
        member = self.members.get(name)
        return member.reader if member else None

    def named(self, name: str) -> str:
        """Return the words that stand in place of a member without a reader, or of an unknown one."""
        member = self.members.get(name)
        if member:
            return f"({member.words})"
        return f"({self.kind} that Gofer does not know: {name or 'without a type'})"

    def table(self) -> str:
        """Return the vocabulary as a table in Markdown."""
        rows = (f"| `{name}` | {member.cell} |" for name, member in self.members.items())
        return "\n".join((f"| {self.title} | {self.column} |", "|---|---|", *rows))
