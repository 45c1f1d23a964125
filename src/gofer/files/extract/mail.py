"""The reader of e-mails: sender, recipients, text and attachments."""

import email
import email.policy
import re
from email.errors import MessageError
from email.message import EmailMessage
from typing import cast

from gofer.files.decoder import Decoded
from gofer.files.extract.html import read_text
from gofer.files.extract.plain import text_of, tidy
from gofer.files.file_names import display
from gofer.values.errors import ToolError

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_TEXTS = ("text/plain", "text/html")
_DEEPEST = 3
_MOST = 100
_ESCAPED = re.compile("[\udc80-\udcff]")
"""The surrogates that represent non-ASCII bytes in a header."""


def read(data: bytes) -> str:
    """Return headers, text, forwarded messages and names of attachments. Raises ToolError.

    The plain text is preferred to HTML.
    """
    return _message(email.message_from_bytes(data, policy=email.policy.default), 0)


def _message(message: EmailMessage, depth: int) -> str:
    headers = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    if not headers and not depth:
        raise ToolError("The e-mail is damaged: it says neither who wrote it nor to whom.", code="damaged")
    shown = _shown(message)
    body = _body(shown)
    attached: list[str] = []
    inner: list[str] = []
    for part in _attachments(message, shown):
        if part.get_content_type() == "message/rfc822" and depth < _DEEPEST:
            forwarded = part.get_payload()
            if isinstance(forwarded, list) and forwarded:
                inner.append("[forwarded message]\n" + _message(cast(EmailMessage, forwarded[0]), depth + 1))
        elif len(attached) < _MOST:
            attached.append(f"- {display(_name(part))} ({part.get_content_type()}, {_size(part):,} bytes)")
    if attached:
        listed = ["[attachments; their contents are not part of this text]\n" + "\n".join(attached)]
    else:
        listed = []
    return "\n\n".join(["\n".join(headers), body or "(The e-mail has no text.)", *inner, *listed])


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(tidy(_raw_header(message, name) or str(message.get(name) or "")).split())
    except (MessageError, ValueError, IndexError, AttributeError):
        return ""  # The header is malformed.


def _raw_header(message: EmailMessage, name: str) -> str:
    """Return a header in an undeclared legacy encoding; empty for any other header."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    if not _ESCAPED.search(raw):
        return ""
    return text_of(raw.encode("utf-8", "surrogateescape")).text


def _body(shown: list[EmailMessage]) -> str:
    return "\n\n".join(text for part in shown if (text := _read(part)))


def _read(part: EmailMessage) -> str:
    found = _decoded(part)
    text = _tidy(found)
    if part.get_content_type() == "text/html":
        text = read_text(text).strip()
    if found.note and text:
        return f"[{found.note}]\n{text}"
    return text


def _shown(message: EmailMessage) -> list[EmailMessage]:
    """Return the parts that a mail program shows as the text, in order: one alternative, and all mixed parts."""
    found: list[EmailMessage] = []
    waiting: list[EmailMessage] = [message]
    while waiting and len(found) < _MOST:
        part = waiting.pop()
        payload = part.get_payload()
        kind = part.get_content_type()
        if kind == "multipart/alternative":
            found += _alternative(part)
        elif kind.startswith("multipart/") and isinstance(payload, list):
            waiting.extend(cast(list[EmailMessage], payload)[::-1])
        elif (kind in _TEXTS or kind.startswith("multipart/")) and not _name(part) and not part.is_attachment():
            found.append(part)
    return found


def _alternative(part: EmailMessage) -> list[EmailMessage]:
    """Return the plain alternative, or another one if the plain text is empty."""
    bodies = [body for kind in ("plain", "html") if (body := part.get_body((kind,))) is not None]
    texts = [cast(EmailMessage, body) for body in bodies]
    texts += [one for one in _within(part) if one.get_content_maintype() == "text"]
    return [text for text in texts if _text(text)][:1]


def _text(part: EmailMessage) -> str:
    return _tidy(_decoded(part))


def _tidy(found: Decoded) -> str:
    return tidy(found.text).strip()


def _decoded(part: EmailMessage) -> Decoded:
    raw = part.get_payload(decode=True)
    if isinstance(raw, bytes):
        return text_of(raw, part.get_content_charset() or "")
    return Decoded("", "UTF-8")


def _attachments(message: EmailMessage, shown: list[EmailMessage]) -> list[EmailMessage]:
    """Return the parts that are not shown, without the other alternatives of shown parts."""
    known = {id(part) for part in shown}
    others = {id(body) for kind in ("plain", "html") if (body := message.get_body((kind,))) is not None}
    return [part for part in _within(message) if id(part) not in known and id(part) not in others]


def _within(message: EmailMessage) -> list[EmailMessage]:
    """Return the leaf parts in order. A forwarded message is a leaf."""
    found: list[EmailMessage] = []
    waiting: list[EmailMessage] = [message]
    while waiting:
        part = waiting.pop()
        payload = part.get_payload()
        if part.is_multipart() and part.get_content_type() != "message/rfc822" and isinstance(payload, list):
            waiting.extend(cast(list[EmailMessage], payload)[::-1])
        elif part is not message:
            found.append(part)
    return found


def _name(part: EmailMessage) -> str:
    try:
        return part.get_filename() or ""
    except (MessageError, ValueError, IndexError, AttributeError):
        return ""


def _size(part: EmailMessage) -> int:
    raw = part.get_payload(decode=True)
    if isinstance(raw, bytes):
        return len(raw)
    return 0
