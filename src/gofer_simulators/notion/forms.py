"""The vendor's rules for blocks and properties: languages, colours, annotations, tables, lengths and dates."""

import re
from collections.abc import Sequence
from datetime import datetime

from gofer_simulators.json_values import JsonObject, is_array, object_of, objects
from gofer_simulators.notion.api_request import invalid

ELEMENTS = 1_000
"""Most block elements in one request, counted at every depth."""
BODY = 500_000
"""Longest body of a request, in bytes."""
URL = 2_000
"""Longest address, in characters."""
ENTRIES = 100
"""Most entries of a property that is a list."""
LANGUAGES = frozenset(
    {
        "abap", "abc", "agda", "arduino", "ascii art", "assembly", "bash", "basic", "bnf", "c", "c#", "c++",
        "clojure", "coffeescript", "coq", "css", "dart", "dhall", "diff", "docker", "ebnf", "elixir", "elm",
        "erlang", "f#", "flow", "fortran", "gherkin", "glsl", "go", "graphql", "groovy", "haskell", "hcl", "html",
        "idris", "java", "javascript", "json", "julia", "kotlin", "latex", "less", "lisp", "livescript", "llvm ir",
        "lua", "makefile", "markdown", "markup", "matlab", "mathematica", "mermaid", "nix", "notion formula",
        "objective-c", "ocaml", "pascal", "perl", "php", "plain text", "powershell", "prolog", "protobuf",
        "purescript", "python", "r", "racket", "reason", "ruby", "rust", "sass", "scala", "scheme", "scss", "shell",
        "smalltalk", "solidity", "sql", "swift", "toml", "typescript", "vb.net", "verilog", "vhdl", "visual basic",
        "webassembly", "xml", "yaml", "java/c/c++/c#",
    }
)  # fmt: skip
_HUES = ("gray", "brown", "orange", "yellow", "green", "blue", "purple", "pink", "red")
COLORS = frozenset({"default", *_HUES, *(f"{hue}_background" for hue in _HUES)})
ANNOTATIONS = frozenset({"bold", "italic", "strikethrough", "underline", "code"})
_CHILDLESS = frozenset({"code", "divider", "table_row"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T[0-9:.]+(Z|[+-]\d{2}:?\d{2})?)?")


def check_content(kind: str, content: JsonObject, where: str) -> None:
    """Check the fields of one block. Raises NotionRefusal for the first wrong field."""
    place = f"{where}.{kind}"
    check_color(content, place)
    if kind == "code" and content.get("language") not in LANGUAGES:
        raise invalid(f"{place}.language should be a known language, instead was `{content.get('language')!r}`.")
    for name in ("checked", "is_toggleable", "has_column_header", "has_row_header"):
        if not isinstance(content.get(name, False), bool):
            raise invalid(f"{place}.{name} should be a boolean, instead was `{content[name]!r}`.")
    if kind in _CHILDLESS and "children" in content:
        raise invalid(f"{place}.children should be not present, instead was `{content['children']!r}`."[:200])
    if kind == "table":
        _check_table(content, place)


def check_color(content: JsonObject, where: str) -> None:
    """Raise NotionRefusal for an unknown colour."""
    if content.get("color", "default") not in COLORS:
        raise invalid(f"{where}.color should be a known color, instead was `{content['color']!r}`.")


def check_annotations(annotations: JsonObject, where: str) -> None:
    """Raise NotionRefusal for an unknown annotation, or for an annotation with a wrong value."""
    check_color(annotations, f"{where}.annotations")
    for name, value in annotations.items():
        if name != "color" and name not in ANNOTATIONS:
            raise invalid(f"{where}.annotations.{name} should be not present")
        if name != "color" and not isinstance(value, bool):
            raise invalid(f"{where}.annotations.{name} should be a boolean, instead was `{value!r}`.")


def check_date(value: object, where: str) -> None:
    """Raise NotionRefusal for a value that is no ISO 8601 date."""
    wrong = invalid(f"{where} should be a valid ISO 8601 date string, instead was `{value!r}`.")
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise wrong
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise wrong from error


def check_length(length: int, most: int, where: str) -> None:
    """Raise NotionRefusal for a length above `most`."""
    if length > most:
        raise invalid(f"{where}.length should be ≤ `{most}`, instead was `{length}`.")


def _check_table(content: JsonObject, place: str) -> None:
    width = content.get("table_width")
    rows = content.get("children")
    if not isinstance(width, int) or width < 1:
        raise invalid(f"{place}.table_width should be a number ≥ `1`, instead was `{width!r}`.")
    if not is_array(rows) or not rows:
        raise invalid(f"{place}.children.length should be ≥ `1`, instead was `0`.")
    for index, row in enumerate(objects(rows)):
        cells = object_of(row, "table_row").get("cells")
        if not is_array(cells) or len(cells) != width:
            raise invalid(f"{place}.children[{index}]: Number of cells in table row must match the table width.")


def check_elements(counts: Sequence[int]) -> None:
    """Raise NotionRefusal if a request has too many block elements; `counts` has the elements of each block."""
    if sum(counts) > ELEMENTS:
        raise invalid(f"body failed validation: a request takes {ELEMENTS} block elements, instead were {sum(counts)}.")
