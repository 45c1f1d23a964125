"""The trace of a run of each kind, as `gofer trace` prints it."""

import re

import pytest

from gofer.journal.child_runs import read_subagents
from gofer.projections.tracing.outline import outline
from gofer.projections.tracing.whole_trace import whole_trace
from support.app.runs_of_each_kind import Kind, Played, reopened

pytestmark = pytest.mark.anyio
SHOWN: dict[Kind, list[str]] = {
    "answered": [r"✓ chat gpt-5\.4-mini +ok .* in \(\d+ % of 48,000\), \d+ out, \d\.\d{4} USD"],
    "refused": [
        r"✗ slack_archive_channel +refused  unknown_tool$",
        r"✗ slack_post_message +refused  broken$",
        r"✗ slack_post_message +refused  channel_not_found$",
    ],
    "waited": [r"✓ wait for the end of an outage +over +\d+ ms  Slack, planned until "],
    "approved": [r"✓ approval of slack_post_message approved", r"✓ wait for an approval +over"],
    "delegated": [
        r"^ +\d\.\d{3} s {6}✓ subagent read-file",
        r"^ +\d\.\d{3} s {12}✓ file result_\w+ lines 1–4 read$",
    ],
    "scripted": [r"✓ slack_read_thread +ok .* read 2 messages of a thread"],
    "compacted": [r"✓ compaction +ok", r"turns 1–4, summary by model, [\d,]+ → [\d,]+ tokens", r"✓ file history_"],
    "waiting": [r"… wait for an approval +parked", r"until .*: waits for approval of slack_post_message by requester"],
}
"""Lines that the trace of each kind has."""


@pytest.mark.parametrize("kind", SHOWN)
async def test_trace_of_each_kind_shows_its_steps_in_120_columns(of_each_kind: Played, kind: Kind) -> None:
    run = of_each_kind.runs[kind]
    async with reopened(of_each_kind) as made:
        state = made.embedded.state
        journal = await made.journal(run)
        lines = outline(run, whole_trace(journal, await read_subagents(journal, state.store, state.blobs)))
    for pattern in SHOWN[kind]:
        assert any(re.search(pattern, line) for line in lines), "\n".join(lines)
    assert max(map(len, lines)) <= 120
