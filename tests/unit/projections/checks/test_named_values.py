"""Names in the arguments of a model's calls, and the words in which each must have stood before."""

import json

import pytest

from gofer.journal import entries as e
from gofer.journal.entries import Entry, LlmResponse, MessageReceived, Recorded, RunAccepted, ToolResult
from gofer.projections.checks.named_values import MOST_WORDS, NamedValues, Unseen, invented, nearest, project
from gofer.values.messages import Media, ToolAsk, Usage
from support.stand_ins import mention


def state_of(*entries: Entry) -> NamedValues:
    return project(Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1))


def asks(**arguments: object) -> LlmResponse:
    return LlmResponse("", (ToolAsk("a", "look", json.dumps(arguments)),), "tool_calls", "m", Usage(), 0.0, 1)


def found(*entries: Entry, texts: tuple[str, ...] = ()) -> tuple[str, ...]:
    return tuple(one.value for one in invented(state_of(*entries), texts))


def said(text: str) -> MessageReceived:
    return MessageReceived(text)


@pytest.mark.parametrize(
    "arguments",
    [
        {"channel": "#billing-alerts"},
        {"where_to": "#billing-alerts"},
        {"issue": "OPS-12"},
        {"anything": "OPS-12"},
        {"table": "orders_daily"},
        {"page_id": "launch"},
        {"pageId": "launch"},
        {"to": "@nobody.else"},
        {"properties": {"Due date": "tomorrow"}},
        {"where": {"Due date": "tomorrow"}},
        {"filter": {"all": [{"property": "Owner"}]}},
        {"user": "U0ABCD1234"},
        {"ts": "1700000000.000100"},
        {"page": "https://www.notion.so/Plan-0123456789abcdef0123456789abcdef"},
        {"page": "01234567-89ab-cdef-0123-456789abcdef"},
        {"commit": "0123456789abcdef0123456789abcdef01234567"},
        {"file": "text_0123456789ab"},
        {"repository": "acme/payments"},
        {"table_name": "nope_tbl"},
        {"tableName": "nope_tbl"},
        {"database_name": "nope"},
        {"channel_name": "invented-room"},
        {"project_key": "ZZZ"},
        {"repo_slug": "payments"},
        {"key": "pay-9912"},
        {"issue_key": "pay-9912"},
        {"key": "CVEX-12"},
    ],
    ids=str,
)
def test_unseen_name_is_found_by_its_form_or_by_its_argument(arguments: dict[str, object]) -> None:
    assert len(found(said("please look"), asks(**arguments))) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "OPS-12", "text": "#billing-alerts", "query": "UTF-8"},
        {"summary": "A new plan", "description": "See OPS-99"},
        {"date": "2026-11-23", "from": "10:00", "limit": 20, "page": 3},
        {"page": "3", "pages": "1-4"},
        {"color": "#ff0000"},
        {"number": "#12"},
        {"assignee": "Ada Lovelace", "priority": "High", "status": "Done"},
        {"name": "incident-0417", "labels": ["launch", "q3-2026"]},
        {"project": "a text of more than a few words is no name"},
        {"channel": ""},
        {"quarter": "Q4-2026", "week": "W48-2026", "year": "FY26-2026"},
        {"encoding": "UTF-8", "format": "ISO-8601", "model": "GPT-5", "flaw": "CVE-2026", "issue": "CVE-2026-1234"},
        {"to": "@here", "cc": "@channel"},
        {"page": "first", "ids": "all", "table": "all", "sprint": "current", "project": "any"},
        {"columns": ["count"]},
        {"key": "priority", "file_name": "plan-2", "display_name": "OPS-12", "user_name": "ada"},
        {"issue": None},
    ],
    ids=str,
)
def test_values_that_a_model_may_write_freely_are_no_names(arguments: dict[str, object]) -> None:
    assert found(said("please look"), asks(**arguments)) == ()


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("see #billing-alerts.", {"channel": "#billing-alerts"}),
        ("in billing", {"channel": "#billing"}),
        ("https://acme.atlassian.net/browse/OPS-12?x=1", {"issue": "OPS-12"}),
        ("ops-12", {"issue": "OPS-12"}),
        ("Plan-0123456789abcdef0123456789abcdef", {"page": "01234567-89ab-cdef-0123-456789abcdef"}),
        ("id 01234567-89ab-cdef-0123-456789abcdef", {"page": "0123456789abcdef0123456789abcdef"}),
        ("the due date", {"properties": {"Due date": "tomorrow"}}),
        ("the repository acme/payments", {"repository": "acme/payments"}),
        ("(ts 1700000000.000100)", {"ts": "1700000000.000100"}),
        ("https://acme.slack.com/archives/C0DEPLOY0/p1700000000000100", {"ts": "1700000000.000100"}),
        ('{"table_name": "orders_daily"}', {"table": "orders_daily"}),
    ],
)
def test_name_that_stood_in_a_message_is_not_invented(text: str, arguments: dict[str, object]) -> None:
    assert found(said(text), asks(**arguments)) == ()


QUERIES = [
    ({"query": "avg:service.checkout_api.errors{env:prod}"}, ["service.checkout_api.errors"]),
    ({"filter": "service:checkout_api status:error"}, ["checkout_api"]),
    ({"sql": "select date_trunc('day', created_at) from orders_daily"}, ["created_at", "orders_daily"]),
    ({"q": "errors of the checkout since 2026-11-01, v1.2"}, []),
    ({"search": "from:ada@acme.com older_than:2d https://acme.com/a_b"}, []),
    ({"text": "checkout_api is down", "summary": "checkout_api"}, []),
]


@pytest.mark.parametrize(("arguments", "names"), QUERIES, ids=str)
def test_joined_words_of_a_query_are_names(arguments: dict[str, object], names: list[str]) -> None:
    assert list(found(said("please look"), asks(**arguments))) == names
    assert found(said(f"They are {', '.join(names)}."), asks(**arguments)) == ()


@pytest.mark.parametrize(
    "entry",
    [
        ToolResult("1.0", "ok", "It is OPS-12."),
        ToolResult("context/1", "ok", "It is OPS-12."),
        e.FileAdded("file_1", "OPS-12.txt", "text/plain", 1, "Slack"),
        RunAccepted(mention("look at OPS-12"), "w"),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_name_from_a_result_a_file_or_the_event_is_not_invented(entry: Entry) -> None:
    assert found(entry, asks(issue="OPS-12")) == ()


def test_name_from_the_prompt_or_a_tool_schema_is_not_invented() -> None:
    assert found(said("please look"), asks(project="OPS"), texts=("Use the project OPS.",)) == ()


def test_name_in_the_error_that_its_own_call_returned_stays_invented() -> None:
    echoed = ToolResult("1.0", "error", "There is no channel #billing-alerts.")
    assert found(said("look"), asks(channel="#billing-alerts"), echoed) == ("#billing-alerts",)


def test_names_that_only_the_model_wrote_count_as_invented() -> None:
    thinking = LlmResponse("I will look at OPS-12.", (), "stop", "m", Usage(), 0.0, 1)
    assert found(said("look"), thinking, asks(issue="OPS-12")) == ("OPS-12",)


def test_nearest_seen_name_is_named() -> None:
    state = state_of(said("see #billing-alerts and OPS-12"), asks(channel="#billing-alert", issue="OPS-21"))
    assert [nearest(state, (), one.value) for one in invented(state, ())] == ["billing-alerts", "OPS-12"]
    assert nearest(state, ("Write to #billing-alarm.",), "#billing-alarms") == "billing-alarm"
    assert nearest(state, (), "unlike-all-others") == ""


def test_run_that_saw_an_image_has_no_invented_names() -> None:
    image = MessageReceived("look", media=(Media("file_1", "image/png", "hash", 1),))
    assert found(image, asks(issue="OPS-12")) == ()


def test_words_are_bounded_and_a_run_with_more_words_has_no_invented_names() -> None:
    state = state_of(*(said(" ".join(f"w{n}x{k}" for k in range(10_000))) for n in range(8)), asks(issue="OPS-12"))
    assert len(state.words) < MOST_WORDS + 10_000
    assert invented(state, ()) == ()


def test_names_of_one_run_are_bounded() -> None:
    state = state_of(said("look"), *(asks(issues=[f"OPS-{n}{k}" for k in range(1, 300)]) for n in range(1, 10)))
    assert len(state.unseen) == 20


def test_malformed_arguments_have_no_names() -> None:
    broken = LlmResponse("", (ToolAsk("a", "look", '{"issue": "OPS'),), "tool_calls", "m", Usage(), 0.0, 1)
    assert found(said("look"), broken) == ()


def test_unseen_name_tells_its_tool_its_argument_and_its_entry() -> None:
    (one,) = invented(state_of(said("look"), asks(issue="OPS-12")), ())
    assert one == Unseen(tool="look", argument="issue", value="OPS-12", words=("ops-12",), address="2.0")


def test_huge_names_of_a_tool_and_an_argument_are_cut() -> None:
    arguments = json.dumps({f"{'k' * 10_000}_id": "OPS-4711"})
    ask = ToolAsk("c1", "t" * 2_000_000, arguments)
    (one,) = state_of(LlmResponse("", (ask,), "tool_calls", "m", Usage(), 0.0, 1)).unseen.values()
    assert (len(one.tool) < 300, len(one.argument) < 300, one.value) == (True, True, "OPS-4711")


def test_run_with_too_many_words_keeps_no_words() -> None:
    long = " ".join(f"w{n}-k{n}" for n in range(MOST_WORDS))
    state = state_of(said("look"), asks(issue="OPS-12"), said(long), said("more"))
    assert (state.is_blind, state.words, state.unseen) == (True, {}, {})
