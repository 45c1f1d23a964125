"""The kinds of triggers of every source, as the registry has them."""

from collections.abc import Mapping, Sequence

from gofer.sources.registry import SOURCES
from gofer.workflows.when import TriggerKind

TRIGGER_KINDS: Sequence[TriggerKind] = tuple(kind for source in SOURCES.values() for kind in source.triggers)
"""Every kind of trigger, in the order in which files and documents list them."""
BY_NAME: Mapping[str, TriggerKind] = {kind.name: kind for kind in TRIGGER_KINDS}
KINDS: Sequence[str] = tuple(BY_NAME)
"""Every kind of trigger, as files name it."""
CONTINUING: frozenset[str] = frozenset(kind.name for kind in TRIGGER_KINDS if kind.continues)
"""The kinds of events in which a person replies. A run of another kind inherits nothing from earlier runs."""
