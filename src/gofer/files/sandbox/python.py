"""Python that a model wrote: what it prints, and its last value."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.files.child import Children, Job
from gofer.values.errors import ToolError

MEMORY = 300 << 20
"""Bytes of address space a child may take; the interpreter that it starts has as many. Together they use less than
512 MB, as a good part of that is set aside and never touched."""
SECONDS = 8.5
"""Seconds a child may take, by the wall: its interpreter counts its own by the wall as well."""
FILES = 24_000_000
"""Bytes of all files together that code can read."""
CODE = 100_000
"""Characters of code, and of a script, at most."""

_MODULE = "gofer.files.sandbox.interpreter"
_JOB = "python"
_LOST = ("limits", "damaged")
"""Codes of what is said of a child that ended without a sentence of its own."""
_TOO_MUCH = (
    "The code took more memory or time than it may have and was stopped; do less at once, and end with a smaller value."
)


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run: a script, then the code, in one session."""

    code: str
    script: str = ""
    """The text of a script, run first, so that the code can call its functions; empty for none."""
    script_name: str = ""
    files: Mapping[str, str] | None = None
    """Texts that the code finds in `files`, by their ids."""
    at: float = 0.0
    """Unix seconds at which the clock of the code stands."""


def sandbox(environment: Mapping[str, str] | None = None, places: threading.Semaphore | None = None) -> Children:
    """Return what code is run in; nothing is started before the first run.

    `environment` is all its helper gets, as for Children, and `places` are shared as there; code sees nothing of it.
    """
    return Children(
        at_once=2,
        memory=MEMORY,
        seconds=SECONDS,
        wall=SECONDS,
        environment=environment,
        helper=_MODULE,
        places=places,
    )


async def run(children: Children, program: Program) -> str:
    """Return what was printed, and the last value behind it; empty when there was neither.

    Raises ToolError with one sentence, and the line, for code that is wrong, has no end or wants what is not there.
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
