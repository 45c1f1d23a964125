"""Which events start more than one workflow?"""

from collections.abc import Iterator, Sequence

from gofer.canonical import as_list, as_object
from gofer.workflows.mistake import Mistake
from gofer.workflows.source import Loc, Source


def check_triggers(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Triggers that an earlier line or an earlier file claims already: none has conditions to tell them apart."""
    claimed: dict[str, Source] = {}
    for source in workflows:
        for loc, kind in _triggers(source):
            first = claimed.setdefault(kind, source)
            if first is not source:
                message = f"`{kind[:80]}` starts the workflow in {first.file.name} already."
                hint = "Remove it from one of them."
            elif loc != next(where for where, name in _triggers(source) if name == kind):
                message = f"`{kind[:80]}` is listed twice."
                hint = "Remove one of them."
            else:
                continue
            yield Mistake(source.file, source.key(loc), "duplicate-trigger", message, hint)


def _triggers(source: Source) -> list[tuple[Loc, str]]:
    """Each trigger that a file writes, by name, and where."""
    triggers: list[tuple[Loc, str]] = []
    for at, item in enumerate(as_list(source.fields.get("when"))):
        if isinstance(item, str):
            triggers.append((("when", at), item))
        triggers.extend((("when", at, kind), kind) for kind in as_object(item))
    return triggers
