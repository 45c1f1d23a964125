"""Labelled examples of a criterion: JSON lines that people wrote."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from gofer.evals.judging.material import Material
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.workflows.file_text import read_bytes
from gofer.workflows.form_parts import Strict

MOST = 500
"""The most examples of a file."""
LARGEST = 5_000_000
"""The most bytes of a file."""
_HINT = 'Write {"text": "…", "label": "CORRECT"} or {"text": "…", "label": "INCORRECT"} in one line.'


class Label(Strict):
    """One example: a text that a judge may get, and the verdict of a person."""

    text: str = Field(min_length=1, max_length=20_000)
    """A text, or the JSON object of a material."""
    label: Literal["CORRECT", "INCORRECT"]
    note: str = ""
    """Why the person decided so; the judge does not see it."""

    @property
    def material(self) -> Material:
        """The example as the judge gets it."""
        if self.text.lstrip().startswith("{"):
            try:
                return as_object(decode(self.text.encode(errors="replace"))) or {"text": self.text}
            except BadRequest:
                pass
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Labels:
    """The examples of one file."""

    examples: Sequence[Label]
    sha256: str
    """The hash of the file."""


def read_labels(path: Path) -> Labels:
    """Return the examples of a file. Raises ConfigError, which names the line."""
    try:
        raw = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"The labels {path} cannot be read. Create the file, or correct `labels`.") from error
    if len(raw) > LARGEST:
        raise ConfigError(f"The labels {path} have more than {LARGEST:,} bytes. Keep fewer examples.")
    lines = [(number, line) for number, line in enumerate(raw.splitlines(), start=1) if line.strip()]
    if len(lines) > MOST:
        raise ConfigError(f"The labels {path} have more than {MOST} examples. Keep fewer examples.")
    return Labels([_label(path, number, line) for number, line in lines], hashlib.sha256(raw).hexdigest())


def _label(path: Path, number: int, line: bytes) -> Label:
    try:
        return Label.model_validate(decode(line))
    except (BadRequest, ValidationError) as error:
        raise ConfigError(f"Line {number} of the labels {path} is no labelled example. {_HINT}") from error
