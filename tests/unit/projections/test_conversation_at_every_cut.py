"""Projections of a journal that ends at any entry: each is defined, and each call of a model has one outcome."""

import contextlib
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import Phase, given, settings

from gofer.journal.entries import Entry, Recorded
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import TodoStatus
from gofer.projections import conversation, progress, repetition, script_replay, workspace
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from gofer.values.messages import ToolAsk
from support.app.company import ask_about_the_decision, company
from support.journal.generated_journals import journals


def cuts(journal: Sequence[Recorded]) -> list[Sequence[Recorded]]:
    """The journal as it was after each of its frames."""
    ends = [at + 1 for at, (one, other) in enumerate(pairwise(journal)) if one.n != other.n]
    return [journal[:end] for end in [*ends, len(journal)]]


def check(journal: Sequence[Recorded]) -> None:
    for cut in cuts(journal):
        check_conversation(conversation.project(cut))
        check_progress(progress.project(cut))
        check_trace(trace.project(cut))
        check_workspace(workspace.project(cut))
        assert script_replay.project(cut).effects.keys() <= {"0.1-0:tool:ab:1", "0.1-1:tool:ab:1"}
        # A call that was never made has no fruitless results.
        assert repetition.project(cut).repeats(ToolAsk("", "another", "{}")) == 0


def check_conversation(state: conversation.Conversation) -> None:
    """Check that each call has one tool message right after its turn. Only the last turn may be open."""
    messages = [json.loads(part) for part in state.parts]
    if state.asks:
        # An open turn is never sent to a model. Its outcomes enter together after the last one.
        assert len(messages.pop()["tool_calls"]) == len(state.asks)
        assert state.open
    waiting: list[str] = []
    for message in messages:
        if waiting:
            assert (message["role"], message["tool_call_id"]) == ("tool", waiting.pop(0))
        else:
            assert message["role"] != "tool"
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert waiting == []
    # The place of each picture is known, and of pictures that left the last turn that showed them.
    pictures = [at for at, message in enumerate(messages) if isinstance(message["content"], list)]
    assert [seen.part for seen in state.seen] == pictures
    assert all(0 <= seen.turn <= state.folded + len(state.starts) for seen in state.seen)
    assert all(turn <= state.folded for turn in state.removed_files.values())


def check_progress(state: progress.Progress) -> None:
    assert state.in_doubt.keys().isdisjoint(state.outcomes)
    assert state.owned_ms(state.last_at) >= 0
    assert state.event is not None
    # The records of a subagent are dropped when it ends.
    assert state.children.keys() <= state.asking.keys()
    assert (state.reserved().llm_calls > 0) == bool(state.asking)


def check_workspace(state: workspace.Workspace) -> None:
    """Check that the ranges of each file are in order and do not touch, and that the plan is valid."""
    for held in state.files.values():
        for ranges in (held.lines, held.bytes):
            assert all(one[1] < other[0] for one, other in pairwise(ranges))
            assert len(ranges) <= workspace.MOST_RANGES
    assert all(one.status in get_args(TodoStatus) for one in state.plan)


def check_trace(spans: Sequence[trace.Span]) -> None:
    seen: set[str | None] = {None}
    for span in spans:
        assert span.parent in seen, span
        assert span.end is None or span.end >= span.start, span
        assert span.to_json()["id"] == span.id
        seen.add(span.id)
    assert len(outline("run1", spans)) >= 1 + len(spans)


@given(journals())
def test_every_projection_of_every_journal_cut_is_consistent(journal: list[Recorded]) -> None:
    check(journal)


def test_generated_journals_contain_every_kind_of_entry() -> None:
    missing: set[type] = set(get_args(Entry))

    @settings(max_examples=2_000, phases=[Phase.generate], database=None)
    @given(journals())
    def look(journal: list[Recorded]) -> None:
        missing.difference_update(type(recorded.entry) for recorded in journal)
        if not missing:
            raise Complete

    with contextlib.suppress(Complete):
        look()
    assert missing == set()


class Complete(Exception):
    """No more journals are needed."""


@pytest.mark.anyio
async def test_every_projection_of_every_cut_of_a_real_run_is_consistent(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        await ask_about_the_decision(made)
        (head,) = await made.ended()
        store, blobs = made.embedded.state.store, made.embedded.state.blobs
        journal = await read_journal(head.run, store, blobs)
    assert len(cuts(journal)) == head.frames
    check(journal)
