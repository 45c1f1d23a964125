"""The safe opening of a ZIP of XML, and the reading of its parts.

The stated sizes of a package are checked against limits, and each part is read only up to its stated size. Entry names
are looked up and never become paths.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise

from lxml import etree

from gofer.values.errors import ToolError

_ENTRIES = 10_000
_TOTAL = 256 << 20
_PART = 128 << 20
_RATIO = 150
_RATIO_FROM = 4 << 20
_LONGEST_NAME = 512
_AT_ONCE = 8 << 20
"""The most bytes of a part that is read as a tree. A larger one is read in pieces, which is slower and needs less
memory."""
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DIRECTORY_ENTRY = 46

Element = etree._Element  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")

RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Package:
    """An Office document as a package of parts."""

    def __init__(self, data: bytes) -> None:
        """Open a package. Raises ToolError if it is damaged, encrypted or a decompression bomb."""
        self._zip = opened(data)
        self._names = {name.lower(): name for name in self._zip.namelist()}

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the parts that begin with a prefix, in the order of their numbers."""
        found = [name for low, name in self._names.items() if low.startswith(prefix)]
        return sorted(found, key=lambda name: (len(name), name))

    def read(self, name: str) -> bytes:
        """Return the bytes of a part; empty if the part is missing. Raises ToolError if it is damaged."""
        known = self._names.get(name.lower().lstrip("/"))
        if known is None:
            return b""
        try:
            raw = self._zip.read(known)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise ToolError(_DAMAGED, code="damaged") from error
        # Strict documents have the same elements in other namespaces.
        if b"purl.oclc.org/ooxml" in raw:
            return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", raw)
        return raw

    def tree(self, name: str) -> Element | None:
        """Return a small part as a tree; None if the part is missing. Raises ToolError if it is damaged."""
        if raw := self.read(name):
            return root(raw)
        return None

    def outermost(self, name: str, tags: tuple[str, ...]) -> Iterator[Element]:
        """Yield the outermost elements of a part with these tags. Each is freed before the next one is read.

        Raises ToolError if the part is damaged.
        """
        if not (raw := self.read(name)):
            return
        if len(raw) <= _AT_ONCE:
            yield from _outermost(root(raw), tags)
            return
        depth = 0
        for event, element in _events(raw, tags):
            if event == "start":
                depth += 1
                continue
            depth -= 1
            if depth == 0:
                yield element
                element.clear(keep_tail=True)
                while (earlier := element.getprevious()) is not None and (parent := earlier.getparent()) is not None:
                    del parent[0]

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the relations of a part: id -> (last word of the kind, target).

        The target of an internal relation is the name of a part.
        """
        folder, file = posixpath.split(name)
        tree = self.tree(f"{folder}/_rels/{file}.rels")
        found: dict[str, tuple[str, str]] = {}
        for relation in every(tree, _RELATION):
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[relation.get("Id") or ""] = ((relation.get("Type") or "").rsplit("/", 1)[-1], target)
        return found


_DAMAGED = "The document is damaged: a part of it cannot be read. Ask for it to be saved and sent again."


def root(raw: bytes) -> Element:
    """Return the tree of some XML. Raises ToolError if it is malformed or declares entities."""
    _no_doctype(raw)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        raise ToolError(_DAMAGED, code="damaged") from error


def _outermost(element: Element, tags: tuple[str, ...]) -> Iterator[Element]:
    for child in element.iterchildren():
        if child.tag in tags:
            yield child
        else:
            yield from _outermost(child, tags)


def _events(raw: bytes, tags: tuple[str, ...]) -> Iterator[tuple[str, Element]]:
    _no_doctype(raw)
    try:
        yield from etree.iterparse(
            BytesIO(raw),
            events=("start", "end"),
            tag=tags,
            resolve_entities=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
    except etree.XMLSyntaxError as error:
        raise ToolError(_DAMAGED, code="damaged") from error


def opened(data: bytes) -> zipfile.ZipFile:
    """Return the opened archive if its directory is harmless. Raises ToolError."""
    try:
        if not _plausible(data):
            raise ToolError(f"The archive has more than {_ENTRIES:,} entries and is not opened.", code="bomb")
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ToolError("The document is cut off or damaged; ask for it to be sent again.", code="damaged") from error
    _check(archive.infolist())
    return archive


def _plausible(data: bytes) -> bool:
    """Return whether the directory is small enough for a document, before anything reads it."""
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) < at + 22:
        raise zipfile.BadZipFile
    count = int.from_bytes(data[at + 10 : at + 12], "little")
    size = int.from_bytes(data[at + 12 : at + 16], "little")
    return count <= _ENTRIES and size <= _ENTRIES * (_DIRECTORY_ENTRY + _LONGEST_NAME)


def _check(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > _ENTRIES:
        raise ToolError(f"The archive has more than {_ENTRIES:,} entries and is not opened.", code="bomb")
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise ToolError("The archive has a password; ask for the document without one.", code="encrypted")
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise ToolError("The document is compressed in a way that is not read here; save it anew.", code="unsupported")
    for entry in entries:
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > _PART or (entry.file_size > _RATIO_FROM and ratio > _RATIO):
            raise ToolError(_bomb(entry.file_size, ratio), code="bomb")
    if (total := sum(entry.file_size for entry in entries)) > _TOTAL:
        raise ToolError(_bomb(total, total / max(1, sum(entry.compress_size for entry in entries))), code="bomb")
    spans = sorted((entry.header_offset, entry.header_offset + entry.compress_size) for entry in entries)
    if any(end > begin for (_, end), (begin, _) in pairwise(spans)):
        raise ToolError(
            "The entries of the archive overlap, so it is not opened; ask for the document to be saved and sent again.",
            code="bomb",
        )


def _bomb(size: int, ratio: float) -> str:
    size_text = f"{size / (1 << 20):,.0f} MB"
    if ratio > _RATIO:
        size_text += f", {ratio:,.0f} times its packed size"
        return f"The document would unpack to {size_text}, so it is not opened."
    return f"The document would unpack to {size_text}, which is more than is read; ask for a smaller part of it."


def _no_doctype(raw: bytes) -> None:
    head = raw[:2048]
    if b"<!DOCTYPE" in head or "<!DOCTYPE".encode("utf-16-le") in head or b"<!ENTITY" in head:
        raise ToolError("The document declares XML entities, which can be harmful, so it is not opened.", code="bomb")


def attribute(element: Element | None, name: str) -> str:
    """Return an attribute; empty if the attribute or its element is missing."""
    if element is None:
        return ""
    return element.get(name) or ""


def every(tree: Element | None, *tags: str) -> Iterator[Element]:
    """Yield the elements of a tree with these tags; none if there is no tree."""
    if tree is not None:
        yield from tree.iter(*tags)
