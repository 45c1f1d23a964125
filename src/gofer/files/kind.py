"""The kinds of files, by their bytes and not by their names.

The first bytes decide, and the main part of a package. A name decides only between kinds of plain text.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    name: str
    """The short lower-case name for code, such as `pdf`."""
    media_type: str
    title: str
    """The name for people, with its article."""


_DOCUMENT = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."

KINDS = {
    kind.name: kind
    for kind in (
        Kind("empty", "application/x-empty", "an empty file"),
        Kind("binary", "application/octet-stream", "a binary file of an unknown kind"),
        Kind("pdf", "application/pdf", "a PDF"),
        Kind("docx", _DOCUMENT + "wordprocessingml.document", "a Word document"),
        Kind("pptx", _DOCUMENT + "presentationml.presentation", "a PowerPoint presentation"),
        Kind("xlsx", _DOCUMENT + "spreadsheetml.sheet", "an Excel workbook"),
        Kind("xlsb", "application/vnd.ms-excel.sheet.binary.macroEnabled.12", "a binary Excel workbook"),
        Kind("xls", "application/vnd.ms-excel", "an old Excel workbook"),
        Kind("ods", _OPEN + "spreadsheet", "an OpenDocument spreadsheet"),
        Kind("odt", _OPEN + "text", "an OpenDocument text"),
        Kind("odp", _OPEN + "presentation", "an OpenDocument presentation"),
        Kind("doc", "application/msword", "an old Word document (.doc)"),
        Kind("ppt", "application/vnd.ms-powerpoint", "an old PowerPoint presentation (.ppt)"),
        Kind("msg", "application/vnd.ms-outlook", "an Outlook message (.msg)"),
        Kind("encrypted", "application/x-ole-storage", "an Office document with a password"),
        Kind("ole", "application/x-ole-storage", "an old Office file"),
        Kind("rtf", "application/rtf", "a Rich Text document"),
        Kind("html", "text/html", "a web page"),
        Kind("xml", "application/xml", "an XML file"),
        Kind("svg", "image/svg+xml", "a drawing (SVG)"),
        Kind("json", "application/json", "a JSON file"),
        Kind("csv", "text/csv", "a table of separated values"),
        Kind("eml", "message/rfc822", "an e-mail"),
        Kind("markdown", "text/markdown", "a Markdown text"),
        Kind("text", "text/plain", "a plain text"),
        Kind("png", "image/png", "an image (PNG)"),
        Kind("jpeg", "image/jpeg", "an image (JPEG)"),
        Kind("gif", "image/gif", "an image (GIF)"),
        Kind("webp", "image/webp", "an image (WebP)"),
        Kind("tiff", "image/tiff", "an image (TIFF)"),
        Kind("bmp", "image/bmp", "an image (BMP)"),
        Kind("heic", "image/heic", "an image (HEIC)"),
        Kind("ipynb", "application/x-ipynb+json", "a Jupyter notebook"),
        Kind("tar", "application/x-tar", "a tar archive"),
        Kind("zip", "application/zip", "a ZIP archive"),
        Kind("epub", "application/epub+zip", "an e-book (EPUB)"),
        Kind("gzip", "application/gzip", "a gzip archive"),
        Kind("archive", "application/x-archive", "an archive"),
        Kind("sound", "audio/unknown", "a sound recording"),
        Kind("video", "video/mp4", "a video"),
        Kind("program", "application/x-executable", "a program"),
        Kind("sqlite", "application/vnd.sqlite3", "an SQLite database"),
    )
}

IMAGES = frozenset({"png", "jpeg", "gif", "webp", "tiff", "bmp"})
"""The kinds that can be opened as an image."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"{\\rtf", "rtf"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\0", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"ID3", "sound"),
    (b"OggS", "sound"),
    (b"fLaC", "sound"),
    (b"\x1aE\xdf\xa3", "video"),
    (b"MZ\x90", "program"),
    (b"\x7fELF", "program"),
    (b"\xcf\xfa\xed\xfe", "program"),
    (b"SQLite format 3\0", "sqlite"),
)
_EXTENSIONS = {
    "docm": "docx", "dotx": "docx", "dotm": "docx", "xlsm": "xlsx", "xltx": "xlsx", "pptm": "pptx", "ppsx": "pptx",
    "potx": "pptx", "htm": "html", "xhtml": "html", "jpg": "jpeg", "jfif": "jpeg", "tif": "tiff", "tsv": "csv",
    "md": "markdown", "txt": "text", "log": "text", "jsonl": "json", "ndjson": "json", "dot": "doc", "xlt": "xls",
    "pps": "ppt", "exe": "program", "heif": "heic", "tgz": "gzip", "gz": "gzip",
}  # fmt: skip
_TEXTS = frozenset({"text", "csv", "markdown", "json", "xml", "html", "eml", "svg", "ipynb"})
_MARKUP = frozenset({"html", "xml", "svg"})
_NEVER_MARKUP = frozenset({"csv", "json", "eml"})
_HEADER = re.compile(rb"[!-9;-~]{2,60}:[ \t]")
_MAIL = re.compile(
    rb"^(?:from|to|subject|date|message-id|mime-version|received|return-path|delivered-to)[ \t]*:", re.IGNORECASE | re.M
)
_PAGE = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_EXAMINED = 4_096
_MAIN_PARTS = (
    (re.compile(rb"word/document\d*\.xml"), "docx"),
    (re.compile(rb"ppt/presentation\d*\.xml"), "pptx"),
    (re.compile(rb"xl/workbook\d*\.bin"), "xlsb"),
    (re.compile(rb"xl/workbook\d*\.xml"), "xlsx"),
)
"""The full path of the part that makes a ZIP an Office document."""
_LISTED_FILE = re.compile(rb"PK\x01\x02.{24}(..).{16}", re.DOTALL)
"""The header of a file name in the directory of a ZIP, with the length of the name."""
_PACKED_FILE = re.compile(rb"PK\x03\x04.{22}(..)..", re.DOTALL)
"""The header of a file in a ZIP, with the length of its name."""


def kind_of(data: bytes, name: str = "") -> Kind:
    """Return the kind of some bytes. `name` is the file name from the sender."""
    return KINDS[_recognise(data, extension(name))]


def extension(name: str) -> str:
    """Return the name of the kind that a file name claims; empty for an unknown extension."""
    claimed = PurePosixPath(name.replace("\\", "/")).suffix.lower().lstrip(".")
    claimed = _EXTENSIONS.get(claimed, claimed)
    if claimed in KINDS:
        return claimed
    return ""


def mislabelled(kind: Kind, name: str) -> str:
    """Return a sentence about a name that claims another kind; empty if it claims none or this kind."""
    claimed = extension(name)
    if not claimed or claimed == kind.name or kind.name in ("encrypted", "empty"):
        return ""
    if {claimed, kind.name} <= _TEXTS and not (claimed in _NEVER_MARKUP and kind.name in _MARKUP):
        return ""
    return f"The name ends like {KINDS[claimed].title}, but this is {kind.title}."


def _recognise(data: bytes, claimed: str) -> str:
    if not data:
        return "empty"
    start = data[:_EXAMINED]
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if start[257:262] == b"ustar":
        return "tar"
    if start.startswith(b"BM") and data[6:10] == b"\0\0\0\0":
        return "bmp"
    if start[:4] == b"RIFF":
        return {b"WEBP": "webp", b"WAVE": "sound"}.get(start[8:12], "video")
    if start[4:8] == b"ftyp":
        if start[8:12] in (b"heic", b"heix", b"mif1", b"avif"):
            return "heic"
        return "video"
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _ole_kind(data)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    # Some programs write bytes before the header of a PDF.
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return _text_kind(data, start, claimed)


def _ole_kind(data: bytes) -> str:
    """Return the kind by the names of the streams, which the directory stores in UTF-16."""
    for stream, name in (
        ("EncryptedPackage", "encrypted"),
        ("WordDocument", "doc"),
        ("PowerPoint Document", "ppt"),
        ("Workbook", "xls"),
        ("Book", "xls"),
        ("__properties_version1.0", "msg"),
    ):
        if stream.encode("utf-16-le") + b"\0\0" in data:
            return name
    return "ole"


def _zip_kind(data: bytes) -> str:
    """Return the kind of a package by its main part, without opening anything."""
    names = _zipped_names(data)
    for part, name in _MAIN_PARTS:
        if any(map(part.fullmatch, names)):
            return name
    declared = re.match(rb"PK\x03\x04.{22}.{4}mimetype(application/[a-z+.-]+)", data[:200], re.DOTALL)
    for name in ("ods", "odt", "odp", "epub"):
        if declared and declared[1].decode().startswith(KINDS[name].media_type):
            return name
    return "zip"


def _zipped_names(data: bytes) -> list[bytes]:
    """Return the full paths in a ZIP, from its directory, or from its file headers if the directory is cut off."""
    directory = _directory(data)
    listed = [_name_behind(directory, found) for found in _LISTED_FILE.finditer(directory)]
    return listed or [_name_behind(data, found) for found in _PACKED_FILE.finditer(data)]


def _name_behind(data: bytes, header: re.Match[bytes]) -> bytes:
    length = int.from_bytes(header[1], "little")
    return data[header.end() : header.end() + length]


def _directory(data: bytes) -> bytes:
    """Return the central directory: empty if it is cut off, the end of the data if its stated place is wrong."""
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) < at + 22:
        return b""
    size, offset = struct.unpack_from("<II", data, at + 12)
    return data[offset : offset + size] or data[-65_536:]


def _text_kind(data: bytes, start: bytes, claimed: str) -> str:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.decode("utf-16", "replace").encode()
    elif wide := _unmarked_utf16(start):
        start = start.decode(wide, "replace").encode()
    elif b"\0" in data[:65_536]:
        return "binary"
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        if b"<svg" in start[:1024]:
            return "svg"
        if _PAGE.search(start) or claimed == "html":
            return "html"
        return "xml"
    if start[:1] == b"{" and b'"cells"' in data and b'"nbformat"' in data:
        return "ipynb"
    if claimed in _TEXTS - {"ipynb"}:
        return claimed
    if start[:1] in (b"{", b"[") and data.rstrip()[-1:] in (b"}", b"]"):
        return "json"
    if _HEADER.match(start) and len(_MAIL.findall(start)) >= 3:
        return "eml"
    if _PAGE.search(start[:512]):
        return "html"
    return "text"


def _unmarked_utf16(start: bytes) -> str:
    """Return the byte order of UTF-16 without a mark: in Latin text every other byte is zero. Empty for other text."""
    half = len(start) // 2
    low, high = start[::2].count(0), start[1::2].count(0)
    if low == 0 and high > 0.7 * half:
        return "utf-16-le"
    if high == 0 and low > 0.7 * half:
        return "utf-16-be"
    return ""


Likely = Literal["text", "image", "pdf", "other"]

LOOKED_AT = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/bmp"})
"""The media types of images that can be prepared for a model. Other images are for people only."""
_TEXT_TYPES = frozenset(
    {
        "application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
        "application/toml", "application/javascript", "application/x-sh", "application/sql", "application/graphql",
    }
)  # fmt: skip
_MORE = {
    "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql",
    "py": "text/x-python", "js": "application/javascript", "sh": "application/x-sh",
}  # fmt: skip
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_EXPECTED = frozenset({"", "utf-8", "utf8", "us-ascii"})
"""The encodings that need no declaration, because UTF-8 is the default."""
UNSPECIFIC_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/binary"})
"""The media types that do not identify a format."""


def likely(media_type: str, name: str) -> Likely:
    """Return the probable sort of a file, by its media type, or by its name if the type identifies no format."""
    stated = stated_type(media_type, name)
    if stated in LOOKED_AT:
        return "image"
    if stated == KINDS["pdf"].media_type:
        return "pdf"
    text = stated.startswith("text/") or stated in _TEXT_TYPES or stated.endswith(("+json", "+xml", "+yaml"))
    if text:
        return "text"
    return "other"


def stated_type(media_type: str, name: str) -> str:
    """Return the stated media type of a file, or the media type of its name if the stated one identifies no format."""
    stated = plain(media_type)
    if stated in UNSPECIFIC_TYPES:
        return guessed(name) or stated
    return stated


def guessed(name: str) -> str:
    """Return the media type of a file name's extension; empty for an unknown extension."""
    claimed = extension(name)
    if claimed:
        return KINDS[claimed].media_type
    return _MORE.get(name.rpartition(".")[2].lower(), "")


def with_charset(media_type: str, sent: str) -> str:
    """Return the media type of a text with the legacy encoding from a `Content-Type`; any other type unchanged."""
    charset = charset_of(sent)
    if charset in _EXPECTED or likely(media_type, "") != "text":
        return media_type
    return f"{media_type}; charset={charset}"


def charset_of(media_type: str) -> str:
    """Return the encoding that a media type declares; empty if it declares none."""
    found = _CHARSET.search(media_type)
    if not found:
        return ""
    return found[1].lower()


def plain(media_type: str) -> str:
    """Return a media type without parameters, `text/html` for `text/html; charset=utf-8`; empty if it is invalid."""
    stated = media_type.partition(";")[0].strip().lower()
    if stated.isascii() and stated.isprintable() and stated.count("/") == 1 and " " not in stated:
        return stated
    return ""
