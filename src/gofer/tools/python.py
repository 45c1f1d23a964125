"""The tool that runs Python on texts of the run's files."""

import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import Field

from gofer.files.child import Children
from gofer.files.completeness import together
from gofer.files.sandbox.python import Program, run
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.files.text import HeldText, held_text
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

Scripts = Callable[[Call, str, str], str]
"""A function that returns a script by its skill and path. It raises ToolError when the run has no such script."""

_BEGINNING = 400
"""The most characters shown of an output that became a file."""
_NOTHING = "The code ran without output, and its last line has no value; print the values that you need."


class RunPython(Arguments):
    """The code, its files, and the destination of its output."""

    code: str = Field(default="", description="Runs after the script.")
    files: list[str] = Field(default=[], max_length=50, description="Ids; the code reads files['<id>'].")
    skill: str = Field(default="", description="To run one of its scripts.")
    script: str = Field(default="", description='As "scripts/sum.py".')
    output_file: str = Field(default="", max_length=100, description='As "totals.csv": the output becomes a file.')


def no_scripts(call: Call, skill: str, script: str) -> str:
    """Raise ToolError, because the run has no skills."""
    raise ToolError(
        f"This run has no skill {skill[:64]!r}; write the code of the script in `code`.", code="no_such_skill"
    )


@dataclass(frozen=True, slots=True)
class PythonClient:
    """The limited child processes that run the code of a model, and the scripts of the run's skills."""

    children: Children
    scripts: Scripts = no_scripts


@tool(
    effect="read",
    # The timeout includes waiting for other calls of the same turn.
    timeout=60.0,
    base="all",
)
async def python(client: PythonClient, call: Call, arguments: RunPython) -> ToolResult:
    """Run Python for 5 seconds. Gives what is printed and the last line's value. Has json, re, csv, math, datetime,
    decimal and the like; no yield, del, inheritance, network or folders; random needs a seed; the clock (UTC) stands at
    the time of the call."""
    texts = {file: await held_text(call, file) for file in dict.fromkeys(arguments.files)}
    output = await run(client.children, _program(call, arguments, texts, client.scripts))
    notes = "".join(found.said for found in texts.values())
    if not output:
        return ToolResult(f"{_NOTHING}{notes}", "no output", value="")
    if arguments.output_file:
        return _as_file(output, arguments.output_file, notes, _missing(call, arguments.files))
    return ToolResult(f"{output}{notes}", _counted(output), value=output)


def _program(call: Call, arguments: RunPython, texts: Mapping[str, HeldText], scripts: Scripts) -> Program:
    if bool(arguments.skill) != bool(arguments.script):
        raise ToolError(
            "A script needs both `skill` and `script`: the name of the skill and the path of the script in it."
        )
    if not arguments.code.strip() and not arguments.script:
        raise ToolError("There is nothing to run; write Python as `code`, or name the script of a skill.")
    files = {file: found.text for file, found in texts.items()}
    script = ""
    if arguments.script:
        script = scripts(call, arguments.skill, arguments.script)
    return Program(code=arguments.code, script=script, script_name=arguments.script, files=files, at=call.at)


def _missing(call: Call, files: Sequence[str]) -> tuple[Missing, ...]:
    """Return the missing parts of the files, which also miss in the output."""
    return together(call.run.files.added(file).missing for file in files)


def _as_file(output: str, wanted: str, notes: str, missing: tuple[Missing, ...]) -> ToolResult:
    """Return the output as a file of the run; the model sees its beginning."""
    name = PurePosixPath(wanted.replace("\\", "/")).name or "output.txt"
    kind = mimetypes.guess_type(name, strict=False)[0] or "text/plain"
    file = NewFile(name, kind, output.encode(), "python", missing=missing)
    begins = output[:_BEGINNING]
    verb = "It begins with"
    if len(begins) == len(output):
        verb = "It contains"
    text = f"{file.id} {name!r} is written: {_counted(output)}. {verb}:\n{begins}{notes}"
    return ToolResult(text, f"{name}: {_counted(output)}", {"file": file.id}, value=output, files=(file,))


def _counted(output: str) -> str:
    lines = output.count("\n") + (not output.endswith("\n"))
    return f"{lines} {'line' if lines == 1 else 'lines'}, {len(output.encode())} bytes"


TOOLS = (python,)
"""The tools that run the code of models."""
