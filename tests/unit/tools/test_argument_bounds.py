"""The bounds that a workflow file sets for the arguments of a tool: what models see, and what calls may give."""

from dataclasses import replace

import pytest
from pydantic import Field

from gofer.engine.gates import Refused, permission
from gofer.engine.permitted_call import Permitted
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.values.canonical_json import as_object
from gofer.values.messages import ToolAsk
from gofer.workflows.grants import Bounds, Grant


class Issue(Arguments):
    """An issue."""

    project: str
    priority: str = Field(default="", description="Name of a priority.")
    assignee: str = ""
    labels: tuple[str, ...] = ()
    urgent: bool = False


async def act(call: Call, arguments: Issue) -> ToolResult:
    return ToolResult("", "")


FILE = Tool("file", "Files.", "keyed", Issue, act)
BOUNDS: Bounds = {
    "project": "SUP",
    "priority": ("Low", "Medium"),
    "assignee": "none",
    "labels": ("bug", "chat"),
    "urgent": False,
}


def asked(arguments: str, bounds: Bounds = BOUNDS) -> Permitted | Refused:
    return permission("1.0", ToolAsk("c", "file", arguments), {"file": replace(FILE, bounds=bounds)})


def test_model_sees_only_permitted_arguments_and_values() -> None:
    function = as_object(replace(FILE, bounds=BOUNDS).schema()["function"])
    assert function["parameters"] == {
        "type": "object",
        "required": ["project", "urgent"],
        "properties": {
            "project": {"type": "string", "enum": ["SUP"]},
            "priority": {"type": "string", "description": "Name of a priority.", "enum": ["Low", "Medium"]},
            "labels": {"type": "array", "items": {"type": "string", "enum": ["bug", "chat"]}},
            "urgent": {"type": "boolean", "enum": [False]},
        },
    }


def test_schema_without_bounds_is_that_of_the_tool() -> None:
    assert replace(FILE, bounds={}).schema() == FILE.schema()


@pytest.mark.parametrize(
    "arguments",
    [
        '{"project": "SUP"}',
        '{"project": "SUP", "priority": "Low", "labels": ["chat"], "urgent": false}',
        '{"project": "SUP", "priority": null, "assignee": "", "labels": []}',
    ],
)
def test_call_within_the_bounds_is_permitted(arguments: str) -> None:
    assert isinstance(asked(arguments), Permitted)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ('{"project": "PAY"}', '`project` must be "SUP"'),
        ('{"project": "sup"}', '`project` must be "SUP"'),
        ('{"project": "SUP", "priority": "Highest"}', '`priority` must be "Low" or "Medium"'),
        ('{"project": "SUP", "assignee": "CEO"}', "`assignee` must be left out"),
        ('{"project": "SUP", "labels": ["chat", "other"]}', '`labels` must be "bug" or "chat"'),
        ('{"project": "SUP", "urgent": true}', "`urgent` must be false"),
    ],
)
def test_call_beyond_the_bounds_is_refused_with_the_rule_and_the_values(arguments: str, wrong: str) -> None:
    refused = asked(arguments)
    assert isinstance(refused, Refused)
    assert refused.code == "bounded"
    said = "file was not called: the rule `arguments` of this workflow bounds it: "
    assert refused.text == f"{said}{wrong}. Call it so, or continue without it."


def test_fixed_value_must_be_given_because_the_default_is_another_one() -> None:
    refused = asked('{"project": "SUP"}', {"priority": "Low"})
    assert isinstance(refused, Refused)
    assert '`priority` must be "Low"' in refused.text


def test_bounds_are_part_of_a_bundle() -> None:
    grant = Grant.model_validate({"file": {"arguments": {"priority": ["Low", "Medium"], "assignee": "none"}}})
    assert grant.arguments == {"priority": ("Low", "Medium"), "assignee": "none"}
    assert Grant.model_validate(grant.model_dump(mode="json")) == grant
    assert Grant.model_validate({"file": {"once": "per_message"}}).model_dump(mode="json") == {
        "name": "file",
        "once": "per_message",
    }
