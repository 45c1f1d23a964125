"""The reader of Jupyter notebooks: each cell with its source and the text of its outputs."""

import json
import re
from collections.abc import Mapping

from gofer.files.completeness import Reading
from gofer.files.extract.html import read_text
from gofer.files.extract.plain import text_of, tidy
from gofer.values.canonical_json import as_list, as_object, as_text, refuse_constant
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LONGEST_OUTPUT = 100_000
"""The most characters of one output that are shown."""


def read(data: bytes) -> Reading:
    """Return the cells in order under markers such as `[cell 3 of 20, code]`. Raises ToolError."""
    cells = _cells(_notebook(text_of(data).text))
    shown: list[str] = []
    missing: list[Missing] = []
    for at, cell in enumerate(cells, 1):
        outputs = _outputs(cell)
        parts = [_text(cell.get("source", cell.get("input"))), *map(_shown, outputs)]
        shown.append("\n".join([f"[cell {at} of {len(cells)}, {_kind(cell)}]", *filter(None, parts)]))
        cut = sum(max(0, len(output) - _LONGEST_OUTPUT) for output in outputs)
        if cut:
            missing.append(_end_of_output(at, cut))
    return Reading(tidy("\n\n".join(shown)), tuple(missing))


def _end_of_output(cell: int, characters: int) -> Missing:
    part = f"the last {characters:,} characters of the output of cell {cell:,}"
    reason = f"an output is shown up to {_LONGEST_OUTPUT:,} characters"
    return Missing("bytes", part, reason, instead="look for it in the notebook itself with file_regex")


def _notebook(text: str) -> Mapping[str, object]:
    try:
        return as_object(json.loads(text, parse_constant=refuse_constant))
    except (ValueError, RecursionError) as error:
        message = (
            "The notebook is damaged: it is not the JSON that Jupyter writes. Ask for it to be saved and sent again."
        )
        raise ToolError(message, code="damaged") from error


def _cells(notebook: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the cells. Old notebooks have them in worksheets."""
    sheets = [as_object(sheet) for sheet in as_list(notebook.get("worksheets"))]
    return [as_object(cell) for part in (notebook, *sheets) for cell in as_list(part.get("cells"))]


def _kind(cell: Mapping[str, object]) -> str:
    return as_text(cell.get("cell_type")) or "unknown"


def _outputs(cell: Mapping[str, object]) -> list[str]:
    """Return the text of each output that has one."""
    return list(filter(None, [_output(as_object(item)) for item in as_list(cell.get("outputs"))]))


def _shown(output: str) -> str:
    """Return an output under its marker, shortened to the limit."""
    if len(output) <= _LONGEST_OUTPUT:
        return f"[output]\n{output}"
    return f"[output]\n{output[:_LONGEST_OUTPUT]} [{len(output) - _LONGEST_OUTPUT:,} more characters]"


def _output(output: Mapping[str, object]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{as_text(output.get('ename'))}: {as_text(output.get('evalue'))}"
    # Old notebooks have the media types of an output directly in the output.
    forms = as_object(output.get("data")) or output
    plain = _text(output.get("text")) or _text(forms.get("text/plain")) or _text(forms.get("text/markdown"))
    words = plain or read_text(_text(forms.get("text/html")))
    others = [name for name in forms if name.startswith("image/") or name in ("png", "jpeg", "svg")]
    images = [f"[{name}, which is not shown here]" for name in others]
    return "\n".join([*filter(None, [words]), *images])


def _text(value: object) -> str:
    """Return a text that the notebook stores as one string or as a list of lines."""
    joined = "".join(map(as_text, as_list(value))) or as_text(value)
    return _COLOURS.sub("", joined).rstrip("\n")
