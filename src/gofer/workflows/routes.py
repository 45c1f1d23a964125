"""Which workflows does an event start? A look-up over compiled JSON: no YAML, no pydantic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.events import Event


@dataclass(frozen=True, slots=True)
class Routes:
    """Workflow names by the kind of event that starts them."""

    by_kind: Mapping[str, Sequence[str]]

    def match(self, event: Event) -> Sequence[str]:
        """The workflows an event starts, in the order of their names; its cost does not grow with their number."""
        return self.by_kind.get(event.kind, ())


def read_routes(compiled: object) -> Routes:
    """Routes from their compiled JSON, as `workflows.load` makes it."""
    return Routes(cast(Mapping[str, Sequence[str]], compiled))
