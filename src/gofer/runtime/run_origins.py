"""The origin of a run: its person and its channel, by id and, where its journal knows them, by name."""

import re
from dataclasses import dataclass

from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ACTOR, CONTEXT
from gofer.projections.progress import Progress
from gofer.sources.part_values import Details
from gofer.sources.registry import source_of
from gofer.values.canonical_json import as_text

_LINKED = re.compile(r"<[@#]([^|>]+)(?:\|[^>]*)?>")
"""A person or a channel as it stands in a copied message."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The person and the channel of a run. Each text is empty if the run has no such thing, or does not know it."""

    source: str = ""
    person: str = ""
    """The id of the person in the source; empty for a bot, a schedule and a webhook."""
    name: str = ""
    handle: str = ""
    channel: str = ""
    """The id of the channel."""
    channel_name: str = ""
    """The name of the channel without #."""

    def is_by(self, person: str) -> bool:
        """Return whether a person that an operator wrote, by id, name or handle, started the run."""
        wanted = _plain(person)
        return bool(wanted) and wanted in {_plain(self.person), _plain(self.name), _plain(self.handle)}

    def is_in(self, channel: str) -> bool:
        """Return whether the run began in a channel that an operator wrote, by id or name."""
        wanted = _plain(channel)
        return bool(wanted) and wanted in {_plain(self.channel), _plain(self.channel_name)}

    @property
    def is_named(self) -> bool:
        """Whether the run knows the names of its person and its channel, as far as it has them."""
        return bool(self.name or not self.person) and bool(self.channel_name or not self.channel)

    @property
    def person_shown(self) -> str:
        """The person for people, such as `Ada (U0ADA)`."""
        return _shown(self.name or self.handle, self.person)

    @property
    def channel_shown(self) -> str:
        """The channel for people, such as `#payments (C0PAY)`."""
        name = self.channel_name
        if name:
            name = f"#{name}"
        return _shown(name, self.channel)


def origin_of(progress: Progress) -> Origin:
    """Return the origin of a run."""
    event = progress.event
    if event is None:
        return Origin()
    channel = event.place.get("channel", "")
    channel_name = as_text(_details(progress, CONTEXT).get("channel"))
    if not event.actor.is_person:
        return Origin(event.source, channel=channel, channel_name=channel_name)
    name = ""
    handle = ""
    people = source_of(event).people
    details = _details(progress, ACTOR)
    if people is not None and details:
        person = people.person(event, details)
        name = person.name
        handle = person.handle
    return Origin(event.source, event.actor.id, name, handle, channel, channel_name)


def _details(progress: Progress, call: str) -> Details:
    match progress.outcomes.get(call):
        case ToolResult(status="ok", details=details):
            return details or {}
        case _:
            return {}


def _plain(name: str) -> str:
    """Return a name without the signs that people write around it."""
    linked = _LINKED.fullmatch(name.strip())
    if linked:
        return linked[1].casefold()
    return name.strip().lstrip("@#").casefold()


def _shown(name: str, identity: str) -> str:
    if not name:
        return identity
    return f"{name} ({identity})"
