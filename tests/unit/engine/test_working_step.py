import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import ToolResult
from gofer.tools.definition import Provenance
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, Unguarded, at_work, memory_run

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
WRONG = """\
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.working_step import Agents, WorkingStep
from gofer.engine.results import DisplayLimits
from gofer.tools.definition import Provenance, Repertoire

async def unchecked(step: OwnStep, asked: Permitted, provenance: Provenance) -> None:
    await step.call(asked, provenance)

def without_a_guard(own: OwnStep, agents: Agents) -> WorkingStep:
    return WorkingStep(own=own, agents=agents, repertoire=Repertoire(), shown=DisplayLimits())

def with_no_guard(own: OwnStep, agents: Agents) -> WorkingStep:
    return WorkingStep(own=own, guard=None, agents=agents, repertoire=Repertoire(), shown=DisplayLimits())
"""


class Refusing(Unguarded):
    """A guard that refuses every call."""

    async def clear(self, step: OwnStep, item: Permitted, provenance: Provenance) -> ToolResult:
        return ToolResult(item.call, "refused", "no")


def with_a_tool() -> tuple[MemoryRun, Permitted]:
    made = memory_run()
    made.tool("post", "blind")
    return made, Permitted("1.0", made.tools["post"], Said(text="it"))


@pytest.mark.parametrize("missing", [field.name for field in fields(WorkingStep)])
async def test_working_step_needs_every_part(missing: str) -> None:
    whole = at_work(await memory_run().step())
    given = {field.name: getattr(whole, field.name) for field in fields(WorkingStep) if field.name != missing}
    with pytest.raises(TypeError, match=missing):
        WorkingStep(**given)


async def test_working_step_is_immutable() -> None:
    working = at_work(await memory_run().step())
    with pytest.raises(FrozenInstanceError):
        working.guard = Unguarded()  # type: ignore[misc]


async def test_call_refused_by_the_guard_has_no_effect() -> None:
    made, item = with_a_tool()
    step = await made.step()
    working = replace(at_work(step), guard=Refusing())
    assert (await working.call(item, PROVENANCE)).text == "no"
    assert made.acted == []


async def test_own_step_refuses_a_call_of_the_model() -> None:
    made, item = with_a_tool()
    step = await made.step()
    with pytest.raises(AttributeError):
        await step.call(item, PROVENANCE)  # type: ignore[arg-type]
    assert made.acted == []


def test_type_checker_rejects_a_step_without_guard_and_an_unchecked_call(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    checker = Path(sys.executable).parent / "basedpyright"
    done = subprocess.run([checker, "--project", ROOT, wrong], capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if " - error: " in line]
    assert [line.partition("wrong.py:")[2].partition(":")[0] for line in errors] == ["8", "11", "14"], done.stdout
