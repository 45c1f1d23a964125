"""The kinds of triggers of Slack with their conditions."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from typing_extensions import override

from gofer.workflows.form_parts import Names
from gofer.workflows.when import Conditions, TriggerKind, TriggerSpec, Where
from gofer.workflows.writes import Listable, NamedPlaces, place_entry

_ID = re.compile(r"[CDG][A-Z0-9]{6,}")
_CHANNEL = r"(public|#[^\s#*]{1,80}|[CG][A-Z0-9]{2,20})"
"""The pattern of an entry of `writes`."""


class InSlack(Conditions):
    """Conditions of what happens in Slack."""

    WITHOUT_BOTS: ClassVar[bool] = True


class InChannels(InSlack):
    """Conditions of what happens in a Slack channel."""

    channels: Names | None = None
    """Channels by name, `#incidents` or `#team-*`, or by id; left out, every channel that Gofer is in."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": ""}

    @override
    def where(self) -> Where:
        names = [name.removeprefix("#") for name in self.channels or () if name != "any"]
        # Every event holds the channel's id, so conditions on ids are decided before a run begins.
        fact = "channel_id" if all(_ID.fullmatch(name) for name in names) else "channels"
        return super().where() | ({fact: names} if names else {})


class SlackMention(InChannels):
    """Somebody mentions Gofer, also by an edit that adds the mention."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "follow_ups": ""}

    follow_ups: bool = False
    """Whether replies in a thread that it answered in start it without a mention."""

    @override
    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        yield kind, self.where()
        if self.follow_ups:
            yield "slack.message", self.where() | {"reply": ["true"], "followed": ["true"]}


class SlackMessage(InChannels):
    """Somebody writes in a channel, whether or not Gofer is mentioned."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "mention": "", "replies": ""}

    channels: Names  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    """Channels by name, `#incidents` or `#team-*`, or by id: a name costs a look-up per message, an id nothing."""
    mention: bool | None = None
    """Only with a mention, or only without; left out, either way."""
    replies: bool = False
    """Whether replies in threads start it too, not only messages of the channel itself."""
    says: Names | None = None
    """What the message says, such as `*is down*`."""

    @override
    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        where = self.where() | ({} if self.replies else {"reply": ["false"]})
        if self.mention is not True:
            yield kind, where
        if self.mention is not False:
            # Unless the trigger requires a mention, an edit that adds one does not count as a new message.
            yield "slack.mention", where if self.mention else where | {"edited": ["false"]}


class SlackDirect(InSlack):
    """Somebody writes to Gofer alone: a direct message, or the assistant's pane."""


class SlackReaction(InChannels):
    """Somebody adds an emoji to a message."""

    emoji: Names
    """Names of emoji without colons; a skin tone makes no difference."""


class SlackChannelCreated(InSlack):
    """Somebody creates a public channel."""

    name: Names | None = None
    """Names of channels, such as `proj-*`."""


class SlackMemberJoined(InChannels):
    """Somebody joins a channel that Gofer is in, or Gofer is invited to one."""

    member: Literal["gofer", "person"] | None = None
    """`gofer` when Gofer was invited, `person` when it was somebody else; left out, both."""


CHANNELS = Listable(
    "slack",
    place_entry(
        _CHANNEL,
        wrong="This is no channel of Slack.",
        written='Write its name, as "#general", its id, or `public` for all.',
        named='Write its name, as "#general", its id, or `public` for all public channels.',
    ),
    "Channels, by name or id, or `public` for all public channels.",
    example='["#general"]',
    linked=re.compile(r"(?<![\w/-])(C0[A-Z0-9]{7,9})(?![\w-])"),
    named=NamedPlaces(
        prose=re.compile(r"(?<![\w/&#])#([a-z][a-z0-9_-]{1,79})(?![\w-])"),
        code=re.compile(r"""["']#([a-z][a-z0-9_-]{1,79})["']"""),
        sign="#",
        argument="channel",
    ),
    every="public",
)
_PLACE = 'channels: "#deploys"'

SLACK = TriggerSpec(
    writes=CHANNELS,
    asks=True,
    clients=("slack_sdk", "slack_bolt"),
    kinds=(
        TriggerKind(
            "slack.mention",
            SlackMention,
            continues=True,
            place=_PLACE,
            one_answer=True,
            foreign="mention mentions app_mention slack.app_mention",
        ),
        TriggerKind(
            "slack.message", SlackMessage, continues=True, place=_PLACE, one_answer=True, foreign="message messages"
        ),
        TriggerKind(
            "slack.direct", SlackDirect, continues=True, one_answer=True, foreign="dm direct direct_message message.im"
        ),
        TriggerKind(
            "slack.reaction",
            SlackReaction,
            place=_PLACE,
            one_answer=True,
            foreign="reaction reaction_added emoji slack.reaction_added",
            instead="`slack.reaction: {emoji: …}`",
        ),
        TriggerKind("slack.channel_created", SlackChannelCreated, place="name: proj-*", one_answer=True),
        TriggerKind("slack.member_joined", SlackMemberJoined, place=_PLACE, one_answer=True),
    ),
)
