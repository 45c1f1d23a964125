"""The key `writes` of a workflow: it has to be there for tools that no run could call without it."""

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
    """Yield tools that no run may call before the key lists a place, and places that the key does not list."""
    kinds = {kind for trigger in workflow.when for kind, _ in trigger.compiled()}
    origins = {kind.partition(".")[0] for kind in kinds}
    placed = {loc: tool for loc, name in listed(source) if (tool := tools.get(name)) and _writes_to_a_place(tool)}
    barred: set[str] = set()
    for loc, tool in placed.items():
        system = _system(tool)
        is_origin = system in origins and tool.target.writes is not None
        if not origins.isdisjoint(ASKING) or workflow.writes.entries(system) or is_origin:
            continue
        barred.add(system)
        named_system = tool.target.system or system
        message = f"No run of this workflow may call `{tool.name}`: its `writes` lists no place of {named_system}."
        instead = _instead(DESTINATIONS[system], root, source, workflow)
        yield Mistake(source.file, source.key(loc), "missing-destination", message, instead)
    for system, listable in DESTINATIONS.items():
        its_tools = [tool for tool in placed.values() if _system(tool) == system]
        if its_tools:
            yield from _unlisted_links(root, source, workflow, listable)
        if its_tools and listable.named is not None and system not in barred:
            yield from _unlisted(_Names(root, source, workflow, listable, listable.named), its_tools, tools)


def _writes_to_a_place(tool: AnyTool) -> bool:
    """Return whether a tool writes to places that the key can list."""
    listable = _system(tool) in DESTINATIONS and "direct" not in tool.name
    return tool.effect != "read" and tool.target.where is not None and listable


def _system(tool: AnyTool) -> str:
    return tool.name.partition("_")[0]


def _instead(listable: Listable, root: Path, source: Source, workflow: Workflow) -> str:
    example = listable.example
    if listable.named is not None:
        names = _Names(root, source, workflow, listable, listable.named)
        for _, _, name in names.found():
            example = f'["{listable.named.sign}{name}"]'
    entry = f"{listable.system}: {example}"
    return f"Write `writes: {{{entry}}}` with the places it is to write to, or remove the tool."


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of places of one system in the texts of a workflow."""

    root: Path
    source: Source
    workflow: Workflow
    listable: Listable
    named: NamedPlaces

    def found(self) -> Iterator[tuple[Path, Place, str]]:
        """Yield the names that the script, or the skills and then the prompt, hold, each once a file."""
        pattern = self.named.prose
        if self.workflow.coordinator == "script":
            pattern = self.named.code
        return _found(self.root, self.source, self.workflow, pattern)


def _unlisted(names: _Names, placed: Collection[AnyTool], tools: Mapping[str, AnyTool]) -> Iterator[Mistake]:
    """Hint at places that a workflow which posts messages names and does not list."""
    workflow = names.workflow
    system = names.listable.system
    posts = any({"text", names.named.argument} <= {*tool.arguments.model_fields} for tool in placed)
    reads = any(
        tool.effect == "read" and tool.target.where is not None
        for name in workflow.tool_names
        if (tool := tools.get(name))
    )
    one_by_one = workflow.writes.one_by_one(system)
    # With some places listed, a workflow that reads places names the others in order to read them.
    if not posts or workflow.writes.lists_all_public(system) or (reads and one_by_one):
        return
    for file, place, name in names.found():
        written = f"{names.named.sign}{name}"
        if written not in one_by_one:
            message = f"`{written}` is named here, and `writes` of {names.source.file.name} does not list it."
            hint = f'Write `writes: {{{system}: ["{written}"]}}` there if runs are to write to it.'
            yield Mistake(file, place, "unlisted-destination", message, hint)


def _unlisted_links(root: Path, source: Source, workflow: Workflow, listable: Listable) -> Iterator[Mistake]:
    """Hint at ids and links of places that the key does not list."""
    system = listable.system
    if workflow.writes.lists_all_public(system):
        return
    entries = {listable.plain(entry) for entry in workflow.writes.entries(system)}
    for file, place, name in _found(root, source, workflow, listable.linked):
        if name.casefold() not in entries:
            message = f"`{name}` is named here, and `writes` of {source.file.name} does not list it."
            hint = f"Write `writes: {{{system}: [{name}]}}` there if runs are to write to it."
            yield Mistake(file, place, "unlisted-destination", message, hint)


def _found(
    root: Path, source: Source, workflow: Workflow, pattern: re.Pattern[str]
) -> Iterator[tuple[Path, Place, str]]:
    """Yield what a pattern finds in the script, or in the skills and the prompt of a workflow, each once a file."""
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
