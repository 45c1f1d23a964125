"""The people who write in the simulated workplace: the deliveries of their words."""

import json
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
_ELSEWHERE = {
    "team": {"id": "T0EVALS0", "domain": "evals", "name": "Evals"},
    "app": {"id": "A0GOFER0"},
    "bot": {"user": "U0GOFER0", "bot_id": "B0GOFER0", "name": "gofer"},
    "users": [{"id": "U0PERSON", "name": "person"}],
    "channels": [{"id": "C0GENERA", "name": "general", "members": ["U0GOFER0", "U0PERSON"]}],
}
"""The workspace of a case with a world without Slack. It also gets the channels and people that triggers name."""


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
        workspace = load_workspace({"slack": self.world.get(SOURCE, _ELSEWHERE)}, self.now)
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
        if found is None and SOURCE in self.world:
            known = ", ".join(f"@{user.name}" for user in people) or "none"
            raise ConfigError(f"The world has no person {wanted!r} in Slack; it has {known}.")
        found = found or User(f"U{stable_id('user', wanted)}", wanted, wanted)
        workspace.users[found.id] = found
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
        if found is None and SOURCE in self.world:
            known = ", ".join(f"#{one.name}" for one in workspace.channels.values()) or "none"
            raise ConfigError(f"The world has no channel {wanted or 'of Gofer'!r} in Slack; it has {known}.")
        return workspace.put_channel(found or Channel(f"C{stable_id('channel', wanted)}", wanted, members=members))
