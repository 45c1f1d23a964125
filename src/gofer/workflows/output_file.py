"""The schema in the file that `output` names, and every mistake of the name and of the file."""

from pathlib import Path

from gofer.workflows.json_source import read_json
from gofer.workflows.mistake import Mistake
from gofer.workflows.output_schema import Schema, flaws
from gofer.workflows.sentences import close_match, invalid_schema
from gofer.workflows.yaml_source import Source

EDITORS = ("workflow.schema.json", "defaults.schema.json", "subagent.schema.json")
"""Files that are for editors; `gofer schema` prints them."""


def output_name(source: Source) -> str | None:
    """Return the file that a workflow names as its `output`; None when it names none."""
    name = source.fields.get("output")
    if isinstance(name, str):
        return name
    return None


def schema_files(folder: Path) -> list[Path]:
    """Return the .json files of a folder that can only be schemas of workflows, in the order of their names."""
    files = (path for path in folder.glob("*.json") if not path.name.startswith(".") and path.name not in EDITORS)
    return sorted(path for path in files if path.is_file())


def read_output(source: Source) -> tuple[Schema | None, list[Mistake]]:
    """Return the schema in the file that a workflow names, or None; and what is wrong with both. Never raises."""
    name = output_name(source)
    if name is None:
        return None, []
    place = source.place(("output",))
    if "/" in name or "\\" in name or name in (".", ".."):
        hint = "Write the name of a file that stands beside this one."
        return None, [Mistake(source.file, place, "schema-elsewhere", f"`{name[:80]}` is a path.", hint)]
    file = source.file.parent / name
    if not name or not _is_file(file):
        return None, [Mistake(source.file, place, "missing-schema", *_missing(file, name))]
    return _read(file)


def _read(file: Path) -> tuple[Schema | None, list[Mistake]]:
    found = read_json(file)
    if found.mistakes and not found.values:
        return None, list(found.mistakes)
    mistakes = list(found.mistakes)
    for flaw in flaws(found.value):
        message = invalid_schema(flaw.way, flaw.why)
        mistakes.append(Mistake(file, found.place(flaw.way), "invalid-schema", message, flaw.instead))
    return (None if mistakes else found.fields), mistakes


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        # ValueError: a name with a zero byte in it.
        return False


def _missing(file: Path, name: str) -> tuple[str, str]:
    if not name:
        return "`output` is empty.", "Write a JSON Schema or the name of a .json file beside this one, or remove it."
    if any(path.name == name and path.is_dir() for path in file.parent.iterdir()):
        return f"`{name[:80]}` is a folder.", "Write the name of a .json file that stands beside this one."
    message = f"There is no file `{name[:80]}` beside this one."
    meant = close_match(name, [path.name for path in schema_files(file.parent)])
    if not meant:
        return message, "Create it, or remove `output`."
    return message, f"Write `output: {meant}`, or create the file."
