"""Messages for the model about failed code: the line, the error and what to write instead."""

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

_CRASHED = "The code crashed its interpreter, most likely because memory ran out; work in smaller steps."
NO_INTERPRETER = "Python cannot run here, because its interpreter is not installed; continue without it."
_DEEP = "calls are nested more than 200 deep; use a loop instead of functions that call themselves"
_DIGITS = "a number has more than 4,300 digits and is not written out; give a part of it, as x % 10**9"
_SEED = "random numbers need a seed, so that the code always gives the same result; begin with random.seed(1)"
_ENVIRONMENT = "there is no environment to read; write the value into the code"
_FOLDERS = "there are no folders; name the ids of files in the argument `files`, and read their texts as files['<id>']"
_NETWORK = "there is no network; use the tools of this run, and put their results into the code or into a file"
_PROCESSES = "no programs can be started; do it in Python"
_LONGEST_MESSAGE = 300
"""The most characters of a Python error message that are shown."""

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
"""The advice for missing modules that models often import, by top-level name."""
_UNSUPPORTED = {
    "yield": "build a list and return it",
    "'del'": "make a new value without it, or use pop()",
    "inheritance": "write functions, or a class without a base; raise ValueError for errors of your own",
    "Wildcard": "name what you import",
    "exception groups": "use `except`",
    "async": "write it without `async`",
    "type alias": "leave it out",
}
"""The replacement for syntax that the interpreter lacks, by a word of the interpreter's message."""
_NAMES = {
    "input": "the code cannot ask for input; write the value into the code",
    "open": _FOLDERS,
    "exit": "let the code end by itself",
    "quit": "let the code end by itself",
    "__import__": "write `import`",
    "bytearray": "use bytes or a list",
}
"""The advice for missing built-in names."""
_HOST_CALL = re.compile(r"'([\w.]+)' is not supported in this environment")
_LIMIT = re.compile(r"memory limit exceeded: \d+ bytes > (\d+) bytes")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of code."""

    seconds: float
    memory: int
    """Bytes."""
    printed: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The parts and files of a failed execution, for messages."""

    parts: Sequence[str]
    """The names of the executed parts, in order; empty for the code itself."""
    files: Mapping[str, str]
    bounds: Bounds

    def line(self, error: MontyRuntimeError | MontySyntaxError) -> str:
        """Return the beginning of a message that names the failed line; empty if the line is unknown."""
        for frame in reversed(error.traceback()):
            if beginning := self._line_of(frame, isinstance(error, MontySyntaxError)):
                return beginning
        return ""

    def _line_of(self, frame: Frame, columns: bool) -> str:
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


def sentence(error: MontyError | ValueError | RecursionError, execution: Execution) -> str:
    """Return the message to the model about a failure."""
    match error:
        case MontyCrashedError():
            if error.timed_out:
                return _too_long(execution.bounds)
            return _CRASHED
        case MontySyntaxError():
            return _as_sentence(f"{execution.line(error)}this is not valid Python: {_cut(error.display('msg'))}")
        case MontyRuntimeError():
            kind, _, message = error.display("type-msg").partition(": ")
            return _limit_exceeded(kind, message, execution.bounds) or _as_sentence(
                f"{execution.line(error)}{_runtime(kind, message, execution)}"
            )
        case MontyConversionError():
            return "The last value cannot be shown; end with a text, a number, a list or a dict, or print it."
        case RecursionError():
            return "The last value is nested too deep to be shown; give a part of it."
        case ValueError() if "digits" in str(error):
            return _as_sentence(f"The last value cannot be shown: {_DIGITS}")
        case _:
            return _as_sentence(f"The code failed: {_cut(str(error))}")


def _limit_exceeded(kind: str, message: str, bounds: Bounds) -> str:
    """Return the message about code that exceeded its limits; empty for any other failure."""
    if kind == "TimeoutError" and "time limit exceeded" in message:
        return _too_long(bounds)
    if kind != "MemoryError":
        return ""
    if (found := _LIMIT.match(message)) and int(found[1]) == bounds.printed:
        return f"The code prints more than {bounds.printed:,} bytes; print less."
    return f"The code needs more memory than it may have, {bounds.memory >> 20} MB; work on a part at a time."


def _too_long(bounds: Bounds) -> str:
    return f"The code runs longer than {bounds.seconds:g} seconds and was stopped; do less at once."


def _runtime(kind: str, message: str, execution: Execution) -> str:
    """Return the message about an error at run time, without the line."""
    if asked := _HOST_CALL.search(message):
        return _host_refusal(asked[1])
    name = (re.findall(r"'([^']*)'", message) or [""])[0]
    match kind:
        case "NotImplementedError" if "not yet support" in message or "not supported" in message:
            feature = message.partition("does not yet support ")[2].removeprefix("the ") or message
            instead = next((advice for word, advice in _UNSUPPORTED.items() if word in feature), "write it another way")
            if feature != message:
                return f"this Python has no {feature}; {instead}"
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
        case "KeyError" if message.startswith(("file_", "result_")) and message not in execution.files:
            given = ", ".join(execution.files) or "none"
            return f"there is no {_cut(message)} in `files`; name it in the argument `files`, which has {_cut(given)}"
        case "RuntimeError" if message.startswith("Internal error"):
            return f"the interpreter does not do this: {_cut(message.partition(': ')[2])}"
        case _:
            return _cut(f"{kind}: {message}" if message else kind)


def _host_refusal(function: str) -> str:
    """Return why the host does not answer, by the name of the called function."""
    if function == "os.urandom":
        return _SEED
    if function.startswith(("os.getenv", "os.environ")):
        return _ENVIRONMENT
    return f"{function} is not available; {_FOLDERS}"


def _cut(text: str) -> str:
    """Return a message on one line, shortened to the limit."""
    plain = " ".join(text.split())
    if len(plain) <= _LONGEST_MESSAGE:
        return plain
    return f"{plain[:_LONGEST_MESSAGE]}…"


def _as_sentence(text: str) -> str:
    closed = text if text[-1:] in ".!?…" else f"{text}."
    return closed[:1].upper() + closed[1:]
