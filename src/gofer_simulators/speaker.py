"""The people who write in the simulated workplace: the deliveries of their words."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gofer.values.errors import ConfigError
from gofer_simulators.slack.envelopes import message_envelopes
from gofer_simulators.slack.shapes import stable_id, typed
from gofer_simulators.slack.workspace import Channel, ChannelKind, Message, User, Workspace
from gofer_simulators.slack.world import load_workspace

SOURCE = "slack"
"""The source of the deliveries."""
KINDS = ("slack.mention", "slack.message", "slack.direct")
"""The triggers of a workflow that words can fulfil."""
_OWN = "U0GOFER0"
_PERSON = "U0PERSON"
_ID = re.compile(r"[CGUW][A-Z0-9]{6,}")


def with_workplace(
    world: Mapping[str, object], channels: Collection[str], people: Collection[str]
) -> dict[str, object]:
    """Return a world in which people can write: with a small workplace that has these names, if it has none."""
    if SOURCE in world:
        return dict(world)
    users = {_id("U", name.removeprefix("@")): name.removeprefix("@") for name in people if name} or {_PERSON: "person"}
    named = {_id("C", name.removeprefix("#")): name.removeprefix("#") for name in channels if name}
    places = {"C0GENERA": "general", **named}
    part = {
        "team": {"id": "T0EVALS0", "domain": "evals", "name": "Evals"},
        "app": {"id": "A0GOFER0"},
        "bot": {"user": _OWN, "bot_id": "B0GOFER0", "name": "gofer"},
        "users": [{"id": user, "name": name} for user, name in users.items()],
        "channels": [{"id": place, "name": name, "members": [_OWN, *users]} for place, name in places.items()],
    }
    return {**world, SOURCE: part}


def _id(kind: str, name: str) -> str:
    """Return a name that is an id already, else an id made from it."""
    if _ID.fullmatch(name):
        return name
    return f"{kind}{stable_id(kind, name)}"


@dataclass(slots=True)
class Speaker:
    """Writes the messages of one case, with the ids of the simulated Slack. Later messages answer in its thread."""

    world: Mapping[str, object]
    """The contents of the simulated systems."""
    kinds: Collection[str]
    """The triggers of the workflow."""
    now: Callable[[], float]
    """The time of the messages, unix seconds."""
    thread: Mapping[str, str] = field(default_factory=dict[str, str])
    """The place of the first event in Slack; empty before it."""

    def follow(self, source: str, place: Mapping[str, str]) -> None:
        """Write later messages below the first message of the workplace."""
        if not self.thread and source == SOURCE:
            self.thread = place

    def delivery(self, text: str, channel: str = "", user: str = "") -> bytes:
        """Return the delivery of words, as Slack sends it. Raises ConfigError for a name that the world lacks."""
        if not set(KINDS) & {*self.kinds}:
            raise ConfigError(f"The workflow has none of the triggers {', '.join(KINDS)}, so words cannot start it.")
        workspace = load_workspace(with_workplace(self.world, [channel], [user]), self.now)
        person = self._user(workspace, user)
        place = self._channel(workspace, channel, person)
        words = typed(workspace, text)
        if "slack.mention" in self.kinds and place.kind != "im" and not workspace.mentions_bot(words):
            words = f"<@{workspace.bot.user}> {words}"
        thread_ts = None
        if self.thread.get("channel") == place.id:
            thread_ts = self.thread.get("thread_ts")
        message = Message(place.id, ts=workspace.next_ts(), user=person.id, text=words, thread_ts=thread_ts)
        envelopes = message_envelopes(workspace, workspace.put(message))
        if not envelopes:
            raise ConfigError(f"Gofer is no member of {place.name}, so Slack does not deliver its messages.")
        return json.dumps(envelopes[0], ensure_ascii=False).encode()

    def _user(self, workspace: Workspace, name: str) -> User:
        people = [user for user in workspace.users.values() if not user.bot]
        if not name and people:
            return people[0]
        wanted = name.removeprefix("@")
        found = next((user for user in people if wanted in (user.id, user.name, user.real_name)), None)
        if found is None:
            known = ", ".join(f"@{user.name}" for user in people) or "none"
            raise ConfigError(f"The world has no person {wanted!r} in Slack; it has {known}.")
        return found

    def _channel(self, workspace: Workspace, name: str, user: User) -> Channel:
        members = (workspace.bot.user, user.id)
        wanted = name.removeprefix("#")
        if wanted:
            found = next((one for one in workspace.channels.values() if wanted in (one.id, one.name)), None)
        elif self.thread:
            wanted = self.thread["channel"]
            kind: ChannelKind = "channel"
            if wanted.startswith("D"):
                kind = "im"
            found = workspace.channels.get(wanted) or Channel(wanted, wanted.lower(), kind, members)
        elif {*self.kinds} & {*KINDS} == {"slack.direct"}:
            found = workspace.direct(user.id)
        else:
            found = next((one for one in workspace.channels.values() if workspace.bot.user in one.members), None)
        if found is None:
            known = ", ".join(f"#{one.name}" for one in workspace.channels.values()) or "none"
            raise ConfigError(f"The world has no channel {wanted or 'of Gofer'!r} in Slack; it has {known}.")
        return workspace.put_channel(found)
