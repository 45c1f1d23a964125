"""Subagents: their models, prompts and skills, loaded from `subagents/`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from gofer.models.served_model import Candidate, ServedModel, model_from_json
from gofer.values.canonical_json import as_list, as_object
from gofer.values.errors import ConfigError
from gofer.values.messages import ENDPOINT
from gofer.workflows.allowed_skills import granted_skills
from gofer.workflows.file_text import read_text
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.model_roles import Roles
from gofer.workflows.output import ASKER, instructions
from gofer.workflows.output_file import read_output
from gofer.workflows.output_schema import Schema
from gofer.workflows.prompt_sections import planning, required_text
from gofer.workflows.schema import ModelChoice, Subagent
from gofer.workflows.skill import Skill, skill_from_json
from gofer.workflows.yaml_source import read_source

FOLDER = "subagents"
"""The folder of subagents, beside the folder of the workflow files."""
_HEAD = """\
# Subagents

The tool `subagent` gives a part of the work to one of these subagents. A subagent does not see this conversation: \
write everything it needs into `prompt`, and pass files by their ids. You get its answer as the result, a long answer \
as a file. Several calls in one turn run in parallel. Use a subagent when a short answer needs much reading, or when \
parts of the work are independent; do small things yourself."""


@dataclass(frozen=True, slots=True)
class LoadedSubagent:
    """One subagent with everything from its files."""

    subagent: Subagent
    system: str
    """The system prompt: prompt, skills and output instructions."""
    models: tuple[ServedModel, ...]
    """The models of the subagent. A run asks each after the first only when those before it gave no answer."""
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    """The required skills and those that the subagent may load, by name."""

    @property
    def output(self) -> Mapping[str, object] | None:
        """The schema of the answers; None for text."""
        return cast(Mapping[str, object] | None, self.subagent.output)

    def chain(self) -> Sequence[Candidate]:
        """Return the models with their request parameters, in the order in which a run asks them."""
        return [candidate(self.subagent.model, model) for model in self.models]

    def to_json(self) -> dict[str, object]:
        """Return the subagent as JSON for a bundle."""
        return {
            "subagent": self.subagent.model_dump(mode="json"),
            "system": self.system,
            "models": [model.to_json() for model in self.models],
            "skills": {name: skill.to_json() for name, skill in self.skills.items()},
        }


def subagent_from_json(value: Mapping[str, object]) -> LoadedSubagent:
    """Return the subagent that `LoadedSubagent.to_json` wrote."""
    models = tuple(map(model_from_json, as_list(value["models"])))
    skills = {name: skill_from_json(name, as_object(part)) for name, part in as_object(value.get("skills")).items()}
    return LoadedSubagent(Subagent.model_validate(value["subagent"]), str(value["system"]), models, skills)


def candidate(choice: ModelChoice, model: ServedModel) -> Candidate:
    """Return a model with its request parameters. Those of the workflow override those of the model."""
    chosen = {
        "temperature": choice.temperature,
        "seed": choice.seed,
        "max_completion_tokens": choice.max_output_tokens,
        "reasoning": choice.reasoning and choice.reasoning.model_dump(exclude_none=True),
    }
    params = {
        **model.parameters,
        **{name: value for name, value in chosen.items() if value is not None},
        "model": model.name,
        # Some compatible servers stream by default.
        "stream": model.timeout is not None,
    }
    if not model.endpoint.is_default:
        params[ENDPOINT] = model.endpoint.name
    return Candidate(model, params)


def subagent_files(root: Path) -> list[Path]:
    """Return the YAML files of subagents below a repository's root, sorted by name."""
    return sorted((root / FOLDER).glob("*.yaml"))


def load_subagents(root: Path, roles: Roles, known: Mapping[str, Skill]) -> Mapping[str, LoadedSubagent]:
    """Return every subagent by name; `known` contains all skills.

    Raises ConfigError with the mistakes of all files.
    """
    mistakes: list[Mistake] = []
    filled: dict[Path, Subagent] = {}
    for source in (read_source(path) for path in subagent_files(root)):
        subagent, found = fill(source, Subagent)
        schema, wrong = read_output(source)
        mistakes += [*found, *wrong]
        if subagent is not None:
            if schema is None:
                filled[source.file] = subagent
            else:
                filled[source.file] = subagent.model_copy(update={"output": schema})
    refuse(in_order(mistakes))
    loaded = {file.stem: _load(file, subagent, roles, known) for file, subagent in filled.items()}
    return {name: _with_subagents_section(subagent, loaded) for name, subagent in loaded.items()}


def reached(every: Mapping[str, LoadedSubagent], names: Iterable[str]) -> Mapping[str, LoadedSubagent]:
    """Return the subagents of these names and those that they may call, directly or through others."""
    found: dict[str, LoadedSubagent] = {}
    left = list(names)
    while left:
        name = left.pop(0)
        if name in every and name not in found:
            found[name] = every[name]
            left += every[name].subagent.subagents
    return dict(sorted(found.items()))


def subagents_section(asked: Mapping[str, LoadedSubagent]) -> str:
    """Return the section of a system prompt about the subagents that a model may call; empty without subagents."""
    lines = [f"- `{name}`: {' '.join(loaded.subagent.description.split())}" for name, loaded in sorted(asked.items())]
    if lines:
        return "\n".join([_HEAD, "", *lines])
    return ""


def prompt_of(file: Path, prompt: str) -> Path:
    """Return the path of a subagent's prompt, beside its YAML file."""
    return file.parent / (prompt or f"{file.stem}.md")


def _with_subagents_section(loaded: LoadedSubagent, every: Mapping[str, LoadedSubagent]) -> LoadedSubagent:
    asked = {name: every[name] for name in loaded.subagent.subagents if name in every}
    return replace(loaded, system="\n\n".join(filter(None, [loaded.system, subagents_section(asked)])))


def _load(file: Path, subagent: Subagent, roles: Roles, known: Mapping[str, Skill]) -> LoadedSubagent:
    prompt = prompt_of(file, subagent.prompt)
    text, _ = read_text(prompt)
    if text is None:
        raise ConfigError(f"The prompt {prompt} cannot be read as text; create it or correct its name.")
    output = cast(Schema | None, subagent.output)
    skills = granted_skills(subagent.own_skills, known)
    required = [required_text(skills[name], files=subagent.needs_own_run) for name in subagent.skills.required]
    form = ""
    if output is not None:
        form = instructions(output, ASKER)
    parts = [text.strip(), *required, form, planning(subagent.plan)]
    system = "\n\n".join(part for part in parts if part)
    return LoadedSubagent(subagent, system, roles.of(subagent.model.name), skills)
