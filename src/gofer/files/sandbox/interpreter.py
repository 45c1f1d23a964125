"""The helper process that runs Python without a host, and the text of the last value.

The code runs in a child, as an interpreter may still hang or eat memory.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pydantic_monty import (
    CollectString,
    Monty,
    MontyClassProxy,
    MontyClassTypeProxy,
    MontyError,
    MontySession,
    MontyStdTypeProxy,
    OSPolicy,
    ResourceLimits,
)

from gofer.files.child_wire import Limits, Packet
from gofer.files.fork import serve
from gofer.files.sandbox.failures import NO_INTERPRETER, Bounds, Where, sentence
from gofer.values.canonical_json import as_list, as_object, as_text, clean
from gofer.values.errors import ToolError

JOB = "python"
"""The one job of the helper process."""
MEMORY = 192 << 20
"""Bytes of values that code may hold."""
DEPTH = 200
"""Calls within calls at most."""
PRINTED = 5_000_000
"""Bytes that code may print, and that its last value may have as text."""
SECONDS = (5.0, 3.5)
"""Seconds for code alone, and for each of two parts; with the grace below they fit into the time of a child."""
_GRACE = 0.5
PLACES = (Path(sys.executable).parent, *(Path(entry) / "bin" for entry in sys.path))
"""Where the interpreter is: beside our own, or below a folder from which we import."""

# What depends on where code runs is asked of a host that has no answer, so that it ends in a sentence.
_POLICY: OSPolicy = {"random_start": "call_host", "sleep": "zero", "process_time": "zero"}


@dataclass(frozen=True, slots=True)
class Part:
    """A script or the code itself; each is run in the same session."""

    name: str
    """The path of a script, for sentences; empty for the code."""
    code: str


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serve jobs over the socket that has the number `control`, until it is closed."""
    # The interpreter is a program of its own, so its job may start one; that has the limits of its child.
    serve({JOB: run}, (), int(control), Limits(int(memory), seconds, wall), starting={JOB})


def run(packet: Packet, places: Sequence[Path] = PLACES, seconds: tuple[float, float] = SECONDS) -> Packet:
    """Return what code printed, and its last value, as text.

    Fields: parts (`{name, code}` each), files (`{id, size}` each, with the texts in `data` one after the other), at
    (the unix seconds at which the code's clock stands).
    `places` are the folders where the interpreter may be, `seconds` what SECONDS says. Raises ToolError.
    """
    parts = [Part(as_text(part.get("name")), as_text(part.get("code"))) for part in _objects(packet, "parts")]
    files = dict(_texts(packet))
    bounds = Bounds(seconds[min(len(parts), 2) - 1], MEMORY, PRINTED)
    limits: ResourceLimits = {
        "max_feed_duration_secs": bounds.seconds,
        "max_memory": MEMORY,
        "max_recursion_depth": DEPTH,
    }
    try:
        with (
            Monty(binary_path=_binary(places), max_processes=1, feed_duration_limit_grace=_GRACE) as pool,
            pool.checkout(limits=limits, os_policy={**_POLICY, "datetime": _clock(packet)}) as session,
        ):
            return Packet({}, clean(_output(session, parts, files)).encode())
    except (MontyError, ValueError, RecursionError) as error:
        where = Where([part.name for part in parts], files, bounds)
        raise ToolError(sentence(error, where), code="python") from error


def _output(session: MontySession, parts: Sequence[Part], files: Mapping[str, str]) -> str:
    printed = CollectString(PRINTED)
    value: object = None
    for number, part in enumerate(parts):
        # They stay bound for what follows in the session.
        inputs = {"files": dict(files)} if number == 0 else None
        value = cast(object, session.feed_run(part.code, inputs=inputs, print_callback=printed))
    said = printed.output
    last = "" if value is None else shown(value)
    if len(last) > PRINTED:
        raise ToolError(f"The last value has {len(last):,} characters; give a part of it.", code="too_much")
    if not said or not last or said.endswith("\n"):
        return said + last
    return f"{said}\n{last}"


def _clock(packet: Packet) -> datetime:
    """Return the time at which the clock of the code stands, so that the same call gives the same whenever it runs."""
    return datetime.fromtimestamp(cast(float, packet.fields.get("at", 0)), UTC)


def _objects(packet: Packet, key: str) -> list[Mapping[str, object]]:
    return [as_object(item) for item in as_list(packet.fields.get(key))]


def _texts(packet: Packet) -> Iterator[tuple[str, str]]:
    at = 0
    for file in _objects(packet, "files"):
        end = at + cast(int, file["size"])
        yield as_text(file["id"]), packet.data[at:end].decode()
        at = end


def _binary(places: Sequence[Path]) -> Path:
    found = next((place / "monty" for place in places if (place / "monty").is_file()), None)
    if found is None:
        raise ToolError(NO_INTERPRETER, code="not_installed")
    return found


def shown(value: object) -> str:
    """Return a text as it is, everything else as Python writes it.

    Raises RecursionError for what is nested too deep.
    """
    if isinstance(value, str):
        return value
    return _written(value)


def _written(value: object) -> str:
    match value:
        case dict():
            pairs = cast(Mapping[object, object], value).items()
            return "{" + ", ".join(f"{_written(key)}: {_written(item)}" for key, item in pairs) + "}"
        case list():
            return f"[{_joined(cast(list[object], value))}]"
        case tuple() if not hasattr(cast(object, value), "_fields"):
            items = cast(tuple[object, ...], value)
            return f"({_joined(items)}{',' if len(items) == 1 else ''})"
        case set() | frozenset():
            # A set has no order of its own, and Python's changes from process to process.
            inner = ", ".join(sorted(_written(item) for item in cast(set[object], value)))
            braced = f"{{{inner}}}" if inner else ""
            frozen = isinstance(value, frozenset)
            if braced and not frozen:
                return braced
            return f"{'frozenset' if frozen else 'set'}({braced})"
        case MontyClassProxy():
            fields = ", ".join(f"{key}={_written(item)}" for key, item in value.attributes.items())
            return f"{value.name}({fields})"
        case MontyClassTypeProxy() | MontyStdTypeProxy():
            return f"<{value.name}>"
        case _:
            return repr(value)


def _joined(items: list[object] | tuple[object, ...]) -> str:
    return ", ".join(_written(item) for item in items)
