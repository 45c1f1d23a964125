"""Mistakes in the key `writes` of a workflow, which must list places for tools that need them."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gofer.check.tools import listed
from gofer.sources.triggers import ASKING, DESTINATIONS
from gofer.tools.definition import AnyTool
from gofer.workflows.file_text import read_text
from gofer.workflows.load import prompt_name
from gofer.workflows.mistake import Mistake, Place
from gofer.workflows.schema import Workflow
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import skill_file
from gofer.workflows.writes import Listable, NamedPlaces
from gofer.workflows.yaml_source import Source


def check_destinations(
    root: Path, source: Source, workflow: Workflow, tools: Mapping[str, AnyTool]
) -> Iterator[Mistake]:
    """Yield tools that no run may call because `writes` lists no place, and hints about unlisted places in texts."""
    kinds = {kind for trigger in workflow.when for kind, _ in trigger.compiled()}
    origins = {kind.partition(".")[0] for kind in kinds}
    placed = {loc: tool for loc, name in listed(source) if (tool := tools.get(name)) and _writes_to_a_place(tool)}
    blocked: set[str] = set()
    for loc, tool in placed.items():
        system = _system(tool)
        is_origin = system in origins and tool.target.writes is not None
        if not origins.isdisjoint(ASKING) or workflow.writes.entries(system) or is_origin:
            continue
        blocked.add(system)
        named_system = tool.target.system or system
        message = f"No run of this workflow may call `{tool.name}`, because `writes` lists no place in {named_system}."
        hint = _writes_hint(DESTINATIONS[system], root, source, workflow)
        yield Mistake(source.file, source.key(loc), "missing-destination", message, hint)
    for system, listable in DESTINATIONS.items():
        system_tools = [tool for tool in placed.values() if _system(tool) == system]
        if system_tools:
            yield from _unlisted_links(root, source, workflow, listable)
        if system_tools and listable.named is not None and system not in blocked:
            yield from _unlisted(_Names(root, source, workflow, listable, listable.named), system_tools, tools)


def _writes_to_a_place(tool: AnyTool) -> bool:
    """Return whether a tool writes to places that `writes` can list."""
    listable = _system(tool) in DESTINATIONS and "direct" not in tool.name
    return tool.effect != "read" and tool.target.where is not None and listable


def _system(tool: AnyTool) -> str:
    return tool.name.partition("_")[0]


def _writes_hint(listable: Listable, root: Path, source: Source, workflow: Workflow) -> str:
    example = listable.example
    if listable.named is not None:
        names = _Names(root, source, workflow, listable, listable.named)
        for _, _, name in names.found():
            example = f'["{listable.named.sign}{name}"]'
    entry = f"{listable.system}: {example}"
    return f"Write `writes: {{{entry}}}` with the places that runs may write to, or remove the tool."


@dataclass(frozen=True, slots=True)
class _Names:
    """The search for names of one system's places in the texts of a workflow."""

    root: Path
    source: Source
    workflow: Workflow
    listable: Listable
    named: NamedPlaces

    def found(self) -> Iterator[tuple[Path, Place, str]]:
        """Yield the names in the script, or in the skills and the prompt, each once per file."""
        pattern = self.named.prose
        if self.workflow.coordinator == "script":
            pattern = self.named.code
        return _found(self.root, self.source, self.workflow, pattern)


def _unlisted(names: _Names, placed: Collection[AnyTool], tools: Mapping[str, AnyTool]) -> Iterator[Mistake]:
    """Yield hints about unlisted places that the texts of a workflow with posting tools name."""
    workflow = names.workflow
    system = names.listable.system
    posts = any({"text", names.named.argument} <= {*tool.arguments.model_fields} for tool in placed)
    reads = any(
        tool.effect == "read" and tool.target.where is not None
        for name in workflow.tool_names
        if (tool := tools.get(name))
    )
    one_by_one = workflow.writes.one_by_one(system)
    # If a workflow lists some places and can read, its texts probably name the other places only to read them.
    if not posts or workflow.writes.lists_all_public(system) or (reads and one_by_one):
        return
    for file, place, name in names.found():
        written = f"{names.named.sign}{name}"
        if written not in one_by_one:
            message = f"`{written}` is named here, but `writes` of {names.source.file.name} does not list it."
            hint = f'Write `writes: {{{system}: ["{written}"]}}` there if runs should write to it.'
            yield Mistake(file, place, "unlisted-destination", message, hint)


def _unlisted_links(root: Path, source: Source, workflow: Workflow, listable: Listable) -> Iterator[Mistake]:
    """Yield hints about ids and links of places that `writes` does not list."""
    system = listable.system
    if workflow.writes.lists_all_public(system):
        return
    entries = {listable.plain(entry) for entry in workflow.writes.entries(system)}
    for file, place, name in _found(root, source, workflow, listable.linked):
        if name.casefold() not in entries:
            message = f"`{name}` is named here, but `writes` of {source.file.name} does not list it."
            hint = f"Write `writes: {{{system}: [{name}]}}` there if runs should write to it."
            yield Mistake(file, place, "unlisted-destination", message, hint)


def _found(
    root: Path, source: Source, workflow: Workflow, pattern: re.Pattern[str]
) -> Iterator[tuple[Path, Place, str]]:
    """Yield the matches of a pattern in the script, or in the skills and the prompt, each once per file."""
    seen: set[tuple[Path, str]] = set()
    for file in _texts(root, source, workflow):
        text, _ = read_text(file)
        for number, line in enumerate((text or "").splitlines(), 1):
            for found in pattern.finditer(line):
                if (file, found[1]) not in seen:
                    seen.add((file, found[1]))
                    yield file, Place(number, found.start(1)), found[1]


def _texts(root: Path, source: Source, workflow: Workflow) -> Iterator[Path]:
    if workflow.coordinator == "script":
        yield root / workflow.coordinator_script
        return
    for name in (*workflow.skills.required, *(workflow.skills.allowed or ())):
        yield skill_file(root / SKILLS / name)
    yield source.file.parent / prompt_name(source.file, workflow.prompt)
