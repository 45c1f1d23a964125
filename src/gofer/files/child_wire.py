"""What this process and its children exchange: the limits of a child, its job and its result.

A job and a result are one packet each: two lengths, a JSON object, bytes, a mark. Behind the packet of a child its
helper writes how it ended.
"""

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

MEMORY = 372 << 20
"""Bytes a child may take beyond what its helper has: helper and child stay under 512 MB, pages that both hold counted
twice. `PYTHONPATH=tests python -m generators.tree_memory` measures it."""

SECONDS = 20.0
"""Seconds of a processor that a child may take: what else the machine does changes nothing about it."""

WALL = 60.0
"""Seconds after which a child is ended that got no processor, or waits for something."""


_LENGTHS = struct.Struct("!IQ")
_STATUS = struct.Struct("!i")
_PIECE = 1 << 20
_MARK = b"done"  # What a status cannot look like, so that a packet cut short never seems whole.


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may take."""

    memory: int
    """Bytes beyond what its helper has."""
    seconds: float
    """Seconds of a processor."""
    wall: float
    """Seconds between its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A JSON object and bytes beside it."""

    fields: Mapping[str, object]
    data: bytes = b""


def send(wire: socket.socket, packet: Packet) -> None:
    """Send the packet. Raises OSError when the other side is gone."""
    head = json.dumps(packet.fields).encode()
    wire.sendall(_LENGTHS.pack(len(head), len(packet.data)) + head)
    wire.sendall(packet.data)
    wire.sendall(_MARK)


def receive(wire: socket.socket) -> Packet:
    """Return the next packet. Raises EOFError when the other side ends before it is whole."""
    sizes = _LENGTHS.unpack(_exactly(wire, _LENGTHS.size))
    fields = cast(dict[str, object], json.loads(_exactly(wire, sizes[0])))
    packet = Packet(fields, _exactly(wire, sizes[1]))
    if _exactly(wire, len(_MARK)) != _MARK:
        raise EOFError
    return packet


def send_status(wire: socket.socket, status: int) -> None:
    """Send how a child ended: its exit code, or the negative number of the signal that killed it."""
    wire.sendall(_STATUS.pack(status))


def receive_ending(wire: socket.socket) -> tuple[Packet | None, int | None]:
    """Return the packet if the child wrote all of it, and how the child ended if its helper lived to say so."""
    raw = bytearray()
    try:
        while piece := wire.recv(_PIECE):
            raw += piece
    except ConnectionError:
        pass  # What came before still counts.
    return _taken_apart(raw)


def _taken_apart(raw: bytearray) -> tuple[Packet | None, int | None]:
    if len(raw) >= _LENGTHS.size:
        head, body = _LENGTHS.unpack_from(raw)
        end = _LENGTHS.size + head + body
        if raw.startswith(_MARK, end):
            fields = cast(dict[str, object], json.loads(raw[_LENGTHS.size : _LENGTHS.size + head]))
            rest = raw[end + len(_MARK) :]
            status = _STATUS.unpack(rest)[0] if len(rest) == _STATUS.size else None
            return Packet(fields, bytes(memoryview(raw)[_LENGTHS.size + head : end])), status
    return None, _STATUS.unpack(raw[-_STATUS.size :])[0] if len(raw) >= _STATUS.size else None


def _exactly(wire: socket.socket, size: int) -> bytes:
    """Return so many bytes, in one allocation where the system gives them at once."""
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
