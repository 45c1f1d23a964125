"""The JSON schema of workflow files for editors: accepts the same files as Gofer, and completes names."""

import json
import re
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from gofer.app.catalog import tool_names
from gofer.sources.triggers import KINDS
from gofer.sources.workflow_files import TriggerForm as Trigger
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.sources.workflow_files import decode_bundle, defaults_schema, load_catalog, subagent_schema, workflow_schema
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.schema import Defaults, Subagent

AGENTS = Path(__file__).parents[3] / "agents"


def test_workflow_schema_completes_tool_names() -> None:
    schema = json.loads(workflow_schema(["b_tool", "a_tool"]))
    alone, optioned = schema["properties"]["tools"]["items"]["anyOf"]
    assert alone["enum"] == optioned["propertyNames"]["enum"] == ["a_tool", "b_tool"]
    assert schema["$defs"]["ToolOptions"]["properties"]["once"]["anyOf"][0]["const"] == "per_message"


def test_workflow_schema_accepts_the_same_tool_options_and_approvals_as_gofer() -> None:
    check = jsonschema.Draft202012Validator(json.loads(workflow_schema(["a_tool"]))).is_valid
    fixed = {"description": "d", "owner": "o", "when": ["slack.mention"]}
    for tools in (["a_tool"], [{"a_tool": {"once": "per_message"}}], [{"a_tool": {}}]):
        assert check({**fixed, "tools": tools})
        assert Workflow.model_validate({**fixed, "tools": tools}).tool_names == ("a_tool",)
    for tools in ([{"b_tool": {}}], [{}], [{"a_tool": {"twice": "x"}}], [7]):
        assert not check({**fixed, "tools": tools})
    approve = {"tools": ["a_tool"], "by": ["requester", "@leads", "U0123ABCD"], "expires": "2 days"}
    assert check({**fixed, "tools": ["a_tool"], "approve": approve})
    for wrong in ({"by": "leads"}, {"expires": "2 weeks"}, {"expires": "0 days"}):
        assert not check({**fixed, "approve": {**approve, **wrong}})


def test_workflow_schema_explains_keys_and_refuses_unknown_ones() -> None:
    schema = json.loads(workflow_schema(tool_names()))
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["description", "owner", "when"]
    assert set(schema["properties"]) == set(Workflow.model_fields)
    owner = "The Slack channel or group that is responsible for the workflow."
    assert schema["properties"]["owner"]["description"].startswith(owner)
    limits = schema["$defs"]["Limits"]["properties"]
    assert (limits["tool_calls"]["minimum"], limits["llm_calls"]["minimum"]) == (0, 1)
    assert set(json.loads(defaults_schema())["properties"]) == set(Defaults.model_fields)


def test_workflow_schema_accepts_short_forms() -> None:
    schema = json.loads(workflow_schema(tool_names()))
    properties = schema["properties"]
    assert {"type": "string"} in properties["model"]["anyOf"]
    name, mapping = properties["when"]["items"]["anyOf"]
    assert name["enum"] == list(KINDS)
    assert mapping == {"$ref": "#/$defs/Trigger"}
    trigger = schema["$defs"]["Trigger"]
    assert (trigger["maxProperties"], set(trigger["properties"])) == (1, set(KINDS))
    assert jsonschema.Draft202012Validator(schema).is_valid(
        {"description": "d", "owner": "o", "when": ["slack.mention", {"slack.mention": None}, {"slack.mention": {}}]}
    )


def test_shipped_workflow_and_subagent_files_are_valid_by_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(workflow_schema(tool_names())))
    for path in AGENTS.glob("*.yaml"):
        if path.name != "defaults.yaml":
            assert list(validator.iter_errors(yaml.safe_load(path.read_text()))) == []
    below = jsonschema.Draft202012Validator(json.loads(subagent_schema(tool_names())))
    subagents = list((AGENTS.parent / "subagents").glob("*.yaml"))
    assert subagents
    for path in subagents:
        assert list(below.iter_errors(yaml.safe_load(path.read_text()))) == []


@pytest.mark.parametrize(
    ("keys", "fine"),
    [
        ({}, True),
        ({"tools": "inherit"}, True),
        ({"tools": ["a_tool"]}, True),
        ({"tools": []}, True),
        ({"tools": "everything"}, False),
        ({"tools": ["b_tool"]}, False),
        ({"model": "small", "plan": "off", "skills": {"allowed": ["x"]}, "limits": {"calls": 3}}, True),
        ({"model": {"name": "small", "temperature": 0}, "output": {"type": "object"}}, True),
        ({"when": ["slack.mention"]}, False),
        ({"limits": {"dollars": 1}}, False),
        ({"description": ""}, False),
    ],
)
def test_subagent_schema_accepts_the_same_files_as_gofer(keys: dict[str, object], fine: bool) -> None:
    schema = json.loads(subagent_schema(["a_tool"]))
    assert set(schema["properties"]) == set(Subagent.model_fields)
    given = {"description": "d", **keys}
    assert jsonschema.Draft202012Validator(schema).is_valid(given) == fine
    if fine:
        assert Subagent.model_validate(given)


def test_documented_triggers_list_exactly_their_conditions() -> None:
    document = (AGENTS.parent / "docs" / "workflow-file.md").read_text()
    rows = {line.split("`")[1]: line.split("|")[2] for line in document.splitlines() if line.startswith("| `")}
    for trigger, field in Trigger.model_fields.items():
        conditions = next(part for part in get_args(field.annotation) if part is not type(None))
        named = {inner.alias or name for name, inner in conditions.model_fields.items()}
        assert named == set(re.findall(r"`(\w+)`", rows[field.alias or trigger]))


def test_runs_with_equal_files_share_one_bundle_that_cannot_change() -> None:
    workflows = load_catalog(AGENTS).workflows
    raw = encode_bundle(Bundle(workflows["answer-here"], []))
    bundle = decode_bundle(raw)
    assert decode_bundle(bytes(bytearray(raw))) is bundle
    assert decode_bundle(encode_bundle(Bundle(workflows["file-ticket"], []))) is not bundle
    with pytest.raises(ValidationError):
        bundle.loaded.workflow.description = "another"
