"""The parts of Gofer that a company chooses to install, and the sentence about one that is missing."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

PARTS: Mapping[str, Sequence[str]] = {
    "aws": ("aws_lambda_powertools", "boto3", "botocore"),
    "files": ("PIL", "lxml", "olefile", "pypdfium2", "python_calamine", "selectolax"),
    "python": ("pydantic_monty",),
    "slack": ("aiohttp", "slack_bolt", "slack_sdk"),
}
"""The importable names of the libraries of each part. `[project.optional-dependencies]` has the versions."""


def is_installed(part: str) -> bool:
    """Return whether the libraries of a part can be imported. None of them is imported."""
    return all(find_spec(library) is not None for library in PARTS[part])


def part_of(error: ModuleNotFoundError) -> str:
    """Return the part that brings the module; empty for a module of no part."""
    library = (error.name or "").partition(".")[0]
    return next((part for part, libraries in PARTS.items() if library in libraries), "")


def how_to_install(part: str) -> str:
    """Return what an operator does about a missing part, without a full stop."""
    return f"install gofer[{part}], or add {part} to gofer[...] in pyproject.toml and run `gofer upgrade`"
