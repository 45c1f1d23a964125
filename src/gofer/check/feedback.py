"""Emoji for feedback that mean something else to Gofer."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.sources.triggers import STOP_SIGNS
from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import Defaults
from gofer.workflows.yaml_source import Source


def check_feedback(source: Source, defaults: Defaults) -> Iterator[Mistake]:
    """Yield each emoji of the key `feedback` that stops runs. The form refuses an emoji in both lists."""
    lists: Mapping[str, Sequence[str]] = {"good": defaults.feedback.good, "bad": defaults.feedback.bad}
    for verdict, names in lists.items():
        for name in names:
            if name in STOP_SIGNS:
                place = source.place(("feedback", verdict))
                message = f"The emoji `{name}` stops a run, so it cannot be feedback on an answer."
                yield Mistake(source.file, place, "unknown-value", message, "Take it out of the list.")
