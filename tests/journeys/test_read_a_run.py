"""Reading a run of each kind as people do: at a terminal, on a page, and by the API."""

from collections import Counter
from typing import Any

import pytest

from gofer.journal import entries as e
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import ContextCompacted
from gofer.projections.script_replay import is_of_a_script
from gofer.values.errors import Corrupt
from support.app.runs_of_each_kind import Kind, Played, reopened

pytestmark = pytest.mark.anyio
MARKS: dict[Kind, Any] = {
    "answered": lambda entry: isinstance(entry, e.LlmResponse),
    "refused": lambda entry: isinstance(entry, e.ToolResult) and entry.status == "refused",
    "waited": lambda entry: isinstance(entry, e.RunParked) and entry.reason == "outage",
    "approved": lambda entry: isinstance(entry, e.ApprovalDecided),
    "delegated": lambda entry: isinstance(entry, e.SubagentStarted),
    "scripted": lambda entry: isinstance(entry, e.ToolResult) and is_of_a_script(entry.call),
    "compacted": lambda entry: isinstance(entry, ContextCompacted),
    "waiting": lambda entry: isinstance(entry, e.ApprovalRequested),
}
"""What only a run of each kind has, or has as many times as counted."""
TIMES: dict[Kind, int] = {"answered": 2, "refused": 3, "delegated": 3}


@pytest.mark.parametrize("kind", MARKS)
async def test_run_of_each_kind_has_the_entries_of_its_kind(of_each_kind: Played, kind: Kind) -> None:
    async with reopened(of_each_kind) as made:
        entries = await made.entries(of_each_kind.runs[kind])
    assert sum(MARKS[kind](entry) for entry in entries) == TIMES.get(kind, 1)


async def test_damaged_run_is_damaged_and_private_run_is_deleted(of_each_kind: Played) -> None:
    async with reopened(of_each_kind) as made:
        state = made.embedded.state
        with pytest.raises(Corrupt):
            await read_journal(of_each_kind.runs["damaged"], state.store, state.blobs)
        heads = {head.workflow: head for head in await state.store.heads(100, private=True)}
    assert Counter(head.status for head in heads.values()) == {"done": 9, "parked": 1}
    assert {head.workflow for head in heads.values() if head.private} == {"private", "waiting"}
    assert heads["private"].retention == "deleted"
