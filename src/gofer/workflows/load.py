"""How do the files of `agents/` become workflows that can run?"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

import yaml
from pydantic import ValidationError

from gofer.errors import ConfigError
from gofer.workflows.output import check_schema, instructions
from gofer.workflows.schema import Allowance, Defaults, Strict, Workflow

DEFAULTS = "defaults.yaml"
F = TypeVar("F", bound=Strict)


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

    def routes(self) -> dict[str, list[str]]:
        """The compiled routes: workflow names by the kind of event that starts them."""
        compiled: dict[str, list[str]] = {}
        for name, loaded in sorted(self.workflows.items()):
            for kind in loaded.workflow.when:
                compiled.setdefault(kind, []).append(name)
        return compiled


def load_catalog(folder: Path) -> Catalog:
    """Every workflow of a folder. Raises ConfigError naming the file that is wrong."""
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}; run Gofer in the repository that holds your workflows.")
    defaults = _read(folder / DEFAULTS, Defaults) if (folder / DEFAULTS).exists() else Defaults()
    preamble = _text(folder / defaults.preamble, "preamble") if defaults.preamble else ""
    paths = sorted(path for path in folder.glob("*.yaml") if path.name != DEFAULTS)
    loaded = [_load(path, defaults, preamble) for path in paths]
    return Catalog({item.name: item for item in loaded}, defaults)


def _load(path: Path, defaults: Defaults, preamble: str) -> Loaded:
    workflow = _read(path, Workflow)
    # Limits are merged key by key: a file that sets `usd` keeps the other defaults of the house.
    limits = defaults.limits.model_copy(update=workflow.limits.model_dump(exclude_unset=True))
    both = defaults.limits_per_workflow.model_copy(update=workflow.limits_per_workflow.model_dump(exclude_unset=True))
    output = _output(path, workflow.output)
    workflow = workflow.model_copy(update={"limits": limits, "limits_per_workflow": both, "output": output})
    prompt = path.parent / (workflow.prompt or f"{path.stem}.md")
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


def _read(path: Path, form: type[F]) -> F:
    try:
        value: object = yaml.load(_text(path, "file"), Loader=yaml.CSafeLoader)
        return form.model_validate(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(f"{path}: {where}: {first['msg']}.") from error


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The {what} {path} cannot be read as text; create it or correct its name.") from error
