"""Workflow files that triggers of every source may start: their form, and how folders and bundles of them are read."""

from pathlib import Path

from gofer.models.served_model import LookUp
from gofer.sources.triggers import DESTINATIONS, TRIGGER_KINDS, WORKPLACE
from gofer.workflows.bundle import Bundle, read_bundle
from gofer.workflows.load import Catalog, read_folder
from gofer.workflows.schema import defaults_form, workflow_form
from gofer.workflows.when import trigger_form
from gofer.workflows.writes import destinations_form

DestinationsForm = destinations_form([*DESTINATIONS.values()])
"""The form of the key `writes`."""
WorkflowForm = workflow_form(TRIGGER_KINDS, DestinationsForm, WORKPLACE)
"""The form of a workflow file."""
DefaultsForm = defaults_form(WORKPLACE)
"""The form of `agents/defaults.yaml`, for editors."""
TriggerForm = trigger_form(TRIGGER_KINDS)
"""The form of one trigger."""


def load_catalog(folder: Path, code: Path | None = None, look_up: LookUp | None = None) -> Catalog:
    """Return every workflow of a folder. Raises ConfigError; see workflows.load.read_folder."""
    return read_folder(folder, WorkflowForm, code, look_up)


def decode_bundle(raw: bytes) -> Bundle:
    """Return the bundle of its bytes."""
    return read_bundle(raw, WorkflowForm)
