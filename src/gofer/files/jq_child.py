"""Runs one jq program on one document; in a child, as nothing stops a program from inside."""

from collections.abc import Iterator
from typing import cast

import jq

from gofer.files.child_wire import Packet
from gofer.files.jq_missing import missing_key
from gofer.values.canonical_json import clean
from gofer.values.errors import ToolError

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
