"""The reviewed table of mistakes that authors make, `author_mistakes.yaml`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gofer.app.catalog import mistakes
from gofer.workflows.mistake import Mistake

Row = Mapping[str, Any]
TABLE: Mapping[str, Sequence[Row]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
_KEYS = {"description": "Answers.", "owner": '"#dev"', "when": "[slack.mention]"}
_FILES = {"defaults.yaml": "models: {default: gpt-5, judge: gpt-5-mini}\n", "w.md": "Do it.\n"}


def found(agents: Path, row: Row) -> list[Mistake]:
    """Write the files of a row into a folder of workflows, and return what the check finds in them."""
    own: Mapping[str, str] = row.get("files", {})
    for name, text in {**_FILES, "w.yaml": _workflow(row), **own}.items():
        file = agents / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name in own:
            written = (text * row.get("repeated", 1)).encode(row.get("encoding", "utf-8"))
        else:
            written = text.encode()
        if written:
            file.write_bytes(written)
    return mistakes(agents)


def _workflow(row: Row) -> str:
    keys = {**_KEYS, **row.get("keys", {})}
    if "when" in row:
        keys["when"] = f"\n  - {row['when']}"
    return "".join(f"{key}: {value}\n" for key, value in keys.items()) + row.get("more", "")
