"""Which events start more than one workflow?"""

from collections.abc import Iterator, Sequence
from typing import get_args

from gofer.canonical import as_list, as_object
from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import EventKind
from gofer.workflows.source import Loc, Source


def check_triggers(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Triggers that an earlier line or an earlier file claims already: none has conditions to tell them apart."""
    claimed: dict[str, Source] = {}
    for source in workflows:
        for loc, kind in _triggers(source):
            if kind not in claimed:
                claimed[kind] = source
            elif claimed[kind] is source:
                message = f"`{kind[:80]}` is listed twice."
                yield Mistake(source.file, source.key(loc), "duplicate-trigger", message, "Remove one of them.")
            else:
                message = f"`{kind[:80]}` starts the workflow in {claimed[kind].file.name} already."
                yield Mistake(source.file, source.key(loc), "duplicate-trigger", message, "Remove it from one of them.")


def _triggers(source: Source) -> list[tuple[Loc, str]]:
    """Each trigger that a file writes, by name, and where; what is no trigger is a mistake of the form."""
    triggers: list[tuple[Loc, str]] = []
    for at, item in enumerate(as_list(source.fields.get("when"))):
        if isinstance(item, str):
            triggers.append((("when", at), item))
        triggers.extend((("when", at, kind), kind) for kind in as_object(item))
    return [(loc, kind) for loc, kind in triggers if kind in get_args(EventKind)]
