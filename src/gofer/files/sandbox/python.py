"""The execution of a model's Python code, with its printed text and its last value."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.files.child import Children, Job
from gofer.values.errors import ToolError

MEMORY = 300 << 20
"""The most bytes of address space of a child; the interpreter that it starts may take as many. Together they use less
than 512 MB, because much of the address space is reserved and never touched."""
SECONDS = 8.5
"""The most seconds of a child by the wall clock. Its interpreter counts by the wall clock as well."""
FILES = 24_000_000
"""The most bytes of all files together that code can read."""
CODE = 100_000
"""The most characters of the code, and of the script."""

_MODULE = "gofer.files.sandbox.interpreter"
_JOB = "python"
_LOST = ("limits", "damaged")
"""Error codes of a child that ended without an error message of its own."""
_TOO_MUCH = (
    "The code took more memory or time than it may have and was stopped; do less at once, and end with a smaller value."
)


@dataclass(frozen=True, slots=True)
class Program:
    """A script and code that run one after the other in one session."""

    code: str
    script: str = ""
    """The text of a script. It runs first, so that the code can call its functions. Empty for none."""
    script_name: str = ""
    files: Mapping[str, str] | None = None
    """The texts of the variable `files`, by the ids of the files."""
    at: float = 0.0
    """The unix seconds that the code's clock shows."""


def sandbox(environment: Mapping[str, str] | None = None, places: threading.Semaphore | None = None) -> Children:
    """Return the children that run code. No process starts before the first run.

    `environment` and `places` are those of Children; the code sees neither.
    """
    return Children(
        at_once=2,
        memory=MEMORY,
        seconds=SECONDS,
        wall=SECONDS,
        environment=environment,
        helper=_MODULE,
        places=places,
        part="python",
    )


async def run(children: Children, program: Program) -> str:
    """Return the printed text, followed by the last value; empty if there was neither.

    Raises ToolError, with the line in its message, for code that fails, does not end or uses missing features.
    """
    files = program.files or {}
    texts = [(file, text.encode("utf-8", "replace")) for file, text in files.items()]
    if (size := sum(len(text) for _, text in texts)) > FILES:
        raise ToolError(
            f"These files have {size / 1e6:,.0f} MB, and code can read {FILES // 1_000_000} MB at once; name fewer, or "
            "take out of them what you need with jq or file_regex first.",
            code="too_large",
        )
    fields = {
        "parts": list(_parts(program)),
        "files": [{"id": file, "size": len(text)} for file, text in texts],
        "at": program.at,
    }
    try:
        packet = await children.run(Job(_JOB, fields, b"".join(text for _, text in texts), "The code"))
    except ToolError as error:
        if error.code in _LOST:
            raise ToolError(_TOO_MUCH, code="limits") from error
        raise
    return packet.data.decode()


def _parts(program: Program) -> Sequence[Mapping[str, str]]:
    if program.script:
        parts = [{"name": program.script_name, "code": program.script}]
    else:
        parts = []
    if program.code.strip() or not parts:
        parts += [{"name": "", "code": program.code}]
    for part in parts:
        if len(part["code"]) > CODE:
            raise ToolError(f"The code is longer than {CODE:,} characters; put data into a file and read it there.")
    return parts
