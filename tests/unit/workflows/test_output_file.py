"""JSON files with places: values as in the standard library, and messages for mistakes."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.workflows.mistake import Place
from gofer.workflows.output_file import read_json
from gofer.workflows.yaml_source import Source

PIECES = st.sampled_from(
    [*'[]{},:" \n\t\\', '"a"', '"b":', "1", "-0.5e3", "true", "null", "NaN", "01", "\\u00e4", "//"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read(folder: Path, text: str) -> Source:
    (folder / "a.json").write_bytes(text.encode(errors="surrogatepass"))
    return read_json(folder / "a.json")


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_json_file_values_are_read_as_written(tmp_path: Path, value: object, indent: int | None, escaped: bool) -> None:
    found = read(tmp_path, json.dumps(value, indent=indent, ensure_ascii=escaped))
    if escaped or found.value is not None:
        assert (found.value, found.mistakes) == (value, ())


def finite(text: str) -> object:
    value = json.loads(text)
    json.dumps(value, allow_nan=False)
    assert not isinstance(value, float) or math.isfinite(value)
    return value


@given(st.lists(PIECES).map("".join) | st.text())
@example('{"a": 1,}')
@example("[1 2]")
@example('"\\ud800"')
@example('"\x1f"')
@example("\u00a01")
@example("1e999")
@example("9" * 5000)
def test_json_file_is_refused_exactly_when_the_standard_library_refuses(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    try:
        text.encode()
        value = finite(text)
    except ValueError:
        assert found.mistakes
    else:
        # A duplicate key is valid JSON, but a mistake.
        assert found.value == value or {m.rule for m in found.mistakes} == {"duplicate-key"}


def test_json_file_reader_gives_the_places_of_keys_and_values(tmp_path: Path) -> None:
    found = read(tmp_path, '{\n  "a": [1,\n    {"\u00fc": null}],\n "b" : "x"\n}')
    assert found.values == {
        (): Place(1, 1),
        ("a",): Place(2, 8),
        ("a", 0): Place(2, 9),
        ("a", 1): Place(3, 5),
        ("a", 1, "\u00fc"): Place(3, 11),
        ("b",): Place(4, 8),
    }
    assert (found.keys["a", 1, "\u00fc"], found.keys[("b",)]) == (Place(3, 6), Place(4, 2))


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("", Place(1, 1), "The file is empty. Write"),
        ("{", Place(1, 2), 'A key in double quotes is missing here. Write `"key": value`.'),
        ('{"a" 1}', Place(1, 6), "A colon is missing after the key."),
        ('{"a":\n}', Place(2, 1), "A value is missing here."),
        ("[1\n2]", Place(2, 1), "A comma or a `]` is missing here."),
        ("[1,\n]", Place(1, 3), "A comma follows the last item. Remove it."),
        ('{"a": [1', Place(1, 7), "The `[` that opens here is not closed."),
        ('["a\n"]', Place(1, 2), "The quote that opens here is not closed in its line."),
        ('["a\t"]', Place(1, 4), "A text contains a control character."),
        (r'["a\x"]', Place(1, 4), r"A backslash begins an escape, and this escape does not exist."),
        ("[1] 2", Place(1, 5), "Text follows after the end of the value."),
        ("[True]", Place(1, 2), "`True` is not a JSON value. Write `true`."),
        ("[None]", Place(1, 2), "`None` is not a JSON value. Write `null`."),
        ("[word]", Place(1, 2), "`word` is not a JSON value. Put text in double quotes."),
        ("[NaN]", Place(1, 2), "`NaN` is not a JSON value. Write a number of common size"),
        ("[\n# why\n1]", Place(2, 1), "JSON does not allow comments. Remove the comment"),
        ('{"a": 1,\n "a": {"b": 1, "b": 2}}', Place(2, 2), "The key `a` is repeated here; line 1 sets it first."),
        ("[" * 101, Place(1, 101), "The values are nested deeper than 100 levels."),
    ],
)
def test_json_file_mistake_has_a_place_and_a_hint(tmp_path: Path, text: str, place: Place, sentence: str) -> None:
    mistakes = read(tmp_path, text).mistakes
    first = mistakes[0]
    assert first.place == place
    assert f"{first.message} {first.hint}".startswith(sentence)
