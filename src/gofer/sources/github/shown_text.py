"""Objects on GitHub as text for a model, in which no text by people can imitate a line by Gofer.

Lines by Gofer begin at the left margin. Text by people is indented, or is one line after a label by Gofer.
"""

from collections.abc import Mapping, Sequence

from gofer.sources.github.provenance import without_marker
from gofer.values.canonical_json import as_list, as_object, as_text, indented

TEXT_LIMIT = 12_000
"""The most characters of one text."""
TEXTS_LIMIT = 30_000
"""The most characters of all comments or reviews; the newest ones are kept."""

Fields = Mapping[str, object]


def one_line(text: str, limit: int = 200) -> str:
    """Return a name or title on one line and cut, so that it is safe in a line by Gofer."""
    return " ".join(text.split())[:limit]


def login(user: object) -> str:
    """Return the login of a person, or `ghost` for a deleted account, as GitHub does."""
    return one_line(as_text(as_object(user).get("login"))) or "ghost"


def body_lines(text: str) -> list[str]:
    """Return the indented lines of a text by people."""
    text = without_marker(text).strip()
    cut = f"\n[{len(text) - TEXT_LIMIT} further characters are left out.]"
    shown = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + cut
    return indented(shown) or ["    (no text)"]


def names(items: object, key: str) -> list[str]:
    """Return the names of the objects in a list; `key` is the field with the name."""
    found = (one_line(as_text(as_object(item).get(key))) for item in as_list(items))
    return [name for name in found if name]


def number(fields: Fields, key: str) -> int:
    """Return the number in a field; 0 if it has none."""
    value = fields.get(key)
    if isinstance(value, int):
        return value
    return 0


def position(comment: Fields) -> str:
    """Return where a review comment stands: the file, its lines, and whether the lines changed since."""
    path = one_line(as_text(comment.get("path")), 500)
    prefix = "" if number(comment, "line") else "original_"
    last = number(comment, f"{prefix}line")
    if not last or comment.get("subject_type") == "file":
        return path
    first = number(comment, f"{prefix}start_line") or last
    lines = f"line {last}" if first == last else f"lines {first} to {last}"
    side = " of the old version" if comment.get("side") == "LEFT" else ""
    outdated = " (outdated: these lines changed since)" if prefix else ""
    return f"{path}, {lines}{side}{outdated}"


def statements(comments: Sequence[Fields], when: str, older: int = 0) -> list[str]:
    """Return the lines of comments, review comments or reviews, oldest first, each below a header line.

    `when` is the field with the time. `older` is the number of earlier ones that were not read.
    """
    lines: list[str] = []
    kept = _newest(comments)
    if left := older + len(comments) - len(kept):
        lines.append(f"({left} older ones are left out here.)")
    for one in kept:
        state = as_text(one.get("state")).lower().replace("_", " ")
        header = f"- {login(one.get('user'))} at {one_line(as_text(one.get(when)))}{', ' * bool(state)}{state}"
        lines.append(f"{header}{_in_thread(one)}:")
        lines += body_lines(as_text(one.get("body")))
    return lines


def _in_thread(comment: Fields) -> str:
    """Return where a review comment stands and what it answers; empty for other comments."""
    if not comment.get("path"):
        return ""
    answered = number(comment, "in_reply_to_id")
    reply = f", in reply to review comment {answered}" if answered else ""
    return f" on {position(comment)} (review comment {number(comment, 'id')}{reply})"


def _newest(comments: Sequence[Fields]) -> Sequence[Fields]:
    left = TEXTS_LIMIT
    for index in reversed(range(len(comments))):
        left -= 80 + min(TEXT_LIMIT, len(as_text(comments[index].get("body"))))
        if left < 0:
            return comments[max(index + 1, 0) :]
    return comments
