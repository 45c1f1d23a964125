"""Questions to a JSON document: a jq program, or a pattern.

The parts that work stand in `jq_child` and `json_grep`, and run in a child.
"""

from dataclasses import dataclass

from gofer.files.child import Children, Job
from gofer.files.jq_program import refuse_reading
from gofer.values.errors import ToolError

CHARACTERS = 10_000
"""Characters of an answer at most; a longer one is refused with what would make it shorter."""

_LONGEST_PROGRAM = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program gave."""

    text: str
    """The results, one JSON value on each line."""
    note: str
    """A sentence on a key that the program asks for and the document lacks; else empty."""


async def jq(children: Children, program: str, document: bytes, *, limit: int = CHARACTERS) -> Answer:
    """Return the results of a jq program, one JSON value on each line, every number with the digits of the document.

    Several values in the document, as in JSON Lines, are each given to the program. Raises ToolError for a program or a
    document that is wrong, that reads anything else, never ends, or gives more than `limit` characters.
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
    """Return keys and values that match a pattern, each on a line with its path as jq writes it.

    The pattern is RE2, matched against each key and each value by itself. Raises ToolError for a wrong pattern or
    document, and when more than `limit` characters match.
    """
    fields = {"pattern": pattern, "limit": limit}
    job = Job("grep_json", fields, document, "Looking through this document", "use file_regex")
    packet = await children.run(job)
    return packet.data.decode()
