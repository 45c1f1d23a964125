"""One jq program on one document, in a child, as nothing stops a program from inside; and the key that it lacks."""

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
"""Keys that are named at most."""
_LONGEST = 60
"""Characters of one key that is named."""
_WALKED = 24_000_000
"""Characters of a document that is read once more: that takes a second, and no answer may fail for its note."""
_SEARCHED = 5_000_000
"""Characters of a document in which all keys are looked for."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_EMPTY = {"[]", "{}", "0", '""'}

# The first object on the way of the program that lacks the next key of it.
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
    """Return a sentence on a key that is not there, with those that are; empty where the results say enough."""
    if len(text) > _WALKED or not _says_little(results):
        return ""
    try:
        return _on_the_way(program, text) or _nowhere(program, text)
    except ValueError:
        # What is wrong with the program or the document was told before.
        return ""


def _says_little(results: Sequence[str]) -> bool:
    return any("null" in line for line in results) or all(line in _EMPTY for line in results)


def _on_the_way(program: str, text: str) -> str:
    """Name the object that lacks a key, where the program is nothing but a path."""
    try:
        found = cast(object, next(iter(jq.compile(_ABSENT.format(program=program)).input_text(text)), None))
    except ValueError:
        return ""
    if found is None:
        return ""
    absent = as_object(found)
    place = _written(as_list(absent["at"]))
    keys = [as_text(key) for key in as_list(absent["keys"])]
    return f"The object at `{place}` has no key {_quoted(as_text(absent['key']))}; {_named(keys)}"


def _nowhere(program: str, text: str) -> str:
    """Name the first field of the program that no object of the document has."""
    asked = fields(program)
    if not asked or len(text) > _SEARCHED:
        return ""
    keys = [as_text(key) for value in jq.compile(_EVERY).input_text(text) for key in as_list(value)]
    there = list(dict.fromkeys(keys))
    absent = next((name for name in asked if name not in there), "")
    return absent and f"No object of this file has the key {_quoted(absent)}; {_named(there)}"


def _named(keys: Sequence[str]) -> str:
    if not keys:
        return "there is no key at all."
    more = f" and {len(keys) - KEYS:,} more" * (len(keys) > KEYS)
    return f"the keys there: {', '.join(map(_shown, keys[:KEYS]))}{more}."


def _written(way: Sequence[object]) -> str:
    """Return a path as jq writes it."""
    written = "".join(map(_step, way))
    return f".{written.removeprefix('.')}"


def _step(step: object) -> str:
    match step:
        case str() if _PLAIN.match(step):
            return f".{step}"
        case str():
            return f"[{_shown(step)}]"
        case dict():
            part = as_object(cast(object, step))
            return f"[{part.get('start')}:{part.get('end')}]"
        case _:
            return f"[{step}]"


def _quoted(key: str) -> str:
    return f"`{_shown(key)}`"


def _shown(key: str) -> str:
    if _PLAIN.match(key):
        return key[:_LONGEST]
    return json.dumps(key[:_LONGEST], ensure_ascii=False)


_LONGEST_REASON = 400


def run(packet: Packet) -> Packet:
    """Return the results, one on each line, and in the field `note` what they do not say.

    Fields: program, limit (characters). Raises ToolError, with code not_json for a document that is none.
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
        # A number stays what is written only as long as it stays inside jq.
        compiled = jq.compile(f"(\n{program}\n) | tojson")
    except ValueError:
        # By itself, so that its mistakes are told in its own lines and columns.
        jq.compile(program)
        raise
    yield from cast(Iterator[str], iter(compiled.input_text(text)))


def _code(error: ValueError) -> str:
    """Return not_json for what jq says of a document that it cannot read, and jq for mistakes of the program."""
    if str(error).startswith("parse error:"):
        return "not_json"
    return "jq"


def _reason(error: ValueError) -> str:
    said = str(error).strip()
    if not said.startswith("jq: "):
        said = f"jq: {said}"
    if len(said) <= _LONGEST_REASON:
        return said
    return f"{said[:_LONGEST_REASON]}…"


def _too_much(line: str, earlier: int, limit: int) -> str:
    what = {"[": "a list", "{": "an object", '"': "a text"}.get(line[:1], "a value")
    if earlier:
        came = f"{earlier:,} results before it"
    else:
        came = "no other result before it"
    hint = {
        "[": "take a part (`.[0:20]`), some fields (`map({id, name})`) or only `length`",
        "{": "take some fields (`{id, name}`), `keys`, or one level deeper",
        '"': "take a part of it (`.[0:2000]`), or read it with file_read",
    }.get(line[:1], "take the first (`limit(50; …)`) or count them (`[…] | length`)")
    if earlier > 1:
        hint = "take fewer (`limit(20; …)`, `select(…)`), fewer fields of each, or count them (`[…] | length`)"
    return (
        f"The result is longer than {limit:,} characters and is not shown: {what} of {len(line):,} characters with "
        f"{came}. To narrow it, {hint}."
    )
