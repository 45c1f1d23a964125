"""The seal of the stored data of a run: encryption with the key of the run.

The cipher is AES-SIV. A ciphertext is bound to its run and its place there, and every change is detected. Equal values
in equal places have equal ciphertexts, so a repeated write has the same bytes. A run is deleted by destroying its key,
which also makes every copy and backup of its data unreadable.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from gofer.journal.lineage import root_of
from gofer.journal.store import Store
from gofer.values.errors import Corrupt, Gone

KEY_BYTES = 64
"""The size of two AES-256 keys, which AES-SIV needs."""


class Seal:
    """The seal of one run, or of a subagent run with the key of its root."""

    def __init__(self, run: str, key: bytes) -> None:
        self.run = run
        self._key = key
        self._cipher = AESSIV(key)

    @property
    def root(self) -> "Seal":
        """The seal of the root of this run, which has the same key and holds the bodies of all its subagent runs."""
        if self.run == root_of(self.run):
            return self
        return Seal(root_of(self.run), self._key)

    def close(self, place: str, plain: bytes, header: bytes = b"") -> bytes:
        """Return the ciphertext of a value for a place of the run (`frame 3`, `body`, `item a1`), 16 bytes longer.

        `header` stays readable without the key and is protected against changes.
        """
        return self._cipher.encrypt(plain, [self.run.encode(), place.encode(), header])

    def open(self, place: str, sealed: bytes, header: bytes = b"") -> bytes:
        """Return the value that was sealed for this run, place and header. Raises Corrupt for any other ciphertext."""
        try:
            return self._cipher.decrypt(sealed, [self.run.encode(), place.encode(), header])
        except InvalidTag as error:
            raise Corrupt(
                f"Run {self.run} is damaged at {place}: the stored bytes are not the ones that were written."
            ) from error


async def seal_of(run: str, store: Store) -> Seal:
    """Return the seal of a run; a subagent run uses the key of its root.

    Raises Gone when the key was destroyed or never existed, and Corrupt when it was lost.
    """
    root = root_of(run)
    if key := await store.key(root):
        return Seal(run, key)
    # Deletion marks the head before it destroys the key, so an unmarked head means that the key was lost.
    head = await store.head(root)
    if head is not None and head.has_contents:
        raise Corrupt(f"Run {run} is damaged: its key is missing; restore it from a backup.")
    raise Gone(f"The contents of run {run} were deleted by retention; nothing can bring them back.")
