"""Mistakes in the answers of workflows: the schema files that `output` names, and the fields of `reply_template`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.values.canonical_json import as_object
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.output_file import output_name, read_output, schema_files
from gofer.workflows.output_schema import Schema, flaws
from gofer.workflows.reply_template import fields_in, fields_of
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Source


def check_schemas(folder: Path, workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Yield the mistakes in named schema files, and a mistake for each JSON file that no workflow names."""
    for source in workflows:
        yield from read_output(source)[1]
    # An unreadable workflow may use any schema, so no schema can be called unused.
    if all(source.is_mapping for source in workflows):
        yield from _unused(folder, {output_name(source) for source in workflows})


def _unused(folder: Path, used: set[str | None]) -> Iterator[Mistake]:
    for path in schema_files(folder):
        if path.name not in used:
            hint = "Name it with `output` in a workflow, or delete it."
            yield Mistake(path, START, "unused-schema", "No workflow uses this file.", hint)


_LISTED = 20
"""The most fields that a hint lists."""


def check_replies(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Yield templates of workflows without `output`, and template fields that are not in `output`."""
    for source in workflows:
        template = source.fields.get("reply_template")
        if isinstance(template, str) and template:
            yield from _check(source, template)


def _check(source: Source, template: str) -> Iterator[Mistake]:
    place = source.place(("reply_template",))
    if source.fields.get("output") is None:
        message = "The workflow has no `output` with fields for the template."
        hint = "Add `output` to the workflow, or remove `reply_template`, because a text answer is posted unchanged."
        yield Mistake(source.file, place, "template-without-output", message, hint)
        return
    schema = _schema(source)
    if schema is None:
        # The check of the schema reports its own mistakes.
        return
    known = fields_in(schema)
    for name in fields_of(template):
        if name not in known:
            message = f"`{{{name[:80]}}}` is not a top-level field of `output`."
            yield Mistake(source.file, place, "unknown-field", message, _hint(name, known))


def _schema(source: Source) -> Schema | None:
    if output_name(source) is not None:
        return read_output(source)[0]
    schema = as_object(source.fields.get("output"))
    if flaws(schema):
        return None
    return schema


def _hint(name: str, known: Sequence[str]) -> str:
    if meant := close_match(name, known):
        return f"Write `{{{meant}}}`."
    braces = "To show braces to people, write `{{` and `}}`."
    if not known:
        return f"List the fields under `properties` of `output`. {braces}"
    return f"The fields are {', '.join(known[:_LISTED])}. {braces}"
