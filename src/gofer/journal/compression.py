"""The compression of a journal: DEFLATE with a dictionary of the words that frames share.

Most frames are short and alike: one call, one outcome, the same field names. Alone they would barely shrink, so the
compressor starts with a text that holds those names. The dictionary belongs to the format of the journal: other bytes
could not read what is stored, so a changed dictionary needs a new format.
"""

import zlib
from pathlib import Path

from gofer.values.errors import NO_MEMORY, Corrupt, GoferError, TemporaryError

DICTIONARY = Path(__file__).with_name("frame_dictionary.txt").read_bytes()
"""JSON of typical entries, the most frequent ones last, where references to them are shortest."""
_LEVEL = 6
_WINDOW_BITS = 14
_MEMORY_LEVEL = 6
"""A small window and small tables: a frame is short, and preparing larger ones takes longer than compressing it."""


def compress(plain: bytes) -> bytes:
    """Return the compressed form of bytes. Equal bytes have equal forms within one version of the library."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zdict=DICTIONARY)
    return compressor.compress(plain) + compressor.flush()


def decompress(compressed: bytes) -> bytes:
    """Return the bytes that `compress` was given. Raises Corrupt, and TemporaryError without memory for them."""
    try:
        decompressor = zlib.decompressobj(_WINDOW_BITS, zdict=DICTIONARY)
        plain = decompressor.decompress(compressed) + decompressor.flush()
    except (zlib.error, MemoryError) as error:
        raise cause_of(error) from error
    if not decompressor.eof or decompressor.unused_data:
        raise Corrupt("The stored bytes end too early or too late.")
    return plain


def cause_of(error: Exception) -> GoferError:
    """Return what an error of zlib means: the bytes are damaged, or memory was lacking for a moment."""
    # zlib tells its own code in the text only.
    if isinstance(error, MemoryError) or str(error).startswith("Error -4 "):
        return TemporaryError(f"A journal was not read: {NO_MEMORY}.")
    return Corrupt("The stored bytes are not what this Gofer compresses.")
