"""Lists in the documents: rooms, entries, keys, tools and commands match the code."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.cli.main import COMMANDS, main
from gofer.journal.entries import KINDS
from gofer.sources.github import receiver
from gofer.sources.github import refusals as github_refusals
from gofer.sources.notion.refusals import REFUSALS as NOTION_REFUSALS
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.registry import SOURCES
from gofer.sources.slack.refusals import REFUSALS
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.workflows.field_descriptions import description_of
from gofer.workflows.form_parts import Strict
from gofer.workflows.mistake import RULES, Rule
from gofer.workflows.model_roles import EndpointForm, RoleModel
from gofer.workflows.schema import (
    Allowance,
    Context,
    Defaults,
    Files,
    Limits,
    ModelChoice,
    Skills,
    Subagent,
    SubagentLimits,
    Workflow,
)

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gofer"


def first_column(document: str, heading: str) -> set[str]:
    """Return the backticked names in the first column of the first table after a heading."""
    text = (ROOT / document).read_text().split(heading, 1)[1]
    table = text[text.index("\n|") :].lstrip("\n").split("\n\n", 1)[0]
    return {name.rstrip("/") for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def test_documented_rooms_equal_the_source_folders() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if not path.name.startswith(("_", "."))}
    assert first_column("AGENTS.md", "## Rooms") == rooms


def test_documented_sources_equal_the_registered_ones() -> None:
    assert first_column("AGENTS.md", "## Sources") == set(SOURCES)
    assert set(BY_SOURCE) <= set(SOURCES)


def test_documented_triggers_and_conditions_equal_the_registered_ones() -> None:
    listed = listed_conditions("docs/workflow-file.md", "| trigger | conditions |")
    assert listed == {kind.name: conditions(kind.form) for kind in TRIGGER_KINDS}


def listed_conditions(document: str, header: str) -> dict[str, set[str]]:
    """Return the conditions of each trigger as a table lists them, with ` (required)` behind required ones."""
    table = (ROOT / document).read_text().split(header, 1)[1].split("\n\n", 1)[0]
    cells = [row.split("|") for row in table.splitlines()[2:]]
    return {
        row[1].strip(" `"): {cell.strip().replace("`", "") for cell in row[2].split(",") if cell.strip()}
        for row in cells
    }


def conditions(form: type[BaseModel]) -> set[str]:
    """Return the conditions of a kind of trigger as files write them."""
    required = {True: " (required)", False: ""}
    return {(field.alias or name) + required[field.is_required()] for name, field in form.model_fields.items()}


def test_documented_journal_entries_equal_the_entry_classes() -> None:
    assert first_column("docs/architecture.md", "## Frames") == set(KINDS)


def rows(document: str, heading: str) -> list[str]:
    """Return the same names in the order of the table, duplicates included."""
    text = (ROOT / document).read_text().split(heading, 1)[1]
    table = text[text.index("\n|") :].lstrip("\n").split("\n\n", 1)[0]
    return [row.split("|")[1].strip() for row in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("heading", "form"),
    [
        ("# The workflow file", Workflow),
        ("`model` as an object:", ModelChoice),
        ("`skills`; a skill", Skills),
        ("`limits`; a run", Limits),
        ("`limits_per_person` and `limits_per_workflow`;", Allowance),
        ("## `agents/defaults.yaml`", Defaults),
        ("## `subagents/<name>.yaml`", Subagent),
        ("with a share of what the run has left, and at most this:", SubagentLimits),
    ],
)
def test_documented_workflow_keys_equal_the_form_fields(heading: str, form: type) -> None:
    assert first_column("docs/workflow-file.md", heading) == set(form.model_fields)
    assert len(rows("docs/workflow-file.md", heading)) == len(form.model_fields)


@pytest.mark.parametrize(
    ("heading", "form"), [("## `endpoints`", EndpointForm), ("an object with these keys", RoleModel)]
)
def test_documented_model_keys_equal_the_form_fields(heading: str, form: type) -> None:
    assert rows("docs/models.md", heading) == [f"`{name}`" for name in form.model_fields]


def test_documented_limits_have_the_defaults_of_the_code() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    for name, field in Limits.model_fields.items():
        default = f"{field.default:.2f}" if name == "usd" else str(field.default)
        assert f"| `{name}` | {default} |" in text


def test_documented_context_keys_have_the_defaults_of_the_code() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    assert f"| `compact_at` | {Context().compact_at} |" in text
    assert first_column("docs/workflow-file.md", "`context`;") >= set(Context.model_fields)


def test_documented_file_sizes_have_the_defaults_of_the_code() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    for name, field in Files.model_fields.items():
        assert f"| `{name}` | {field.default} |" in text


def test_documented_tools_and_effects_equal_the_registered_tools() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    tools = {name: tool for name, tool in build_tools(read_settings({})).items() if not tool.internal}
    assert first_column("docs/workflow-file.md", "## Tools") == set(tools)
    assert all(f"| `{tool.name}` | {tool.effect} |" in text for tool in tools.values())


def test_documented_slack_refusals_equal_the_known_refusals() -> None:
    text = (ROOT / "docs/slack.md").read_text()
    assert first_column("docs/slack.md", "## When Slack refuses") == set(REFUSALS.known)
    for code, refusal in REFUSALS.known.items():
        assert f"| `{code}` | {refusal.rule} | {refusal.sentence} |" in text


def test_documented_github_refusals_and_events_equal_the_known_ones() -> None:
    text = (ROOT / "docs/github.md").read_text()
    assert first_column("docs/github.md", "## When GitHub refuses") == set(github_refusals.REFUSALS.known)
    for code, refusal in github_refusals.REFUSALS.known.items():
        assert f"| `{code}` | {refusal.rule} | {refusal.sentence} |" in text
    assert first_column("docs/github.md", "## Events") == set(receiver.KINDS)
    assert all(f"| `{name}` | `{kind}` |" in text for name, kind in receiver.KINDS.items())


def test_documented_notion_refusals_equal_the_known_refusals() -> None:
    text = (ROOT / "docs/notion.md").read_text()
    assert first_column("docs/notion.md", "## When Notion refuses") == set(NOTION_REFUSALS.known)
    for code, refusal in NOTION_REFUSALS.known.items():
        assert f"| `{code}` | {refusal.rule} | {refusal.sentence} |" in text


def test_documented_check_rules_equal_the_rules_of_the_check() -> None:
    text = (ROOT / "docs/checks.md").read_text()
    assert first_column("docs/checks.md", "# What `gofer check` finds") == set(RULES) == set(get_args(Rule))
    assert [rule for rule, sentence in RULES.items() if f"| `{rule}` | {sentence} |" not in text] == []


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ((), "agents/workflow.schema.json"),
        (("--defaults",), "agents/defaults.schema.json"),
        (("--subagent",), "subagents/subagent.schema.json"),
    ],
)
def test_editor_schema_equals_the_schema_of_the_form(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], file: str
) -> None:
    assert main(["schema", *words]) == 0
    assert (ROOT / file).read_text() == capsys.readouterr().out


def test_workflow_and_subagent_files_name_their_schema() -> None:
    for path in (*(ROOT / "agents").glob("*.yaml"), *(ROOT / "subagents").glob("*.yaml")):
        room = {"agents": "workflow", "subagents": "subagent"}[path.parent.name]
        name = "defaults" if path.stem == "defaults" else room
        assert path.read_text().splitlines()[0] == f"# yaml-language-server: $schema={name}.schema.json"


@pytest.mark.parametrize("form", [Workflow, ModelChoice, Limits, Defaults, Subagent, SubagentLimits])
def test_each_workflow_key_has_a_description(form: type[Strict]) -> None:
    assert [name for name in form.model_fields if not description_of(form, name)] == []


def test_documented_commands_equal_the_commands_of_the_cli() -> None:
    listed = first_column("README.md", "## Commands")
    assert {line.split()[1] for line in listed} == set(COMMANDS)


def test_links_between_documents_lead_to_existing_files() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_each_library_has_a_line_in_the_documents() -> None:
    declared = re.findall(r'^  "([a-z0-9-]+)>=', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = (ROOT / "docs/dependencies.md").read_text()
    assert [name for name in declared if name not in text] == []


def test_agents_md_has_at_most_120_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 120


def test_each_module_begins_with_a_docstring() -> None:
    for path in SOURCE.rglob("*.py"):
        first = path.read_text().splitlines()[0]
        assert first.startswith('"""'), path
        assert len(first) > 20, path


def test_modules_and_functions_stay_below_their_size_limits() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert len(text.splitlines()) <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"
