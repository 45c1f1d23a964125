"""Queries of JSON with jq and patterns: no other input, unchanged digits, and limits."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.files.child import Children
from gofer.files.exact_json import parse
from gofer.files.jq_program import fields, refuse_reading
from gofer.files.json_grep import matches
from gofer.files.json_query import CHARACTERS, grep_json, jq
from gofer.values.errors import ToolError
from support.processes.jobs_in_this_process import InThisProcess

pytestmark = pytest.mark.anyio

DOCUMENT = json.dumps(
    {
        "orders": [{"id": n, "env": "live", "total": n * 10, "note": f"order {n}"} for n in range(500)],
        "odd key": {"input": [None, True, "größe"]},
    }
).encode()


@pytest.fixture(scope="module", params=["in a child", "in this process"])
def children(request: pytest.FixtureRequest) -> Iterator[Children]:
    if request.param == "in this process":
        yield InThisProcess()  # type: ignore[misc]
        return
    made = Children(seconds=3)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        (".orders | length", "500"),
        (".orders[2:4][].id", "2\n3"),
        ("[.orders[] | select(.total > 4970)] | map({id, env})", '[{"id":498,"env":"live"},{"id":499,"env":"live"}]'),
        ('.["odd key"].input[2] # the size', '"größe"'),
        ("{env: .orders[0].env, input: 1}", '{"env":"live","input":1}'),
        ('"env and input are \\(.orders | length)"', '"env and input are 500"'),
        ("def half: . / 2; .orders[3].total | half", "15"),
        ("empty", "The program gives no result."),
        ("1) | (2", "2"),
    ],
)
async def test_jq_program_is_answered(children: Children, program: str, answer: str) -> None:
    assert (await jq(children, program, DOCUMENT)).text == answer


@pytest.mark.parametrize(
    "program",
    [
        "env", "$ENV", "$ENV.PATH", "env.HOME", "input", "[inputs]", "debug", "stderr", "halt", "input_filename",
        'import "a" as a; .', 'include "a"; .', '"\\(env)"', '"\\("\\($ENV)")"', "{a: env}", "{(env|tostring): 1}",
        "[.orders, env]", "{$ENV}", ". as {a: $x} | env", "..|env", '{"a": input}', '@json "\\(env)"',
        "get_search_list",
    ],
)  # fmt: skip
async def test_jq_program_that_reads_beyond_the_document_is_refused(children: Children, program: str) -> None:
    with pytest.raises(ToolError, match="not allowed: a jq program sees only its document"):
        await jq(children, program, DOCUMENT)


@given(st.text(alphabet='env$ENVinput."\\(){}[],:|# \n', max_size=40))
def test_jq_check_accepts_or_refuses_any_program(program: str) -> None:
    with contextlib.suppress(ToolError):
        assert refuse_reading(program) is None


@pytest.mark.parametrize("program", ["def f: f; f", "last(range(1e18))", "[repeat(1)]", "until(false; .)"])
async def test_endless_jq_program_is_stopped(program: str) -> None:
    made = Children(seconds=0.3)
    with pytest.raises(ToolError, match=r"takes more than 0\.3 seconds|more memory"):
        await jq(made, program, DOCUMENT)
    made.close()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("(", "jq: error: syntax error"),
        (".orders | nosuch", "nosuch/0 is not defined"),
        (".orders.id", "Cannot index array with string"),
        ("x" * 20_000, "longer than 10,000 characters"),
        ('"' + "\\(" * 3000, "jq: "),
    ],
)
async def test_invalid_jq_program_is_refused_with_the_error_of_jq(children: Children, program: str, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        await jq(children, program, DOCUMENT)
    assert said in caught.value.message_to_model
    assert len(caught.value.message_to_model) < 600


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (".orders", "a list of"),
        (".orders[]", "`limit(20; …)`"),
        (".", "an object of"),
        ('"x" * 20000', "a text of"),
    ],
)
async def test_too_long_jq_result_is_refused_with_a_way_to_narrow(children: Children, program: str, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        await jq(children, program, DOCUMENT)
    assert f"longer than {CHARACTERS:,} characters" in caught.value.message_to_model
    assert said in caught.value.message_to_model


@pytest.mark.parametrize("document", [b"", b"not json", b'{"a": ', b"\xff\xfe\x00", b"[" * 100_000])
async def test_jq_and_grep_json_refuse_a_document_other_than_json(children: Children, document: bytes) -> None:
    if document:
        with pytest.raises(ToolError, match="jq: "):
            await jq(children, ".", document)
        with pytest.raises(ToolError, match="neither JSON nor JSON Lines"):
            await grep_json(children, "a", document)
    else:
        assert (await jq(children, ".", document)).text == "The program gives no result."


@pytest.mark.parametrize(
    ("program", "note"),
    [
        (".nope", 'The object at `.` has no key `nope`; the keys there: orders, "odd key".'),
        (".orders[2].nope.x", "The object at `.orders[2]` has no key `nope`; the keys there: id, env, total, note."),
        (".orders[0:2][] | .nope", "The object at `.orders[0:2][0]` has no key `nope`"),
        ('.["odd key"].output', 'The object at `.["odd key"]` has no key `output`; the keys there: input.'),
        ("[.orders[0:2][] | .nope]", "No object of this file has the key `nope`; the keys there: env, id"),
        ('[.orders[] | select(.state == "open")] | length', "No object of this file has the key `state`"),
        ('.["odd key"].input[0]', ""),
        (".orders[0].id", ""),
        ("[.orders[] | select(.total < 0)]", ""),
        ('"a .nope in a text" | empty', ""),
    ],
)
async def test_jq_answer_to_a_missing_key_names_the_existing_keys(children: Children, program: str, note: str) -> None:
    said = (await jq(children, program, DOCUMENT)).note
    assert said.startswith(note)
    assert bool(said) == bool(note)


async def test_jq_answer_counts_the_keys_after_the_first_forty() -> None:
    wide = json.dumps({f"k{n}": n for n in range(1_000)}).encode()
    note = (await jq(InThisProcess(), ".nope", wide)).note  # type: ignore[arg-type]
    assert note.endswith("k39 and 960 more.")


@given(st.text(alphabet='env$ENVinput."\\(){}[],:|# \n', max_size=40))
def test_jq_field_names_are_found_in_any_program(program: str) -> None:
    assert all(name.isidentifier() for name in fields(program))


async def test_json_lines_are_queried_as_separate_values(children: Children) -> None:
    lines = b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n\n{"a": 30}\n'
    assert (await jq(children, ".a", lines)).text == "1\n2\n30"
    assert await grep_json(children, "^30$", lines) == ".[2].a: 30"


literals = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(st.lists(literals, min_size=1, max_size=20))
def test_jq_never_changes_the_digits_of_a_number(numbers: list[str]) -> None:
    document = f"[{','.join(numbers)}]".encode()
    answered = asyncio.run(jq(InThisProcess(), ".[]", document, limit=10**6)).text.splitlines()  # type: ignore[arg-type]
    assert [Decimal(number) for number in answered] == [Decimal(number) for number in numbers]


async def test_grep_json_finds_paths_by_key_and_by_value(children: Children) -> None:
    assert await grep_json(children, "order 49[89]", DOCUMENT) == (
        '.orders[498].note: "order 498"\n.orders[499].note: "order 499"'
    )
    assert await grep_json(children, "^input$", DOCUMENT) == '.["odd key"].input: a list of 3'
    assert await grep_json(children, "gr.ße|null", DOCUMENT) == (
        '.["odd key"].input[0]: null\n.["odd key"].input[2]: "größe"'
    )
    assert await grep_json(children, "nothing like it", DOCUMENT) == "No key and no value matches."


async def test_grep_json_with_too_many_matches_counts_the_paths(children: Children) -> None:
    with pytest.raises(ToolError) as caught:
        await grep_json(children, "order", DOCUMENT)
    assert "501 keys and values match" in caught.value.message_to_model
    assert ".orders[].note (500), .orders (1)" in caught.value.message_to_model


async def test_grep_json_refuses_look_around(children: Children) -> None:
    with pytest.raises(ToolError, match="Look-around"):
        await grep_json(children, "(?=a)", DOCUMENT)


async def test_grep_json_shows_a_long_value_around_the_match(children: Children) -> None:
    document = json.dumps({"text": "é" * 5000 + "NEEDLE" + "日" * 5000}).encode()
    shown = await grep_json(children, "NEEDLE", document)
    assert "NEEDLE" in shown
    assert len(shown) < 500


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab\n.é", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="ab. ", max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(values, st.sampled_from(["a", "^b", "1|true", "é$"]))
def test_grep_json_returns_each_path_once(value: object, pattern: str) -> None:
    document = parse(json.dumps(value))
    paths = [place.path() for place in matches(pattern, document)]
    assert len(paths) == len(set(paths))
    for place in matches(pattern, document):
        assert place.path() == "." or place.path().startswith(".")
