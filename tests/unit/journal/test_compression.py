import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.compression import DICTIONARY, cause_of, compress, decompress
from gofer.journal.entries import KINDS
from gofer.values.errors import Corrupt, TemporaryError


@given(st.binary(max_size=40_000))
def test_compressed_bytes_always_read_back_as_written(plain: bytes) -> None:
    assert decompress(compress(plain)) == plain


def test_dictionary_stays_the_one_of_the_stored_format() -> None:
    """Other bytes could not read a stored journal: they need a new format in `journal/entries.py`."""
    assert hashlib.sha256(DICTIONARY).hexdigest() == "ccde51cecb63d54ff087d46ea14d21c784aeba717b652089c4e66442053ecc16"


def test_dictionary_names_most_kinds_of_entries() -> None:
    named = {kind for kind in KINDS if f'"kind":"{kind}"'.encode() in DICTIONARY}
    assert KINDS.keys() - named == {"permit.renewed", "tool.unknown"}


@pytest.mark.parametrize("broken", [b"", b"not compressed", compress(b"whole")[:-1], compress(b"whole") + b"more"])
def test_bytes_of_another_form_are_reported_corrupt(broken: bytes) -> None:
    with pytest.raises(Corrupt):
        decompress(broken)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (zlib.error("Error -4 while decompressing data: insufficient memory"), TemporaryError),
        (MemoryError("Can't allocate memory for decompression object"), TemporaryError),
        (zlib.error("Error -3 while decompressing data: invalid stored block lengths"), Corrupt),
        (zlib.error("Error 2 while decompressing data"), Corrupt),
    ],
)
def test_too_little_memory_for_a_moment_is_no_damage(error: Exception, kind: type[Exception]) -> None:
    assert type(cause_of(error)) is kind


def test_zlib_begins_the_text_of_an_error_with_its_code() -> None:
    with pytest.raises(Corrupt) as corrupt:
        decompress(b"not compressed")
    assert str(corrupt.value.__cause__).startswith("Error -3 ")
