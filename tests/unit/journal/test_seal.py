import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.coordination import Head, Retention
from gofer.journal.seal import KEY_BYTES, Seal, seal_of
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import Corrupt, Gone
from gofer.values.outside import random_key

KEYS = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
KEY = bytes(range(KEY_BYTES))


@given(KEYS, st.text(), st.binary(), st.binary())
def test_sealed_value_opens_unchanged(key: bytes, place: str, plain: bytes, header: bytes) -> None:
    sealed = Seal("r", key).close(place, plain, header)
    assert Seal("r", key).open(place, sealed, header) == plain
    assert len(sealed) == len(plain) + 16


@given(st.binary())
def test_equal_values_in_equal_places_have_equal_ciphertexts(plain: bytes) -> None:
    assert Seal("r", KEY).close("body", plain) == Seal("r", KEY).close("body", plain)


@given(st.binary(), st.data())
def test_changed_byte_of_a_sealed_value_is_reported_corrupt(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(Seal("r", KEY).close("body", plain))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Corrupt, match="Run r is damaged at body"):
        Seal("r", KEY).open("body", bytes(sealed))


@given(st.binary(), st.data())
def test_truncated_sealed_value_is_reported_corrupt(plain: bytes, data: st.DataObject) -> None:
    sealed = Seal("r", KEY).close("body", plain)
    with pytest.raises(Corrupt):
        Seal("r", KEY).open("body", sealed[: data.draw(st.integers(0, len(sealed) - 1))])


@given(st.binary(), KEYS.filter(lambda key: key != KEY))
def test_sealed_value_does_not_open_with_another_key_run_place_or_header(plain: bytes, other: bytes) -> None:
    sealed = Seal("r", KEY).close("frame 1", plain, b"header")
    for seal, place, header in (
        (Seal("r", other), "frame 1", b"header"),
        (Seal("s", KEY), "frame 1", b"header"),
        (Seal("r", KEY), "frame 2", b"header"),
        (Seal("r", KEY), "frame 1", b"Header"),
        (Seal("r", KEY), "frame 1header", b""),
    ):
        with pytest.raises(Corrupt):
            seal.open(place, sealed, header)


@pytest.mark.anyio
async def test_seal_of_a_run_with_a_destroyed_key_is_reported_deleted() -> None:
    store = MemoryStore()
    await store.claim("r", b"frame", KEY)
    assert (await seal_of("r", store)).run == "r"
    await store.destroy_key("r")
    with pytest.raises(Gone, match="run r were deleted by retention"):
        await seal_of("r", store)


def test_random_keys_differ_and_have_the_length_of_a_seal_key() -> None:
    assert len({random_key() for _ in range(20)}) == 20
    assert len(random_key()) == KEY_BYTES


@pytest.mark.anyio
@pytest.mark.parametrize("retention", ["due", "kept"])
async def test_missing_key_of_a_run_that_was_not_deleted_is_reported_corrupt(retention: Retention) -> None:
    store = MemoryStore()
    await store.claim("r", b"frame", KEY)
    await store.create_head(Head("r", "w", "c", 1, retention=retention))
    await store.destroy_key("r")
    with pytest.raises(Corrupt, match="Run r is damaged: its key is missing"):
        await seal_of("r", store)
