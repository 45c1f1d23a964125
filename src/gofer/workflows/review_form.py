"""The form of the key `review` in `agents/defaults.yaml`."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from gofer.workflows.form_parts import Number, Strict


class Review(Strict):
    """The review of ended runs by the model of the role `reviewer`."""

    sample: Number = Field(default=1.0, ge=0, le=1)
    """The share of runs that are reviewed, from 0 to 1."""


def _off(value: object) -> object:
    """Return the form of `off`, which YAML reads as false: no run is reviewed."""
    if value is False:
        return {"sample": 0}
    return value


ReviewSetting = Annotated[Review, BeforeValidator(_off, json_schema_input_type=Review | bool)]
