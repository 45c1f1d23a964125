"""The media types of files in spans. An outsider states the type of a file, and may write words instead."""

_DOCUMENT = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_KNOWN = frozenset(
    [
        *(f"{_DOCUMENT}{name}" for name in ("wordprocessingml.document", "presentationml.presentation")),
        f"{_DOCUMENT}spreadsheetml.sheet",
        *(f"{_OPEN}{name}" for name in ("spreadsheet", "text", "presentation")),
        *(f"application/vnd.{name}" for name in ("ms-excel", "ms-powerpoint", "ms-outlook", "sqlite3")),
        "application/vnd.ms-excel.sheet.binary.macroenabled.12",
        *(f"application/{name}" for name in ("epub+zip", "gzip", "json", "msword", "octet-stream", "pdf", "rtf")),
        *(f"application/{name}" for name in ("x-archive", "x-empty", "x-executable", "x-ipynb+json", "x-ole-storage")),
        *(f"application/{name}" for name in ("x-tar", "xml", "zip")),
        *(f"image/{name}" for name in ("bmp", "gif", "heic", "jpeg", "png", "svg+xml", "tiff", "webp")),
        *(f"text/{name}" for name in ("csv", "html", "markdown", "plain")),
        *("audio/unknown", "message/rfc822", "video/mp4"),
    ]
)
"""The types that Gofer itself gives to files (`files/kind.py`)."""
_TOP_LEVEL = frozenset({"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"})


def shown_media_type(stated: str) -> str:
    """Return a media type without words of an outsider: a known type, its top level such as `text/*`, or neither."""
    media_type = stated.partition(";")[0].strip().lower()
    if media_type in _KNOWN:
        return media_type
    top = media_type.partition("/")[0]
    if top in _TOP_LEVEL:
        return f"{top}/*"
    return "unknown type"
