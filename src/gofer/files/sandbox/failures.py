"""The sentence for a model about code that failed: the line, what is wrong, what to write instead."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic_monty import (
    Frame,
    MontyConversionError,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
)

_CRASHED = "The code made its interpreter crash, most likely for want of memory; do it in smaller steps."
NO_INTERPRETER = "Python cannot be run here, because its interpreter is not installed; go on without it."
_DEEP = "calls stand more than 200 deep in each other; use a loop instead of functions that call themselves"
_DIGITS = "a number has more than 4,300 digits and is not written out; give a part of it, as x % 10**9"
_SEED = "chance needs a seed, so that code gives the same whenever it runs; begin with random.seed(1)"
_ENVIRONMENT = "there is no environment to read; write the value into the code"
_FOLDERS = "there are no folders; name the ids of files in the argument `files`, and read their texts as files['<id>']"
_NETWORK = "there is no network; use the tools of this run, and put what they give into the code or into a file"
_PROCESSES = "no programs can be started; do it in Python"
_SHOWN = 300
"""Characters of a message of Python that are shown."""

_MODULES = (
    "asyncio, base64, binascii, bisect, collections, copy, csv, dataclasses, datetime, decimal, functools, hashlib, "
    "itertools, json, math, random, re, tomllib, typing, unicodedata"
)
_INSTEAD_OF_MODULE = {
    "io": "texts need none: `text.splitlines()` gives lines, and csv.reader takes a list of them",
    "statistics": "a mean is sum(x) / len(x), a median the middle of sorted(x)",
    "heapq": "use sorted(x)[:n]",
    "string": "write the letters you need as a text",
    "numpy": "use lists, sum, min, max and sorted",
    "pandas": "read tables with csv.DictReader into lists of dicts",
    **dict.fromkeys(("socket", "ssl", "urllib", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib"), _NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "threading", "ctypes", "concurrent", "signal"), _PROCESSES),
    **dict.fromkeys(("glob", "shutil", "tempfile"), _FOLDERS),
    **dict.fromkeys(("secrets", "uuid"), _SEED),
}
"""What to do without a module that models ask for, by its first name."""
_UNSUPPORTED = {
    "yield": "build a list and return it",
    "'del'": "make a new value without it, or use pop()",
    "inheritance": "write functions, or a class without a base; raise ValueError for errors of your own",
    "Wildcard": "name what you import",
    "exception groups": "use `except`",
    "async": "write it without `async`",
    "type alias": "leave it out",
}
"""What to write instead of what the interpreter does not have, by a word of its message."""
_NAMES = {
    "input": "nobody is there to answer; write the value into the code",
    "open": _FOLDERS,
    "exit": "let the code end by itself",
    "quit": "let the code end by itself",
    "__import__": "write `import`",
    "bytearray": "use bytes or a list",
}
"""What to do without a name, where that is not plain."""
_ASKED = re.compile(r"'([\w.]+)' is not supported in this environment")
_LIMIT = re.compile(r"memory limit exceeded: \d+ bytes > (\d+) bytes")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What code may take."""

    seconds: float
    memory: int
    """Bytes."""
    printed: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Where:
    """What was run, as far as sentences speak of it."""

    parts: Sequence[str]
    """Names of what was run, in order; empty for the code itself."""
    files: Mapping[str, str]
    bounds: Bounds

    def line(self, error: MontyRuntimeError | MontySyntaxError) -> str:
        """Return the line that failed, as a sentence begins with it; empty when it is not known."""
        for frame in reversed(error.traceback()):
            if said := self._placed(frame, isinstance(error, MontySyntaxError)):
                return said
        return ""

    def _placed(self, frame: Frame, columns: bool) -> str:
        known = re.fullmatch(r"<python-input-(\d+)>", frame.filename)
        part = ""
        if known and int(known[1]) < len(self.parts):
            part = self.parts[int(known[1])]
        if not known and frame.filename != "main.py":
            return ""
        column = f", column {frame.column}" if columns else ""
        if part:
            return f"In {part}, line {frame.line}{column}: "
        return f"Line {frame.line}{column}: "


def sentence(error: MontyError | ValueError | RecursionError, where: Where) -> str:
    """Return what to tell of a failure."""
    match error:
        case MontyCrashedError():
            if error.timed_out:
                return _too_long(where.bounds)
            return _CRASHED
        case MontySyntaxError():
            return _ended(f"{where.line(error)}this is no Python: {_cut(error.display('msg'))}")
        case MontyRuntimeError():
            kind, _, message = error.display("type-msg").partition(": ")
            return _beyond(kind, message, where.bounds) or _ended(
                f"{where.line(error)}{_runtime(kind, message, where)}"
            )
        case MontyConversionError():
            return "The last value cannot be shown; end with a text, a number, a list or a dict, or print it."
        case RecursionError():
            return "The last value is nested too deep to be shown; give a part of it."
        case ValueError() if "digits" in str(error):
            return _ended(f"The last value cannot be shown: {_DIGITS}")
        case _:
            return _ended(f"The code failed: {_cut(str(error))}")


def _beyond(kind: str, message: str, bounds: Bounds) -> str:
    """Return what is told of code that went beyond its bounds; empty for any other failure."""
    if kind == "TimeoutError" and "time limit exceeded" in message:
        return _too_long(bounds)
    if kind != "MemoryError":
        return ""
    if (found := _LIMIT.match(message)) and int(found[1]) == bounds.printed:
        return f"The code prints more than {bounds.printed:,} bytes; print less."
    return f"The code needs more memory than it may have, {bounds.memory >> 20} MB; work on a part at a time."


def _too_long(bounds: Bounds) -> str:
    return f"The code runs longer than {bounds.seconds:g} seconds and was stopped; do less at once."


def _runtime(kind: str, message: str, where: Where) -> str:
    """Return what went wrong while it ran, without the line."""
    if asked := _ASKED.search(message):
        return _not_there(asked[1])
    name = (re.findall(r"'([^']*)'", message) or [""])[0]
    match kind:
        case "NotImplementedError" if "not yet support" in message or "not supported" in message:
            what = message.partition("does not yet support ")[2].removeprefix("the ") or message
            instead = next((told for word, told in _UNSUPPORTED.items() if word in what), "write it another way")
            if what != message:
                return f"this Python has no {what}; {instead}"
            return f"{message}; {instead}"
        case "ModuleNotFoundError":
            known = f"there are {_MODULES}"
            return f"there is no module {name!r}; {_INSTEAD_OF_MODULE.get(name.partition('.')[0], known)}"
        case "PermissionError" | "FileNotFoundError":
            return _FOLDERS
        case "NameError" if name in _NAMES:
            return f"there is no {name!r}; {_NAMES[name]}"
        case "RecursionError":
            return _DEEP
        case "ValueError" if "integer string conversion" in message:
            return _DIGITS
        case "KeyError" if message.startswith(("file_", "result_")) and message not in where.files:
            given = ", ".join(where.files) or "none"
            return f"there is no {_cut(message)} in `files`; name it in the argument `files`, which has {_cut(given)}"
        case "RuntimeError" if message.startswith("Internal error"):
            return f"the interpreter does not do this: {_cut(message.partition(': ')[2])}"
        case _:
            return _cut(f"{kind}: {message}" if message else kind)


def _not_there(asked: str) -> str:
    """Return why the host does not answer, by the function that asked."""
    if asked == "os.urandom":
        return _SEED
    if asked.startswith(("os.getenv", "os.environ")):
        return _ENVIRONMENT
    return f"{asked} is not there; {_FOLDERS}"


def _cut(text: str) -> str:
    """Return a message in one line, as long as a sentence may be."""
    plain = " ".join(text.split())
    if len(plain) <= _SHOWN:
        return plain
    return f"{plain[:_SHOWN]}…"


def _ended(text: str) -> str:
    said = text if text[-1:] in ".!?…" else f"{text}."
    return said[:1].upper() + said[1:]
