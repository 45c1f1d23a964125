"""The token in an approval button: it names the decision, and proves that this installation of Gofer made the button.

A token consists of the decision's fields and a MAC over them under the installation's key. A changed letter, or a
token for another run, another call or other arguments, fails verification. A token does not prove who may press it.
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
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret

_DOMAIN = b"gofer approval\x00"
"""A prefix that separates these MACs from other uses of the key."""
_LONGEST = 2_000
"""The most characters of a button's value."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The decision of one button."""

    run: str
    call: str
    about: About
    arguments_sha256: str
    decision: Literal["approved", "denied"]


def token(key: InstallationKey, stamp: Stamp) -> str:
    """Return the value of a button, signed with the current key."""
    fields = [stamp.run, stamp.call, stamp.about, stamp.arguments_sha256, stamp.decision]
    said = base64.urlsafe_b64encode(encode(fields)).decode().rstrip("=")
    return f"{said}.{_mac(key.current, said)}"


def read_token(key: InstallationKey, text: str) -> Stamp | None:
    """Return the decision of a token that this installation made under a recognised key; None for any other text."""
    said, _, mac = text.partition(".")
    if len(text) > _LONGEST or not text.isascii():
        return None
    if not any(hmac.compare_digest(_mac(one, said), mac) for one in key.every):
        return None
    try:
        fields = decode(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
    except (binascii.Error, BadRequest):
        return None
    if not isinstance(fields, list) or len(cast(list[object], fields)) != 5:
        return None
    run, call, about, sha256, decision = map(as_text, cast(list[object], fields))
    # The MAC proves that Gofer wrote the fields, so the casts are safe.
    return Stamp(run, call, cast(About, about), sha256, cast(Literal["approved", "denied"], decision))


def _mac(key: Secret, said: str) -> str:
    return hmac.new(key.reveal().encode(), _DOMAIN + said.encode(), hashlib.sha256).hexdigest()
