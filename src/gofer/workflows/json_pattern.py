"""The patterns of JSON Schemas: matched in linear time by pydantic's engine, which does not backtrack."""

from functools import cache
from typing import Annotated

from pydantic import StringConstraints, TypeAdapter
from pydantic_core import SchemaError as BadPattern

QUOTED = 200
"""The most characters of the reason why a pattern is wrong."""


@cache
def matcher(pattern: str) -> TypeAdapter[str]:
    """Return a matcher that finds a pattern anywhere in a text, in linear time.

    Raises ValueError for a wrong pattern.
    """
    try:
        return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    except BadPattern as error:
        reason = " ".join(str(error).rpartition("error: ")[2].split())
        raise ValueError(f"{pattern[:80]!r} is not a pattern: {reason[:QUOTED]}") from error
