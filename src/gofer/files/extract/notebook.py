"""The reader of Jupyter notebooks: cell by cell, each with its source and the text of its outputs."""

import json
import re
from collections.abc import Iterator, Mapping

from gofer.canonical import as_list, as_object, as_text, refuse_constant
from gofer.errors import ToolError
from gofer.files.extract.plain import text_of, tidy
from gofer.files.extract.web import read_text

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LONGEST_OUTPUT = 100_000
"""Characters of one output that are shown."""


def read(data: bytes) -> str:
    """Return the cells in their order under markers such as `[cell 3 of 20, code]`. Raises ToolError."""
    cells = _cells(_notebook(text_of(data).text))
    shown = [
        "\n".join([f"[cell {at} of {len(cells)}, {_kind(cell)}]", *_parts(cell)]) for at, cell in enumerate(cells, 1)
    ]
    return tidy("\n\n".join(shown))


def _notebook(text: str) -> Mapping[str, object]:
    try:
        return as_object(json.loads(text, parse_constant=refuse_constant))
    except (ValueError, RecursionError) as error:
        said = "The notebook is damaged: it is not the JSON that Jupyter writes. Ask for it to be saved and sent again."
        raise ToolError(said, code="damaged") from error


def _cells(notebook: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the cells; those of old notebooks stand in worksheets."""
    sheets = [as_object(sheet) for sheet in as_list(notebook.get("worksheets"))]
    return [as_object(cell) for part in (notebook, *sheets) for cell in as_list(part.get("cells"))]


def _kind(cell: Mapping[str, object]) -> str:
    return as_text(cell.get("cell_type")) or "unknown"


def _parts(cell: Mapping[str, object]) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input")))
    if source:
        yield source
    for item in as_list(cell.get("outputs")):
        output = _output(as_object(item))
        if len(output) > _LONGEST_OUTPUT:
            output = f"{output[:_LONGEST_OUTPUT]} [{len(output) - _LONGEST_OUTPUT:,} more characters]"
        if output:
            yield f"[output]\n{output}"


def _output(output: Mapping[str, object]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{as_text(output.get('ename'))}: {as_text(output.get('evalue'))}"
    # Old notebooks have the forms of an output beside its type.
    forms = as_object(output.get("data")) or output
    plain = _text(output.get("text")) or _text(forms.get("text/plain")) or _text(forms.get("text/markdown"))
    words = plain or read_text(_text(forms.get("text/html")))
    others = [name for name in forms if name.startswith("image/") or name in ("png", "jpeg", "svg")]
    images = [f"[{name}, which is not shown here]" for name in others]
    return "\n".join([*filter(None, [words]), *images])


def _text(value: object) -> str:
    """Return a text that is kept whole, or as a list of its lines."""
    joined = "".join(map(as_text, as_list(value))) or as_text(value)
    return _COLOURS.sub("", joined).rstrip("\n")
