"""The protocol between this process and its children: the limits of a child, its job and its result.

A job and a result are one packet each: two lengths, a JSON object, bytes and an end mark. After the packet of a child,
the helper process writes the exit status of the child.
"""

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

MEMORY = 372 << 20
"""The most bytes of a child beyond those of its helper. Helper and child stay under 512 MB together, with shared pages
counted twice. `PYTHONPATH=tests python -m generators.tree_memory` measures it."""

SECONDS = 20.0
"""The most seconds of processor time of a child, independent of other load on the machine."""

WALL = 60.0
"""The most seconds of a child by the wall clock, for a child that waits or gets no processor time."""


_LENGTHS = struct.Struct("!IQ")
_STATUS = struct.Struct("!i")
_PIECE = 1 << 20
_MARK = b"done"  # No status has these bytes, so a truncated packet never seems complete.


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one child."""

    memory: int
    """Bytes beyond those of the helper."""
    seconds: float
    """Seconds of processor time."""
    wall: float
    """Seconds by the wall clock."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A JSON object with additional bytes."""

    fields: Mapping[str, object]
    data: bytes = b""


def send(wire: socket.socket, packet: Packet) -> None:
    """Send a packet. Raises OSError if the other side has closed the socket."""
    head = json.dumps(packet.fields).encode()
    wire.sendall(_LENGTHS.pack(len(head), len(packet.data)) + head)
    wire.sendall(packet.data)
    wire.sendall(_MARK)


def receive(wire: socket.socket) -> Packet:
    """Return the next packet. Raises EOFError if the other side ends before the packet is complete."""
    sizes = _LENGTHS.unpack(_read_exactly(wire, _LENGTHS.size))
    fields = cast(dict[str, object], json.loads(_read_exactly(wire, sizes[0])))
    packet = Packet(fields, _read_exactly(wire, sizes[1]))
    if _read_exactly(wire, len(_MARK)) != _MARK:
        raise EOFError
    return packet


def send_status(wire: socket.socket, status: int) -> None:
    """Send the exit status of a child: its exit code, or the negative number of the signal that killed it."""
    wire.sendall(_STATUS.pack(status))


def receive_ending(wire: socket.socket) -> tuple[Packet | None, int | None]:
    """Return the packet if it is complete, and the exit status of the child if the helper could send it."""
    raw = bytearray()
    try:
        while piece := wire.recv(_PIECE):
            raw += piece
    except ConnectionError:
        pass  # The bytes received so far are still valid.
    return _parsed(raw)


def _parsed(raw: bytearray) -> tuple[Packet | None, int | None]:
    if len(raw) >= _LENGTHS.size:
        head, body = _LENGTHS.unpack_from(raw)
        end = _LENGTHS.size + head + body
        if raw.startswith(_MARK, end):
            fields = cast(dict[str, object], json.loads(raw[_LENGTHS.size : _LENGTHS.size + head]))
            rest = raw[end + len(_MARK) :]
            status = _STATUS.unpack(rest)[0] if len(rest) == _STATUS.size else None
            return Packet(fields, bytes(memoryview(raw)[_LENGTHS.size + head : end])), status
    return None, _STATUS.unpack(raw[-_STATUS.size :])[0] if len(raw) >= _STATUS.size else None


def _read_exactly(wire: socket.socket, size: int) -> bytes:
    """Return `size` bytes, in one allocation if the system delivers them at once."""
    pieces: list[bytes] = []
    while size:
        piece = wire.recv(size, socket.MSG_WAITALL)
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    if len(pieces) == 1:
        return pieces[0]
    return b"".join(pieces)
