"""The prompts, skills and subagents of a repository, and which of them the requests of a play contained.

A recorded answer proves that its request did not change. It says nothing about a text that no request contained, such
as a skill that no run of a case loads.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmRequest, Recorded, SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.values.canonical_json import as_text
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import NAMES, read_skills
from gofer.workflows.subagent import FOLDER as SUBAGENTS
from gofer.workflows.subagent import prompt_of, subagent_files
from gofer.workflows.yaml_source import read_source

AGENTS = "agents"
PREAMBLE = "agents: preamble"
"""The name under which a play lists the preamble of any file."""


@dataclass(frozen=True, slots=True)
class PromptText:
    """A text that models read."""

    name: str
    """Its path, for people: `agents/answer-here.md`, `skills/citing-sources`, `subagents/think`."""
    paths: Sequence[str]
    """The files from which it is made, from the root of the repository, with `/`."""
    loaded_as: str
    """The name under which a play lists it."""


def prompt_texts(root: Path, catalog: Catalog) -> Sequence[PromptText]:
    """Return every prompt, skill file and subagent below the root of a repository. Raises ConfigError."""
    return [*_prompts(catalog), *_skills(root), *_subagents(root)]


def loaded_texts(play: Play) -> Sequence[str]:
    """Return the texts that the requests of a play contained, sorted, as `PromptText.loaded_as` names them."""
    found: set[str] = set()
    for turn in play.turns:
        found.update(_of_turn(turn))
    return sorted(found)


def not_loaded(texts: Sequence[PromptText], loaded: Collection[str]) -> Sequence[PromptText]:
    """Return the texts that are not among the loaded ones."""
    return [text for text in texts if text.loaded_as not in loaded]


def changed_texts(texts: Sequence[PromptText], paths: Sequence[str]) -> Sequence[PromptText]:
    """Return the texts of which a file is among the changed paths."""
    changed = set(paths)
    return [text for text in texts if not changed.isdisjoint(text.paths)]


def _prompts(catalog: Catalog) -> Iterator[PromptText]:
    if catalog.defaults.preamble:
        path = f"{AGENTS}/{catalog.defaults.preamble}"
        yield PromptText(path, [path], PREAMBLE)
    for loaded in catalog.workflows.values():
        if not loaded.script_sha256:
            yield PromptText(loaded.prompt_file, [loaded.prompt_file], loaded.prompt_file)


def _skills(root: Path) -> Iterator[PromptText]:
    for skill in read_skills(root / SKILLS).values():
        name = f"{SKILLS}/{skill.name}"
        yield PromptText(name, [f"{name}/{file}" for file in NAMES], name)
        for path in skill.files:
            yield PromptText(f"{name}/{path}", [f"{name}/{path}"], f"{name}/{path}")


def _subagents(root: Path) -> Iterator[PromptText]:
    for file in subagent_files(root):
        prompt = as_text(read_source(file).fields.get("prompt"))
        paths = [file, prompt_of(file, prompt)]
        name = f"{SUBAGENTS}/{file.stem}"
        yield PromptText(name, [path.relative_to(root).as_posix() for path in paths], name)


def _of_turn(turn: PlayedTurn) -> Iterator[str]:
    if turn.bundle is not None:
        if any(isinstance(recorded.entry, LlmRequest) for recorded in turn.entries):
            yield from _of_first_request(turn.bundle.loaded)
        for name in _subagents_of(turn):
            yield f"{SUBAGENTS}/{name}"
            asked = turn.bundle.loaded.subagents.get(name)
            if asked is not None:
                yield from (f"{SKILLS}/{skill}" for skill in asked.subagent.skills.required)
    for entries in (turn.entries, *turn.subagents.values()):
        yield from _loaded_skills(entries)


def _of_first_request(loaded: Loaded) -> Iterator[str]:
    """Yield the texts of the system prompt of a workflow; a script has none."""
    if loaded.script_sha256:
        return
    yield PREAMBLE
    yield loaded.prompt_file
    yield from (f"{SKILLS}/{skill}" for skill in loaded.workflow.skills.required)


def _subagents_of(turn: PlayedTurn) -> Iterator[str]:
    for entries in (turn.entries, *turn.subagents.values()):
        for recorded in entries:
            if isinstance(recorded.entry, SubagentStarted):
                yield recorded.entry.name


def _loaded_skills(entries: Sequence[Recorded]) -> Iterator[str]:
    for recorded in entries:
        if isinstance(recorded.entry, SkillLoaded):
            yield f"{SKILLS}/{recorded.entry.skill}/{recorded.entry.file}".rstrip("/")
