"""Emoji for feedback that mean something else to Gofer."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.check.conditions import odd_word
from gofer.sources.triggers import ODD_EMOJI, STOP_SIGNS
from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import Defaults
from gofer.workflows.yaml_source import Source


def check_feedback(source: Source, defaults: Defaults) -> Iterator[Mistake]:
    """Yield each emoji of the key `feedback` that stops runs or is no name. The form refuses an emoji in both lists."""
    lists: Mapping[str, Sequence[str]] = {"good": defaults.feedback.good, "bad": defaults.feedback.bad}
    for verdict, names in lists.items():
        place = source.place(("feedback", verdict))
        for name in names:
            if odd := odd_word(name, ODD_EMOJI):
                yield Mistake(source.file, place, *odd)
            if name in STOP_SIGNS:
                message = f"The emoji `{name}` stops a run, so it cannot be feedback on an answer."
                yield Mistake(source.file, place, "unknown-value", message, "Take it out of the list.")
