"""The form of the key `suggest` in `agents/defaults.yaml`."""

from pydantic import Field

from gofer.workflows.form_parts import Number, Strict

SUGGESTER_ROLE = "suggester"
"""The role of the model in `agents/defaults.yaml` that proposes edits. Without it, nothing is proposed."""


class Suggest(Strict):
    """The suggestions of `gofer suggest`."""

    usd: Number = Field(default=5.0, gt=0)
    """The most US dollars for one suggestion with its proof. The command stops when they are spent."""
