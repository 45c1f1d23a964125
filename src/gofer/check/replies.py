"""The `reply_template` of each workflow, compared with the fields of its `output`."""

from collections.abc import Iterator, Sequence

from gofer.values.canonical_json import as_object
from gofer.workflows.mistake import Mistake
from gofer.workflows.output_file import output_name, read_output
from gofer.workflows.output_schema import Schema, flaws
from gofer.workflows.reply_template import fields_in, fields_of
from gofer.workflows.sentences import close_match
from gofer.workflows.yaml_source import Source

_LISTED = 20
"""Fields that a hint lists at most."""


def check_replies(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Yield templates without an `output`, and the fields of templates that their `output` does not have."""
    for source in workflows:
        template = source.fields.get("reply_template")
        if isinstance(template, str) and template:
            yield from _check(source, template)


def _check(source: Source, template: str) -> Iterator[Mistake]:
    place = source.place(("reply_template",))
    if source.fields.get("output") is None:
        message = "There is no `output` whose fields the template could show."
        hint = "Write the `output` of the workflow, or remove `reply_template`: a text is the answer itself."
        yield Mistake(source.file, place, "template-without-output", message, hint)
        return
    schema = _schema(source)
    if schema is None:
        # What is wrong with the schema is told by itself.
        return
    known = fields_in(schema)
    for name in fields_of(template):
        if name not in known:
            message = f"`{{{name[:80]}}}` is no top-level field of `output`."
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
    braces = "For braces that people read write `{{` and `}}`."
    if not known:
        return f"Name the fields under `properties` of `output`. {braces}"
    return f"The fields are {', '.join(known[:_LISTED])}. {braces}"
