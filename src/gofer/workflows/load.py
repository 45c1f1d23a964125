"""The loader: turns the files of `agents/` into workflows that can run."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from gofer.models.served_model import LookUp, ServedModel
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ConfigError
from gofer.workflows.allowed_skills import granted_skills
from gofer.workflows.feedback_emoji import KEY, FeedbackEmoji
from gofer.workflows.file_text import read_text
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.model_roles import Roles, recorded
from gofer.workflows.output import PEOPLE, instructions
from gofer.workflows.output_file import read_output
from gofer.workflows.output_schema import Schema
from gofer.workflows.prompt_sections import planning, required_text, skills_and_tools
from gofer.workflows.schema import Allowance, Defaults, Workflow
from gofer.workflows.script_source import Script, load_script
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import Skill, read_skills
from gofer.workflows.subagent import LoadedSubagent, load_subagents, reached, subagents_section
from gofer.workflows.webhook_form import compile_hooks
from gofer.workflows.when import Where
from gofer.workflows.yaml_source import read_source

DEFAULTS = "defaults.yaml"
SEARCH_ROLE = "search"
"""The role of the models that select tools and skills in a search."""
WORST_CASES = ".worst_cases.json"
"""What each workflow could do at worst, in the folder of the workflow files, written when they are published."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One workflow with everything from files that its runs need."""

    name: str
    workflow: Workflow
    system: str
    """The system prompt: preamble, prompt and output instructions; empty for a script."""
    prompt_file: str
    """The path of the prompt, or of the script, in the repository. It is shown to people."""
    models: tuple[ServedModel, ...]
    """The models of the workflow. A run asks each after the first only when those before it gave no answer."""
    limits_per_person: Allowance = field(default_factory=Allowance)
    """The limits of one person over all workflows together."""
    script_sha256: str = ""
    """The hash of the script; empty without a script."""
    subagents: Mapping[str, LoadedSubagent] = field(default_factory=dict[str, LoadedSubagent])
    """The subagents that the workflow may call, directly or through other subagents, by name."""
    search_models: tuple[ServedModel, ...] = ()
    """The models that select tools and skills in a search. Without them, the search compares words only."""
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    """The required skills and those that the model may load, by name."""
    prompt_span: tuple[int, int] | None = None
    """The begin and the end of the prompt in the system prompt; None without a prompt, or if it is not known."""

    def with_prompt(self, text: str) -> "Loaded":
        """Return the workflow with another prompt. Raises ConfigError if the place of the prompt is not known."""
        if self.prompt_span is None:
            raise ConfigError(
                f"The prompt of {self.name} cannot be replaced: it has none, or an earlier version of Gofer loaded it."
            )
        start, stop = self.prompt_span
        prompt = text.strip()
        system = f"{self.system[:start]}{prompt}{self.system[stop:]}"
        return replace(self, system=system, prompt_span=(start, start + len(prompt)))

    @property
    def direct_subagents(self) -> Mapping[str, LoadedSubagent]:
        """The subagents that the workflow may call itself, by name."""
        listed = self.workflow.subagents
        return {name: loaded for name, loaded in self.subagents.items() if listed is None or name in listed}

    def every_model(self) -> Iterator[ServedModel]:
        """Yield the workflow's own models, then those of its subagents, then those of the role `search`."""
        yield from self.models
        for subagent in self.subagents.values():
            yield from subagent.models
        yield from self.search_models


@dataclass(frozen=True, slots=True)
class Catalog:
    """All workflows of a folder, by name, with their webhooks and scripts."""

    workflows: Mapping[str, Loaded]
    defaults: Defaults
    hooks: Mapping[str, object] = field(default_factory=dict[str, object])
    """The compiled webhooks by name, as plain JSON."""
    scripts: Mapping[str, Script] = field(default_factory=dict[str, Script])
    """The scripts of the workflows, by file."""
    worst_cases: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each workflow could do at worst, as it was published; empty for the files of a repository."""

    def review_share(self, workflow: str) -> float:
        """Return the share of the runs of a workflow that are reviewed, from 0 to 1."""
        loaded = self.workflows.get(workflow)
        if loaded is None or loaded.workflow.review is None:
            return self.defaults.review.sample
        return loaded.workflow.review.sample

    def routes(self) -> dict[str, list[tuple[str, Where]]]:
        """Return the compiled routes: workflows and their conditions by the kind of event that starts them.

        Emoji for feedback that differ from the defaults are one more item, which `read_routes` knows.
        """
        compiled: dict[str, list[tuple[str, Where]]] = {}
        if (emoji := self.defaults.feedback.emoji) != FeedbackEmoji():
            compiled[KEY] = [*emoji.compiled()]
        for name, loaded in sorted(self.workflows.items()):
            for trigger in loaded.workflow.when:
                for kind, where in trigger.routes(loaded.workflow.who):
                    if kind == "schedule":
                        compiled.setdefault(kind, []).append((name, {"workflow": [name]}))
                    else:
                        compiled.setdefault(kind, []).append((name, where))
        return compiled

    def schedules(self) -> list[tuple[str, object]]:
        """Return each workflow with its compiled schedule, as plain JSON, sorted by name."""
        return [
            (name, trigger.times.compiled())
            for name, loaded in sorted(self.workflows.items())
            for trigger in loaded.workflow.when
            if trigger.times is not None
        ]


def read_folder(folder: Path, form: type[Workflow], code: Path | None = None, look_up: LookUp | None = None) -> Catalog:
    """Return every workflow of a folder as an instance of `form`. Raises ConfigError with the mistakes of all files.

    `code` is the folder that contains `coordinators/`, when the scripts were deployed apart from the workflow files. A
    missing script is then no mistake: only the runs of its workflow fail. `look_up` is the price list for models
    without a price in the files; by default the price list that was published with the files.
    """
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}; run Gofer in the repository that holds your workflows.")
    defaults, mistakes = _defaults(folder)
    if defaults.preamble:
        preamble = _text(folder / defaults.preamble, "preamble")
    else:
        preamble = ""
    forms: dict[Path, Workflow] = {}
    for path in workflow_files(folder):
        source = read_source(path)
        workflow, found = fill(source, form)
        schema, wrong = read_output(source)
        mistakes += [*found, *wrong]
        if workflow is not None:
            if schema is not None:
                forms[path] = workflow.model_copy(update={"output": schema})
            else:
                forms[path] = workflow
    refuse(in_order(mistakes))
    hooks = compile_hooks(
        (path, trigger.hook)
        for path, workflow in forms.items()
        for trigger in workflow.when
        if trigger.hook is not None
    )
    skills = read_skills(folder.parent / SKILLS)
    roles = defaults.roles(look_up or recorded(folder))
    subagents = load_subagents(folder.parent, roles, skills)
    scripts: dict[str, Script] = {}
    loaded: list[Loaded] = []
    for path, workflow in forms.items():
        item = replace(
            _load(path, workflow, defaults, roles, preamble, skills), subagents=_callable_subagents(workflow, subagents)
        )
        if workflow.coordinator == "llm" and (offered := subagents_section(item.direct_subagents)):
            item = replace(item, system=f"{item.system}\n\n{offered}")
        if workflow.coordinator == "script" and (script := _script(path, workflow.coordinator_script, code)):
            scripts[script.file] = script
            item = replace(item, script_sha256=script.sha256)
        loaded.append(item)
    return Catalog({item.name: item for item in loaded}, defaults, hooks, scripts, _worst_cases(folder))


def _worst_cases(folder: Path) -> Mapping[str, str]:
    try:
        found = as_object(json.loads((folder / WORST_CASES).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: as_text(text) for name, text in found.items()}


def _callable_subagents(workflow: Workflow, subagents: Mapping[str, LoadedSubagent]) -> Mapping[str, LoadedSubagent]:
    """Return the subagents that a workflow may call, directly or through others."""
    if workflow.subagents is not None:
        return reached(subagents, workflow.subagents)
    if workflow.coordinator == "script":
        return reached(subagents, subagents)
    return {}


def workflow_files(folder: Path) -> list[Path]:
    """Return the workflow files of a folder, sorted by name."""
    return sorted(path for path in folder.glob("*.yaml") if path.name != DEFAULTS)


def prompt_name(path: Path, prompt: str) -> str:
    """Return the file name of a workflow's prompt."""
    return prompt or f"{path.stem}.md"


def _defaults(folder: Path) -> tuple[Defaults, list[Mistake]]:
    path = folder / DEFAULTS
    if not path.exists():
        return Defaults(), []
    defaults, mistakes = fill(read_source(path), Defaults)
    return defaults or Defaults(), mistakes


def _load(
    path: Path, workflow: Workflow, defaults: Defaults, roles: Roles, preamble: str, known: Mapping[str, Skill]
) -> Loaded:
    # Limits are merged key by key: a file that sets only `usd` keeps the other limits of defaults.yaml.
    limits = defaults.limits.model_copy(update=workflow.limits.model_dump(exclude_unset=True))
    workflow_limits = defaults.limits_per_workflow.model_copy(
        update=workflow.limits_per_workflow.model_dump(exclude_unset=True)
    )
    links = tuple(dict.fromkeys([*defaults.links, *workflow.links]))
    workflow = workflow.model_copy(
        update={"limits": limits, "limits_per_workflow": workflow_limits, "links": links},
    )
    output = cast(Schema | None, workflow.output)
    system = ""
    prompt_span: tuple[int, int] | None = None
    prompt_file = workflow.coordinator_script
    skills = dict[str, Skill]()
    if workflow.coordinator == "llm":
        prompt = path.parent / prompt_name(path, workflow.prompt)
        skills = dict(granted_skills(workflow.skills, known))
        required = [required_text(skills[name]) for name in workflow.skills.required]
        form = ""
        if output is not None:
            form = instructions(output, PEOPLE)
        # The parts that most workflows share come first, so that providers can cache a longer common beginning of
        # requests.
        shared = [preamble, planning(workflow.plan)]
        before = _joined(shared)
        text = _joined([_text(prompt, "prompt")])
        system = _joined([before, text, *required, form, skills_and_tools(workflow, skills)])
        prompt_start = len(_joined([before, "."])) - 1
        prompt_span = (prompt_start, prompt_start + len(text))
        prompt_file = f"{path.parent.name}/{prompt.name}"
    return Loaded(
        name=path.stem,
        workflow=workflow,
        system=system,
        prompt_file=prompt_file,
        models=roles.of(workflow.model.name),
        limits_per_person=defaults.limits_per_person,
        search_models=roles.playing(SEARCH_ROLE),
        skills=skills,
        prompt_span=prompt_span,
    )


def _joined(parts: Iterable[str]) -> str:
    """Return the parts of a prompt as one text, without the empty ones."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _script(path: Path, file: str, code: Path | None) -> Script | None:
    try:
        return load_script(code or path.parent.parent, file)
    except ValueError as error:
        if code is not None:
            _log.error(
                "this deployment lacks the script of the workflow %s: %s; deploy the version that contains the script",
                path.stem,
                error,
            )
            return None
        raise ConfigError(f"The script of {path} cannot be used: {error}.") from error


def _text(path: Path, what: str) -> str:
    text, _ = read_text(path)
    if text is None:
        raise ConfigError(f"The {what} {path} cannot be read as text; create it or correct its name.")
    return text
