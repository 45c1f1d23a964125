"""What holds for every part of a workflow file, and how does a part say what is wrong with it?"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

Number = Annotated[float, Field(strict=True)]
"""A number; true, false and quoted digits are none."""

Whole = Annotated[int, Field(strict=True, lt=2**63)]
"""A whole number that fits into 64 bits."""


class Strict(BaseModel):
    """A part of a file: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


def mistake(message: str, hint: str) -> PydanticCustomError:
    """For validators: what is wrong in one sentence, and what to write instead in another, as people will read them."""
    return PydanticCustomError("sentence", "{message} {hint}", {"message": message, "hint": hint})
