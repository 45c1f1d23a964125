"""OLE files made by hand: streams in storages, as Outlook and old Office write them."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECTOR = 512
_MINI = 64
_NONE = 0xFFFFFFFF
_END = 0xFFFFFFFE
_FAT = 0xFFFFFFFD
_STORAGE = 1
_STREAM = 2
_ROOT = 5

Tree = Mapping[str, "bytes | Tree"]


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    start: int = _END
    child: int = _NONE
    right: int = _NONE


@dataclass
class _File:
    entries: list[_Entry] = field(default_factory=lambda: [_Entry("Root Entry", _ROOT)])
    mini: bytes = b""
    table: list[int] = field(default_factory=list[int])

    def add(self, parent: int, tree: Tree) -> None:
        """Add the streams and storages below a storage; each is the right neighbour of the one before it."""
        before = -1
        for name, value in tree.items():
            at = len(self.entries)
            if isinstance(value, bytes):
                self.entries.append(_Entry(name, _STREAM, value, self._store(value)))
            else:
                self.entries.append(_Entry(name, _STORAGE))
                self.add(at, value)
            if before < 0:
                self.entries[parent].child = at
            else:
                self.entries[before].right = at
            before = at

    def _store(self, data: bytes) -> int:
        assert len(data) < 4_096, "larger streams are stored outside the mini stream"
        start = len(self.table)
        count = -(-len(data) // _MINI)
        self.table += [*range(start + 1, start + count), _END][:count]
        self.mini += data.ljust(count * _MINI, b"\0")
        return start if count else _END


def ole(tree: Tree) -> bytes:
    """Return an OLE file with these streams, each of less than 4,096 bytes."""
    made = _File()
    made.add(0, tree)
    table = _padded(struct.pack(f"<{len(made.table)}I", *made.table), b"\xff")
    mini = _padded(made.mini, b"\0")
    directory_sectors = -(-len(made.entries) // 4)
    parts = [directory_sectors, len(table) // _SECTOR, len(mini) // _SECTOR]
    made.entries[0].start = 1 + parts[0] + parts[1]
    made.entries[0].data = made.mini
    directory = b"".join(map(_entry, made.entries)).ljust(directory_sectors * _SECTOR, b"\0")
    fat = [_FAT]
    for count in parts:
        begin = len(fat)
        fat += [*range(begin + 1, begin + count), _END]
    sectors = struct.pack("<128I", *fat, *[_NONE] * (128 - len(fat)))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
        0, 1, 1, 0, 4_096, 1 + parts[0], parts[1], _END, 0, 0,
    )  # fmt: skip
    return header + b"\xff" * (512 - len(header)) + sectors + directory + table + mini


def _entry(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    head = name.ljust(64, b"\0") + struct.pack("<HBB", len(name) + 2, entry.kind, 1)
    links = struct.pack("<III", _NONE, entry.right, entry.child)
    return head + links + bytes(16 + 4 + 16) + struct.pack("<IQ", entry.start, len(entry.data))


def _padded(data: bytes, fill: bytes) -> bytes:
    return data.ljust(-(-max(len(data), 1) // _SECTOR) * _SECTOR, fill)
