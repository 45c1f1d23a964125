"""The channel, the message and the person that mocks of Slack's tools show."""

from collections.abc import Mapping, Sequence

from gofer.sources.slack.names import ID, Names
from gofer.tools.definition import Arguments
from gofer.tools.mock_ids import NAME, SECONDS, code, digits

MOCK_USER = "U0MOCKED0"
MOCK_NAMES = Names({MOCK_USER: NAME})


def mock_messages(ts: str) -> Sequence[Mapping[str, object]]:
    """Return the one message that stands in every thread and channel."""
    return [{"ts": ts, "thread_ts": ts, "user": MOCK_USER, "text": "Could somebody look at this?"}]


def mock_channel_name(channel: str) -> str:
    """Return the name of a channel that is named or known by its id."""
    if ID.fullmatch(channel):
        return "somewhere"
    return channel


def mock_channel_id(channel: str) -> str:
    """Return the id of a channel that is named or known by its id."""
    if ID.fullmatch(channel):
        return channel
    return f"C{code(channel)}"


def mock_ts(arguments: Arguments) -> str:
    """Return the ts of the message that a call posts."""
    return f"{SECONDS}.{digits(arguments, 6)}"
