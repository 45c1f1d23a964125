"""How do the files of `agents/` become workflows that can run?"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from gofer.errors import ConfigError
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.output import check_schema, instructions
from gofer.workflows.schema import Allowance, Defaults, Workflow
from gofer.workflows.source import read_source
from gofer.workflows.text import read_text
from gofer.workflows.when import Where
from gofer.workflows.who import bots_apart

DEFAULTS = "defaults.yaml"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One workflow with everything its runs need that stands in files."""

    name: str
    workflow: Workflow
    system: str
    """The preamble, the prompt and the form of the answer, as the model reads them."""
    prompt_file: str
    """Path of the prompt below the repository, for people."""
    models: tuple[str, ...]
    """The providers' names of its models; each after the first is asked when those before it have no answer."""
    limits_per_person: Allowance = field(default_factory=Allowance)
    """What one person may use of all workflows together."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All workflows of a folder by name."""

    workflows: Mapping[str, Loaded]
    defaults: Defaults

    def routes(self) -> dict[str, list[tuple[str, Where]]]:
        """The compiled routes: workflows and their conditions by the kind of event that starts them."""
        compiled: dict[str, list[tuple[str, Where]]] = {}
        for name, loaded in sorted(self.workflows.items()):
            for trigger in loaded.workflow.when:
                for kind, where in trigger.compiled():
                    compiled.setdefault(kind, []).append((name, {**where, **bots_apart(loaded.workflow.who, kind)}))
        return compiled


def load_catalog(folder: Path) -> Catalog:
    """Every workflow of a folder. Raises ConfigError with every file that cannot be read or is not of its form."""
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}; run Gofer in the repository that holds your workflows.")
    defaults, mistakes = _defaults(folder)
    preamble = _text(folder / defaults.preamble, "preamble") if defaults.preamble else ""
    forms: dict[Path, Workflow] = {}
    for path in workflow_files(folder):
        workflow, found = fill(read_source(path), Workflow)
        mistakes += found
        if workflow is not None:
            forms[path] = workflow
    refuse(in_order(mistakes))
    loaded = [_load(path, workflow, defaults, preamble) for path, workflow in forms.items()]
    return Catalog({item.name: item for item in loaded}, defaults)


def workflow_files(folder: Path) -> list[Path]:
    """The workflow files of a folder, in the order of their names."""
    return sorted(path for path in folder.glob("*.yaml") if path.name != DEFAULTS)


def prompt_name(path: Path, prompt: str) -> str:
    """The name of a workflow's prompt, beside its file."""
    return prompt or f"{path.stem}.md"


def _defaults(folder: Path) -> tuple[Defaults, list[Mistake]]:
    path = folder / DEFAULTS
    if not path.exists():
        return Defaults(), []
    defaults, mistakes = fill(read_source(path), Defaults)
    return defaults or Defaults(), mistakes


def _load(path: Path, workflow: Workflow, defaults: Defaults, preamble: str) -> Loaded:
    # Limits are merged key by key: a file that sets `usd` keeps the other defaults of the house.
    limits = defaults.limits.model_copy(update=workflow.limits.model_dump(exclude_unset=True))
    both = defaults.limits_per_workflow.model_copy(update=workflow.limits_per_workflow.model_dump(exclude_unset=True))
    output = _output(path, workflow.output)
    workflow = workflow.model_copy(update={"limits": limits, "limits_per_workflow": both, "output": output})
    prompt = path.parent / prompt_name(path, workflow.prompt)
    parts = [preamble, _text(prompt, "prompt"), instructions(output) if output is not None else ""]
    return Loaded(
        name=path.stem,
        workflow=workflow,
        system="\n\n".join(part.strip() for part in parts if part.strip()),
        prompt_file=f"{path.parent.name}/{prompt.name}",
        models=defaults.models.get(workflow.model.name, (workflow.model.name,)),
        limits_per_person=defaults.limits_per_person,
    )


def _output(path: Path, output: object) -> Mapping[str, object] | None:
    """The schema of a workflow, from a file of its own when it names one."""
    if not isinstance(output, str):
        return cast(Mapping[str, object] | None, output)
    file = path.parent / output
    try:
        schema: object = json.loads(_text(file, "schema"))
        check_schema(schema)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {error}.") from error
    return cast(Mapping[str, object], schema)


def _text(path: Path, what: str) -> str:
    text, _ = read_text(path)
    if text is None:
        raise ConfigError(f"The {what} {path} cannot be read as text; create it or correct its name.")
    return text
