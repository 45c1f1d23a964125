"""The execution of a jq program in a child process, and the note on a key that the document lacks.

A child is necessary, because jq has no way to stop a program from inside.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import cast

import jq

from gofer.files.child_wire import Packet
from gofer.files.jq_program import fields
from gofer.values.canonical_json import as_list, as_object, as_text, clean
from gofer.values.errors import ToolError

KEYS = 40
"""The most keys that a note names."""
_LONGEST = 60
"""The most characters of one key in a note."""
_LONGEST_REREAD = 24_000_000
"""The most characters of a document that is read again for the note, which takes a second. A longer document could
exceed the time of the child, and the answer would fail because of its note."""
_LONGEST_SEARCHED = 5_000_000
"""The most characters of a document that is searched for all keys."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_EMPTY = {"[]", "{}", "0", '""'}

# Finds the first object on the program's path that lacks the next key of the path.
_ABSENT = """
. as $document | path(
{program}
) as $way | first(
  range($way | length) as $at | ($document | getpath($way[:$at])) as $holder
  | select(($holder | type) == "object" and ($way[$at] | type) == "string" and ($holder | has($way[$at]) | not))
  | {{at: $way[:$at], key: $way[$at], keys: ($holder | keys_unsorted)}}
)
"""
_EVERY = "[.. | objects | keys_unsorted[]] | unique"


def missing_key(program: str, text: str, results: Sequence[str]) -> str:
    """Return a sentence that names a missing key and the existing ones; empty if the results are informative."""
    if len(text) > _LONGEST_REREAD or not _is_uninformative(results):
        return ""
    try:
        return _missing_on_path(program, text) or _missing_everywhere(program, text)
    except ValueError:
        # `_results` has already reported errors of the program or the document.
        return ""


def _is_uninformative(results: Sequence[str]) -> bool:
    return any("null" in line for line in results) or all(line in _EMPTY for line in results)


def _missing_on_path(program: str, text: str) -> str:
    """Return a sentence on the object that lacks a key of the path; empty if the program is more than a path."""
    try:
        found = cast(object, next(iter(jq.compile(_ABSENT.format(program=program)).input_text(text)), None))
    except ValueError:
        return ""
    if found is None:
        return ""
    absent = as_object(found)
    path = _path_text(as_list(absent["at"]))
    keys = [as_text(key) for key in as_list(absent["keys"])]
    return f"The object at `{path}` has no key {_quoted(as_text(absent['key']))}; {_key_list(keys)}"


def _missing_everywhere(program: str, text: str) -> str:
    """Return a sentence on the first field of the program that no object of the document has."""
    names = fields(program)
    if not names or len(text) > _LONGEST_SEARCHED:
        return ""
    keys = [as_text(key) for value in jq.compile(_EVERY).input_text(text) for key in as_list(value)]
    existing = list(dict.fromkeys(keys))
    absent = next((name for name in names if name not in existing), "")
    return absent and f"No object of this file has the key {_quoted(absent)}; {_key_list(existing)}"


def _key_list(keys: Sequence[str]) -> str:
    if not keys:
        return "there is no key at all."
    more = f" and {len(keys) - KEYS:,} more" * (len(keys) > KEYS)
    return f"the keys there: {', '.join(map(_display, keys[:KEYS]))}{more}."


def _path_text(path: Sequence[object]) -> str:
    """Return a path in jq's notation."""
    written = "".join(map(_step, path))
    return f".{written.removeprefix('.')}"


def _step(step: object) -> str:
    match step:
        case str() if _PLAIN.match(step):
            return f".{step}"
        case str():
            return f"[{_display(step)}]"
        case dict():
            part = as_object(cast(object, step))
            return f"[{part.get('start')}:{part.get('end')}]"
        case _:
            return f"[{step}]"


def _quoted(key: str) -> str:
    return f"`{_display(key)}`"


def _display(key: str) -> str:
    if _PLAIN.match(key):
        return key[:_LONGEST]
    return json.dumps(key[:_LONGEST], ensure_ascii=False)


_LONGEST_REASON = 400


def run(packet: Packet) -> Packet:
    """Return the results, one on each line, and a note on a missing key in the field `note`.

    Fields of the job: program, limit (in characters). Raises ToolError, with the code not_json if the document is not
    JSON.
    """
    program = str(packet.fields["program"])
    limit = cast(int, packet.fields["limit"])
    text = packet.data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines: list[str] = []
    size = 0
    try:
        for line in _results(program, text):
            size += len(line) + 1
            if size > limit:
                raise ToolError(_too_much(line, len(lines), limit), code="too_much")
            lines.append(line)
    except ValueError as error:
        raise ToolError(_reason(error), code=_code(error)) from error
    note = clean(missing_key(program, text, lines))
    return Packet({"note": note}, clean("\n".join(lines) or "The program gives no result.").encode())


def _results(program: str, text: str) -> Iterator[str]:
    try:
        # Only jq itself keeps the digits of a number, so jq also writes the JSON.
        compiled = jq.compile(f"(\n{program}\n) | tojson")
    except ValueError:
        # Compile the program without the wrapper, so that errors name its own lines and columns.
        jq.compile(program)
        raise
    yield from cast(Iterator[str], iter(compiled.input_text(text)))


def _code(error: ValueError) -> str:
    """Return not_json for an error about the document, and jq for an error of the program."""
    if str(error).startswith("parse error:"):
        return "not_json"
    return "jq"


def _reason(error: ValueError) -> str:
    message = str(error).strip()
    if not message.startswith("jq: "):
        message = f"jq: {message}"
    if len(message) <= _LONGEST_REASON:
        return message
    return f"{message[:_LONGEST_REASON]}…"


def _too_much(line: str, earlier: int, limit: int) -> str:
    kind = {"[": "a list", "{": "an object", '"': "a text"}.get(line[:1], "a value")
    if earlier:
        position = f"{earlier:,} results before it"
    else:
        position = "no other result before it"
    hint = {
        "[": "take a part (`.[0:20]`), some fields (`map({id, name})`) or only `length`",
        "{": "take some fields (`{id, name}`), `keys`, or one level deeper",
        '"': "take a part of it (`.[0:2000]`), or read it with file_read",
    }.get(line[:1], "take the first (`limit(50; …)`) or count them (`[…] | length`)")
    if earlier > 1:
        hint = "take fewer (`limit(20; …)`, `select(…)`), fewer fields of each, or count them (`[…] | length`)"
    return (
        f"The result is longer than {limit:,} characters and is not shown: {kind} of {len(line):,} characters with "
        f"{position}. To narrow it, {hint}."
    )
