"""The facts of a run in its head: small, readable by other versions, and without invented words."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.head_facts import MOST_BYTES, HeadFacts, ToolCount, decode, encode, without_tokens

COUNTS = st.integers(0, 2**40)
TEXTS = st.text(max_size=80)
FACTS = st.builds(
    HeadFacts,
    person=TEXTS,
    channel=TEXTS,
    llm_calls=COUNTS,
    tool_calls=COUNTS,
    tools=st.dictionaries(TEXTS, st.builds(ToolCount, COUNTS, COUNTS), max_size=40),
    skills=st.lists(TEXTS, max_size=40).map(tuple),
    usd=st.none() | st.floats(0, 10**6),
    sign_ms=st.none() | COUNTS,
    answer_ms=st.none() | COUNTS,
    checks=st.lists(TEXTS, max_size=40).map(tuple),
    cause=TEXTS,
    system=TEXTS,
)


@given(facts=FACTS)
def test_facts_fit_the_limit_and_small_facts_survive_whole(facts: HeadFacts) -> None:
    text = encode(facts)
    assert len(text.encode()) <= MOST_BYTES
    read = decode(text)
    assert read is not None
    assert (read.llm_calls, read.sign_ms, read.usd) == (facts.llm_calls, facts.sign_ms, facts.usd)
    if len(text) < MOST_BYTES / 2 and len(read.tools) == len(facts.tools):
        assert encode(read) == text


def test_rarest_tools_are_left_out_first() -> None:
    tools = {f"tool_{n:02d}_{'x' * 50}": ToolCount(n) for n in range(1, 60)}
    read = decode(encode(HeadFacts(tools=tools, skills=("find-owners",), checks=("no-tool-loops",))))
    assert read is not None
    assert 20 < len(read.tools) < 40
    assert min(count.calls for count in read.tools.values()) == 60 - len(read.tools)
    assert (read.skills, read.checks) == (("find-owners",), ("no-tool-loops",))


def test_facts_without_tokens_name_no_person_and_no_channel() -> None:
    facts = HeadFacts(person="p1", channel="c1", llm_calls=3, usd=None)
    assert decode(without_tokens(encode(facts))) == replace(facts, person="", channel="")
    assert without_tokens("") == ""
    assert without_tokens("not JSON") == ""


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"llm_calls":-1}',
        '{"llm_calls":"2"}',
        '{"tools":{"read":[1]}}',
        '{"tools":{"read":1}}',
        '{"usd":"free"}',
        '{"usd":NaN}',
        '{"sign_ms":1.5}',
        "[" * 100_000,
    ],
)
def test_unreadable_facts_count_as_none(text: str) -> None:
    assert decode(text) is None


def test_facts_of_a_later_version_are_read_without_the_unknown_fields() -> None:
    assert decode('{"llm_calls":2,"mood":"good","usd":0.5}') == HeadFacts(llm_calls=2, usd=0.5)
