"""The socket between helper and caller: packets arrive complete or not at all, followed by the exit status."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.child_wire import Packet, receive, receive_ending, send, send_status

texts = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.none(), max_size=4)


def crossed(packet: Packet, status: int | None, cut: int = 0) -> bytes:
    """Return the bytes that a child and its helper send, without the last `cut` bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(ours, packet)
        if status is not None:
            send_status(ours, status)
        ours.shutdown(socket.SHUT_WR)
        raw = b"".join(iter(lambda: theirs.recv(65_536), b""))
    return raw[: len(raw) - cut]


def ending(raw: bytes) -> tuple[Packet | None, int | None]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(raw)
        ours.shutdown(socket.SHUT_WR)
        return receive_ending(theirs)


@given(texts, st.binary(max_size=500), st.integers(-64, 255) | st.none())
def test_child_packet_and_exit_status_arrive_unchanged(
    fields: dict[str, object], data: bytes, status: int | None
) -> None:
    assert ending(crossed(Packet(fields, data), status)) == (Packet(fields, data), status)


@given(st.binary(min_size=9, max_size=500), st.integers(1, 8))
def test_incomplete_child_packet_is_dropped_and_the_exit_status_kept(data: bytes, missing: int) -> None:
    half = crossed(Packet({}, data), None, missing)
    assert ending(half + (-9).to_bytes(4, "big", signed=True)) == (None, -9)


def test_silent_child_is_reported_by_exit_status_alone() -> None:
    assert ending((-9).to_bytes(4, "big", signed=True)) == (None, -9)
    assert ending(b"") == (None, None)


def test_job_packet_is_received_complete_or_refused() -> None:
    whole = crossed(Packet({"job": "x"}, b"body"), None)
    for raw in (whole, whole[:-1]):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(raw)
            ours.shutdown(socket.SHUT_WR)
            if raw == whole:
                assert receive(theirs) == Packet({"job": "x"}, b"body")
            else:
                with pytest.raises(EOFError):
                    receive(theirs)
