"""Truncated journals of subagents: they are reported before any effect is repeated."""

from typing import Any

import pytest

from gofer.engine.subagent_owner import end_subagents
from gofer.journal.child_runs import read_subagents
from gofer.journal.entries import RunFinished, SubagentFinished, ToolCall
from gofer.journal.frame_counts import forget_frames, known_frames
from gofer.journal.lineage import child_of
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import Corrupt, TemporaryError
from support.engine.memory_run import PROVENANCE, says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio

CHILD = child_of("run1", "1.0")


class Crashed(BaseException):
    """The process was killed."""


def posting(lost_at: int = 1) -> RunWithSubagents:
    """Return a run whose subagent posts once. The worker crashes at model call `lost_at` of the subagent."""
    asked: list[int] = []

    def think(question: Asked) -> Answer:
        if question.system != "You are poster.":
            return (
                says("", ("subagent", {"agent_name": "poster", "prompt": "post it"}))
                if not question.turn
                else says("Done.")
            )
        asked.append(question.turn)
        if len(asked) - 1 == lost_at:
            raise Crashed
        return says("", ("post", {"text": "one"})) if not question.turn else says("posted")

    made = run_with_subagents(think)
    made.tool("post", "blind")
    made.subagent("poster", tools=["post"])
    return made


def cut(made: RunWithSubagents, left: int) -> None:
    """Remove the last frames of the subagent."""
    frames: dict[str, list[Any]] = made.store._frames  # type: ignore[attr-defined]
    del frames[CHILD][left:]
    if not left:
        del frames[CHILD]


@pytest.mark.parametrize("left", [0, 1, 2, 3])
async def test_truncated_subagent_journal_stops_the_run_before_any_effect(left: int) -> None:
    made = posting()
    with pytest.raises(Crashed):
        await made.resume("first")
    assert (made.acted, len(await made.store.frames(CHILD))) == (["post:one"], 4)
    cut(made, left)
    for _ in range(2):
        with pytest.raises(Corrupt, match=f"after frame {left}: 4 frames were written and {left} are there"):
            await made.resume("second")
    assert made.acted == ["post:one"]
    assert len(await made.store.frames(CHILD)) == left


async def test_complete_subagent_journal_resumes_after_a_crash() -> None:
    made = posting()
    with pytest.raises(Crashed):
        await made.resume("first")
    assert (await made.resume("second")).answer == "Done."
    assert made.acted == ["post:one"]


class Forgetful(MemoryStore):
    """A store that cannot write memos."""

    async def put_memo(self, key: str, value: str, at: int) -> None:
        raise TemporaryError("busy")


async def test_failed_write_of_the_frame_count_does_not_stop_a_subagent() -> None:
    made = posting(lost_at=9)
    made.store = Forgetful()
    assert (await made.resume()).answer == "Done."
    kinds = [type(one.entry) for one in await read_journal(CHILD, made.store, made.blobs)]
    assert kinds.count(ToolCall) == kinds.count(RunFinished) == 1


@pytest.mark.parametrize("left", [0, 2])
async def test_subagent_with_a_truncated_journal_is_not_settled_by_an_ended_run(left: int) -> None:
    made = posting()
    with pytest.raises(Crashed):
        await made.resume("first")
    cut(made, left)
    with pytest.raises(Corrupt):
        await end_subagents(await made.owned_step("second"), "the run that asked it ended", PROVENANCE)


async def test_truncated_journal_of_a_settled_subagent_is_reported_after_the_count_expired() -> None:
    made = posting(lost_at=9)
    assert (await made.resume()).answer == "Done."
    journal = await made.journal()
    (settled,) = [one.entry for one in journal if isinstance(one.entry, SubagentFinished)]
    frames = len(await made.store.frames(CHILD))
    assert (settled.frames, await known_frames(CHILD, made.store)) == (frames, frames)
    assert not (await read_subagents(journal, made.store, made.blobs)).damaged
    cut(made, frames - 1)
    said = f"after frame {frames - 1}: {frames} frames were written and {frames - 1} are there"
    assert said in (await read_subagents(journal, made.store, made.blobs)).damaged[CHILD]
    # The count expires before a kept run does.
    await forget_frames(CHILD, made.store)
    await made.store.expire_memos(1)
    assert await made.store.memo(f"frames:{CHILD}") is None
    assert said in (await read_subagents(journal, made.store, made.blobs)).damaged[CHILD]
