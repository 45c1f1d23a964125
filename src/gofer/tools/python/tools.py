"""How does a model compute: with code that sees the texts it names, and nothing else?"""

import mimetypes
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.child import Children
from gofer.sandbox.python import Program, run
from gofer.tools.files.text import text_of
from gofer.tools.tool import Arguments, Call, NewFile, Tool, ToolResult

Scripts = Callable[[Call, str, str], str]
"""The text of a script, by its skill and its path in there. Raises ToolError when the run has no such script."""

_BEGINNING = 400
"""Characters that are shown of an output that went into a file."""
_DESCRIPTION = (
    "Run Python on texts of this run: arithmetic, dates, tables, JSON. Gives what is printed and the value of the last "
    "line. It has json, re, csv, math, datetime, decimal, collections, itertools, functools and a few more, classes "
    "without inheritance; no yield, del, network, folders or clock; random needs a seed. 5 seconds."
)
_NOTHING = "The code ran, printed nothing, and its last line has no value; print what you want to know."


class RunPython(Arguments):
    """Code, what it reads, and where its output goes."""

    code: str = Field(default="", description="Python; with a script run after it, so that it can call its functions.")
    files: list[str] = Field(
        default=[], max_length=50, description="Ids of files; the code reads them as files['<id>']."
    )
    skill: str = Field(default="", description="A skill, to run one of its scripts.")
    script: str = Field(default="", description='Its path, as "scripts/sum.py".')
    output_file: str = Field(
        default="", max_length=100, description='A name, as "totals.csv": the output becomes a file.'
    )


def no_scripts(call: Call, skill: str, script: str) -> str:
    """For runs without skills."""
    raise ToolError(
        f"This run has no skill {skill[:64]!r}; write what its script does as `code`.", code="no_such_skill"
    )


def python_tools(children: Children, scripts: Scripts = no_scripts) -> tuple[Tool[Any], ...]:
    """`python`; its code runs in `children`."""

    async def python(call: Call, arguments: RunPython) -> ToolResult:
        output = await run(children, await _program(call, arguments, scripts))
        if not output:
            return ToolResult(_NOTHING, "no output", value="")
        if arguments.output_file:
            return _as_file(output, arguments.output_file)
        return ToolResult(output, _counted(output), value=output)

    return (
        Tool(
            name="python",
            description=_DESCRIPTION,
            effect="read",
            arguments=RunPython,
            act=python,
            # Several at once wait for each other.
            timeout=60.0,
            base="all",
        ),
    )


async def _program(call: Call, arguments: RunPython, scripts: Scripts) -> Program:
    if bool(arguments.skill) != bool(arguments.script):
        raise ToolError("A script needs both `skill` and `script`: the name of the skill, and the path in it.")
    if not arguments.code.strip() and not arguments.script:
        raise ToolError("There is nothing to run; write Python as `code`, or name the script of a skill.")
    files = {file: await text_of(call, file) for file in dict.fromkeys(arguments.files)}
    script = scripts(call, arguments.skill, arguments.script) if arguments.script else ""
    return Program(code=arguments.code, script=script, script_name=arguments.script, files=files)


def _as_file(output: str, wanted: str) -> ToolResult:
    """The output as a file of the run, of which the model sees the beginning."""
    name = PurePosixPath(wanted.replace("\\", "/")).name or "output.txt"
    kind = mimetypes.guess_type(name, strict=False)[0] or "text/plain"
    file = NewFile(name, kind, output.encode(), "python")
    begins = output[:_BEGINNING]
    told = "It holds" if len(begins) == len(output) else "It begins with"
    text = f"{file.id} {name!r} is written: {_counted(output)}. {told}:\n{begins}"
    return ToolResult(text, f"{name}: {_counted(output)}", {"file": file.id}, value=output, files=(file,))


def _counted(output: str) -> str:
    lines = output.count("\n") + (not output.endswith("\n"))
    return f"{lines} {'line' if lines == 1 else 'lines'}, {len(output.encode())} bytes"
