"""The descriptions of keys of workflow files: the docstrings below the fields of their forms.

This module reads them from the source only when a person asks for a schema or forgets a key. Pydantic would read the
source of every form at every start.
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from gofer.workflows.form_parts import Strict

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class DescribedSchema(GenerateJsonSchema):
    """A JSON Schema whose properties have the descriptions of their fields."""

    @override
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        form = schema["cls"]
        if not issubclass(form, Strict):
            return described
        for name, field in form.model_fields.items():
            if description := description_of(form, name):
                described["properties"][field.alias or name].setdefault("description", description)
        return described


def described_schema(form: type[Strict]) -> dict[str, object]:
    """Return the JSON Schema of a form, with the description of each key."""
    return form.model_json_schema(mode="validation", schema_generator=DescribedSchema)


def schema_text(title: str, schema: Mapping[str, object]) -> str:
    """Return a JSON Schema as the text of a file for editors."""
    whole = {"$schema": DRAFT, **schema, "title": title}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def description_of(form: type[Strict], name: str) -> str:
    """Return the description of a field; empty when the field has none."""
    if description := form.model_fields[name].description:
        return description
    return next((_described(base)[name] for base in form.__mro__ if name in _described(base)), "")


@cache
def _described(form: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of one class, by field name."""
    if not issubclass(form, Strict):
        return {}
    node: ast.AST = _tree(form.__module__)
    for part in form.__qualname__.split("."):
        inner = (
            child for child in ast.iter_child_nodes(node) if isinstance(child, ast.ClassDef) and child.name == part
        )
        node = next(inner, ast.Pass())
    return dict(_docstrings(node))


@cache
def _tree(module: str) -> ast.Module:
    """Return the syntax tree of a module; empty when the module has no source, such as a compiled package."""
    try:
        return ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return ast.Module([], [])


def _docstrings(node: ast.AST) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(ast.iter_child_nodes(node)):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
            case _:
                pass
