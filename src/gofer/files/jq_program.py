"""The words of a jq program: those that would read what is not in its document, and the fields that it asks for.

The child that runs programs has nothing to read, so refusing words is not what protects it: it is how a model is
told in a sentence what it tried, instead of getting an empty answer.
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
_KEY_BEHIND = {"{", ","}


def refuse_reading(program: str) -> None:
    """Raise ToolError, with the word, when the program reads anything but its document."""
    for kind, word in _names(program):
        if kind == "word" and word in _READS:
            raise ToolError(
                f"`{word}` is not allowed: a jq program sees its document and not {_READS[word]}; write it without.",
                code="not_allowed",
            )


def fields(program: str) -> list[str]:
    """Return the keys that a program asks for as `.key`, each once, in the order of the program."""
    asked = (said.removeprefix(".").strip() for kind, said in _names(program) if kind == "field")
    return list(dict.fromkeys(name for name in asked if name.isidentifier()))


def _names(program: str) -> Iterator[tuple[Literal["word", "field"], str]]:
    """Yield words that are called or named, and fields; keys of objects, strings and comments are neither."""
    at = 0
    before = ""
    # What is open: "{", "(", "[", or '"' for a string that a "(" of its own interrupts.
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
        said = token[0]
        match token.lastgroup:
            case "space":
                continue
            case "word":
                key = opened[-1:] == ["{"] and before in _KEY_BEHIND and not said.startswith("$")
                if not key:
                    yield "word", said
            case "field":
                yield "field", said
            case "quote":
                opened.append('"')
            case "sign" if said in "{([":
                opened.append(said)
            case "sign" if said in "})]" and opened:
                opened.pop()
            case _:
                pass
        before = said


def _past_string(program: str, at: int, opened: list[str]) -> int:
    """Return where the part of a string that begins here ends: at its end, or in the expression it holds."""
    part = _STRING.match(program, at)
    if part:
        at = part.end()
    if program.startswith("\\(", at):
        opened.append("(")
        return at + 2
    opened.pop()
    return at + 1
