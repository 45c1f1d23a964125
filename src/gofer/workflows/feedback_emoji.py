"""The emoji with which people say what they think of an answer, as receivers need them: plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.journal.entries import Route
from gofer.values.emoji_names import names_of

KEY = "feedback"
"""The key of the emoji in the compiled routes. No kind of event has this name."""
GOOD = ("+1", "thumbsup")
BAD = ("-1", "thumbsdown")


@dataclass(frozen=True, slots=True)
class FeedbackEmoji:
    """The names of emoji by what they say, without colons. An emoji without a verdict is no feedback."""

    good: tuple[str, ...] = GOOD
    bad: tuple[str, ...] = BAD

    def verdict(self, emoji: str) -> Literal["good", "bad"] | None:
        """Return what an emoji says about an answer; None if it says nothing.

        Each of its names counts. A skin tone makes no difference.
        """
        names = set(names_of(emoji.partition("::")[0].lower()))
        if names & {*self.good}:
            return "good"
        if names & {*self.bad}:
            return "bad"
        return None

    def compiled(self) -> list[tuple[str, dict[str, list[str]]]]:
        """Return the emoji in the form of routes, which receivers of every version can read."""
        return [("good", {"emoji": [*self.good]}), ("bad", {"emoji": [*self.bad]})]


def read_emoji(compiled: Sequence[Route]) -> FeedbackEmoji:
    """Return the emoji that `FeedbackEmoji.compiled` wrote; the defaults if nothing is written."""
    if not compiled:
        return FeedbackEmoji()
    by_verdict = {route.workflow: tuple(route.where.get("emoji", ())) for route in compiled}
    return FeedbackEmoji(good=by_verdict.get("good", ()), bad=by_verdict.get("bad", ()))
