"""The trigger of a new workflow, and an example of an event that starts it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gofer.app.new_repository.shipped import shipped
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.sources.workflow_files import load_catalog
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.values.errors import ConfigError
from gofer.workflows.yaml_source import read_source

KINDS = tuple(kind.name for kind in TRIGGER_KINDS)
"""The kinds of triggers, in the order of their sources."""
_EXAMPLES = {"emoji": "memo"}
"""Examples of conditions that a trigger must have and whose kind gives none."""
_MONDAY = '{cron: "0 9 ? * MON *"}'


def trigger(kind: str, name: str) -> str:
    """Return one line of `when:` for a kind. Raises ConfigError for an unknown kind."""
    found = next((each for each in TRIGGER_KINDS if each.name == kind), None)
    if found is None:
        raise ConfigError(f"There is no trigger {kind!r}. There are: {', '.join(KINDS)}.")
    if kind == "schedule":
        return f"{kind}: {_MONDAY}"
    fields = found.form.model_fields
    conditions = {condition: _EXAMPLES.get(condition, name) for condition, each in fields.items() if each.is_required()}
    if found.place:
        condition, _, value = found.place.partition(": ")
        conditions[condition] = value
    if not conditions:
        return kind
    written = ", ".join(f"{condition}: {value}" for condition, value in conditions.items())
    return f"{kind}: {{{written}}}"


@dataclass(frozen=True, slots=True)
class Example:
    """An event that starts a workflow with a kind of trigger, as a case of an eval has it."""

    trigger: str
    """The `trigger` of the case."""
    world: str
    """The `world` of the case."""
    files: Mapping[str, bytes]
    """The files that both name, by their paths in `evals/`."""


def example_of(kind: str) -> Example | None:
    """Return the event of a shipped workflow with such a trigger; None if there is none."""
    folder = shipped()
    for name, loaded in load_catalog(folder / "agents").workflows.items():
        source = folder / "evals" / f"{name}.yaml"
        if any(each.kind == kind for each in loaded.workflow.when) and source.is_file():
            written = read_source(source).fields
            (first, *_) = as_list(written.get("cases"))
            case = as_object(first)
            world = as_text(case.get("world")) or as_text(written.get("world")) or "demo"
            return _example(as_object(case.get("trigger")), world, folder / "evals")
    return None


def _example(found: Mapping[str, object], world: str, evals: Path) -> Example:
    named = [as_text(found.get("payload")), world]
    files = {path: (evals / path).read_bytes() for path in named if "/" in path}
    return Example(encode_text(found), world, files)
