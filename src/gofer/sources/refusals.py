"""Refusals of systems outside: what each code means, and who can act on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.sources.access import tell_operator
from gofer.values.errors import Access

Rule = Literal["tell", "operate", "unclear"]
"""What is done about a refusal:

tell     the model, or the person where code called: nothing happened, and the sentence says what to do instead
operate  the same, and the operator finds it in the log, because only the operator can act on it
unclear  it may have half happened: the call counts as unanswered, and its effect decides what comes next
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The meaning of one code."""

    rule: Rule
    sentence: str


@dataclass(frozen=True, slots=True)
class Refusals:
    """The refusals of one system."""

    source: str
    known: Mapping[str, Refusal]
    """By code."""
    unknown: Refusal
    """For codes that are not listed."""
    credential: frozenset[str]
    """Codes that say that nothing works before the operator renews the token."""

    def of(self, code: str) -> Refusal:
        """Return the meaning of a code."""
        return self.known.get(code, self.unknown)

    def access(self, code: str) -> Access:
        """Return what Gofer lacks where only the operator can act on a code; empty for any other code."""
        if self.of(code).rule != "operate":
            return ""
        if code in self.credential:
            return "credential"
        return "permission"

    def log(self, code: str, message: str) -> None:
        """Log a refusal that only the operator can act on; the message holds no contents."""
        if access := self.access(code):
            tell_operator(self.source, access, code, message)
