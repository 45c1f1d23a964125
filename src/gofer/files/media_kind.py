"""Can something be looked at: is it an image or a PDF by its first bytes, and may it be one by what is said of it?"""

from typing import Literal

Kind = Literal["text", "image", "pdf", "other"]

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models look at; others are images for people only."""
_TEXTS = frozenset(
    {
        "application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
        "application/toml", "application/javascript", "application/x-sh", "application/sql", "application/graphql",
    }
)  # fmt: skip

_OFFICE = "application/vnd.openxmlformats-officedocument"
_ENDINGS = {
    "csv": "text/csv", "docx": f"{_OFFICE}.wordprocessingml.document", "eml": "message/rfc822", "gif": "image/gif",
    "htm": "text/html", "html": "text/html", "jpeg": "image/jpeg", "jpg": "image/jpeg", "json": "application/json",
    "jsonl": "application/x-ndjson", "log": "text/plain", "md": "text/markdown", "pdf": "application/pdf",
    "png": "image/png", "pptx": f"{_OFFICE}.presentationml.presentation", "py": "text/x-python",
    "sql": "application/sql", "svg": "image/svg+xml", "toml": "application/toml", "tsv": "text/tab-separated-values",
    "txt": "text/plain", "webp": "image/webp", "xlsx": f"{_OFFICE}.spreadsheetml.sheet", "xml": "application/xml",
    "yaml": "application/yaml", "yml": "application/yaml",
}  # fmt: skip


def media_type_of(content: bytes) -> str:
    """The type of an image or a PDF by its content; empty for anything else."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for mark, media_type in _SIGNATURES if content.startswith(mark)), "")


def kind_of(media_type: str, name: str) -> Kind:
    """What a file is by what is said of it: its type, or its name where the type says nothing."""
    said = plain(media_type)
    if said in ("", "application/octet-stream", "binary/octet-stream"):
        said = guessed(name)
    if said in IMAGES:
        return "image"
    if said == "application/pdf":
        return "pdf"
    text = said.startswith("text/") or said in _TEXTS or said.endswith(("+json", "+xml", "+yaml"))
    return "text" if text else "other"


def guessed(name: str) -> str:
    """The type that the ending of a name stands for; empty when it stands for none."""
    return _ENDINGS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def plain(media_type: str) -> str:
    """A media type without parameters, as in `text/html; charset=utf-8`; empty for what is none."""
    said = media_type.partition(";")[0].strip().lower()
    return said if said.isascii() and said.isprintable() and said.count("/") == 1 and " " not in said else ""
