"""The helper process that runs Python in isolation, and the text of the last value.

The code runs in a child process, because even an isolated interpreter may hang or exhaust memory.
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
from gofer.files.sandbox.failures import NO_INTERPRETER, Bounds, Execution, sentence
from gofer.values.canonical_json import as_list, as_object, as_text, clean
from gofer.values.errors import ToolError

JOB = "python"
"""The one job of the helper process."""
MEMORY = 192 << 20
"""The most bytes of values that code may hold."""
DEPTH = 200
"""The deepest nesting of calls."""
PRINTED = 5_000_000
"""The most bytes that code may print, and the most characters of its last value as text."""
SECONDS = (5.0, 3.5)
"""The seconds for code alone, and for each of two parts. With the grace below they fit into the time of a child."""
_GRACE = 0.5
PLACES = (Path(sys.executable).parent, *(Path(entry) / "bin" for entry in sys.path))
"""The folders of the interpreter: beside Python itself, or below a folder of the import path."""

# A function that depends on the machine calls the host, which does not answer. So the code gets an error message.
_POLICY: OSPolicy = {"random_start": "call_host", "sleep": "zero", "process_time": "zero"}


@dataclass(frozen=True, slots=True)
class Part:
    """A script or the code itself. All parts run in one session."""

    name: str
    """The path of a script, for messages; empty for the code."""
    code: str


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serve jobs over the socket with the file descriptor `control` until it is closed."""
    # The interpreter is a separate program, so its job may start one. The program has the limits of the child.
    serve({JOB: run}, (), int(control), Limits(int(memory), seconds, wall), starting={JOB})


def run(packet: Packet, places: Sequence[Path] = PLACES, seconds: tuple[float, float] = SECONDS) -> Packet:
    """Return the printed text of the code and its last value.

    Fields of the job: parts (`{name, code}` each), files (`{id, size}` each, with their texts in `data` one after the
    other), at (the unix seconds that the code's clock shows). `places` are the folders in which the interpreter may be,
    `seconds` has the form of SECONDS. Raises ToolError.
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
        execution = Execution([part.name for part in parts], files, bounds)
        raise ToolError(sentence(error, execution), code="python") from error


def _output(session: MontySession, parts: Sequence[Part], files: Mapping[str, str]) -> str:
    printed = CollectString(PRINTED)
    value: object = None
    for number, part in enumerate(parts):
        # The session keeps its inputs for later parts.
        inputs = {"files": dict(files)} if number == 0 else None
        value = cast(object, session.feed_run(part.code, inputs=inputs, print_callback=printed))
    text = printed.output
    last_value = "" if value is None else value_text(value)
    if len(last_value) > PRINTED:
        raise ToolError(f"The last value has {len(last_value):,} characters; give a part of it.", code="too_much")
    if not text or not last_value or text.endswith("\n"):
        return text + last_value
    return f"{text}\n{last_value}"


def _clock(packet: Packet) -> datetime:
    """Return the fixed time of the code's clock, so that a repeated call gives the same result."""
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


def value_text(value: object) -> str:
    """Return a string unchanged, and any other value as Python writes it.

    Raises RecursionError for a value that is nested too deep.
    """
    if isinstance(value, str):
        return value
    return _representation(value)


def _representation(value: object) -> str:
    match value:
        case dict():
            pairs = cast(Mapping[object, object], value).items()
            return "{" + ", ".join(f"{_representation(key)}: {_representation(item)}" for key, item in pairs) + "}"
        case list():
            return f"[{_joined(cast(list[object], value))}]"
        case tuple() if not hasattr(cast(object, value), "_fields"):
            items = cast(tuple[object, ...], value)
            return f"({_joined(items)}{',' if len(items) == 1 else ''})"
        case set() | frozenset():
            # Sort, because the order of a set in Python differs between processes.
            inner = ", ".join(sorted(_representation(item) for item in cast(set[object], value)))
            braced = f"{{{inner}}}" if inner else ""
            frozen = isinstance(value, frozenset)
            if braced and not frozen:
                return braced
            return f"{'frozenset' if frozen else 'set'}({braced})"
        case MontyClassProxy():
            fields = ", ".join(f"{key}={_representation(item)}" for key, item in value.attributes.items())
            return f"{value.name}({fields})"
        case MontyClassTypeProxy() | MontyStdTypeProxy():
            return f"<{value.name}>"
        case _:
            return repr(value)


def _joined(items: list[object] | tuple[object, ...]) -> str:
    return ", ".join(_representation(item) for item in items)
