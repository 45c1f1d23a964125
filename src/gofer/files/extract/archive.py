"""The reader of ZIP, tar and gzip archives: the list of members by full path, and the bytes of one member.

Nothing is extracted to a folder. A path in an archive is only a name. A member is read up to a fixed limit, not up to
the size that the archive states.
"""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, Protocol, cast

from gofer.files.child_wire import Packet
from gofer.files.completeness import AGAIN, Reading, incomplete
from gofer.files.decoder import decoded
from gofer.files.file_names import display, display_path
from gofer.files.kind import kind_of
from gofer.files.size_limits import FILE_BYTES, megabytes
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

ARCHIVES = frozenset({"zip", "tar", "gzip"})
"""The supported kinds of archives."""

ENTRIES = 10_000
"""The most members of an archive that is opened."""
UNPACKED = 512_000_000
"""The most decompressed bytes that are read of a gzip archive."""
_RATIO = 150
_RATIO_FROM = 4_000_000
_PIECE = 1 << 20
_SHOWN_NAMES = 20
_PASSWORD = 0x1
_UTF8_NAME = 0x800
_END_MARK = 1_024
"""The number of zeros at the end of a complete tar."""


class Source(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` further bytes; empty at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in an archive."""

    path: str
    """The full path, used only as a name."""
    size: int
    packed: int
    """The compressed size in bytes; 0 if the archive is compressed as a whole."""
    open: Callable[[], Source]
    """Opens the file. Call it before the next entry is read. Raises ToolError."""


def read(data: bytes, name: str) -> Reading:
    """Return the list of all files with paths and sizes. Raises ToolError."""
    with _damage_as_tool_error():
        found = list(_entries(data, name))
    entries = [one for one in found if isinstance(one, Entry)]
    missing = tuple(one for one in found if isinstance(one, Missing))
    total = sum(entry.size for entry in entries)
    title = kind_of(data, name).title
    head = f"[{title}, files: {len(entries):,}, bytes unpacked: {total:,}; `member` names the one to read]"
    listed = [f"- {entry.path} ({entry.size:,} bytes)" for entry in entries]
    return Reading("\n".join([head, *listed, *(f"[missing here: {gap.part}]" for gap in missing)]), missing)


def member(packet: Packet) -> Packet:
    """Return the bytes of one file. Raises ToolError.

    Fields of the job: name (of the archive), member (a path).
    """
    requested = str(packet.fields["member"])
    name = str(packet.fields["name"])
    paths: list[str] = []
    missing: list[Missing] = []
    with _damage_as_tool_error():
        for found in _entries(packet.data, name):
            match found:
                case Missing():
                    missing.append(found)
                case Entry() if found.path == requested:
                    return Packet({"name": display(found.path)}, _unpacked(found))
                case Entry():
                    paths.append(found.path)
    sentences = [_absent(requested, paths), incomplete(missing, "The archive")]
    raise ToolError(" ".join(filter(None, sentences)), code="no_member")


def _absent(requested: str, paths: list[str]) -> str:
    last = PurePosixPath(requested).name.lower()
    near = [path for path in paths if last and last in path.lower()] or paths
    names = ", ".join(map(repr, near[:_SHOWN_NAMES])) or "no file"
    if len(near) > _SHOWN_NAMES:
        names += f" and {len(near) - _SHOWN_NAMES:,} more"
    return f"The archive has no member {requested[:200]!r}; write a path as it is listed. It holds {names}."


@contextmanager
def _damage_as_tool_error() -> Generator[None]:
    try:
        yield
    except NotImplementedError as error:
        raise ToolError("The archive is packed in a way that is not read here; pack it anew.", code="packed") from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise ToolError("The archive is cut off or damaged; ask for it to be sent again.", code="damaged") from error


def _entries(data: bytes, name: str) -> Iterator[Entry | Missing]:
    """Yield the files of an archive without its folders, then the missing part. Raises ToolError for too many files."""
    match kind_of(data, name).name:
        case "zip":
            found = _zipped(data)
        case "tar":
            found = _tarred(BytesIO(data))
        case "gzip" if _holds_tar(data):
            found = _tarred(_BoundedGzip(data))
        case "gzip":
            found = _packed_alone(data, name)
        case _:
            raise ToolError("The file is not an archive; leave `member` out.", code="no_archive")
    for count, entry in enumerate(found):
        if count >= ENTRIES:
            raise ToolError(f"The archive has more than {ENTRIES:,} files and is not opened.", code="bomb")
        yield entry


def _zipped(data: bytes) -> Iterator[Entry]:
    at = data.rfind(b"PK\x05\x06")
    # Check the stated number of entries before zipfile reads the directory.
    if at >= 0 and int.from_bytes(data[at + 10 : at + 12], "little") > ENTRIES:
        raise ToolError(f"The archive has more than {ENTRIES:,} files and is not opened.", code="bomb")
    archive = zipfile.ZipFile(BytesIO(data))
    for info in archive.infolist():
        if not info.is_dir():
            yield Entry(_zip_path(info), info.file_size, max(1, info.compress_size), _opening(archive, info))


def _opening(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], Source]:
    def opened() -> Source:
        if info.flag_bits & _PASSWORD:
            raise ToolError("The archive has a password; ask for the file without one.", code="encrypted")
        return archive.open(info)

    return opened


def _zip_path(info: zipfile.ZipInfo) -> str:
    """Return a decoded path, with a guessed encoding if the archive does not declare UTF-8."""
    if info.flag_bits & _UTF8_NAME or info.filename.isascii():
        return display_path(info.filename)
    return display_path(decoded(info.filename.encode("cp437", "replace")) or info.filename)


def _tarred(source: Source) -> Iterator[Entry | Missing]:
    """Yield the files of a tar, which is read as a stream and never held decompressed as a whole."""
    stream = _CheckedStream(source)
    archive = tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|")  # noqa: SIM115 - ends with its bytes
    last = ""
    for info in archive:
        last = display_path(decoded(info.name.encode("utf-8", "surrogateescape")) or "")
        if not info.isdir():
            yield Entry(last, info.size, 0, _extracting(archive, info))
    reason = stream.damage_after(archive.offset)
    if reason:
        yield Missing("bytes", f"anything behind {last!r}", reason, instead=AGAIN)


class _CheckedStream:
    """A stream for tarfile that finds damage. tarfile ends silently at the first header that it cannot read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._size = 0
        self._last_byte = 0
        """The offset after the last byte that is not zero."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        piece = self._source.read(size)
        written = len(piece.rstrip(b"\0"))
        if written:
            self._last_byte = self._size + written
        self._size += len(piece)
        return piece

    def damage_after(self, end: int) -> str:
        """Return why a tar is incomplete, by the bytes after its last file; empty if only the end mark follows."""
        while self.read(_PIECE):
            pass
        if self._size < end + _END_MARK:
            return "the archive is cut off there"
        if self._last_byte > end:
            return "the archive is damaged there, or another one follows"
        return ""


def _extracting(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], Source]:
    def extracted() -> Source:
        file = info.isfile() and archive.extractfile(info)
        if not file:
            raise ToolError(
                "That member is a link or a device and holds no bytes; read the file that it points to.", code="link"
            )
        return file

    return extracted


def _packed_alone(data: bytes, name: str) -> Iterator[Entry]:
    stream = _BoundedGzip(data)
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
    yield Entry(display(name.removesuffix(".gz") or "content"), size, len(data), lambda: _BoundedGzip(data))


def _holds_tar(data: bytes) -> bool:
    return kind_of(_BoundedGzip(data).read(512)).name == "tar"


class _BoundedGzip:
    """The decompressed bytes of a gzip file, up to the limits against decompression bombs."""

    def __init__(self, data: bytes) -> None:
        self._file = gzip.GzipFile(fileobj=BytesIO(data))
        self._packed = len(data)
        self._seen = 0

    def read(self, size: int, /) -> bytes:
        """Return the next bytes. Raises ToolError if the decompressed size exceeds the limits."""
        piece = self._file.read(size)
        self._seen += len(piece)
        if self._seen > UNPACKED:
            raise ToolError(f"The archive unpacks to more than {megabytes(UNPACKED)}; it is not read.", code="bomb")
        if self._seen > _RATIO_FROM and self._seen > _RATIO * self._packed:
            raise _bomb("The archive")
        return piece


def _unpacked(entry: Entry) -> bytes:
    source = entry.open()
    parts: list[bytes] = []
    size = 0
    _check(entry, entry.size)
    while piece := source.read(_PIECE):
        size += len(piece)
        _check(entry, size)
        parts.append(piece)
    return b"".join(parts)


def _check(entry: Entry, size: int) -> None:
    """Raise ToolError for a member that is too large or has a suspicious compression ratio."""
    if size > FILE_BYTES:
        message = f"{entry.path} has {megabytes(size)} unpacked, and up to {megabytes(FILE_BYTES)} can be read"
        raise ToolError(f"{message}; ask for a smaller part of it.", code="too_large")
    if entry.packed and size > _RATIO_FROM and size > _RATIO * entry.packed:
        raise _bomb(entry.path)


def _bomb(name: str) -> ToolError:
    message = f"{name} unpacks to more than {_RATIO} times its packed size, so it is not read."
    return ToolError(message, code="bomb")
