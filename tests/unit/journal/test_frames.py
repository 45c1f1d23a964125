import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.canonical import encode
from gofer.errors import Damaged
from gofer.journal.frames import GENESIS, Body, Frame, frame_bytes, frame_hash, parse_chain


def chain(length: int, run: str = "r") -> list[bytes]:
    stored: list[bytes] = []
    previous = GENESIS
    for n in range(1, length + 1):
        raw = frame_bytes(run, Frame(n, 1000 + n, "me", f"nonce{n}", previous, [{"kind": "run.owned", "x": "é" * n}]))
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
    assert parse_chain("r", [frame_bytes("r", frame)])[0].bodies == [Body(0, "text", "ab" * 32)]


def test_equal_frames_have_equal_bytes() -> None:
    one = Frame(1, 1, "me", "n", GENESIS, [{"b": 1, "a": 2}])
    other = Frame(1, 1, "me", "n", GENESIS, [{"a": 2, "b": 1}])
    assert frame_bytes("r", one) == frame_bytes("r", other)


@given(st.integers(1, 5), st.data())
def test_any_changed_byte_of_any_frame_is_noticed(length: int, data: st.DataObject) -> None:
    stored = chain(length)
    which = data.draw(st.integers(0, length - 1))
    where = data.draw(st.integers(0, len(stored[which]) - 1))
    raw = bytearray(stored[which])
    raw[where] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Damaged, match=f"Run r is damaged at frame {which + 1}"):
        parse_chain("r", [*stored[:which], bytes(raw), *stored[which + 1 :]])


@given(st.integers(1, 5), st.data())
def test_any_frame_that_was_cut_is_noticed(length: int, data: st.DataObject) -> None:
    stored = chain(length)
    which = data.draw(st.integers(0, length - 1))
    cut = stored[which][: data.draw(st.integers(0, len(stored[which]) - 1))]
    with pytest.raises(Damaged, match=f"Run r is damaged at frame {which + 1}"):
        parse_chain("r", [*stored[:which], cut, *stored[which + 1 :]])


def test_a_frame_is_canonical_json_with_its_sum_last() -> None:
    (raw,) = chain(1)
    assert encode(json.loads(raw)) == raw
    assert list(json.loads(raw))[-1] == "sum"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_frame_of_another_run_is_noticed_wherever_it_stands(n: int) -> None:
    mine, theirs = chain(3), chain(3, "another")
    mine[n - 1] = theirs[n - 1]
    with pytest.raises(Damaged, match=f"Run r is damaged at frame {n}"):
        parse_chain("r", mine)
    with pytest.raises(Damaged, match="Run r is damaged at frame 1"):
        parse_chain("r", theirs)


def test_a_frame_that_follows_another_than_the_one_before_it_is_noticed() -> None:
    """Whole frames of one run, each with its place, of two stories that parted after the first."""
    one, _, three = chain(3)
    other = frame_bytes("r", Frame(2, 1002, "somebody else", "nonce", frame_hash(one), [{"kind": "run.owned"}]))
    assert len(parse_chain("r", [one, other])) == 2
    with pytest.raises(Damaged, match="Run r is damaged at frame 3: it does not follow the one before it"):
        parse_chain("r", [one, other, three])


def test_a_frame_with_more_than_this_gofer_knows_is_reported() -> None:
    content = encode({**json.loads(chain(1)[0]), "mood": "good"} | {"sum": ""})
    content = content.replace(b',"sum":""', b"")
    digest = hashlib.sha256(b"r\n" + content).hexdigest()
    with pytest.raises(Damaged, match="Run r is damaged at frame 1: it is not a frame this Gofer can read"):
        parse_chain("r", [content[:-1] + f',"sum":"{digest}"}}'.encode()])


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
