"""Mistakes in the scripts of workflows: missing files, syntax, the function `coordinate`, and names of tools."""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gofer.check.script_code import Module, check_code, uses
from gofer.check.tools import granted, tool_hint
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.file_text import is_there, read_bytes, read_text
from gofer.workflows.mistake import START, Mistake, Place, Rule
from gofer.workflows.script_source import FOLDER, neighbours, parse, script_name
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Loc, Source

_KEY: Loc = ("coordinator_script",)
_ENTRY = "async def coordinate(run: Run) -> str | None:"


@dataclass(frozen=True, slots=True)
class Tools:
    """The names of tools."""

    every: Collection[str]
    base: Collection[str]
    """The tools that every script has without listing them."""


def is_script(source: Source) -> bool:
    """Return whether the coordinator of a workflow is a script."""
    return source.fields.get("coordinator") == "script"


def check_scripts(
    root: Path, workflows: Sequence[Source], tools: Tools, subagents: Collection[str]
) -> Iterator[Mistake]:
    """Yield the mistakes of every script: missing, in another folder, not Python, with forbidden effects or names."""
    declared = declared_packages(root / "pyproject.toml")
    for source in workflows:
        file = source.fields.get("coordinator_script", "")
        if not isinstance(file, str) or not (file or is_script(source)):
            continue
        if not file:
            hint = f"Add `coordinator_script: {FOLDER}/{source.file.stem.replace('-', '_')}.py`."
            message = "The key `coordinator_script` is missing."
            yield Mistake(source.file, source.key(("coordinator",)), "missing-key", message, hint)
        elif (name := script_name(file)) is None:
            message = f"`{file[:80]}` is not a script in `{FOLDER}/`."
            hint = f"Write `{FOLDER}/<name>.py` with a name of a-z, 0-9 and `_`."
            yield Mistake(source.file, source.place(_KEY), "script-elsewhere", message, hint)
        elif not is_there(root / FOLDER / f"{name}.py"):
            yield _missing(root, source, file, name)
        else:
            yield from _check(root, source, name, declared, tools, subagents)


def _missing(root: Path, source: Source, file: str, name: str) -> Mistake:
    meant = close_match(name, sorted(path.stem for path in (root / FOLDER).glob("*.py")))
    if meant:
        hint = f"Write `{FOLDER}/{meant}.py`."
    else:
        hint = f"Create the file with the function `{_ENTRY}`."
    return Mistake(source.file, source.place(_KEY), "missing-script", f"There is no file `{file[:80]}`.", hint)


def _check(
    root: Path,
    source: Source,
    name: str,
    declared: Collection[str],
    tools: Tools,
    subagents: Collection[str],
) -> Iterator[Mistake]:
    waiting = [name]
    seen = {name}
    while waiting:
        module, mistakes = read_module(root / FOLDER / f"{waiting.pop()}.py")
        yield from mistakes
        if module is None:
            continue
        if module.file.stem == name:
            yield from _check_entry(module)
        yield from check_code(module, declared)
        yield from _check_uses(module, source, tools, subagents)
        near = {found for found in neighbours(module.tree) if (root / FOLDER / f"{found}.py").is_file()}
        waiting += sorted(near - seen)
        seen |= near


def read_module(file: Path, rule: Rule = "script-syntax") -> tuple[Module | None, list[Mistake]]:
    """Return a Python file with its mistakes; None instead of the module when it cannot be parsed."""
    text, mistakes = read_text(file)
    if text is None:
        return None, mistakes
    try:
        return Module(file, parse(text), text.splitlines()), mistakes
    except SyntaxError as error:
        place = Place(max(error.lineno or 1, 1), max(error.offset or 1, 1))
        reason = error.msg[:200]
    except (ValueError, RecursionError, MemoryError):
        place = START
        reason = "it contains a zero byte or is nested too deeply"
    message = f"This is not valid Python: {reason}."
    return None, [*mistakes, Mistake(file, place, rule, message, "Correct the line.")]


def _check_entry(module: Module) -> Iterator[Mistake]:
    hint = f"Write `{_ENTRY}`."
    for node in module.tree.body:
        match node:
            case ast.AsyncFunctionDef(name="coordinate", args=arguments):
                if _parameters(arguments) != 1:
                    message = "Gofer calls `coordinate` with one argument, the run."
                    yield Mistake(module.file, module.place(node), "script-entry", message, hint)
                return
            case ast.FunctionDef(name="coordinate"):
                message = "`coordinate` is not `async`, so it cannot await a call."
                yield Mistake(module.file, module.place(node), "script-entry", message, hint)
                return
            case _:
                pass
    yield Mistake(module.file, START, "script-entry", "The script has no function `coordinate`.", hint)


def _parameters(arguments: ast.arguments) -> int:
    """Return the number of required parameters. A required keyword-only parameter adds 100, so that no count is 1."""
    positional = [*arguments.posonlyargs, *arguments.args]
    by_name = sum(default is None for default in arguments.kw_defaults)
    return len(positional) - len(arguments.defaults) + 100 * by_name


def _check_uses(module: Module, source: Source, tools: Tools, subagents: Collection[str]) -> Iterator[Mistake]:
    for use in uses(module):
        quoted = use.name[:80]
        if use.what == "subagent":
            if use.name not in subagents:
                yield _unknown_subagent(module.file, use.place, use.name, subagents)
            elif isinstance(source.fields.get("subagents"), list) and use.name not in as_list(
                source.fields["subagents"]
            ):
                message = f"The workflow in {source.file.name} does not have the subagent `{quoted}`."
                hint = "Add it to `subagents`, or remove it here."
                yield Mistake(module.file, use.place, "tool-not-granted", message, hint)
        elif use.name not in tools.every:
            hint = tool_hint(use.name, tools.every)
            yield Mistake(module.file, use.place, "unknown-tool", f"There is no tool `{quoted}`.", hint)
        elif use.name not in granted(source) and use.name not in tools.base:
            message = f"The workflow in {source.file.name} does not have the tool `{quoted}`."
            yield Mistake(module.file, use.place, "tool-not-granted", message, "Add it to `tools`, or remove it here.")


def check_listed(source: Source, subagents: Collection[str]) -> Iterator[Mistake]:
    """Yield the listed subagents of a workflow that do not exist."""
    for at, name in enumerate(as_list(source.fields.get("subagents"))):
        if isinstance(name, str) and name and name not in subagents:
            yield _unknown_subagent(source.file, source.place(("subagents", at)), name, subagents)


def _unknown_subagent(file: Path, place: Place, name: str, subagents: Collection[str]) -> Mistake:
    quoted = name[:80]
    meant = close_match(name, sorted(subagents))
    if meant:
        hint = f"Write `{meant}`."
    else:
        hint = f"Create `subagents/{quoted}.yaml` and `subagents/{quoted}.md`."
    return Mistake(file, place, "unknown-subagent", f"There is no subagent `{quoted}`.", hint)


def declared_packages(file: Path) -> Collection[str]:
    """Return the normalized names of the packages that a project declares; empty if the file is unreadable."""
    try:
        return _dependencies(read_bytes(file).decode())
    except (OSError, ValueError):
        return frozenset()


@lru_cache(maxsize=8)
def _dependencies(text: str) -> frozenset[str]:
    project = as_object(tomllib.loads(text).get("project"))
    names = [
        re.match(r"[A-Za-z0-9._-]+", item) for item in as_list(project.get("dependencies")) if isinstance(item, str)
    ]
    return frozenset(name[0].lower().replace("_", "-").replace(".", "-") for name in names if name)
