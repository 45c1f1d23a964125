"""A subagent whose journal lost its end is noticed before anything is done again."""

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
from support.engine.subagent_runs import AgentsRoom, Asked, agents_room

pytestmark = pytest.mark.anyio

CHILD = child_of("run1", "1.0")


class Lost(BaseException):
    """As when the process is killed."""


def posting(lost_at: int = 1) -> AgentsRoom:
    """A run whose subagent posts once; its worker is lost before the answer to question `lost_at` of the subagent."""
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
            raise Lost
        return says("", ("post", {"text": "one"})) if not question.turn else says("posted")

    made = agents_room(think)
    made.tool("post", "blind")
    made.subagent("poster", tools=["post"])
    return made


def cut(made: AgentsRoom, left: int) -> None:
    """Takes the last frames of the subagent away."""
    frames: dict[str, list[Any]] = made.store._frames  # type: ignore[attr-defined]
    del frames[CHILD][left:]
    if not left:
        del frames[CHILD]


@pytest.mark.parametrize("left", [0, 1, 2, 3])
async def test_a_subagent_that_lost_its_end_does_nothing_again(left: int) -> None:
    made = posting()
    with pytest.raises(Lost):
        await made.go_on("first")
    assert (made.acted, len(await made.store.frames(CHILD))) == (["post:one"], 4)
    cut(made, left)
    for _ in range(2):
        with pytest.raises(Corrupt, match=f"after frame {left}: 4 frames were written and {left} are there"):
            await made.go_on("second")
    assert made.acted == ["post:one"]
    assert len(await made.store.frames(CHILD)) == left


async def test_a_whole_subagent_goes_on_after_a_loss() -> None:
    made = posting()
    with pytest.raises(Lost):
        await made.go_on("first")
    assert (await made.go_on("second")).answer == "Done."
    assert made.acted == ["post:one"]


class Forgetful(MemoryStore):
    """Keeps frames, and no memo."""

    async def put_memo(self, key: str, value: str, at: int) -> None:
        raise TemporaryError("busy")


async def test_a_count_that_cannot_be_written_keeps_nobody_from_going_on() -> None:
    made = posting(lost_at=9)
    made.store = Forgetful()
    assert (await made.go_on()).answer == "Done."
    kinds = [type(one.entry) for one in await read_journal(CHILD, made.store, made.blobs)]
    assert kinds.count(ToolCall) == kinds.count(RunFinished) == 1


@pytest.mark.parametrize("left", [0, 2])
async def test_a_run_that_is_over_does_not_settle_a_subagent_that_lost_its_end(left: int) -> None:
    made = posting()
    with pytest.raises(Lost):
        await made.go_on("first")
    cut(made, left)
    with pytest.raises(Corrupt):
        await end_subagents(await made.held("second"), "the run that asked it ended", PROVENANCE)


async def test_a_settled_subagent_that_lost_its_end_is_named_to_readers_for_as_long_as_its_run_is_kept() -> None:
    made = posting(lost_at=9)
    assert (await made.go_on()).answer == "Done."
    journal = await made.journal()
    (settled,) = [one.entry for one in journal if isinstance(one.entry, SubagentFinished)]
    frames = len(await made.store.frames(CHILD))
    assert (settled.frames, await known_frames(CHILD, made.store)) == (frames, frames)
    assert not (await read_subagents(journal, made.store, made.blobs)).damaged
    cut(made, frames - 1)
    said = f"after frame {frames - 1}: {frames} frames were written and {frames - 1} are there"
    assert said in (await read_subagents(journal, made.store, made.blobs)).damaged[CHILD]
    # The count expires before a run that somebody keeps does.
    await forget_frames(CHILD, made.store)
    await made.store.expire_memos(1)
    assert await made.store.memo(f"frames:{CHILD}") is None
    assert said in (await read_subagents(journal, made.store, made.blobs)).damaged[CHILD]
