"""Replays of a script: recorded effects are not repeated, and a divergence from the journal stops the run."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.coordinator import Run
from gofer.engine.loop import Ending
from gofer.engine.script_branches import DEPTH, Branch, are_concurrent, path_of
from gofer.engine.script_run import ScriptRun
from gofer.journal.entries import SubagentFinished, ToolCall, ToolResult
from gofer.models.language_model import Answer
from gofer.stores.memory.journal import MemoryStore
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from gofer.workflows.schema import Subagent
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import MemoryRun, Said, memory_run, says
from support.models.served import served
from support.property_examples import examples

pytestmark = pytest.mark.anyio

SCRIPT = """
from gofer.coordinator import Run

async def one(run, n):
    found = await run.call("look", text=f"r{n}")
    await run.call("note", text=f"n{n}")
    await run.call("ticket", text="same")
    return found["text"]

async def coordinate(run: Run) -> str | None:
    await run.call("note", text="first")
    found = await run.gather(
        one(run, 1),
        run.call("ticket", text="same"),
        run.gather(one(run, 2), one(run, 3), run.subagent("s", "a word?")),
    )
    said = await run.subagent("s", f"{run.now():%H:%M}?")
    await run.call("ticket", text=said)
    return f"{found[0]} {found[2]} {said}"
"""


class Crash(BaseException):
    """The process crashed."""


class MortalStore(MemoryStore):
    """A store that crashes the process at a write. `lives` has the number of writes of each process."""

    def __init__(self, lives: Sequence[tuple[int, bool]]) -> None:
        super().__init__()
        self._lives = list(lives)
        self._left = 0
        self.reborn()

    def reborn(self) -> None:
        self._left, self._after = self._lives.pop(0) if self._lives else (10**9, False)

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        # Other branches continue during the write.
        await asyncio.sleep(0)
        self._left -= 1
        if self._left < 0 or (self._left == 0 and not self._after):
            self._left = 0
            raise Crash
        standing = await super().create(run, n, frame)
        if self._left == 0:
            raise Crash
        return standing


@dataclass
class SlowModel:
    delays: list[int]
    asked: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.append(body)
        await later(self.delays)
        return says("yes" if b"a word?" in body else "12 noon")


async def later(delays: list[int]) -> None:
    """Wait for the next number of turns of the event loop in the list, which rotates."""
    delays.append(delays.pop(0))
    for _ in range(delays[-1]):
        await asyncio.sleep(0)


def slow_run(delays: Sequence[int], lives: Sequence[tuple[int, bool]]) -> MemoryRun:
    turns = list(delays)
    made = memory_run()
    made.model = SlowModel(list(turns))  # type: ignore[assignment]
    made.store = MortalStore(lives)
    made.script = SCRIPT
    made.subagents["s"] = LoadedSubagent(Subagent(description="d"), "You are short.", served("m"))

    async def act(call: Call, said: Said) -> Result:
        await later(turns)
        made.marked[call.key] = Result(f"did {said.text}", "done", {"text": said.text})
        return made.marked[call.key]

    made.tool("look", "read", act)
    made.tool("note", "keyed", act)
    made.tool("ticket", "lookup", act)
    return made


async def to_the_end(made: MemoryRun) -> Ending:
    for owner in range(20):
        try:
            return await made.run_script(f"owner{owner}")
        except Crash:
            made.store.reborn()  # type: ignore[attr-defined]
    raise AssertionError("it never ends")


async def effects(made: MemoryRun) -> set[tuple[str, str, str]]:
    """Return every journaled effect as its call, tool and arguments."""
    calls = [item.entry for item in await made.journal() if isinstance(item.entry, ToolCall)]
    assert len({call.call for call in calls}) == len(calls)
    return {(call.call, call.tool, str(call.arguments)) for call in calls}


async def undisturbed() -> tuple[Ending, set[tuple[str, str, str]]]:
    made = slow_run([0], [])
    return await made.run_script(), await effects(made)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=5),
)
@examples(2)
def test_script_has_the_same_effects_and_answer_for_any_timing_and_any_crashes(
    delays: list[int], lives: list[tuple[int, bool]]
) -> None:
    async def play() -> None:
        ending, recorded = await undisturbed()
        made = slow_run(delays, lives)
        assert await to_the_end(made) == ending
        assert await effects(made) == recorded
        # Each lookup call happened once: four equal ones in four branches, and the last.
        tickets = [done for done in made.acted if done.startswith("ticket")]
        assert len(tickets) == sum(tool == "ticket" for _, tool, _ in recorded) == 5
        journal = [item.entry for item in await made.journal()]
        answered = [entry.call for entry in journal if isinstance(entry, SubagentFinished)]
        assert len(answered) == len(set(answered)) == 2

    asyncio.run(play())


async def test_script_branches_run_concurrently() -> None:
    made = slow_run([0], [])
    waiting = asyncio.Event()

    async def first(call: Call, said: Said) -> Result:
        await waiting.wait()
        return Result("", "")

    async def second(call: Call, said: Said) -> Result:
        waiting.set()
        return Result("", "")

    made.script = """
async def coordinate(run):
    await run.gather(run.call("first"), run.call("second"))
    return "both"
"""
    made.tool("first", "keyed", first)
    made.tool("second", "keyed", second)
    async with asyncio.timeout(60):
        assert (await made.run_script()).answer == "both"


async def changed(before: str, after: str) -> tuple[Ending, MemoryRun]:
    """Run a script with `before`, which then fails, and continue the run with `after` in its place."""
    made = memory_run()
    for name, effect in (("look", "read"), ("note", "keyed"), ("mail", "blind")):
        made.tool(name, effect)  # type: ignore[arg-type]
    made.script = f"async def coordinate(run):\n    {before}\n    raise MemoryError"
    await made.run_script()
    made.acted.clear()
    made.script = f"async def coordinate(run):\n    {after}\n    return 'fine'"
    return await made.run_script("another"), made


A, B, READ = 'await run.call("mail", text="a")', 'await run.call("note", text="b")', 'await run.call("look", text="r")'


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (A, B, "coordinators/s.py:2 asks for note, and the journal has mail instead"),
        (
            A,
            A.replace('"a"', '"z"'),
            "coordinators/s.py:2 asks for mail, and the journal has mail with other text instead",
        ),
        (A, "pass", "coordinators/s.py ended without asking for mail, which the journal has"),
        (A, f"{B}; {A}", "coordinators/s.py:2 asks for note, and the journal has mail instead"),
        (f"{A}; {A}", A, "coordinators/s.py ended without asking for mail, which the journal has"),
        (A, f"await run.gather({B[6:]})", "coordinators/s.py:2 asks for note, and the journal has mail instead"),
        (
            f"await run.gather({A[6:]}, {B[6:]})",
            f"await run.gather({B[6:]}, {A[6:]})",
            "coordinators/s.py:2 asks for note, and the journal has mail instead",
        ),
    ],
)
async def test_script_that_diverges_from_the_journal_is_stopped_before_any_effect(
    before: str, after: str, reason: str
) -> None:
    ending, made = await changed(before, after)
    assert (ending.status, ending.reason) == ("needs_attention", f"diverged: {reason}")
    assert made.acted == []
    assert "\n- mail {" in ending.notice
    assert "\n+ " in ending.notice


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (A, f"{READ}; {A}"),
        (f"{READ}; {A}", A),
        (A, f"{A}; {B}"),
        (f"{A}; {B}", f"{B}; {A}"),
        (f"await run.gather({A[6:]}, {B[6:]})", f"await run.gather({A[6:]}, {B[6:]}); {READ}"),
        (A, f"run.now(); run.random(); {A}"),
    ],
)
async def test_changed_script_may_read_differently_and_continue(before: str, after: str) -> None:
    ending, made = await changed(before, after)
    assert ending == Ending("done", "fine")
    assert "mail:a" not in made.acted


async def test_divergence_notice_shows_the_journaled_and_the_requested_call() -> None:
    ending, _ = await changed(A, A.replace('"a"', '"`z`"'))
    assert '```\n- mail {"text":"a"}   (the journal, call 0:mail:' in ending.notice
    assert '+ mail {"text":"\\u0060z\\u0060"}   (coordinators/s.py:2)\n```' in ending.notice
    # Reasons are shown in lists, which hold no content.
    assert '"a"' not in ending.reason


async def test_effect_in_doubt_is_settled_before_the_script_is_replayed() -> None:
    made = memory_run()
    made.script = f"async def coordinate(run):\n    {A}\n    return 'sent'"

    async def die(call: Call, said: Said) -> Result:
        raise Crash

    made.tool("mail", "blind", die)
    with pytest.raises(Crash):
        await made.run_script()
    ending = await made.run_script("another")
    assert (ending.status, ending.reason) == ("failed", "coordinators/s.py:2: mail failed (unknown)")
    assert "it was in progress when its worker stopped" in ending.script_error
    assert made.acted == ["mail:a"]


async def test_gather_raises_the_error_of_the_first_branch_in_order() -> None:
    made = memory_run()
    made.script = """
async def fail(run, n):
    await run.call("look", text=str(n))
    raise ValueError(n)

async def coordinate(run):
    try:
        await run.gather(fail(run, 3), fail(run, 0))
    except ValueError as error:
        return str(error)
"""

    async def slowly(call: Call, said: Said) -> Result:
        for _ in range(int(said.text)):
            await asyncio.sleep(0)
        return Result("", "")

    made.tool("look", "read", slowly)
    assert (await made.run_script()).answer == "3"
    assert sorted(made.acted) == ["look:0", "look:3"]
    assert len([item for item in await made.journal() if isinstance(item.entry, ToolResult)]) == 2


PATHS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), max_size=DEPTH).map(tuple)


@given(PATHS, PATHS)
def test_script_call_id_names_the_branch_and_beside_is_symmetric(one: tuple, other: tuple) -> None:
    asked = Branch("s.py:1", one).next_call("tool", {"b": 1, "a": [None, "ü"]}, "s.py:2")
    assert path_of(asked.call) == one
    assert "/" not in asked.call
    assert asked == Branch("elsewhere", one).next_call("tool", {"a": [None, "ü"], "b": 1}, "s.py:2")
    assert are_concurrent(one, other) == are_concurrent(other, one)
    assert not are_concurrent(one, one[: len(one) // 2])


def test_gather_is_limited_in_depth_and_width() -> None:
    branch = Branch("s.py:1")
    for _ in range(DEPTH):
        branch = branch.split(2, "s.py:1")[1]
    with pytest.raises(ValueError, match="within each other"):
        branch.split(1, "s.py:1")
    with pytest.raises(ValueError, match="1000 parts"):
        Branch("s.py:1").split(1_001, "s.py:1")


def test_script_run_has_every_promised_member() -> None:
    promised = {name for name in vars(Run) if not name.startswith("_")}
    assert promised == {"event", "files", "call", "subagent", "gather", "now", "random"}
    assert all(hasattr(ScriptRun, name) for name in promised)
