"""The form of workflow files with the triggers of all sources, and the reading of folders and bundles of them."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

from gofer.models.served_model import LookUp
from gofer.sources.triggers import DESTINATIONS, TRIGGER_KINDS, WORKPLACE_NAME, WORKPLACE_SOURCE
from gofer.workflows.bundle import Bundle, read_bundle
from gofer.workflows.field_descriptions import described_schema, schema_text
from gofer.workflows.load import DEFAULTS, Catalog, read_folder
from gofer.workflows.schema import Defaults, Subagent, Workflow, defaults_form, workflow_form
from gofer.workflows.when import trigger_form
from gofer.workflows.writes import destinations_form, readable_form

BUNDLES_KEPT = 32
"""The most bundles that a process keeps read; most runs begin with one of a few."""
DestinationsForm = destinations_form([*DESTINATIONS.values()])
"""The form of the key `writes`."""
READABLE = {name: one for name, one in DESTINATIONS.items() if name != WORKPLACE_SOURCE}
"""The systems whose places the key `reads` can list, by the key of each."""
ReadableForm = readable_form([*READABLE.values()])
"""The form of the key `reads`. Channels that a run may read are listed under `writes`."""
WorkflowForm = workflow_form(TRIGGER_KINDS, DestinationsForm, ReadableForm, WORKPLACE_NAME)
"""The form of a workflow file."""
TriggerForm = trigger_form(TRIGGER_KINDS)
"""The form of one trigger."""


def load_catalog(folder: Path, code: Path | None = None, look_up: LookUp | None = None) -> Catalog:
    """Return every workflow of a folder, as `workflows.load.read_folder` does. Raises ConfigError."""
    return read_folder(folder, WorkflowForm, code, look_up)


def names_channel(owner: str) -> bool:
    """Return whether an owner is a channel or group of the workplace, and not an e-mail address or a name."""
    return owner.startswith(("#", "@"))


def used_sources(workflows: Mapping[str, Workflow], defaults: Defaults) -> Mapping[str, str]:
    """Return the sources that workflows need, each with the first part that needs it, for people."""
    found: dict[str, str] = {}
    for name, workflow in sorted(workflows.items()):
        for source, part in _needs(workflow):
            found.setdefault(source, f"`{part}` of agents/{name}.yaml")
    if defaults.ai_logs:
        found.setdefault(WORKPLACE_SOURCE, f"`ai_logs` of agents/{DEFAULTS}")
    return found


def _needs(workflow: Workflow) -> Iterator[tuple[str, str]]:
    for trigger in workflow.when:
        yield trigger.kind.partition(".")[0], trigger.kind
    for tool in workflow.tool_names:
        yield tool.partition("_")[0], tool
    if workflow.approve is not None:
        yield WORKPLACE_SOURCE, "approve"
    if names_channel(workflow.owner):
        yield WORKPLACE_SOURCE, f"owner: {workflow.owner}"


@lru_cache(maxsize=BUNDLES_KEPT)
def decode_bundle(raw: bytes) -> Bundle:
    """Return the bundle that is encoded in bytes. Runs that began with equal files share one, which never changes."""
    return read_bundle(raw, WorkflowForm)


def workflow_schema(tools: Collection[str]) -> str:
    """Return the JSON Schema of a workflow file as text. `tools` are the names that the file may list."""
    schema = described_schema(WorkflowForm)
    properties = cast(dict[str, dict[str, object]], schema["properties"])
    names: Mapping[str, object] = {"enum": sorted(tools)}
    alone, optioned = cast(list[dict[str, object]], cast(Mapping[str, object], properties["tools"]["items"])["anyOf"])
    optioned |= {"propertyNames": names, "minProperties": 1, "maxProperties": 1}
    properties["tools"] |= {"items": {"anyOf": [alone | names, optioned]}, "uniqueItems": True}
    return schema_text("A workflow of Gofer", schema)


def subagent_schema(tools: Collection[str]) -> str:
    """Return the JSON Schema of a file in `subagents/` as text. `tools` are the names that the file may list."""
    schema = described_schema(Subagent)
    properties = cast(dict[str, dict[str, object]], schema["properties"])
    listed = cast(list[dict[str, object]], properties["tools"]["anyOf"])[0]
    listed |= {"items": {"type": "string", "enum": sorted(tools)}, "uniqueItems": True}
    return schema_text("A subagent of Gofer", schema)


def defaults_schema() -> str:
    """Return the JSON Schema of defaults.yaml, as text."""
    return schema_text("Defaults of every workflow of Gofer", described_schema(defaults_form(WORKPLACE_NAME)))
