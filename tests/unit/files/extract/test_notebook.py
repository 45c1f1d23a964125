"""Jupyter notebooks, cell by cell."""

import json

import pytest

from gofer.files.extract import notebook
from gofer.files.kind import kind_of
from gofer.values.errors import ToolError


def saved(*cells: dict[str, object]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


PNG = {"output_type": "display_data", "data": {"image/png": "iVBOR"}}
CELLS = (
    {"cell_type": "markdown", "source": ["# Costs\n", "of Größe"]},
    {
        "cell_type": "code",
        "source": "df.sum()",
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["\x1b[31mred\x1b[0m\n"]},
            {"output_type": "execute_result", "data": {"text/plain": ["42"], "text/html": ["<b>42</b>"]}},
            {"output_type": "display_data", "data": {"text/html": "<ul><li>one</ul>"}},
            PNG,
            {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["…"]},
        ],
    },
    {"cell_type": "code", "source": [], "outputs": []},
)


def test_notebook_cells_have_markers_and_the_text_of_their_outputs() -> None:
    assert notebook.read(saved(*CELLS)).text == (
        "[cell 1 of 3, markdown]\n# Costs\nof Größe\n\n"
        "[cell 2 of 3, code]\ndf.sum()\n[output]\nred\n[output]\n42\n[output]\n- one\n"
        "[output]\n[image/png, which is not shown here]\n[output]\nKeyError: 'x'\n\n"
        "[cell 3 of 3, code]"
    )


def test_notebook_is_recognized_by_content_and_a_damaged_one_is_refused() -> None:
    assert kind_of(saved(*CELLS), "a.json").name == "ipynb"
    assert kind_of(b'{"cells": 3}', "a.json").name == "json"
    with pytest.raises(ToolError, match="not the JSON that Jupyter writes"):
        notebook.read(b'{"cells": [')
    assert notebook.read(b'{"cells": [3, null, {"source": 3}]}').text.startswith("[cell 1 of 3, unknown]")


def test_notebook_of_format_3_is_read_from_worksheets() -> None:
    cell = {"cell_type": "code", "input": ["1 + 1"], "outputs": [{"text": "2"}]}
    old = {"nbformat": 3, "worksheets": [{"cells": [cell]}]}
    assert notebook.read(json.dumps(old).encode()).text == "[cell 1 of 1, code]\n1 + 1\n[output]\n2"


def test_notebook_output_beyond_the_limit_is_reported_missing() -> None:
    long = {"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "a" * 130_000}]}
    reading = notebook.read(saved(*CELLS, long))
    (gap,) = reading.missing
    assert reading.text.endswith("a [30,000 more characters]")
    assert gap.part == "the last 30,000 characters of the output of cell 4"
    assert gap.reason == "an output is shown up to 100,000 characters"
    assert notebook.read(saved(*CELLS)).missing == ()
