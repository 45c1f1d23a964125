"""The seal of what a run stores: readable with its key, and not without.

AES-SIV: the ciphertext is bound to its run and its place there, any change is noticed, and equal values in equal
places have equal ciphertexts, so that a write that is tried again is the same write. Deleting a run is destroying
its key: that also holds for every copy of the bytes that is out of reach.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from gofer.journal.lineage import root_of
from gofer.journal.store import Store
from gofer.values.errors import Corrupt, Gone

KEY_BYTES = 64
"""Two AES-256 keys, as AES-SIV takes them."""


class Seal:
    """The seal of one run."""

    def __init__(self, run: str, key: bytes) -> None:
        self.run = run
        self._key = key
        self._cipher = AESSIV(key)

    @property
    def root(self) -> "Seal":
        """The seal of the run that this one is part of: bodies of both stand there, and one key opens all."""
        if self.run == root_of(self.run):
            return self
        return Seal(root_of(self.run), self._key)

    def close(self, place: str, plain: bytes, header: bytes = b"") -> bytes:
        """Return the ciphertext of what stands at a place of the run: `frame 3`, `body`, `item a1`; 16 bytes longer.

        `header` is bound to it, and stays readable for everybody.
        """
        return self._cipher.encrypt(plain, [self.run.encode(), place.encode(), header])

    def open(self, place: str, sealed: bytes, header: bytes = b"") -> bytes:
        """Return what was sealed for this place of this run under this header. Raises Corrupt for anything else."""
        try:
            return self._cipher.decrypt(sealed, [self.run.encode(), place.encode(), header])
        except InvalidTag as error:
            raise Corrupt(f"Run {self.run} is damaged at {place}: it is not what was sealed there.") from error


async def seal_of(run: str, store: Store) -> Seal:
    """Return the seal of a run; that of a subagent has the key of its root.

    Raises Gone when the key was destroyed or never was, Corrupt when it was lost.
    """
    root = root_of(run)
    if key := await store.key(root):
        return Seal(run, key)
    # The head is marked before the key is destroyed.
    head = await store.head(root)
    if head is not None and head.retention in ("due", "kept"):
        raise Corrupt(f"Run {run} is damaged: its key is missing; restore it from a backup.")
    raise Gone(f"The contents of run {run} were deleted by retention; nothing can bring them back.")
