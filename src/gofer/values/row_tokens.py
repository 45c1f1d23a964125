"""Keyed names for rows: what stands in a row in place of a conversation, a person or a message.

Rows outlive what they are about: heads, leases, usage and memos stay when the contents of a run are deleted. They are
not sealed either. A plain hash would not hide a name, because every channel, person or key can be tried. A token is an
HMAC under the installation key, with a word for its use, so that equal names of two uses have nothing in common.
"""

import hashlib
import hmac
from dataclasses import dataclass

from gofer.values.canonical_json import encode
from gofer.values.secret import Secret

_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one installation. Raises ValueError without a key, because everybody could compute them."""

    installation_key: Secret

    def __post_init__(self) -> None:
        if not self.installation_key:
            raise ValueError("no installation key to make tokens with")

    def run(self, source: str, kind: str, identity: tuple[str, ...], workflow: str) -> str:
        """Return the id of the run of a workflow for what happened."""
        return self._mac(source, kind, *identity, workflow)[:_DIGITS]

    def conversation(self, name: str) -> str:
        """Return the token of a conversation: one for its place, then one of its own.

        The place is the name up to its last colon: the channel of a thread, the repository of a pull request.
        """
        return f"{self._place(name)}:{self._mac('conversation', name)[:_DIGITS]}"

    def conversations(self, pattern: str) -> str:
        """Return the pattern of the tokens of conversations; `:*` at its end stands for all of a place."""
        if pattern.endswith(":*"):
            return f"{self._place(pattern)}:*"
        return self.conversation(pattern)

    def usage(self, *names: str) -> str:
        """Return the scope of usage that a person or a workflow has."""
        return self._mac("usage", *names)[:32]

    def once(self, workflow: str, tool: str, *message: str) -> str:
        """Return the name of the memo that says that a tool was used for a message."""
        return self._mac("once", workflow, tool, *message)

    def memory(self, use: str, *names: str) -> str:
        """Return the name of a memo in which the runs of a source remember something, for one use."""
        return self._mac(use, *names)

    def value(self, page: str, property_id: str, value: str | None) -> str:
        """Return the fingerprint of a value of a property, as that memo holds it."""
        return self._mac("value", page, property_id, value)

    def failure(self, workflow: str, status: str, reason: str) -> str:
        """Return the name of a way to end, for the memo that says that the owner was told."""
        return self._mac("failure", workflow, status, reason)[:32]

    def session(self, person: str) -> str:
        """Return the name of the memo that ends the sessions of a person."""
        return self._mac("session", person)

    def item(self, *said: object) -> str:
        """Return the name of what a person did, for an item in the inbox of a run."""
        return self._mac("item", *said)[:_DIGITS]

    def _place(self, name: str) -> str:
        return self._mac("place", name.rpartition(":")[0])[:_DIGITS]

    def _mac(self, *said: object) -> str:
        return hmac.new(self.installation_key.reveal().encode(), encode(said), hashlib.sha256).hexdigest()
