"""Wherever a journal ends, every view of it is defined and every call a model made has its one outcome."""

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
from gofer.projections import conversation, progress, repetition, script_replay, trace, workspace
from gofer.projections.outline import outline
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
        # What was never asked for was never given.
        assert repetition.project(cut).repeats(ToolAsk("", "another", "{}")) == 0


def check_conversation(state: conversation.Conversation) -> None:
    """Every call has its one tool message, right after its turn; only the last turn may be open still."""
    messages = [json.loads(part) for part in state.parts]
    if state.asks:
        # No request is made of this: its outcomes enter together, when the last of them is there.
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
    # What is there to look at is known, and where; of what left, the last turn in which it was shown.
    pictures = [at for at, message in enumerate(messages) if isinstance(message["content"], list)]
    assert [seen.part for seen in state.seen] == pictures
    assert all(0 <= seen.turn <= state.folded + len(state.starts) for seen in state.seen)
    assert all(turn <= state.folded for turn in state.removed_files.values())


def check_progress(state: progress.Progress) -> None:
    assert state.in_doubt.keys().isdisjoint(state.outcomes)
    assert state.owned_ms(state.last_at) >= 0
    assert state.event is not None
    # What is kept for those below is let go when they end.
    assert state.children.keys() <= state.asking.keys()
    assert (state.reserved().llm_calls > 0) == bool(state.asking)


def check_workspace(state: workspace.Workspace) -> None:
    """Ranges are in order and apart, and what was fetched stays so."""
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
    assert len(outline("run1", spans)) == 1 + len(spans)


@given(journals())
def test_every_view_of_every_cut_is_defined_and_every_call_is_closed(journal: list[Recorded]) -> None:
    check(journal)


def test_the_journals_that_are_made_up_have_entries_of_every_kind() -> None:
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
async def test_every_view_of_every_cut_of_a_real_run_is_defined(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        await ask_about_the_decision(made)
        (head,) = await made.ended()
        store, blobs = made.embedded.state.store, made.embedded.state.blobs
        journal = await read_journal(head.run, store, blobs)
    assert len(cuts(journal)) == head.frames
    check(journal)
