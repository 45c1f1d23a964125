"""The schema of a tool as models read it, and the parsing of its arguments."""

import json

import pytest
from pydantic import Field

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.tools.declare import bind_all
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.values.canonical_json import encode
from gofer.values.errors import ToolError
from gofer.values.secret import Secret
from gofer.values.tokens import estimate


class Look(Arguments):
    """Not for the model."""

    title: str = Field(description="What to look for.")
    times: int = Field(default=1, ge=1)


async def act(call: Call, arguments: Look) -> ToolResult:
    return ToolResult("", "")


LOOK = Tool("look", "Looks.", "read", Look, act)


def test_tool_schema_has_name_description_and_parameters_only() -> None:
    assert LOOK.schema() == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {
                "type": "object",
                "required": ["title"],
                "properties": {
                    "title": {"type": "string", "description": "What to look for."},
                    "times": {"type": "integer", "default": 1},
                },
            },
        },
    }


class Part(Arguments):
    """Not for the model either."""

    default: str = Field(default="", description="A name that a schema has a use for.")
    title: int | None = Field(default=None, ge=2, description="And another.")


class Many(Arguments):
    parts: list[Part] = Field(default=[], min_length=0, max_length=3, description="Some.")
    minimum: int = Field(default=0, ge=0, description="A name that a schema has a use for, too.")
    text: str = Field(default="", min_length=0, max_length=9)
    one: Part | None = None
    zero: int = 0
    off: bool = False
    on: bool = True
    either: int | str | None = Field(default=None, description="One of two.")
    values: dict[str, int | None] = Field(default_factory=dict, description="By name.")


def test_tool_schema_omits_titles_class_names_empty_defaults_and_plain_bounds() -> None:
    part = {
        "type": "object",
        "properties": {
            "default": {"type": "string", "description": "A name that a schema has a use for."},
            "title": {"type": "integer", "minimum": 2, "description": "And another."},
        },
    }
    function = Tool("many", "Many.", "read", Many, act).schema()["function"]
    assert function == {
        "name": "many",
        "description": "Many.",
        "parameters": {
            "type": "object",
            "properties": {
                "parts": {"type": "array", "items": part, "description": "Some."},
                "minimum": {"type": "integer", "default": 0, "description": "A name that a schema has a use for, too."},
                "text": {"type": "string"},
                "one": part,
                "zero": {"type": "integer", "default": 0},
                "off": {"type": "boolean"},
                "on": {"type": "boolean", "default": True},
                "either": {
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "description": "One of two.",
                },
                "values": {
                    "type": "object",
                    "additionalProperties": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "description": "By name.",
                },
            },
        },
    }


def test_schemas_of_base_tools_stay_below_1380_tokens() -> None:
    tools = build_tools(read_settings({})).values()
    kinds = ("all", "model", "plan", "skills")
    base = [encode(tool.schema()).decode() for tool in tools if not tool.internal and tool.base in kinds]
    assert sum(map(estimate, base)) < 1_380


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("{", "one JSON object"),
        ('"text"', "arguments"),
        ("{}", "`title` is missing: What to look for."),
        ('{"title": "x", "times": 0}', "`times` must be 1 or more; you gave 0."),
        ('{"title": "x", "tmies": 2}', "it takes title, times; there is no tmies."),
    ],
)
def test_wrong_arguments_are_answered_with_the_correction(arguments: str, hint: str) -> None:
    with pytest.raises(ToolError, match="look was not called") as told:
        LOOK.parse(arguments)
    assert hint in told.value.message_to_model


def test_valid_arguments_are_parsed_with_types_and_defaults() -> None:
    assert LOOK.parse('{"title": "x"}') == Look(title="x", times=1)
    assert LOOK.parse({"title": "x", "times": 2}).times == 2
    assert LOOK.parse({"title": "x", "times": None}).times == 1


def test_shipped_tools_declare_effect_timeout_and_argument_descriptions() -> None:
    tools = {name: tool for name, tool in build_tools(read_settings({})).items() if not tool.internal}
    assert {name: tool.effect for name, tool in tools.items()} == {
        "file_read": "read",
        "peek_file": "read",
        "load_file": "read",
        "file_regex": "read",
        "extract_file": "read",
        "jq": "read",
        "grep_json": "read",
        "load_skills": "read",
        "load_subskill": "read",
        "tool_search": "read",
        "call_tool": "read",
        "todo_write": "read",
        "todo_update": "read",
        "todo_read": "read",
        "finish": "read",
        "python": "read",
        "subagent": "read",
        "run_statistics": "read",
        "slack_read_thread": "read",
        "slack_get_permalink": "read",
        "slack_read_channel": "read",
        "slack_get_user": "read",
        "slack_get_group": "read",
        "slack_delete_message": "keyed",
        "slack_post_ephemeral": "blind",
        "slack_post_direct": "lookup",
        "slack_join_channel": "keyed",
        "slack_post_message": "lookup",
        "slack_post_file": "lookup",
        "slack_update_message": "keyed",
        "slack_add_reaction": "keyed",
        "github_get_pull_request": "read",
        "github_get_issue": "read",
        "github_read_file": "read",
        "github_list_commits": "read",
        "github_add_comment": "lookup",
        "github_create_issue": "lookup",
        "github_request_reviewers": "keyed",
        "notion_get_page": "read",
        "notion_search": "read",
        "notion_query_database": "read",
        "notion_add_comment": "lookup",
        "notion_append_content": "lookup",
        "notion_update_properties": "keyed",
        "jira_search": "read",
        "jira_get_issue": "read",
        "jira_get_form": "read",
        "jira_create_issue": "lookup",
        "jira_add_comment": "lookup",
        "jira_transition_issue": "keyed",
        "jira_link_url": "keyed",
    }
    for tool in tools.values():
        assert tool.timeout > 0
        # The arguments of base tools are in every request, so plain names have no description.
        if not tool.base:
            for described in tool.schema()["function"]["parameters"]["properties"].values():
                assert described["description"]
        json.dumps(tool.schema())


def test_slack_thread_is_one_destination_for_every_spelling_of_the_channel() -> None:
    post = next(
        tool for tool in bind_all(SLACK_TOOLS, SlackApi("http://127.0.0.1/", Secret("x"))) if tool.effect == "lookup"
    )
    said = [{"text": "x", "channel": channel, "thread_ts": "1.0"} for channel in ("", "#deploys", "C0DEPLOY0")]
    assert {post.target.destination(post.parse(arguments)) for arguments in said} == {"1.0"}
