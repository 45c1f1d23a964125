"""What the documents list is what there is: rooms, entries, keys, tools, commands."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import BaseModel

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.cli.main import COMMANDS, main
from gofer.evals import case_begin, eval_file
from gofer.evals.matching import OPERATORS
from gofer.journal.entries import KINDS
from gofer.sources.github.refusals import REFUSALS as GITHUB_REFUSALS
from gofer.sources.notion.refusals import REFUSALS as NOTION_REFUSALS
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.refusals import Refusals
from gofer.sources.registry import SOURCES
from gofer.sources.slack.refusals import REFUSALS as SLACK_REFUSALS
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.tools.mocks import Override
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
from support.code.syntax import nodes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gofer"


def first_column(document: str, heading: str) -> set[str]:
    """What the first table after a heading lists, in backticks, in its first column."""
    text = (ROOT / document).read_text().split(heading, 1)[1]
    table = text[text.index("\n|") :].lstrip("\n").split("\n\n", 1)[0]
    return {name.rstrip("/") for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def test_documented_packages_equal_the_source_folders() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if not path.name.startswith(("_", "."))}
    assert first_column("AGENTS.md", "## Packages") == rooms


def test_documented_sources_equal_the_registry() -> None:
    assert first_column("AGENTS.md", "## Sources") == set(SOURCES)
    assert set(BY_SOURCE) <= set(SOURCES)


def test_documented_triggers_have_their_conditions() -> None:
    listed = listed_conditions("docs/workflow-file.md", "| trigger | conditions |")
    assert listed == {kind.name: conditions(kind.form) for kind in TRIGGER_KINDS}


def listed_conditions(document: str, header: str) -> dict[str, set[str]]:
    """Return the conditions of each trigger as a table lists them, with ` (required)` behind those that must stand."""
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


def test_documented_entries_equal_the_entry_classes() -> None:
    assert first_column("docs/architecture.md", "### Entries") == set(KINDS)


def rows(document: str, heading: str) -> list[str]:
    """The same in the order in which it stands there, with what stands there twice."""
    text = (ROOT / document).read_text().split(heading, 1)[1]
    table = text[text.index("\n|") :].lstrip("\n").split("\n\n", 1)[0]
    return [row.split("|")[1].strip() for row in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("heading", "form"),
    [
        ("# The workflow file", Workflow),
        ("## Model\n", ModelChoice),
        ("## Skills\n", Skills),
        ("## Limits\n", Limits),
        ("## limits_per_person and limits_per_workflow", Allowance),
        ("## `agents/defaults.yaml`", Defaults),
        ("## `subagents/<name>.yaml`", Subagent),
        ("at most these `limits`:", SubagentLimits),
    ],
)
def test_documented_workflow_keys_equal_the_form(heading: str, form: type) -> None:
    assert first_column("docs/workflow-file.md", heading) == set(form.model_fields)
    assert len(rows("docs/workflow-file.md", heading)) == len(form.model_fields)


@pytest.mark.parametrize(
    ("heading", "form"), [("## `endpoints`", EndpointForm), ("an object with these keys", RoleModel)]
)
def test_documented_model_keys_equal_the_form(heading: str, form: type) -> None:
    assert rows("docs/models.md", heading) == [f"`{name}`" for name in form.model_fields]


def test_documented_limits_have_their_defaults() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    for name, field in Limits.model_fields.items():
        default = f"{field.default:.2f}" if name == "usd" else str(field.default)
        assert f"| `{name}` | {default} |" in text


def test_documented_context_keys_have_their_defaults() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    assert f"| `compact_at` | {Context().compact_at} |" in text
    assert first_column("docs/workflow-file.md", "## Context\n") >= set(Context.model_fields)


def test_documented_file_sizes_have_their_defaults() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    for name, field in Files.model_fields.items():
        assert f"| `{name}` | {field.default} |" in text


def test_documented_tools_have_their_effect() -> None:
    text = (ROOT / "docs/workflow-file.md").read_text()
    tools = {name: tool for name, tool in build_tools(read_settings({})).items() if not tool.internal}
    assert first_column("docs/workflow-file.md", "## Tools") == set(tools)
    assert all(f"| `{tool.name}` | {tool.effect} |" in text for tool in tools.values())


def refusals(document: str) -> list[tuple[str, str, str]]:
    """Return the code, the rule and the sentence of each refusal that a page lists; a row may name several codes."""
    table = (ROOT / document).read_text().split("| code | rule | sentence |\n|---|---|---|\n", 1)[1].split("\n\n", 1)[0]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    return [(code, rule, sentence) for codes, rule, sentence in cells for code in re.findall(r"`([^`]+)`", codes)]


@pytest.mark.parametrize(
    ("document", "known"),
    [
        ("docs/slack.md", SLACK_REFUSALS),
        ("docs/github.md", GITHUB_REFUSALS),
        ("docs/notion.md", NOTION_REFUSALS),
    ],
)
def test_documented_refusals_have_their_rule_and_sentence(document: str, known: Refusals) -> None:
    expected = [(code, refusal.rule, refusal.sentence) for code, refusal in known.known.items()]
    assert sorted(refusals(document)) == sorted(expected)


def test_documented_check_rules_equal_the_rules_of_the_check() -> None:
    text = (ROOT / "docs/checks.md").read_text()
    assert first_column("docs/checks.md", "## Rules") == set(RULES) == set(get_args(Rule))
    assert [rule for rule, sentence in RULES.items() if f"| `{rule}` | {sentence} |" not in text] == []


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ((), "agents/workflow.schema.json"),
        (("--defaults",), "agents/defaults.schema.json"),
        (("--subagent",), "subagents/subagent.schema.json"),
        (("--eval",), "evals/eval.schema.json"),
    ],
)
def test_editor_schema_equals_the_schema_of_the_form(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], file: str
) -> None:
    assert main(["schema", *words]) == 0
    assert (ROOT / file).read_text() == capsys.readouterr().out


def test_workflow_subagent_and_eval_files_name_their_schema() -> None:
    rooms = {"agents": "workflow", "subagents": "subagent", "evals": "eval"}
    for path in (path for room in rooms for path in (ROOT / room).glob("*.yaml")):
        room = rooms[path.parent.name]
        name = "defaults" if path.stem == "defaults" else room
        assert path.read_text().splitlines()[0] == f"# yaml-language-server: $schema={name}.schema.json"


@pytest.mark.parametrize("form", [Workflow, ModelChoice, Limits, Defaults, Subagent, SubagentLimits])
def test_each_workflow_key_has_a_description(form: type[Strict]) -> None:
    assert [name for name in form.model_fields if not description_of(form, name)] == []


FORMS_OF_EVALS: Mapping[str, type[Strict]] = {
    "### The file": eval_file.Eval,
    "### A case": eval_file.Case,
    "### `trigger`": case_begin.Trigger,
    "### `then`": eval_file.Turn,
    "### `decision`": case_begin.DecisionPoint,
    "### An item of `history`": case_begin.EarlierTurn,
    "### An item of `calls`": case_begin.EarlierCall,
    "### `mocks`": Override,
    "### `expect`": eval_file.Expectations,
    "### `tools`": eval_file.ToolExpectations,
    "### A call in `tools` and `next`": eval_file.CallExpectation,
    "### `world` of `expect`": eval_file.WorldExpectations,
    "### `output`": eval_file.OutputExpectations,
    "### `rubric`": eval_file.Rubric,
    "### `judge`": eval_file.Criterion,
    "### `tolerance`": eval_file.Tolerance,
    "### `runs`": eval_file.Runs,
    "### `quarantine`": eval_file.Quarantine,
}
"""The forms of eval files by the headings of their tables in docs/evals.md."""


@pytest.mark.parametrize(("heading", "form"), FORMS_OF_EVALS.items())
def test_documented_keys_of_evals_equal_the_form_and_its_descriptions(heading: str, form: type[Strict]) -> None:
    text = (ROOT / "docs/evals.md").read_text().split(f"\n{heading}\n", 1)[1].split("\n### ", 1)[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    fields = [(field.alias or name, description_of(form, name)) for name, field in form.model_fields.items()]
    assert rows == [f"| `{key}` | {' '.join(description.split())} |" for key, description in fields]


def test_documented_forms_of_evals_are_all_forms_of_the_module() -> None:
    parts = [*vars(eval_file).values(), *vars(case_begin).values()]
    forms = {part for part in parts if isinstance(part, type) and issubclass(part, Strict)}
    assert forms - {Strict} == {*FORMS_OF_EVALS.values()}


def test_documented_operators_of_matchers_equal_the_operators() -> None:
    table = (ROOT / "docs/evals.md").read_text().split("| operator | holds if |", 1)[1].split("\n\n", 1)[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*OPERATORS]


def listed_commands() -> dict[str, set[str]]:
    """Return the options of each command as the tables of docs/commands.md list them."""
    usages = re.findall(r"^\| `gofer ([^`]+)` \|", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)
    return {usage.split()[0]: set(re.findall(r"--[a-z-]+", usage)) for usage in usages}


def test_each_page_begins_with_its_kind() -> None:
    pages = sorted((ROOT / "docs").glob("*.md"))
    openings = {page.name: page.read_text().split("\n\n")[1] for page in pages}
    kinds = ("Tutorial", "How-to", "Reference", "Explanation")
    assert [name for name, opening in openings.items() if not opening.startswith(kinds)] == []


def test_documented_commands_equal_the_commands_of_the_cli() -> None:
    assert set(listed_commands()) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_command_lists_each_option(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    usage = capsys.readouterr().out.split("\n\n", 1)[0]
    # The page explains the two options that many commands share once, below their table.
    options = set(re.findall(r"--[a-z-]+", usage)) - {"--stage", "--profile"}
    assert listed_commands()[command] == options


def test_readme_workflow_equals_the_shipped_workflow() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert yaml.safe_load(shown) == yaml.safe_load((ROOT / "agents/answer-here.yaml").read_text())


def test_documented_benchmarks_exist() -> None:
    text = (ROOT / "docs/measurements.md").read_text()
    named = set(re.findall(r"\| `(\w+)` \|$", text, re.MULTILINE))
    for page in ("deploy", "measurements", "one-machine"):
        named |= set(re.findall(r'make bench ARGS="-k ([a-z_]+)"', (ROOT / f"docs/{page}.md").read_text()))
    assert len(named) > 5
    files = list((ROOT / "tests/benchmarks").glob("test_*.py"))
    known = [
        *(path.stem for path in files),
        *(name for path in files for name in re.findall(r"def (test_\w+)", path.read_text())),
    ]
    assert [name for name in named if not any(name in one for one in known)] == []


def test_named_tests_in_rules_exist() -> None:
    rules = (ROOT / "AGENTS.md").read_text().split("## Style", 1)[1] + (ROOT / "docs/glossary.md").read_text()
    named = set(re.findall(r"\btest_\w{20,}", rules))
    assert len(named) > 1
    known = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    assert [name for name in named if f"def {name}(" not in known] == []


def test_runbook_quotes_messages_of_the_source() -> None:
    rows = (ROOT / "docs/runbook.md").read_text().split("## On one machine", 1)[1].split("### ", 1)[0]
    messages = [message for row in re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE) for message in row.split("`")[1::2]]
    assert len(messages) > 10
    source = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    # The code fills in the name of the file at run time.
    fragments = {part.strip() for message in messages for part in re.split(r"…|^(?:gofer\.db(?:-wal)?|keys) ", message)}
    assert {fragment for fragment in fragments if fragment not in source} == set()


def test_links_between_documents_lead_to_existing_files() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_decision_table_lists_each_page_with_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = {path.name: path.read_text() for path in sorted(folder.glob("0*.md"))}
    listed = re.findall(
        r"^\| (\d+) \| \[(.+?)\]\((\S+?)\) \| \S.* \|$", (folder / "README.md").read_text(), re.MULTILINE
    )
    titles = [re.match(r"# (\d+)\. (.+)", text) for text in pages.values()]
    assert listed == [(*title.groups(), name) for title, name in zip(titles, pages, strict=True) if title]
    assert [name for name, _, page in listed if not page.startswith(f"{int(name):04}-")] == []


def test_decision_page_has_a_decision_and_reasons() -> None:
    for page in (ROOT / "docs" / "decisions").glob("0*.md"):
        text = page.read_text()
        assert "\n**Decided.** " in text, page.name
        assert "\n**Why.**" in text, page.name


def test_documented_libraries_equal_the_dependencies() -> None:
    declared = re.findall(r'^  "([a-z0-9-]+)>=', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = (ROOT / "docs/dependencies.md").read_text()
    assert [name for name in declared if name not in text] == []


def test_agents_md_has_at_most_120_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 120


def test_each_module_has_a_docstring() -> None:
    for path in SOURCE.rglob("*.py"):
        first = path.read_text().splitlines()[0]
        assert first.startswith('"""'), path
        assert len(first) > 20, path


def test_modules_and_functions_stay_below_their_limits() -> None:
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"


FIGURE = re.compile(r"(?<![\w:.])\d[\d.,]* ?(?:ms|[kMG]B|USD|% of|times (?:as|the|faster|slower|cheaper))(?!\w)")
"""A measured time, size, price or ratio. Limits and durations in seconds, minutes and days are promises of the code."""


def unmeasured(text: str, measurements: str) -> list[str]:
    """Return the figures of a text that docs/measurements.md does not have."""
    rows = [line for line in measurements.splitlines() if line.startswith("|")]
    return [figure for figure in FIGURE.findall(text) if not any(figure in row for row in rows)]


def test_figures_of_the_readme_are_rows_of_the_measurements() -> None:
    measurements = (ROOT / "docs/measurements.md").read_text()
    assert unmeasured((ROOT / "README.md").read_text(), measurements) == []


def test_figure_without_a_measurement_is_found() -> None:
    rows = "| start | 0.70 s, 75 MB | `test_start` |\n\nAbout 90 MB.\n"
    text = "It needs 75 MB, a call takes 1.4 ms, and 90 MB at the peak. It waits 30 minutes. It is 5 times faster."
    assert unmeasured(text, rows) == ["1.4 ms", "90 MB", "5 times faster"]
