"""Keyed tokens that replace the names of conversations, people and messages in rows.

Heads, leases, usage and memos remain when the contents of a run are deleted, and they are not sealed. A plain hash
would not hide a name, because an attacker can try every channel, person or key. A token is an HMAC under the
installation key. It includes a word for its use, so that equal names have different tokens in different uses.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.values.canonical_json import encode
from gofer.values.installation_key import InstallationKey

_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one installation, made under its current key."""

    installation_key: InstallationKey

    @property
    def every(self) -> "Sequence[Tokens]":
        """The tokens under each recognised key, those under the current one first."""
        if not self.installation_key.others:
            return (self,)
        return [Tokens(InstallationKey(key)) for key in self.installation_key.every]

    def run(self, source: str, kind: str, identity: tuple[str, ...], workflow: str) -> str:
        """Return the id of the run that a workflow starts for an event."""
        return self._mac(source, kind, *identity, workflow)[:_DIGITS]

    def conversation(self, name: str) -> str:
        """Return the token of a conversation: the token of its place, a colon and a token of its own.

        The place is the name up to the last colon: the channel of a thread, the repository of a pull request.
        """
        return f"{self._place(name)}:{self._mac('conversation', name)[:_DIGITS]}"

    def conversations(self, pattern: str) -> str:
        """Return the pattern of conversation tokens; `:*` at its end matches all conversations of a place."""
        if pattern.endswith(":*"):
            return f"{self._place(pattern)}:*"
        return self.conversation(pattern)

    def person(self, source: str, person: str) -> str:
        """Return the token of a person in the facts of runs; empty without a person."""
        return self._named("person", source, person)

    def channel(self, source: str, channel: str) -> str:
        """Return the token of a channel in the facts of runs; empty without a channel."""
        return self._named("channel", source, channel)

    def usage(self, *names: str) -> str:
        """Return the key of the usage of a person or a workflow."""
        return self._mac("usage", *names)[:32]

    def once(self, workflow: str, tool: str, *message: str) -> str:
        """Return the name of the memo that records the use of a tool for a message."""
        return self._mac("once", workflow, tool, *message)

    def memory(self, use: str, *names: str) -> str:
        """Return the name of a memo that the runs of a source share for one use."""
        return self._mac(use, *names)

    def answer(self, source: str, *message: str) -> str:
        """Return the name of the memo that leads from a message of an answer to its run."""
        return self._mac("answer", source, *message)

    def answered_thread(self, source: str, *thread: str) -> str:
        """Return the name of the memo that leads from a thread to the run that answered there last."""
        return self._mac("answered", source, *thread)

    def value(self, page: str, property_id: str, value: str | None) -> str:
        """Return the fingerprint of a page property's value, as such a memo stores it."""
        return self._mac("value", page, property_id, value)

    def failure(self, workflow: str, status: str, reason: str) -> str:
        """Return the name of the memo that records that the owner was notified of this kind of failure."""
        return self._mac("failure", workflow, status, reason)[:32]

    def session(self, person: str) -> str:
        """Return the name of the memo that ends the sessions of a person."""
        return self._mac("session", person)

    def item(self, *parts: object) -> str:
        """Return the name of a person's action, for an item in the inbox of a run."""
        return self._mac("item", *parts)[:_DIGITS]

    def _named(self, use: str, source: str, name: str) -> str:
        if not name:
            return ""
        return self._mac(use, source, name)[:_DIGITS]

    def _place(self, name: str) -> str:
        return self._mac("place", name.rpartition(":")[0])[:_DIGITS]

    def _mac(self, *parts: object) -> str:
        return hmac.new(self.installation_key.current.reveal().encode(), encode(parts), hashlib.sha256).hexdigest()
