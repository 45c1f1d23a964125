"""The value of a button: it says which decision the button stands for, and proves that this Gofer made it.

A token is what it stands for and a MAC over that under the installation's key: a changed letter, another run, another
call or other arguments make it worthless. It proves who made the button, never who may press it.
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal, cast

from gofer.journal.approval_entries import About
from gofer.values.canonical_json import as_text, decode, encode
from gofer.values.errors import BadRequest
from gofer.values.secret import Secret

_DOMAIN = b"gofer approval\x00"
"""Keeps these MACs apart from everything else that is made with the key."""
_LONGEST = 2_000
"""Characters of a button's value at most."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What one button decides."""

    run: str
    call: str
    about: About
    arguments_sha256: str
    decision: Literal["approved", "denied"]


def token(key: Secret, stamp: Stamp) -> str:
    """The value of a button. Raises ValueError without a key: everybody could make such a token."""
    if not key:
        raise ValueError("no key to make buttons with")
    fields = [stamp.run, stamp.call, stamp.about, stamp.arguments_sha256, stamp.decision]
    said = base64.urlsafe_b64encode(encode(fields)).decode().rstrip("=")
    return f"{said}.{_mac(key, said)}"


def read_token(key: Secret, text: str) -> Stamp | None:
    """What a button that this Gofer made stands for; None for any other text."""
    said, _, mac = text.partition(".")
    if not key or len(text) > _LONGEST or not text.isascii() or not hmac.compare_digest(_mac(key, said), mac):
        return None
    try:
        fields = decode(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
    except (binascii.Error, BadRequest):
        return None
    if not isinstance(fields, list) or len(cast(list[object], fields)) != 5:
        return None
    run, call, about, sha256, decision = map(as_text, cast(list[object], fields))
    # The MAC says that we wrote it, so that the words are ours.
    return Stamp(run, call, cast(About, about), sha256, cast(Literal["approved", "denied"], decision))


def _mac(key: Secret, said: str) -> str:
    return hmac.new(key.reveal().encode(), _DOMAIN + said.encode(), hashlib.sha256).hexdigest()
