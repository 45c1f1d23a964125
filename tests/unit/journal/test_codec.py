import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal.approval_entries import About, Decision
from gofer.journal.check_entries import Verdict
from gofer.journal.codec import from_json, item_bytes, item_from_bytes, to_json
from gofer.journal.grade_entries import Evidence, Grade, RunOutcome
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt, OtherVersion
from gofer.values.messages import FailureClass, ProviderError, ToolAsk, Usage
from support.stand_ins import mention

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT | st.lists(TEXT))
COUNT = st.integers(0, 10**9)
ABOUT = st.sampled_from(get_args(About))
PROVIDER_ERRORS = st.builds(ProviderError, st.sampled_from(get_args(FailureClass)), COUNT, TEXT, TEXT, TEXT, TEXT)
ROUTES = st.builds(e.Route, TEXT, st.dictionaries(TEXT, st.lists(TEXT)))
ENTRIES = st.one_of(
    st.builds(e.RunAccepted, st.just(mention()), TEXT),
    st.builds(e.RunAccepted, st.just(mention()), TEXT, routes=st.lists(ROUTES).map(tuple)),
    st.just(e.RunOwned()),
    st.builds(e.RunStarted, TEXT, st.booleans(), TEXT),
    st.builds(e.MessageReceived, TEXT, TEXT),
    st.builds(e.LlmRequest, TEXT, TEXT, PLAIN, TEXT),
    st.builds(
        e.LlmResponse,
        TEXT,
        st.lists(st.builds(ToolAsk, TEXT, TEXT, TEXT)).map(tuple),
        TEXT,
        TEXT,
        st.builds(Usage, COUNT, COUNT, COUNT),
        st.none() | st.floats(0, 1e6),
        COUNT,
        TEXT,
        TEXT,
        TEXT,
    ),
    st.builds(e.ToolCall, TEXT, TEXT, st.sampled_from(get_args(e.Effect)), st.none() | PLAIN),
    st.builds(e.ToolResult, TEXT, st.sampled_from(["ok", "error", "refused"]), TEXT, TEXT, st.none() | PLAIN, COUNT),
    st.builds(e.ToolUnknown, TEXT, TEXT),
    st.builds(e.CallDeferred, TEXT, TEXT, COUNT, st.booleans(), provider_error=st.none() | PROVIDER_ERRORS),
    st.builds(e.ApprovalRequested, TEXT, TEXT, TEXT, st.lists(TEXT).map(tuple), COUNT, ABOUT),
    st.builds(e.ApprovalClicked, TEXT, ABOUT, TEXT, st.sampled_from(["approved", "denied"]), TEXT, COUNT, TEXT),
    st.builds(e.ApprovalDecided, TEXT, st.sampled_from(get_args(Decision)), TEXT, TEXT, ABOUT),
    st.builds(e.RunParked, st.sampled_from(get_args(e.ParkReason)), COUNT),
    st.builds(e.RunHandedOver),
    st.builds(e.RunCancelled, TEXT, TEXT),
    st.builds(e.RunRetried, TEXT, TEXT),
    st.builds(e.RunConcluded, st.sampled_from(get_args(e.Status)), TEXT, TEXT),
    st.builds(e.RunFinished, st.sampled_from(get_args(e.Status)), TEXT),
    st.builds(
        e.RunGraded,
        TEXT,
        COUNT,
        st.sampled_from(get_args(RunOutcome)),
        st.sampled_from(get_args(Evidence)),
        TEXT,
        st.lists(
            st.builds(Grade, TEXT, st.booleans(), TEXT, TEXT, TEXT, st.booleans(), st.none() | st.floats(0, 1))
        ).map(tuple),
    ),
    st.builds(e.RunChecked, st.lists(st.builds(Verdict, TEXT, st.booleans(), summary=TEXT, detail=TEXT)).map(tuple)),
)


@given(ENTRIES)
def test_entry_of_any_kind_survives_encoding(entry: e.Entry) -> None:
    assert from_json(json.loads(encode(to_json(entry)))) == entry


@pytest.mark.parametrize(
    ("written", "entry"),
    [
        ({"kind": "call.deferred", "call": "model", "reason": "busy"}, e.CallDeferred("model", "busy")),
        (
            {
                "kind": "llm.response",
                "text": "Yes.",
                "tool_calls": [],
                "finish_reason": "stop",
                "model": "m",
                "usage": {},
                "cost_usd": None,
                "duration_ms": 5,
            },
            e.LlmResponse("Yes.", (), "stop", "m", Usage(), None, 5),
        ),
    ],
)
def test_entries_without_thoughts_or_provider_errors_are_read_and_written_unchanged(
    written: object, entry: e.Entry
) -> None:
    assert from_json(written) == entry
    assert to_json(entry) == written


def test_every_entry_class_has_a_kind() -> None:
    assert set(e.KINDS.values()) == set(get_args(e.Entry))


def test_entry_is_encoded_without_default_values() -> None:
    assert to_json(e.RunFinished("done")) == {"kind": "run.finished", "status": "done"}


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"kind": "run.teleported"}, "an entry of kind"),
        ({"kind": "run.finished", "status": "done", "mood": "good"}, "unknown here"),
        ({"kind": "run.finished", "status": "splendid"}, "only"),
    ],
)
def test_entry_that_only_a_newer_gofer_knows_raises_other_version(value: object, what: str) -> None:
    with pytest.raises(OtherVersion, match=f"{what}.*; read it with the Gofer that wrote it"):
        from_json(value)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"kind": "run.finished"}, "incomplete"),
        ({"kind": "run.finished", "status": "done", "reason": 5}, "int where str"),
        ({"kind": "llm.response", "tool_calls": {}}, "no list"),
        ({"kind": "run.accepted", "event": [], "workflow": "w"}, "no object"),
        (["run.finished"], "not an object"),
    ],
)
def test_malformed_entry_is_reported_corrupt(value: object, what: str) -> None:
    with pytest.raises(Corrupt, match=what) as caught:
        from_json(value)
    assert not isinstance(caught.value, OtherVersion)


@pytest.mark.parametrize(
    "item",
    [
        e.MessageReceived("hello", "item1"),
        e.RunCancelled("Ada"),
        e.RunRetried("Ada"),
        e.ApprovalClicked("1.0", "call", "a", "denied", "U1", 7),
    ],
)
def test_inbox_item_survives_encoding(item: e.Item) -> None:
    assert item_from_bytes(item_bytes(item)) == item


def test_inbox_refuses_torn_bytes_and_entries_that_only_an_owner_writes() -> None:
    with pytest.raises(Corrupt, match="not JSON"):
        item_from_bytes(b'{"kind":"message.rec')
    with pytest.raises(Corrupt, match="only a run's owner"):
        item_from_bytes(encode(to_json(e.RunFinished("done"))))
