"""Wrong arguments of a tool: the answer says which arguments exist and what each takes, in plain words."""

import pytest

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.values.errors import ToolError

TOOLS = build_tools(read_settings({}))


def refusal(name: str, arguments: object) -> str:
    with pytest.raises(ToolError) as wrong:
        TOOLS[name].parse(arguments)  # type: ignore[arg-type]
    return wrong.value.message_to_model


def test_unknown_argument_is_answered_with_the_existing_ones() -> None:
    assert refusal("jira_search", {"jql": "project = OPS"}) == (
        "jira_search was not called: it takes text, project, label, status, type, limit; there is no jql. "
        "Correct the arguments and call again."
    )


def test_several_unknown_arguments_are_answered_in_one_sentence() -> None:
    assert "end_line; there is no from and no to." in refusal("file_read", {"file": "x", "from": 1, "to": 2})
    assert "it takes no arguments; there is no x." in refusal("todo_read", {"x": 1})


def test_missing_argument_is_answered_with_the_argument_description() -> None:
    assert refusal("load_file", {}).startswith("load_file was not called: `file` is missing. Correct")
    assert "`start` is missing" in refusal("peek_file", {"file": "x"})
    assert "`pattern` is missing: As for file_regex" in refusal("grep_json", {"file": "x"})


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("file_read", {"file": 7}, "`file` must be a text; you gave 7."),
        ("file_read", {"file": "x", "start_line": "top"}, '`start_line` must be a whole number; you gave "top".'),
        ("file_read", {"file": "x", "start_line": 0}, "`start_line` must be 1 or more; you gave 0."),
        ("file_read", {"file": "x", "start_line": 1.5}, "`start_line` must be a whole number; you gave 1.5."),
        ("file_regex", {"file": "x", "pattern": ""}, '`pattern` must be a text of 1 or more characters; you gave "".'),
        ("file_regex", {"file": "x", "pattern": "x", "context": 99}, "`context` must be 10 or less; you gave 99."),
        ("todo_write", {"todos": [{"description": "y" * 2000}]}, "you gave a text of 2,000 characters."),
        ("file_regex", {"file": "x", "pattern": "y", "ignore_case": "so"}, "must be true or false; you gave"),
        ("load_skills", {"names": "planning"}, '`names` must be a list; you gave "planning".'),
        ("load_skills", {"names": ["a", {"b": 1}]}, '`names[1]` must be a text; you gave {"b": 1}.'),
        ("load_skills", {"names": []}, "`names` must be a list of 1 or more items; you gave []."),
        ("jira_search", [], "jira_search was not called: the arguments must be an object; you gave []."),
        (
            "todo_write",
            {"todos": [{"id": "step one", "description": "x"}]},
            'a text that matches ^[A-Za-z0-9._-]{0,20}$; you gave "step one".',
        ),
        ("call_tool", {"name": "x", "arguments": 7}, "`arguments` must be an object; you gave 7."),
        (
            "todo_write",
            {"todos": [{"description": "x", "status": "open"}]},
            "`todos[0].status` must be 'pending', 'in_progress', 'completed' or 'blocked'; you gave \"open\".",
        ),
        (
            "todo_write",
            {"todos": [{"id": "1", "description": "x"}, {"title": "y"}]},
            "`todos[1]` takes id, description, status, needs; there is no title. `todos[1].description` is missing",
        ),
        (
            "notion_query_database",
            {"database": "x", "where": {"Status": ["Open"]}},
            '`where.Status` must be a text or a number or true or false; you gave ["Open"].',
        ),
    ],
)
def test_wrong_value_is_answered_with_the_path_and_the_expected_type(
    tool: str, arguments: object, sentence: str
) -> None:
    assert sentence in refusal(tool, arguments)


def test_wrong_arguments_after_the_first_five_are_only_counted() -> None:
    said = refusal("todo_write", {"todos": [{"description": 7}] * 9})
    assert said.count("must be a text") == 5
    assert "4 more places are wrong." in said


def test_argument_errors_never_contain_words_of_the_validator() -> None:
    for name, tool in TOOLS.items():
        wrong: dict[str, object] = {field: {"odd": [1]} for field in tool.arguments.model_fields}
        said = refusal(name, {**wrong, "nope": 1})
        for word in ("Input should", "Extra inputs", "Field required", "pydantic", "Value error"):
            assert word not in said
        assert "there is no nope." in said or "more place" in said
