"""The price list that travels with published workflows, so that a worker needs no library to know prices."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gofer.models.served_model import Listed, LookUp, listed_from_json
from gofer.values.canonical_json import as_list, as_object, as_text

FILE = ".models.json"
"""Where the list lies in the folder of the workflow files, once they are published or packaged."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """A price list that remembers what was looked up in another one."""

    look_up: LookUp
    _found: dict[tuple[str, str], Listed] = field(default_factory=dict[tuple[str, str], Listed])

    def __call__(self, model: str, base_url: str) -> Listed | None:
        """See LookUp."""
        listed = self.look_up(model, base_url)
        if listed is not None:
            self._found[model, base_url] = listed
        return listed

    def text(self) -> str:
        """Return the text of a file with all that was found."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        rows = [{"name": model, "base_url": url, **listed.to_json()} for (model, url), listed in found]
        return json.dumps(rows, indent=1) + "\n"


def recorded(folder: Path) -> LookUp:
    """Return the price list beside workflow files; an empty one where there is none, or where it cannot be read."""
    known = _read(folder / FILE)

    def look_up(model: str, base_url: str) -> Listed | None:
        return known.get((model, base_url))

    return look_up


def _read(path: Path) -> Mapping[tuple[str, str], Listed]:
    try:
        rows = as_list(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        # Prices limit runs and never decide whether there are any: without the list `tokens` limits them.
        return {}
    return {
        (as_text(row.get("name")), as_text(row.get("base_url"))): listed_from_json(row) for row in map(as_object, rows)
    }
