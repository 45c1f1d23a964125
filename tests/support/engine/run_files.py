"""A run with file tools, and a tool whose result is long enough to become a file."""

from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.working_step import WorkingStep
from gofer.files.child import Children
from gofer.journal.entries import ToolResult
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.tools.definition import ToolResult as Result
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, says
from support.engine.memory_run import memory_run as empty_run

LINES = "\n".join(f"line {n} of a long report" for n in range(1, 20_001))


def memory_run(children: Children, text: str = LINES) -> MemoryRun:
    """Return a run with file tools and a tool `flood`, which returns a text."""
    made = empty_run(says("done"))

    async def flood(call: Call, said: Said) -> Result:
        return Result(text, "a lot")

    made.tool("flood", "read", flood)
    made.tools |= {tool.name: tool for tool in bind_all(FILE_TOOLS, children)}
    return made


async def ask(step: OwnStep | WorkingStep, call: str, tool: str, **arguments: object) -> ToolResult:
    """Return the result of a tool in a run."""
    working = step if isinstance(step, WorkingStep) else at_work(step)
    declared = working.own.services.tools[tool]
    outcome = await working.call(Permitted(call, declared, declared.parse(arguments)), PROVENANCE)
    assert isinstance(outcome, ToolResult)
    return outcome
