"""The forms of the key `review`: in `agents/defaults.yaml`, and in the file of a workflow."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from gofer.workflows.form_parts import Number, Strict

REVIEWER_ROLE = "reviewer"
"""The role of the model in `agents/defaults.yaml`. Without it, no run is reviewed."""


class Review(Strict):
    """The review of ended runs by the model of the role `reviewer`."""

    sample: Number = Field(default=1.0, ge=0, le=1)
    """The share of runs that are reviewed, from 0 to 1."""


class Reviews(Review):
    """The reviews of all workflows."""

    usd_per_day: Number = Field(default=5.0, gt=0)
    """The most US dollars for the reviews of one day in UTC, of all workflows together. Runs above it stay without a
    review."""


def _off(value: object) -> object:
    """Return the form of `off`, which YAML reads as false: no run is reviewed."""
    if value is False:
        return {"sample": 0}
    return value


ReviewsSetting = Annotated[Reviews, BeforeValidator(_off, json_schema_input_type=Reviews | bool)]
ReviewSetting = Annotated[Review | None, BeforeValidator(_off, json_schema_input_type=Review | bool)]
