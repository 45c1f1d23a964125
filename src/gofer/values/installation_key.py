"""The key of an installation, and the earlier keys that it still recognises.

Run ids, tokens in rows and buttons are made under the current key. While earlier keys are listed, look-ups also ask
under each of them, so that a rotation of the key answers no old mention again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.values.secret import Secret

RECOGNISED_DAYS = 30
"""Days for which a replaced key must stay listed: as long as the head of a deleted run is kept."""
_FORM = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class InstallationKey:
    """The keys of one installation. Raises ValueError without a key, because anyone could compute what it makes."""

    current: Secret
    """The key that makes new ids, tokens and signatures."""
    others: tuple[Secret, ...] = ()
    """The other keys that are recognised: replaced ones, or one that is about to be used."""

    def __post_init__(self) -> None:
        if not all(self.every):
            raise ValueError("the installation has no key")

    @property
    def every(self) -> Sequence[Secret]:
        """All recognised keys, the current one first."""
        return (self.current, *self.others)


def read_installation_key(text: str) -> InstallationKey:
    """Return the keys in a text: one key of 64 hex digits, or several with commas between, the current one first.

    Raises ValueError for any other text, and for a key that is listed twice.
    """
    keys = [part.strip() for part in text.split(",")]
    if not all(map(_FORM.fullmatch, keys)) or len(set(keys)) < len(keys):
        raise ValueError("not a list of different keys of 64 hex digits")
    current, *others = map(Secret, keys)
    return InstallationKey(current, tuple(others))
