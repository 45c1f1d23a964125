"""The words of a jq program: forbidden functions that read other data, and the fields that the program uses.

The child process that runs programs has nothing else to read, so this check is not its protection. The check gives the
model a sentence about the forbidden word instead of an empty answer.
"""

import re
from collections.abc import Iterator
from typing import Literal

from gofer.values.errors import ToolError

_READS = {
    "env": "the environment",
    "$ENV": "the environment",
    "input": "more input",
    "inputs": "more input",
    "input_filename": "file names",
    "input_line_number": "more input",
    "import": "modules",
    "include": "modules",
    "modulemeta": "modules",
    "get_search_list": "modules",
    "debug": "the terminal",
    "stderr": "the terminal",
    "halt": "the process",
    "halt_error": "the process",
}

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<field>\.\.|\?//|\.\s*[A-Za-z_]\w*)
  | (?P<word>[$@]?(?:__loc__|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*))
  | (?P<quote>")
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING = re.compile(r'(?:[^"\\]|\\[^(])*', re.DOTALL)
_BEFORE_KEY = {"{", ","}


def refuse_reading(program: str) -> None:
    """Raise ToolError, with the forbidden word, if the program reads anything except its document."""
    for kind, word in _names(program):
        if kind == "word" and word in _READS:
            raise ToolError(
                f"`{word}` is not allowed: a jq program sees only its document, not {_READS[word]}; remove this word.",
                code="not_allowed",
            )


def fields(program: str) -> list[str]:
    """Return the keys that a program uses as `.key`, in its order, without duplicates."""
    names = (text.removeprefix(".").strip() for kind, text in _names(program) if kind == "field")
    return list(dict.fromkeys(name for name in names if name.isidentifier()))


def _names(program: str) -> Iterator[tuple[Literal["word", "field"], str]]:
    """Yield functions, variables and fields, without the keys of object constructions, strings and comments."""
    at = 0
    before = ""
    # The open brackets "{", "(", "[", and '"' for a string with an open interpolation.
    opened: list[str] = []
    while at < len(program):
        if opened and opened[-1] == '"':
            at = _past_string(program, at, opened)
            before = '"'
            continue
        token = _TOKEN.match(program, at)
        if token is None:
            return
        at = token.end()
        text = token[0]
        match token.lastgroup:
            case "space":
                continue
            case "word":
                key = opened[-1:] == ["{"] and before in _BEFORE_KEY and not text.startswith("$")
                if not key:
                    yield "word", text
            case "field":
                yield "field", text
            case "quote":
                opened.append('"')
            case "sign" if text in "{([":
                opened.append(text)
            case "sign" if text in "})]" and opened:
                opened.pop()
            case _:
                pass
        before = text


def _past_string(program: str, at: int, opened: list[str]) -> int:
    """Return the end of the string part that begins at `at`: behind its closing quote, or in an interpolation."""
    part = _STRING.match(program, at)
    if part:
        at = part.end()
    if program.startswith("\\(", at):
        opened.append("(")
        return at + 2
    opened.pop()
    return at + 1
