"""Python source: literals and f-strings mean what they were made from."""

import ast
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.promotion.python_text import WIDTH, Spot, argument, call, f_string, identifier, literal

texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("'\"{}\\\n ")), max_size=300)
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


@given(values)
def test_literal_means_its_value(value: object) -> None:
    assert ast.literal_eval(literal(value, Spot(4, 20))) == value


@given(st.lists(st.one_of(texts.map(lambda text: (text, False)), st.just(("name", True))), max_size=6))
def test_f_string_means_its_parts(parts: list[tuple[str, bool]]) -> None:
    source = f_string(parts, Spot(4, 20))
    expected = "".join("value" if is_name else text for text, is_name in parts)
    assert eval(source, {"name": "value"}) == expected


def test_name_of_an_argument_is_never_code() -> None:
    assert argument("text", "1") == "text=1"
    for name in ("class", "x=1), exit(", 'a"b', "é"):
        assert eval(f"dict({argument(name, '1')})") == {name: 1}


def test_long_text_is_on_several_lines() -> None:
    source = literal("word " * 60, Spot(8, 20))
    assert max(map(len, source.splitlines())) <= WIDTH
    assert source.startswith('(\n            "word word')


def test_long_call_has_one_argument_a_line() -> None:
    assert call("run.call", ['"find"', "id=id"], indent=4, assigned="found") == [
        '    found = await run.call("find", id=id)'
    ]
    lines = call("run.call", ['"find"', f'text="{"x" * 100}"'], indent=4)
    assert lines == ["    await run.call(", '        "find",', f'        text="{"x" * 100}",', "    )"]


def test_names_of_variables_are_new_and_shadow_no_word_of_python() -> None:
    assert identifier("id", ()) == "the_id"
    assert identifier("dueDate", ()) == "due_date"
    assert identifier("class", ()) == "the_class"
    assert identifier("2nd name", ()) == "the_2nd_name"
    assert identifier("ключ", ()) == "value"
    assert identifier("name", {"name", "name_2"}) == "name_3"
