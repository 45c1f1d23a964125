"""What is a subagent: which model is asked, and what is it told before the question?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gofer.errors import ConfigError
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.output import instructions
from gofer.workflows.output_file import read_output
from gofer.workflows.output_schema import Schema
from gofer.workflows.parts import Names
from gofer.workflows.schema import ModelChoice, Subagent
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


def load_subagents(root: Path, roles: Mapping[str, Names]) -> Mapping[str, LoadedSubagent]:
    """Every subagent by its name. Raises ConfigError with every file that cannot be read or is not of its form."""
    mistakes: list[Mistake] = []
    filled: dict[Path, Subagent] = {}
    for source in (read_source(path) for path in subagent_files(root)):
        subagent, found = fill(source, Subagent)
        schema, wrong = read_output(source)
        mistakes += [*found, *wrong]
        if subagent is not None:
            filled[source.file] = subagent if schema is None else subagent.model_copy(update={"output": schema})
    refuse(in_order(mistakes))
    return {file.stem: _load(file, subagent, roles) for file, subagent in filled.items()}


def _load(file: Path, subagent: Subagent, roles: Mapping[str, Names]) -> LoadedSubagent:
    text, _ = read_text(file.with_suffix(".md"))
    if text is None:
        raise ConfigError(f"The prompt {file.with_suffix('.md')} cannot be read as text; create it.")
    output = cast(Schema | None, subagent.output)
    parts = [text.strip(), instructions(output) if output is not None else ""]
    name = subagent.model.name
    return LoadedSubagent(subagent, "\n\n".join(part for part in parts if part), roles.get(name, (name,)))
