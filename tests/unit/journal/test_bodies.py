import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.blob_store import blob_key
from gofer.journal.bodies import FRAME_LIMIT, INLINE_LIMIT, restore, spill
from gofer.journal.compression import compress, decompress
from gofer.journal.frames import GENESIS, UNCOMPRESSED, Body, Frame
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt
from support.journal.stored_bytes import frame_bytes

pytestmark = pytest.mark.anyio

SEAL = Seal("r", bytes(range(KEY_BYTES)))
SIZES = st.lists(st.integers(0, 60_000), min_size=1, max_size=40)


async def test_small_values_stay_in_the_journal_frame() -> None:
    entries = [{"kind": "a", "text": "x" * 1000}]
    assert await spill(MemoryBlobs(), entries, SEAL) == (entries, ())


async def test_value_above_the_inline_limit_is_stored_sealed_as_a_body() -> None:
    blobs = MemoryBlobs()
    large = "ü" * INLINE_LIMIT
    kept, bodies = await spill(blobs, [{"kind": "a", "text": large, "call": "1.0"}], SEAL)
    assert kept == [{"kind": "a", "call": "1.0"}]
    stored = await blobs.get(f"r/{bodies[0].sha256}")
    assert encode(large)[:100] not in stored
    assert decompress(SEAL.open("body", stored)) == encode(large)


async def test_body_of_a_frame_of_format_2_is_read_uncompressed() -> None:
    blobs = MemoryBlobs()
    raw = SEAL.close("body", encode("value"))
    key = blob_key("r", raw)
    await blobs.put(key, raw)
    place = Body(0, "text", key.removeprefix("r/"))
    frame = Frame(4, 1, "o", "n", GENESIS, [{"kind": "a"}], [place], format=UNCOMPRESSED)
    assert await restore(blobs, frame, SEAL) == [{"kind": "a", "text": "value"}]


@given(SIZES)
async def test_journal_frame_fits_the_limit_and_restores_every_value(sizes: list[int]) -> None:
    blobs = MemoryBlobs()
    entries = [{"kind": "a", "text": chr(97 + i % 26) * size, "nested": {"i": i}} for i, size in enumerate(sizes)]
    kept, bodies = await spill(blobs, entries, SEAL)
    frame = Frame(1, 1_795_262_400_000, "owner", "nonce", GENESIS, kept, bodies)
    assert len(frame_bytes(frame, SEAL)) <= FRAME_LIMIT
    assert list(await restore(blobs, frame, SEAL)) == entries


async def test_body_that_does_not_fit_the_frame_is_reported_corrupt() -> None:
    blobs = MemoryBlobs()
    raw = SEAL.close("body", compress(encode("value")))
    key = blob_key("r", raw)
    await blobs.put(key, raw)
    frame = Frame(4, 1, "o", "n", GENESIS, [{"kind": "a"}], [Body(7, "text", key.removeprefix("r/"))])
    with pytest.raises(Corrupt, match="does not fit its place"):
        await restore(blobs, frame, SEAL)


async def test_equal_values_are_stored_as_the_same_body() -> None:
    blobs = MemoryBlobs()
    entries = [{"kind": "a", "text": "x" * 20_000}]
    assert await spill(blobs, entries, SEAL) == await spill(blobs, entries, SEAL)


async def test_body_of_another_run_is_reported_corrupt() -> None:
    blobs = MemoryBlobs()
    raw = Seal("s", bytes(range(KEY_BYTES))).close("body", encode("value"))
    key = blob_key("r", raw)
    await blobs.put(key, raw)
    with pytest.raises(Corrupt, match="Run r is damaged at body"):
        await restore(
            blobs, Frame(4, 1, "o", "n", GENESIS, [{"kind": "a"}], [Body(0, "text", key.removeprefix("r/"))]), SEAL
        )
