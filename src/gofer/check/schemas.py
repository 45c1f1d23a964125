"""Does each workflow name a schema that can be used, and is each JSON file used by one?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.workflows.mistake import START, Mistake
from gofer.workflows.output_file import output_name, read_output, schema_files
from gofer.workflows.yaml_source import Source


def check_schemas(folder: Path, workflows: Sequence[Source]) -> Iterator[Mistake]:
    """What is wrong with schema files that workflows name, and JSON files that none of them names."""
    for source in workflows:
        yield from read_output(source)[1]
    # Nobody can tell which schema a workflow means that cannot be read.
    if all(source.is_mapping for source in workflows):
        yield from _unused(folder, {output_name(source) for source in workflows})


def _unused(folder: Path, used: set[str | None]) -> Iterator[Mistake]:
    for path in schema_files(folder):
        if path.name not in used:
            hint = "Name it with `output` in a workflow, or delete it."
            yield Mistake(path, START, "unused-schema", "No workflow uses this file.", hint)
