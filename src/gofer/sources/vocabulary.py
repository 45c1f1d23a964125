"""The published vocabulary of a vendor: what Gofer makes of each member, as one table that readings use and documents show."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member[Reader]:
    """One member of a vocabulary, such as one type of block."""

    words: str
    """What becomes of it: for people, and without a reader also for the model."""
    reader: Reader | None = None
    """What reads it; None if Gofer only names it, as in "(a chart)"."""


@dataclass(frozen=True, slots=True)
class Vocabulary[Reader]:
    """The members that a vendor publishes for one place of what it sends."""

    title: str
    """What its members are, such as "Blocks of a message"."""
    kind: str
    """One member in words, such as "block"."""
    members: Mapping[str, Member[Reader]]
    """Each member by the name that the vendor sends."""

    def reader(self, name: str) -> Reader | None:
        """Return what reads a member; None if it is only named, or unknown."""
        member = self.members.get(name)
        return member.reader if member else None

    def named(self, name: str) -> str:
        """Return the words that stand in place of a member without a reader, or of one that nobody knows."""
        member = self.members.get(name)
        return f"({member.words})" if member else f"({self.kind} that Gofer does not know: {name or 'without a type'})"

    def table(self) -> str:
        """Return the vocabulary as a table in Markdown."""
        rows = (
            f"| `{name}` | {member.words if member.reader else f'named: "({member.words})"'} |"
            for name, member in self.members.items()
        )
        return "\n".join((f"| {self.title} | what the model reads |", "|---|---|", *rows))
