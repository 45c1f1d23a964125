"""What is a subagent: which model is asked, and what is it told before the question?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gofer.errors import ConfigError
from gofer.workflows.form import fill
from gofer.workflows.mistake import in_order, refuse
from gofer.workflows.output import check_schema, instructions
from gofer.workflows.schema import Chain, ModelChoice, Subagent
from gofer.workflows.source import read_source
from gofer.workflows.text import read_text

FOLDER = "subagents"
"""Where subagents stand, beside the folder of the workflow files."""


@dataclass(frozen=True, slots=True)
class LoadedSubagent:
    """One subagent with everything that stands in its files."""

    subagent: Subagent
    system: str
    """The prompt and the form of the answer, as the model reads them."""
    models: tuple[str, ...]
    """The providers' names of its models; each after the first is asked when those before it have no answer."""

    @property
    def output(self) -> Mapping[str, object] | None:
        """The schema of its answers; None for text."""
        return cast(Mapping[str, object] | None, self.subagent.output)

    def params(self) -> Sequence[Mapping[str, object]]:
        """The request parameters for each of its models, in the order in which they are asked."""
        return [parameters(self.subagent.model, model) for model in self.models]

    def to_json(self) -> dict[str, object]:
        """As a bundle keeps it."""
        return {"subagent": self.subagent.model_dump(mode="json"), "system": self.system, "models": self.models}


def subagent_from_json(value: Mapping[str, object]) -> LoadedSubagent:
    """The subagent of a bundle."""
    models = tuple(cast(Sequence[str], value["models"]))
    return LoadedSubagent(Subagent.model_validate(value["subagent"]), str(value["system"]), models)


def parameters(choice: ModelChoice, model: str) -> Mapping[str, object]:
    """What a request says of the model it is for."""
    params = {
        "model": model,
        "temperature": choice.temperature,
        "seed": choice.seed,
        "max_completion_tokens": choice.max_output_tokens,
    }
    return {name: value for name, value in params.items() if value is not None}


def subagent_files(root: Path) -> list[Path]:
    """The YAML files of subagents below a repository's root, in the order of their names."""
    return sorted((root / FOLDER).glob("*.yaml"))


def load_subagents(root: Path, roles: Mapping[str, Chain]) -> Mapping[str, LoadedSubagent]:
    """Every subagent by its name. Raises ConfigError with every file that cannot be read or is not of its form."""
    sources = [read_source(path) for path in subagent_files(root)]
    filled = [(source.file, *fill(source, Subagent)) for source in sources]
    refuse(in_order(mistake for _, _, mistakes in filled for mistake in mistakes))
    return {file.stem: _load(file, subagent, roles) for file, subagent, _ in filled if subagent is not None}


def _load(file: Path, subagent: Subagent, roles: Mapping[str, Chain]) -> LoadedSubagent:
    output = _schema(file, subagent.output)
    text, _ = read_text(file.with_suffix(".md"))
    if text is None:
        raise ConfigError(f"The prompt {file.with_suffix('.md')} cannot be read as text; create it.")
    parts = [text.strip(), instructions(output) if output is not None else ""]
    name = subagent.model.name
    system = "\n\n".join(part for part in parts if part)
    return LoadedSubagent(subagent.model_copy(update={"output": output}), system, roles.get(name, (name,)))


def _schema(file: Path, output: object) -> Mapping[str, object] | None:
    """The schema itself, from a file of its own when the subagent names one."""
    if not isinstance(output, str):
        return cast(Mapping[str, object] | None, output)
    text, _ = read_text(file.parent / output)
    try:
        schema: object = json.loads(text or "")
        check_schema(schema)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file.parent / output}: {error}.") from error
    return cast(Mapping[str, object], schema)
