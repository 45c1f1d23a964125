"""The JSON Schemas of the files that people write, made for editors from the forms of `schema`."""

import json
from collections.abc import Collection, Mapping
from typing import cast

from gofer.workflows.form_parts import Strict
from gofer.workflows.schema import Defaults, Subagent, Workflow

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def workflow_schema(tools: Collection[str], form: type[Workflow]) -> str:
    """Return the JSON Schema of a workflow file of a form that may list these tools, as text."""
    schema = _schema(form)
    properties = cast(dict[str, dict[str, object]], schema["properties"])
    names: Mapping[str, object] = {"enum": sorted(tools)}
    alone, optioned = cast(list[dict[str, object]], cast(Mapping[str, object], properties["tools"]["items"])["anyOf"])
    optioned |= {"propertyNames": names, "minProperties": 1, "maxProperties": 1}
    properties["tools"] |= {"items": {"anyOf": [alone | names, optioned]}, "uniqueItems": True}
    return _text("A workflow of Gofer", schema)


def subagent_schema(tools: Collection[str]) -> str:
    """Return the JSON Schema of a file of `subagents/` that may list these tools, as text."""
    schema = _schema(Subagent)
    properties = cast(dict[str, dict[str, object]], schema["properties"])
    listed = cast(list[dict[str, object]], properties["tools"]["anyOf"])[0]
    listed |= {"items": {"type": "string", "enum": sorted(tools)}, "uniqueItems": True}
    return _text("A subagent of Gofer", schema)


def defaults_schema(form: type[Defaults]) -> str:
    """Return the JSON Schema of defaults.yaml by its form, as text."""
    return _text("What holds for every workflow of Gofer", _schema(form))


def _schema(form: type[Strict]) -> dict[str, object]:
    return form.model_json_schema(mode="validation")


def _text(title: str, schema: Mapping[str, object]) -> str:
    whole = {"$schema": DRAFT, **schema, "title": title}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
