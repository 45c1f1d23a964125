"""The key `writes` of a workflow: it has to be there for tools that no run could call without it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gofer.check.tools import listed
from gofer.tools.definition import AnyTool
from gofer.workflows.file_text import read_text
from gofer.workflows.load import prompt_name
from gofer.workflows.mistake import Mistake, Place
from gofer.workflows.schema import Workflow
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import skill_file
from gofer.workflows.yaml_source import Source

SLACK = "slack"
_EXAMPLES = {
    SLACK: 'slack: ["#general"]',
    "jira": "jira: [PAY]",
    "notion": "notion: [5f1c7d2e0a3b4c4d8e9f00000000f0c5]",
    "github": "github: [acme/app]",
}
"""What an entry of the key looks like, by system."""
_NAMED = re.compile(r"(?<![\w/&#])#([a-z][a-z0-9_-]{1,79})(?![\w-])")
_LINKED: Mapping[str, re.Pattern[str]] = {
    SLACK: re.compile(r"(?<![\w/-])(C0[A-Z0-9]{7,9})(?![\w-])"),
    "jira": re.compile(r"https://[\w.-]+/browse/([A-Z][A-Z0-9_]+)-[0-9]+"),
    "notion": re.compile(r"https://(?:www\.)?notion\.so/(?:[\w%-]+/)*(?:[\w%-]*-)?([0-9a-f]{32})(?![0-9a-f])"),
    "github": re.compile(r"https://github\.com/([\w-]+/[\w.-]*\w)(?=[/#?\s)>\"'.,]|$)"),
}
"""Ids of channels, and links: what a text names is certain, and so is the entry of the key."""
_QUOTED = re.compile(r"""["']#([a-z][a-z0-9_-]{1,79})["']""")


def check_destinations(
    root: Path, source: Source, workflow: Workflow, tools: Mapping[str, AnyTool]
) -> Iterator[Mistake]:
    """Yield tools that no run may call before the key lists a place, and channels that the key does not list."""
    kinds = {kind for trigger in workflow.when for kind, _ in trigger.compiled()}
    origins = {kind.partition(".")[0] for kind in kinds}
    placed = {loc: tool for loc, name in listed(source) if (tool := tools.get(name)) and _writes_to_a_place(tool)}
    named = [*_named(root, source, workflow)]
    barred = False
    for loc, tool in placed.items():
        system = _system(tool)
        # A person of Slack who started a run can be asked about every other place.
        at_home = system in origins and tool.target.writes is not None
        if SLACK in origins or getattr(workflow.writes, system) or at_home:
            continue
        barred = barred or system == SLACK
        named_system = tool.target.system or system
        message = f"No run of this workflow may call `{tool.name}`: its `writes` lists no place of {named_system}."
        yield Mistake(source.file, source.key(loc), "missing-destination", message, _instead(system, named))
    if placed:
        systems = {_system(tool) for tool in placed.values()}
        yield from _unlisted_links(root, source, workflow, systems)
    if placed and not barred:
        yield from _unlisted(source, workflow, placed.values(), named, tools)


def _writes_to_a_place(tool: AnyTool) -> bool:
    """Return whether a tool writes to places that the key can list."""
    listable = _system(tool) in _EXAMPLES and "direct" not in tool.name
    return tool.effect != "read" and tool.target.where is not None and listable


def _system(tool: AnyTool) -> str:
    return tool.name.partition("_")[0]


def _instead(system: str, named: Sequence[tuple[Path, Place, str]]) -> str:
    entry = _EXAMPLES[system]
    if system == SLACK and named:
        entry = f'slack: ["#{named[-1][2]}"]'
    return f"Write `writes: {{{entry}}}` with the places it is to write to, or remove the tool."


def _unlisted(
    source: Source,
    workflow: Workflow,
    placed: Collection[AnyTool],
    named: Sequence[tuple[Path, Place, str]],
    tools: Mapping[str, AnyTool],
) -> Iterator[Mistake]:
    """Hint at channels that a workflow which posts messages names and does not list."""
    posts = any(_system(tool) == SLACK and {"text", "channel"} <= {*tool.arguments.model_fields} for tool in placed)
    reads = any(
        tool.effect == "read" and tool.target.where is not None
        for name in workflow.tool_names
        if (tool := tools.get(name))
    )
    # With some channels listed, a workflow that reads channels names the others in order to read them.
    if not posts or workflow.writes.all_public or (reads and workflow.writes.channels):
        return
    for file, place, channel in named:
        if f"#{channel}" not in workflow.writes.channels:
            message = f"`#{channel}` is named here, and `writes` of {source.file.name} does not list it."
            hint = f'Write `writes: {{slack: ["#{channel}"]}}` there if runs are to write to it.'
            yield Mistake(file, place, "unlisted-destination", message, hint)


def _unlisted_links(root: Path, source: Source, workflow: Workflow, systems: Collection[str]) -> Iterator[Mistake]:
    """Hint at ids and links of places, of systems that the workflow writes to, that the key does not list."""
    entries = {
        SLACK: {channel.casefold() for channel in workflow.writes.slack},
        "jira": {project.casefold() for project in workflow.writes.jira},
        "notion": {page.replace("-", "") for page in workflow.writes.notion},
        "github": {repository.casefold() for repository in workflow.writes.github},
    }
    for system, pattern in _LINKED.items():
        if system not in systems or (system == SLACK and workflow.writes.all_public):
            continue
        for file, place, name in _found(root, source, workflow, pattern):
            if name.casefold() not in entries[system]:
                message = f"`{name}` is named here, and `writes` of {source.file.name} does not list it."
                hint = f"Write `writes: {{{system}: [{name}]}}` there if runs are to write to it."
                yield Mistake(file, place, "unlisted-destination", message, hint)


def _found(
    root: Path, source: Source, workflow: Workflow, pattern: re.Pattern[str]
) -> Iterator[tuple[Path, Place, str]]:
    """Yield what a pattern finds in the script, or in the skills and the prompt of a workflow, each once a file."""
    return _occurrences((file, pattern) for file, _ in _texts(root, source, workflow))


def _named(root: Path, source: Source, workflow: Workflow) -> Iterator[tuple[Path, Place, str]]:
    """Yield channels that the script, or the skills and then the prompt of a workflow name, each once a file."""
    return _occurrences(_texts(root, source, workflow))


def _occurrences(texts: Iterable[tuple[Path, re.Pattern[str]]]) -> Iterator[tuple[Path, Place, str]]:
    """Yield what each pattern finds in its file, with the place where the file has it first."""
    seen: set[tuple[Path, str]] = set()
    for file, pattern in texts:
        text, _ = read_text(file)
        for number, line in enumerate((text or "").splitlines(), 1):
            for found in pattern.finditer(line):
                if (file, found[1]) not in seen:
                    seen.add((file, found[1]))
                    yield file, Place(number, found.start(1)), found[1]


def _texts(root: Path, source: Source, workflow: Workflow) -> Iterator[tuple[Path, re.Pattern[str]]]:
    if workflow.coordinator == "script":
        yield root / workflow.coordinator_script, _QUOTED
        return
    for name in (*workflow.skills.required, *(workflow.skills.allowed or ())):
        yield skill_file(root / SKILLS / name), _NAMED
    yield source.file.parent / prompt_name(source.file, workflow.prompt), _NAMED
