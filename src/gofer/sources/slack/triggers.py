"""The kinds of triggers of Slack with their conditions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from typing_extensions import override

from gofer.sources.slack.posts import STOP_SIGNS
from gofer.values.emoji_names import NAMES, names_of
from gofer.workflows.form_parts import Names
from gofer.workflows.routes import fits
from gofer.workflows.when import SAYS, Conditions, OddWord, TriggerKind, TriggerSpec, Where, odd
from gofer.workflows.writes import Listable, NamedPlaces, place_entry

_ID = re.compile(r"[CDG][A-Z0-9]{6,}")
_CHANNEL = r"(public|#[^\s#*]{1,80}|[CG][A-Z0-9]{2,20})"
"""The pattern of an entry of `writes`."""


_CHANNELS: Sequence[OddWord] = (
    odd(r"https?://\S+/archives/([A-Z0-9]+).*|<#([A-Z0-9]+).*", "is a link", r"Write the id of the channel, `\1\2`."),
    odd(r"@.*|[UW](?=\w*[0-9])[A-Z0-9]{7,}", "is a person or group, no channel", 'Write a channel, as "#general".'),
    odd(r".*[\s,].*", "has a space or a comma, and no channel has one", 'Write a list, as `["#general", "#random"]`.'),
)
_EMOJI: Sequence[OddWord] = (
    odd(
        r":?([^:]+)::skin-tone-\d:?",
        "starts the workflow with this skin tone only",
        r"Write `\1` for every skin tone.",
        never=False,
    ),
    odd(
        r".*[\u00a9\u00ae\u2190-\u2bff\u3030-\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff].*",
        "is an emoji, and events hold its name",
        "Write the name that Slack shows for it, such as `memo`.",
    ),
    odd(r".*[\s,].*", "has a space or a comma, and no emoji's name has one", "Write a list, as `[memo, eyes]`."),
)


class InSlack(Conditions):
    """Conditions on events in Slack."""

    WITHOUT_BOTS: ClassVar[bool] = True


class InChannels(InSlack):
    """Conditions on events in a Slack channel."""

    channels: Names | None = None
    """Channels by name, `#incidents` or `#team-*`, or by id; left out, every channel of which Gofer is a member."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": ""}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"channels": _CHANNELS}

    @override
    def where(self) -> Where:
        names = [name.removeprefix("#") for name in self.channels or () if name != "any"]
        # Every event holds the channel's id, so conditions on ids are decided before a run begins.
        fact = "channel_id" if all(_ID.fullmatch(name) for name in names) else "channels"
        return super().where() | ({fact: names} if names else {})


class SlackMention(InChannels):
    """A person mentions Gofer, in a new message or by an edit that adds the mention."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "follow_ups": ""}

    follow_ups: bool = False
    """Whether replies without a mention start it in threads in which it answered before."""

    @override
    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        yield kind, self.where()
        if self.follow_ups:
            yield "slack.message", self.where() | {"reply": ["true"], "followed": ["true"]}


class SlackMessage(InChannels):
    """A person writes in a channel, with or without a mention of Gofer."""

    FACTS: ClassVar[Mapping[str, str]] = {"channels": "", "mention": "", "replies": ""}
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"channels": _CHANNELS, "says": SAYS}

    channels: Names  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride]
    """Channels by name, `#incidents` or `#team-*`, or by id. A name needs a look-up for each message, an id none."""
    mention: bool | None = None
    """Only messages with a mention, or only messages without one; left out, both."""
    replies: bool = False
    """Whether replies in threads start it too, besides messages in the channel itself."""
    says: Names | None = None
    """Patterns for the text of the message, such as `*is down*`."""

    @override
    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        where = self.where() | ({} if self.replies else {"reply": ["false"]})
        if self.mention is not True:
            yield kind, where
        if self.mention is not False:
            # Unless the trigger requires a mention, an edit that adds one does not count as a new message.
            yield "slack.mention", where if self.mention else where | {"edited": ["false"]}


class SlackDirect(InSlack):
    """A person writes only to Gofer: a direct message, or a message in the assistant's pane."""


class SlackReaction(InChannels):
    """A person adds an emoji to a message."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {"channels": _CHANNELS, "emoji": _EMOJI}

    emoji: Names
    """Names of emoji without colons. Each name of an emoji counts, such as `+1` and `thumbsup`, with any skin tone."""

    @override
    def where(self) -> Where:
        where = super().where()
        return where | {"emoji": _with_other_names(where["emoji"])}


def _with_other_names(words: Sequence[str]) -> list[str]:
    """Return names of emoji and patterns for them, together with the other names of the emoji that they mean."""
    found: list[str] = []
    for word in words:
        found += [word, *names_of(word)]
        if "*" in word:
            found += [names[0] for name, names in NAMES.items() if fits(word, name) and not fits(word, names[0])]
    return list(dict.fromkeys(found))


class SlackChannelCreated(InSlack):
    """A person creates a public channel."""

    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {
        "name": [odd("#(.+)", "begins with a sign that the names of new channels do not have", r"Write `\1`.")]
    }

    name: Names | None = None
    """Names of channels, such as `proj-*`."""


class SlackMemberJoined(InChannels):
    """A person joins a channel of which Gofer is a member, or invites Gofer to a channel."""

    member: Literal["gofer", "person"] | None = None
    """`gofer` when a person invites Gofer, `person` when a person joins; left out, both."""


CHANNELS = Listable(
    "slack",
    place_entry(
        _CHANNEL,
        wrong="This is not a channel of Slack.",
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
    stop_signs=STOP_SIGNS,
    odd_emoji=_EMOJI,
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
