"""Mistakes in lists of tools, and the tools, skills and subagents that a workflow or subagent has."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_list, as_object, encode_text
from gofer.workflows.grants import NOT_GIVEN
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match, value_at
from gofer.workflows.yaml_source import Loc, Source


def granted(source: Source) -> list[str]:
    """Return the tools that a workflow lists, even if other parts of the file are wrong."""
    return [name for _, name in listed(source)]


def listed(source: Source) -> Iterator[tuple[Loc, str]]:
    """Yield each listed tool with the path of its name, which is an item or the key of options."""
    for at, item in enumerate(as_list(source.fields.get("tools"))):
        if isinstance(item, str):
            yield ("tools", at), item
        elif len(named := list(as_object(item))) == 1:
            yield ("tools", at, named[0]), named[0]


def check_tools(source: Source, tools: Mapping[str, AnyTool]) -> Iterator[Mistake]:
    """Yield tools that do not exist or are listed twice, and mistakes in the tools that other keys name."""
    seen: set[str] = set()
    for loc, name in listed(source):
        place = source.key(loc)
        if name in seen:
            yield Mistake(
                source.file, place, "duplicate-tool", f"`{name[:80]}` is listed twice.", "Remove one of them."
            )
        elif name not in tools:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(source.file, place, "unknown-tool", message, tool_hint(name, tools))
        seen.add(name)
        if name in tools:
            yield from _check_bounds(source, loc, tools[name])
    yield from _named(source, ("approve", "tools"), as_object(source.fields.get("approve")).get("tools"), seen, tools)
    yield from _named(source, ("requires",), source.fields.get("requires"), seen, tools)


def _check_bounds(source: Source, loc: Loc, tool: AnyTool) -> Iterator[Mistake]:
    """Yield the mistakes in the bounds of a tool's arguments."""
    fields = tool.arguments.model_fields
    for name, bound in as_object(as_object(value_at(source, loc)).get("arguments")).items():
        path = (*loc, "arguments", name)
        if name not in fields:
            message = f"`{tool.name}` has no argument `{name[:80]}`."
            yield Mistake(source.file, source.key(path), "unknown-argument", message, argument_hint(name, list(fields)))
        elif bound == NOT_GIVEN and fields[name].is_required():
            message = f"`{tool.name}` needs its argument `{name}`, so no call could be made."
            hint = "Write the value that it must have."
            yield Mistake(source.file, source.place(path), "unknown-value", message, hint)
        elif bound != NOT_GIVEN:
            written = [value for value in as_list(bound) or [bound] if isinstance(value, str | int | float)]
            for value in [value for value in written if not _takes(fields[name], value)][:1]:
                message = f"`{name}` of `{tool.name}` cannot be `{encode_text(value)[:80]}`."
                yield Mistake(source.file, source.place(path), "unknown-value", message, "Write a value that it takes.")


def _takes(field: FieldInfo, value: object) -> bool:
    """Return whether an argument takes a value, or a list of such values."""
    adapter = TypeAdapter[object](Annotated[field.annotation, field])
    for written in (value, [value]):
        with contextlib.suppress(ValidationError):
            adapter.validate_python(written)
            return True
    return False


def _named(
    source: Source, path: Loc, value: object, has: Collection[str], tools: Mapping[str, AnyTool]
) -> Iterator[Mistake]:
    """Yield the mistakes in the tools that a key names; `requires` may name only tools that write."""
    for at, name in enumerate(as_list(value) or [value]):
        if not isinstance(name, str):
            continue
        place = source.place((*path, at))
        key = str(path[0])
        if name not in tools and name not in has:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(source.file, place, "unknown-tool", message, tool_hint(name, has or tools))
        elif name not in has:
            message = f"`{key}` names `{name}`, but this workflow does not list that tool."
            hint = "List it under `tools`, or remove it here."
            yield Mistake(source.file, place, "tool-not-granted", message, hint)
        elif key == "requires" and name in tools and tools[name].effect == "read":
            message = f"`requires` names `{name}`, which only reads, so a run could end with nothing done."
            yield Mistake(source.file, place, "requires-read", message, "Name a tool that writes, or remove it here.")


def tool_hint(name: str, tools: Collection[str]) -> str:
    """Return the hint for a tool that does not exist."""
    meant = close_match(name, sorted(tools))
    if meant:
        return f"Write `{meant}`."
    if "*" in name:
        return "List each tool by its name, because tools have no patterns."
    return "docs/workflow-file.md lists the tools that exist."


def argument_hint(argument: str, fields: Sequence[str]) -> str:
    """Return the hint for an argument that a tool does not have. `fields` are its arguments."""
    if meant := close_match(argument, fields, 0.6):
        return f"Write `{meant}`."
    if fields:
        return f"Its arguments are: {', '.join(fields[:12])}."
    return "The tool has no arguments; remove it."


@dataclass(frozen=True, slots=True)
class Holder:
    """A workflow or a subagent and the tools, skills and subagents that its file grants."""

    source: Source
    kind: Literal["workflow", "subagent"]

    def has_tool(self, tool: AnyTool, skills: Collection[str]) -> bool:
        """Return whether the model has a tool or can search for it. `skills` contains all existing skills."""
        match tool.base:
            case "":
                inherits = self.kind == "subagent" and isinstance(self.source.fields.get("tools"), str)
                return inherits or tool.name in granted(self.source)
            case "plan":
                # YAML reads a bare `off` as false.
                return self.source.fields.get("plan", self._default("optional", "off")) not in ("off", False)
            case "subagents":
                return self._has_subagents()
            case "skills":
                return any(map(self.has_skill, skills))
            case _:
                # Tools that depend on the size of a run's content may be there.
                return True

    def has_skill(self, name: str) -> bool:
        """Return whether the prompt contains a skill or the model may load it."""
        fields = self.source.fields
        skills = as_object(fields.get("skills"))
        chosen = [*as_list(skills.get("required")), *as_list(skills.get("allowed"))]
        open_to_all = self.kind == "workflow" and not isinstance(skills.get("allowed"), list)
        return (open_to_all or name in chosen) and name not in as_list(skills.get("prohibited"))

    def has_subagent(self, name: str) -> bool:
        """Return whether the runs may call a subagent."""
        fields = self.source.fields
        if isinstance(fields.get("subagents"), list):
            return name in as_list(fields["subagents"])
        return self._has_subagents()

    def _has_subagents(self) -> bool:
        chosen = self.source.fields.get("subagents")
        if chosen is None:
            # By default a script may call every subagent, and a model none.
            return self.source.fields.get("coordinator") == "script"
        return chosen != []

    def _default(self, workflow: str, subagent: str) -> str:
        if self.kind == "workflow":
            return workflow
        return subagent
