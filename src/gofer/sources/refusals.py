"""Refusals by external systems: the meaning of each code, and the person who can act on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.sources.access import log_refusal
from gofer.values.errors import Access

Rule = Literal["tell", "operate", "unclear"]
"""The handling of a refusal:

tell     The call had no effect. The model gets the sentence, which tells what to do instead. If code made the call, a
         person gets it.
operate  As for `tell`. The refusal is also logged for the operator, because only the operator can act on it.
unclear  The call may have had an effect. It counts as unanswered, and the tool's effect decides how the run continues.
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
    """The known refusals by code."""
    unknown: Refusal
    """The meaning of all other codes."""
    credential: frozenset[str]
    """The codes after which no call works until the operator renews the token."""

    def of(self, code: str) -> Refusal:
        """Return the meaning of a code."""
        return self.known.get(code, self.unknown)

    def access(self, code: str) -> Access:
        """Return the access that Gofer lacks if only the operator can act on a code; empty for any other code."""
        if self.of(code).rule != "operate":
            return ""
        if code in self.credential:
            return "credential"
        return "permission"

    def log(self, code: str, message: str) -> None:
        """Log a refusal if only the operator can act on it. The message must hold no contents."""
        if access := self.access(code):
            log_refusal(self.source, access, code, message)
