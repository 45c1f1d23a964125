"""Queries of a JSON document: a jq program, or a pattern.

`jq_child` and `json_grep` do the work in a child process.
"""

from dataclasses import dataclass

from gofer.files.child import Children, Job
from gofer.files.jq_program import refuse_reading
from gofer.values.errors import ToolError

CHARACTERS = 10_000
"""The most characters of an answer. A longer one is refused with advice on a narrower query."""

_LONGEST_PROGRAM = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a jq program."""

    text: str
    """The results, one JSON value on each line."""
    note: str
    """A sentence on a key that the program uses and the document lacks; else empty."""


async def jq(children: Children, program: str, document: bytes, *, limit: int = CHARACTERS) -> Answer:
    """Return the results of a jq program, one JSON value on each line, with the exact digits of all numbers.

    The program runs once for each value of the document, as in JSON Lines. Raises ToolError if the document is not
    JSON, or the program is invalid, reads other data, never ends or gives more than `limit` characters.
    """
    if len(program) > _LONGEST_PROGRAM:
        raise ToolError(f"The jq program is longer than {_LONGEST_PROGRAM:,} characters; do it in several steps.")
    refuse_reading(program)
    fields = {"program": program, "limit": limit}
    job = Job(
        "jq", fields, document, "This jq program on this document", "ask for less, or use grep_json or file_regex"
    )
    packet = await children.run(job)
    return Answer(packet.data.decode(), str(packet.fields["note"]))


async def grep_json(children: Children, pattern: str, document: bytes, *, limit: int = CHARACTERS) -> str:
    """Return the keys and values that match a pattern, each on a line with its path in jq's notation.

    The pattern is RE2, matched against each key and each value separately. Raises ToolError if the pattern or the
    document is invalid, or the matches take more than `limit` characters.
    """
    fields = {"pattern": pattern, "limit": limit}
    job = Job("grep_json", fields, document, "Looking through this document", "use file_regex")
    packet = await children.run(job)
    return packet.data.decode()
