import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.canonical_json import (
    MAX_DEPTH,
    as_list,
    as_object,
    as_text,
    decode,
    encode,
    encode_text,
    indented,
    one_line,
)
from gofer.values.errors import BadRequest

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Each character that some reader takes for the end of a line."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_canonical_json_is_utf8_and_decodes_to_the_same_value(value: object) -> None:
    clean = json.loads(json.dumps(value).encode("utf-8", "surrogatepass"))
    raw = encode(value)
    assert encode(decode(raw)) == raw
    if "\\ud" not in json.dumps(value).lower():
        assert decode(raw) == clean


def test_equal_values_have_equal_canonical_json() -> None:
    assert encode({"b": 1, "a": [True, None, "é"]}) == encode({"a": [True, None, "é"], "b": 1})
    assert encode({"b": 1, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'.encode()


def test_lone_surrogates_become_replacement_characters() -> None:
    assert encode("a\ud800b") == '"a\ufffdb"'.encode()
    assert as_text("\udfff") == "\ufffd"


def test_nan_has_no_canonical_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(float("nan"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'"\xed\xa0\x80"',
        '{"a": 1}'.encode("utf-16"),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"1" * 5_000,
        b"payload=%7B%7D",
    ],
)
def test_malformed_json_is_refused(raw: bytes) -> None:
    with pytest.raises(BadRequest) as refused:
        decode(raw)
    assert refused.value.status == 400


def test_json_nested_deeper_than_the_limit_is_refused() -> None:
    assert decode(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(BadRequest, match="nested"):
        decode(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


def test_json_field_of_the_wrong_type_reads_as_empty() -> None:
    assert as_object([1]) == {}
    assert as_list({"a": 1}) == []
    assert as_text(7) == ""


@pytest.mark.parametrize("raw", [b"1e999", b'{"n": [-1e400]}'])
def test_json_number_that_overflows_to_infinity_is_refused(raw: bytes) -> None:
    with pytest.raises(BadRequest):
        decode(raw)
    assert decode(b"1.5e300") == 1.5e300


def test_json_on_one_line_escapes_unicode_line_breaks() -> None:
    written = one_line(encode_text({"text": "a\u2028b\u2029c\x85d\ve\x1cf"}))
    assert len(written.splitlines()) == 1
    assert json.loads(written) == {"text": "a\u2028b\u2029c\x85d\ve\x1cf"}


@given(
    st.text(st.one_of(st.sampled_from(LINE_ENDS), st.sampled_from("ab -:[]#>|\t"))),
    st.sampled_from(["    ", "> ", "| "]),
)
def test_indented_text_has_no_line_that_begins_at_the_margin(text: str, margin: str) -> None:
    lines = indented(text, margin)
    # Readers differ about where lines end, so the rows have no end of any kind inside.
    assert "\n".join(lines).splitlines() == lines
    assert all(line.startswith(margin) for line in lines)
    assert not any(end in line for line in lines for end in LINE_ENDS)
    assert "".join(line.removeprefix(margin) for line in lines) == "".join(text.splitlines())
