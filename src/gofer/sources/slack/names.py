"""Names in place of Slack's ids, for texts that a model reads.

No `<@U…>` reaches a model: people, channels and groups are shown by name, or else by an id that tools take, and links
as text and address.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.definition import Arguments
from gofer.tools.mock_ids import NAME, SECONDS, code, digits
from gofer.values.canonical_json import as_object, as_text

ID = re.compile(r"[CDG][A-Z0-9]{6,}")
"""The pattern of a channel's id."""
_ENTITY = re.compile(r"<([^<>]*)>")
_NAMELESS = re.compile(r"<@([UWB][A-Z0-9]+)(?:\|[^<>]*)?>|<(?:#|!subteam\^)([A-Z0-9]+)\|?>")
"""A person or bot, or a channel or group that Slack sends without its name."""
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_PART_OF_DATE = re.compile(r"\{(time|time_secs|ago|day_divider_pretty|date\w*)\}")
_FORMS = {"time": "%H:%M UTC", "time_secs": "%H:%M:%S UTC", "ago": "%Y-%m-%d %H:%M UTC"}
"""The forms of the parts of a moment; every other part is a day."""
PAGE = 999
"""The entries per page of a list. Slack accepts an integer under 1,000."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the people, bots, channels and groups in one reading, by id."""

    by_id: Mapping[str, str]

    def of(self, one: str) -> str:
        """Return the name of a person, bot, channel or group, or else its id."""
        return one_line(self.by_id.get(one, "") or one)

    def app(self, message: Mapping[str, object]) -> str:
        """Return the name of the app that posted a message without a person: its own choice, or else its id."""
        profile = as_object(message.get("bot_profile"))
        own = as_text(message.get("username")) or as_text(profile.get("name"))
        return one_line(own) or self.of(as_text(message.get("bot_id"))) or "unnamed"

    def text(self, mrkdwn: str) -> str:
        """Return a message's text with names in place of references, unescaped."""
        text = _ENTITY.sub(lambda match: self._reference(match[1]), mrkdwn)
        for escaped, char in _ESCAPES:
            text = text.replace(escaped, char)
        return text

    def _reference(self, inside: str) -> str:
        target, _, label = inside.partition("|")
        kind = target[:1]
        if kind == "!":
            kind = target.partition("^")[0]
        elif kind not in ("@", "#"):
            return _link(target, label)
        read = REFERENCES.reader(kind)
        if read is None:
            return label or REFERENCES.named(kind)
        return read(self, target.removeprefix(kind), label)


def _link(address: str, label: str) -> str:
    scheme, _, rest = address.partition(":")
    if not address or label in ("", address) or (label == rest and scheme in ("mailto", "tel")):
        return label or address
    return f"{label} ({address})"


def _person(names: Names, target: str, label: str) -> str:
    return f"@{one_line(names.by_id.get(target, label) or label) or target}"


def _channel(names: Names, target: str, label: str) -> str:
    return f"#{label or names.of(target)}"


def _group(names: Names, target: str, label: str) -> str:
    group = target.removeprefix("^")
    return f"@{label.removeprefix('@') or names.of(group)}"


def _everybody(word: str) -> "_Reader":
    def read(names: Names, target: str, label: str) -> str:
        return word

    return read


def _date(names: Names, target: str, label: str) -> str:
    """Return a moment in the words of its author and in UTC, or without such words in the form that people see."""
    seconds, form, link, *_ = (*target.removeprefix("^").split("^", 2), "", "")
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return label or form or seconds
    exact = moment.strftime("%Y-%m-%d %H:%M UTC")
    shown = label or _PART_OF_DATE.sub(lambda found: moment.strftime(_FORMS.get(found[1], "%Y-%m-%d")), form)
    if not shown:
        shown = exact
    elif label not in ("", exact) or "UTC" not in shown:
        # A day and a time without a zone depend on their reader.
        shown = f"{shown} ({exact})"
    return _link(link, shown)


_Reader = Callable[[Names, str, str], str]
"""Returns the text for a reference, from the rest of its target and its label."""
REFERENCES: Vocabulary[_Reader] = Vocabulary(
    "reference in a text",
    "reference",
    {
        "@": Member("the name of a person or bot, or else the id, as in `@U0123ABCD`", _person),
        "#": Member("the name of a channel, or else the id, as in `#C0123ABCD`", _channel),
        "!subteam": Member("the handle of a user group, or else the id, as in `@S0123ABCD`", _group),
        "!date": Member("the moment in UTC, in the form that its author chose", _date),
        "!here": Member("`@here`", _everybody("@here")),
        "!channel": Member("`@channel`", _everybody("@channel")),
        "!everyone": Member("`@everyone`", _everybody("@everyone")),
        "!group": Member("`@channel`, which it means in a private channel", _everybody("@channel")),
    },
)
"""The references in Slack's texts besides links, by their first characters."""


def one_line(name: str) -> str:
    """Return a name on one line and cut, so that it is safe in a header."""
    return " ".join(name.split())[:80]


def mentioned(texts: Iterable[str]) -> set[str]:
    """Return the ids of all people and bots in the texts, and of the channels and groups without a name there."""
    return {found[1] or found[2] for text in texts for found in _NAMELESS.finditer(text)}


MOCK_USER = "U0MOCKED0"
MOCK_NAMES = Names({MOCK_USER: NAME})


def mock_messages(ts: str) -> Sequence[Mapping[str, object]]:
    """Return the one message of every mocked thread and channel."""
    return [{"ts": ts, "thread_ts": ts, "user": MOCK_USER, "text": "Could somebody look at this?"}]


def mock_channel_name(channel: str) -> str:
    """Return the mocked name of a channel, given by name or id."""
    if ID.fullmatch(channel):
        return "somewhere"
    return channel


def mock_channel_id(channel: str) -> str:
    """Return the mocked id of a channel, given by name or id."""
    if ID.fullmatch(channel):
        return channel
    return f"C{code(channel)}"


def mock_ts(arguments: Arguments) -> str:
    """Return the ts of a mocked message, derived from the call's arguments."""
    return f"{SECONDS}.{digits(arguments, 6)}"
