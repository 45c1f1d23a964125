"""A proposal of a model: one edit of a prompt or a skill, and the eval case that it must make pass."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gofer.evals.grading.folded_text import compared
from gofer.values.canonical_json import encode

MustKind = Literal["call", "contains", "not_contains", "judge"]
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of a text in one file."""

    file: str
    """The path from the root of the repository, with `/`."""
    old: str
    new: str

    @property
    def digest(self) -> str:
        """A short hash of the edit, by which the same edit is recognised."""
        return hashlib.sha256(encode([self.file, self.old, self.new])).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class MustHold:
    """What must hold when the recorded run is played again."""

    kind: MustKind
    run: str
    """The whole id of the recorded run."""
    at: str = ""
    """For `call`, the call or the turn of the run at which the next answer must make the call."""
    tool: str = ""
    """For `call`, the tool."""
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    """For `call`, a matcher for each argument that counts."""
    texts: Sequence[str] = ()
    """For `contains` and `not_contains`, the texts that the answer must contain, or must not."""
    ask: str = ""
    """For `judge`, a question that is answered by yes for a good answer."""

    def holds_in(self, answer: str) -> bool:
        """Return whether an answer has the texts of `contains`, and none of those of `not_contains`."""
        text = compared(answer)
        if self.kind == "contains":
            return all(map(text.contains, self.texts))
        return not any(map(text.around, self.texts))


@dataclass(frozen=True, slots=True)
class Proposal:
    """One edit, its eval case, and why."""

    title: str
    reason: str
    edit: Edit
    must: MustHold

    def branch(self, workflow: str) -> str:
        """Return the name of the branch with this edit."""
        return f"gofer/suggest-{workflow}-{self.edit.digest}"

    def golden(self, workflow: str) -> str:
        """Return the name of the golden with the eval case."""
        return f"suggested-{workflow}"[:70].rstrip("-") + f"-{self.edit.digest}"


@dataclass(frozen=True, slots=True)
class NoProposal:
    """The answer that no edit of these files would help, or that there is no common cause."""

    reason: str
