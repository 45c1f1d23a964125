import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.frames import FORM, GENESIS, UNCOMPRESSED, Body, Frame, check_chain, frame_hash, open_chain
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.values.errors import Corrupt, OtherVersion
from support.journal.stored_bytes import frame_bytes

SEAL = Seal("r", bytes(range(KEY_BYTES)))


def chain(length: int, seal: Seal = SEAL) -> list[bytes]:
    stored: list[bytes] = []
    previous = GENESIS
    for n in range(1, length + 1):
        frame = Frame(n, 1000 + n, "me", f"nonce{n}", previous, [{"kind": "run.owned", "x": "é" * n}])
        stored.append(frame_bytes(frame, seal))
        previous = frame_hash(stored[-1])
    return stored


def test_frame_chain_reads_back_as_written() -> None:
    stored = chain(3)
    frames = open_chain(stored, SEAL)
    assert [frame.n for frame in frames] == [1, 2, 3]
    assert frames[1].owner == "me"
    assert frames[1].prev_hash == frame_hash(stored[0])
    assert frames[2].entries == [{"kind": "run.owned", "x": "ééé"}]


def test_frame_keeps_the_place_of_each_body() -> None:
    frame = Frame(1, 1, "me", "n", GENESIS, [{"kind": "x"}], [Body(0, "text", "ab" * 32)])
    assert open_chain([frame_bytes(frame, SEAL)], SEAL)[0].bodies == [Body(0, "text", "ab" * 32)]


def test_equal_frames_have_equal_bytes() -> None:
    one = Frame(1, 1, "me", "n", GENESIS, [{"b": 1, "a": 2}])
    other = Frame(1, 1, "me", "n", GENESIS, [{"a": 2, "b": 1}])
    assert frame_bytes(one, SEAL) == frame_bytes(other, SEAL)


def test_frame_bytes_reveal_no_content() -> None:
    for raw in chain(3):
        assert not any(word in raw for word in (b"run.owned", b"nonce", b"me", "é".encode()))


@given(st.integers(1, 5), st.data())
def test_changed_byte_in_a_frame_chain_is_reported_corrupt(length: int, data: st.DataObject) -> None:
    stored = chain(length)
    which = data.draw(st.integers(0, length - 1))
    where = data.draw(st.integers(0, len(stored[which]) - 1))
    raw = bytearray(stored[which])
    raw[where] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Corrupt, match="Run r is damaged at frame"):
        open_chain([*stored[:which], bytes(raw), *stored[which + 1 :]], SEAL)


def test_frame_that_does_not_follow_the_stored_predecessor_is_reported_corrupt() -> None:
    """Two owners wrote frame 1, and frame 2 belongs to the loser."""
    _, two = chain(2)
    other = frame_bytes(Frame(1, 1, "another", "nonce", GENESIS, []), SEAL)
    with pytest.raises(Corrupt, match="at frame 2: it does not follow"):
        open_chain([other, two], SEAL)


@given(st.integers(2, 5), st.data())
def test_chain_check_without_the_key_detects_changed_frames_before_the_last(length: int, data: st.DataObject) -> None:
    stored = chain(length)
    check_chain("r", stored)
    which = data.draw(st.integers(0, length - 2))
    raw = bytearray(stored[which])
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Corrupt, match="Run r is damaged at frame"):
        check_chain("r", [*stored[:which], bytes(raw), *stored[which + 1 :]])


@pytest.mark.parametrize("broken", ["dropped", "swapped", "doubled", "foreign", "older", "emptied"])
def test_lost_or_reordered_frames_are_reported_corrupt(broken: str) -> None:
    one, two, three = chain(3)
    stored = {
        "dropped": [one, three],
        "swapped": [one, three, two],
        "doubled": [one, two, two, three],
        "foreign": [one, chain(2, Seal("r", bytes(KEY_BYTES)))[1], three],
        "older": [one, b'{"n":2}', three],
        "emptied": [one, b"", three],
    }[broken]
    with pytest.raises(Corrupt, match=r"at frame [23]"):
        open_chain(stored, SEAL)


def test_frame_with_a_forged_previous_hash_is_reported_corrupt() -> None:
    """The previous hash is forged, which is possible with the bytes and without the key."""
    _, two = chain(2)
    other = frame_bytes(Frame(1, 1, "fenced", "another nonce", GENESIS, []), SEAL)
    moved = FORM + frame_hash(other) + two[len(FORM) + len(GENESIS) :]
    check_chain("r", [other, moved])
    with pytest.raises(Corrupt, match="at frame 2"):
        open_chain([other, moved], SEAL)


def test_frame_of_another_run_is_reported_corrupt() -> None:
    key = bytes(range(KEY_BYTES))
    with pytest.raises(Corrupt, match="Run s is damaged at frame 1"):
        open_chain(chain(1, Seal("r", key)), Seal("s", key))


def test_sealed_bytes_that_are_no_frame_are_reported_corrupt() -> None:
    header = FORM + GENESIS
    for plain in (b"not json", b"[]", b'{"at": 1}'):
        with pytest.raises(Corrupt, match="frame 1: it is not a frame"):
            open_chain([header + SEAL.close("frame 1", plain, header)], SEAL)


def test_frame_of_format_2_is_read_uncompressed() -> None:
    frames = open_chain([of_format(UNCOMPRESSED)], SEAL)
    assert [(frame.format, frame.owner, frame.entries) for frame in frames] == [(UNCOMPRESSED, "me", [])]


def test_frame_of_repeated_words_is_stored_smaller_than_its_entries() -> None:
    text = "the release waits for the review of the release notes; " * 40
    frame = Frame(1, 1, "me", "n", GENESIS, [{"kind": "message.received", "text": text}])
    assert len(frame_bytes(frame, SEAL)) < len(text) / 5


def of_format(form: int) -> bytes:
    header = bytes([form]) + GENESIS
    return header + SEAL.close("frame 1", b'{"at":1,"entries":[],"nonce":"n","owner":"me"}', header)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (1, "Run r was written by an earlier version of Gofer (format 1, and this version reads format 3); finish it "),
        (4, "Run r was written by a newer version of Gofer (format 4, and this version reads format 3); update Gofer."),
    ],
)
def test_frame_of_another_format_is_refused_with_advice(form: int, message: str) -> None:
    with pytest.raises(OtherVersion) as caught:
        open_chain([of_format(form)], SEAL)
    assert str(caught.value).startswith(message)


def test_changed_format_byte_is_reported_corrupt_and_not_as_another_format() -> None:
    with pytest.raises(Corrupt) as caught:
        open_chain([b"\x01" + chain(1)[0][1:]], SEAL)
    assert not isinstance(caught.value, OtherVersion)
