"""Messages that a person forwarded or shared, as material beneath the message that holds them."""

from collections.abc import Sequence

from gofer.sources.slack.attached_files import Fields
from gofer.sources.slack.names import Names, one_line
from gofer.values.canonical_json import as_list, as_object, as_text

SHARED = 10
"""Shared messages that are shown of one message at most."""


def shared_texts(message: Fields) -> Sequence[str]:
    """Return the text of each shared message, as Slack writes it."""
    return [as_text(one.get("text")) for one in _shared(message)]


def shared_lines(message: Fields, names: Names, limit: int) -> Sequence[str]:
    """Return the lines of the shared messages, each text behind `| ` and all texts together cut at `limit`."""
    shared = _shared(message)
    lines: list[str] = []
    left = limit
    for one in shared[:SHARED]:
        text = names.text(as_text(one.get("text")))
        lines += [f"[shared message{_origin(one)}:]", *(f"| {row}" for row in text[:left].splitlines())]
        if len(text) > left:
            lines.append(f"[{len(text) - left} further characters of this shared message are left out.]")
        left = max(0, left - len(text))
    if len(shared) > SHARED:
        lines.append(f"[{len(shared) - SHARED} more shared messages are left out.]")
    return lines


def _shared(message: Fields) -> Sequence[Fields]:
    """Return the attachments that hold a message of Slack. Previews of other pages are none."""
    every = [as_object(one) for one in as_list(message.get("attachments"))]
    return [one for one in every if _is_message(one) and as_text(one.get("text")).strip()]


def _is_message(attachment: Fields) -> bool:
    if attachment.get("is_share") is True or attachment.get("is_msg_unfurl") is True:
        return True
    return "/archives/" in as_text(attachment.get("from_url"))


def _origin(attachment: Fields) -> str:
    author = one_line(as_text(attachment.get("author_name")))
    link = one_line(as_text(attachment.get("from_url")))
    origin = ""
    if author:
        origin += f" by {author}"
    if link:
        origin += f", {link}"
    return origin
