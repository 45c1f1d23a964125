"""The prompts, skills and subagents of a repository, and which of them the requests of a play contained.

A recorded answer proves that its request did not change. It says nothing about a text that no request contained, such
as a skill that no run of a case loads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmRequest, Recorded, SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.values.canonical_json import as_text, encode_text
from gofer.workflows.bundle import Bundle
from gofer.workflows.file_text import read_text
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.output_file import read_output
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import read_skills
from gofer.workflows.subagent import FOLDER as SUBAGENTS
from gofer.workflows.subagent import prompt_of, subagent_files
from gofer.workflows.yaml_source import read_source

AGENTS = "agents"
_UNREAD = frozenset({"limits", "prompt"})
"""The keys of subagents of which no model reads the values."""
PREAMBLE = "agents: preamble"
"""The name under which a play lists the preamble of any file."""


@dataclass(frozen=True, slots=True)
class PromptText:
    """A text that models read."""

    name: str
    """Its path, for people: `agents/answer-here.md`, `skills/citing-sources`, `subagents/think`."""
    loaded_as: str
    """The name under which a play lists it."""
    read: str
    """What models read of it; a limit, a comment and the order of keys are no part of it."""


def prompt_texts(root: Path, catalog: Catalog, bundles: Mapping[str, Bundle]) -> Sequence[PromptText]:
    """Return every prompt, skill file and subagent below the root of a repository. Raises ConfigError.

    `bundles` are those with which runs of the workflows would begin.
    """
    return [*_prompts(root, catalog, bundles), *_skills(root), *_subagents(root)]


def loaded_texts(play: Play) -> Sequence[str]:
    """Return the texts that the requests of a play contained, sorted, as `PromptText.loaded_as` names them.

    A golden that was not played loads the texts that its recorded requests contained.
    """
    found: set[str] = set()
    for turn in (*play.turns, *play.recorded_turns):
        found.update(_of_turn(turn))
    return sorted(found)


def not_loaded(texts: Sequence[PromptText], loaded: Collection[str]) -> Sequence[PromptText]:
    """Return the texts that are not among the loaded ones."""
    return [text for text in texts if text.loaded_as not in loaded]


def changed_texts(texts: Sequence[PromptText], before: Sequence[PromptText]) -> Sequence[PromptText]:
    """Return the texts of which models read something else than before, with new ones."""
    known = {text.name: text.read for text in before}
    return [text for text in texts if known.get(text.name) != text.read]


def _prompts(root: Path, catalog: Catalog, bundles: Mapping[str, Bundle]) -> Iterator[PromptText]:
    if catalog.defaults.preamble:
        path = f"{AGENTS}/{catalog.defaults.preamble}"
        yield PromptText(name=path, loaded_as=PREAMBLE, read=_read(root / path))
    for loaded in catalog.workflows.values():
        if not loaded.script_sha256:
            bundle = bundles[loaded.name]
            settings = [[candidate.params for candidate in bundle.chain()], bundle.tools]
            read = f"{_read(root / loaded.prompt_file)}\n{encode_text(settings)}"
            yield PromptText(name=loaded.prompt_file, loaded_as=loaded.prompt_file, read=read)


def _skills(root: Path) -> Iterator[PromptText]:
    for skill in read_skills(root / SKILLS).values():
        name = f"{SKILLS}/{skill.name}"
        yield PromptText(name=name, loaded_as=name, read=skill.body)
        for path, content in skill.files.items():
            yield PromptText(name=f"{name}/{path}", loaded_as=f"{name}/{path}", read=content.decode(errors="replace"))


def _subagents(root: Path) -> Iterator[PromptText]:
    for file in subagent_files(root):
        source = read_source(file)
        prompt = prompt_of(file, as_text(source.fields.get("prompt")))
        settings = {key: value for key, value in source.fields.items() if key not in _UNREAD}
        settings["output"], _ = read_output(source)
        name = f"{SUBAGENTS}/{file.stem}"
        yield PromptText(name=name, loaded_as=name, read=f"{_read(prompt)}\n{encode_text(settings)}")


def _read(path: Path) -> str:
    """Return the text of a prompt as it stands in requests; empty for a file that cannot be read."""
    text, _ = read_text(path)
    return (text or "").strip()


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
