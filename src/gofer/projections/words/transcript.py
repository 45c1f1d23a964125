"""The steps of a run as lines for a terminal.

Each text of a person, a model or a tool stands behind a bar, so that it cannot look like a line of Gofer, and without
the characters that a terminal would obey.
"""

import unicodedata
from collections.abc import Iterator, Sequence

from gofer.projections.words.step_headlines import headline
from gofer.projections.words.step_texts import ShownStep, StepText, shown_steps
from gofer.projections.words.steps import Step

_BAR = "│ "
_MARGIN = 22
"""The characters before the kind of a step: its number and its time."""
_JOINERS = "\u200c\u200d"
"""Characters without a width that words and emoji need."""
_FINE = frozenset({"", "ok", "open", "stop", "tool_calls", "done", "approved", "passed"})
"""The statuses that need no mark."""


def transcript(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the lines of all steps with their complete texts."""
    beginning = 0
    for shown in shown_steps(steps):
        beginning = beginning or shown.step.at
        yield _line(shown, shown.step.at - beginning)
        for text in shown.texts:
            yield from _quoted(text, " " * _MARGIN + "  " * shown.step.depth)


def harmless(text: str) -> str:
    """Return a text in which each character that a terminal would obey is written as an escape."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(map(_harmless, text))


def _harmless(char: str) -> str:
    if char.isprintable() or char in ("\n", "\t") or char in _JOINERS or unicodedata.category(char) == "Zs":
        return char
    if ord(char) < 0x100:
        return f"\\x{ord(char):02x}"
    return f"\\u{ord(char):04x}"


def _line(shown: ShownStep, after: int) -> str:
    step = shown.step
    mark = " "
    if step.own_status not in _FINE:
        mark = "!"
    facts = [harmless(headline(step)), step.own_status]
    if step.duration_ms is not None:
        facts.append(f"{step.duration_ms:,} ms")
    if step.retries:
        facts.append(f"attempt {step.retries + 1}")
    facts += [f"→ {state}" for state in shown.states]
    place = f"{step.step:>4} {after / 1000:>11.3f} s {mark} "
    return f"{place}{'  ' * step.depth}{step.kind:<18} {'  '.join(filter(None, facts))}".rstrip()


def _quoted(text: StepText, margin: str) -> Iterator[str]:
    if text.same_as:
        yield f"{margin}{text.label}: as in step {text.same_as}"
        return
    if text.label:
        yield f"{margin}{text.label}:"
    for line in harmless(text.text).split("\n"):
        yield f"{margin}{_BAR}{line}"
