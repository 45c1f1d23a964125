import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.errors import Damaged
from gofer.journal.frames import GENESIS, Body, Frame, frame_bytes, frame_hash, parse_chain


def chain(length: int) -> list[bytes]:
    stored: list[bytes] = []
    previous = GENESIS
    for n in range(1, length + 1):
        raw = frame_bytes(Frame(n, 1000 + n, "me", f"nonce{n}", previous, [{"kind": "run.owned", "x": "é" * n}]))
        stored.append(raw)
        previous = frame_hash(raw)
    return stored


def test_a_chain_reads_back_as_it_was_written() -> None:
    frames = parse_chain("r", chain(3))
    assert [frame.n for frame in frames] == [1, 2, 3]
    assert frames[1].owner == "me"
    assert frames[2].entries == [{"kind": "run.owned", "x": "ééé"}]


def test_bodies_keep_their_place() -> None:
    frame = Frame(1, 1, "me", "n", GENESIS, [{"kind": "x"}], [Body(0, "text", "ab" * 32)])
    assert parse_chain("r", [frame_bytes(frame)])[0].bodies == [Body(0, "text", "ab" * 32)]


def test_equal_frames_have_equal_bytes() -> None:
    one = Frame(1, 1, "me", "n", GENESIS, [{"b": 1, "a": 2}])
    other = Frame(1, 1, "me", "n", GENESIS, [{"a": 2, "b": 1}])
    assert frame_bytes(one) == frame_bytes(other)


@given(st.integers(1, 5), st.data())
def test_any_changed_byte_is_noticed_unless_it_is_in_the_last_frame(length: int, data: st.DataObject) -> None:
    stored = chain(length + 1)
    which = data.draw(st.integers(0, length - 1))
    where = data.draw(st.integers(0, len(stored[which]) - 1))
    raw = bytearray(stored[which])
    raw[where] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Damaged, match="Run r is damaged at frame"):
        parse_chain("r", [*stored[:which], bytes(raw), *stored[which + 1 :]])


@pytest.mark.parametrize("broken", ["dropped", "swapped", "doubled", "foreign"])
def test_lost_or_reordered_frames_are_noticed(broken: str) -> None:
    one, two, three = chain(3)
    stored = {
        "dropped": [one, three],
        "swapped": [one, three, two],
        "doubled": [one, two, two, three],
        "foreign": [one, b'{"n":2}', three],
    }[broken]
    with pytest.raises(Damaged, match=r"at frame [23]"):
        parse_chain("r", stored)
