"""The files under messages, and how a model is told of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from gofer.files.declared_type import told
from gofer.files.file_names import display
from gofer.tools.definition import NewFile
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text

FETCH = "slack_get_file"
"""The tool that fetches one."""
FILES = 50
"""Files of one reading that can be looked into at most; the newest."""

Fields = Mapping[str, object]

_ABSENT = {
    "tombstone": "it was deleted",
    "hidden_by_limit": "Slack hides it, because the workspace has more files than its plan shows",
    "external": "it does not stand in Slack but elsewhere, and Gofer does not fetch it from there",
}
_ACCESS = {"access_denied": "Gofer may not see it", "file_not_found": "it was deleted"}


def absent(file: Fields) -> str:
    """Return why there is nothing to fetch; empty where there is."""
    if why := _ACCESS.get(as_text(file.get("file_access"))) or _ABSENT.get(as_text(file.get("mode"))):
        return why
    if file.get("is_external") is True:
        return _ABSENT["external"]
    return "" if as_text(file.get("id")) else "Slack says nothing of it"


def new_file(file: Fields, content: bytes | None = None) -> NewFile:
    """Return a file as Slack describes it."""
    size = file.get("size")
    name = display(as_text(file.get("name")) or as_text(file.get("title")))
    return NewFile(
        name,
        told(as_text(file.get("mimetype")), name),
        content,
        "Slack",
        size if isinstance(size, int) and size > 0 else 0,
        {"tool": FETCH, "arguments": {"file": as_text(file.get("id"))}},
    )


def attached(messages: Iterable[Fields], focus: str = "") -> Sequence[NewFile]:
    """Return the files of some messages, given oldest first: those of the message with ts `focus`, then the newest."""
    newest_first = list(messages)[::-1]
    in_order = sorted(newest_first, key=lambda message: message.get("ts") != focus)
    files = (file for message in in_order for file in of(message) if not absent(file))
    found = {made.id: made for file in files if (made := new_file(file))}
    return list(found.values())[:FILES]


def of(message: Fields) -> Sequence[Fields]:
    """Return the files under a message, as Slack describes them."""
    return [as_object(file) for file in as_list(message.get("files"))]


def line(file: Fields, known: Collection[str]) -> str:
    """Return a file beside its message, its name as data, under its id when it is one that can be looked into."""
    made = new_file(file)
    about = [encode_text(made.name), *filter(None, [made.media_type]), *([f"{made.size} bytes"] if made.size else [])]
    if why := absent(file):
        return f"[file: {', '.join(about)}; {why}]"
    return f"[file {made.id}: {', '.join(about)}]" if made.id in known else f"[file: {', '.join(about)}]"
