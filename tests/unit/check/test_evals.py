"""The check of evals: renamed tools, payloads, worlds and quarantines. tests/broken has an example of each rule."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog
from gofer.app.evals.eval_mistakes import eval_mistakes
from support.stand_ins import SetClock

ROOT = Path(__file__).parents[3]
WORKFLOW = """\
description: An alert becomes a note.
owner: "#o"
when:
  - webhook: {name: alert, auth: bearer, key: /id}
model: gpt-5
tools: [jira_search]
subagents: [reader]
reply: none
"""
SUBAGENT = "description: Reads issues.\nmodel: gpt-5\ntools: [jira_get_issue]\n"
CASE = "workflow: triage\ncases:\n  - name: one\n    trigger: {payload: {id: 7}}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("agents", "subagents", "evals"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "triage.yaml").write_text(WORKFLOW)
    (tmp_path / "agents" / "triage.md").write_text("Look with `jira_search`, or ask a `subagent`.")
    (tmp_path / "subagents" / "reader.yaml").write_text(SUBAGENT)
    (tmp_path / "subagents" / "reader.md").write_text("Read with `jira_get_issue`.")
    return tmp_path


def checked(root: Path, text: str) -> list[str]:
    (root / "evals" / "triage.yaml").write_text(text)
    return [str(found).partition("triage.yaml:")[2] for found in eval_mistakes(root / "agents", SetClock())]


def test_repository_without_evals_has_no_mistake(root: Path) -> None:
    (root / "evals").rmdir()
    assert eval_mistakes(root / "agents", SetClock()) == []


def test_tool_of_a_subagent_is_granted(root: Path) -> None:
    assert checked(root, CASE + "    expect: {tools: {required: [jira_search, jira_get_issue]}}\n") == []


def test_forbidden_tool_needs_no_grant_and_must_exist(root: Path) -> None:
    assert checked(root, CASE + "    expect: {tools: {forbidden: [jira_add_comment]}}\n") == []
    (found,) = checked(root, CASE + "    expect: {tools: {forbidden: [jira_add_coment]}}\n")
    assert found == "5:34: There is no tool `jira_add_coment`. Write `jira_add_comment`."


@pytest.mark.parametrize(
    "place",
    [
        "expect: {tools: {required: [jira_serch]}}",
        "expect: {tools: {in_order: [jira_serch]}}",
        "expect: {tools: {only: [jira_serch]}}",
        "mocks: {jira_serch: {text: none}}",
        "rubric: {require_actions: [jira_serch]}",
        "decision: {history: [{calls: [{tool: jira_serch}]}]}\n    expect: {next: []}",
        "decision: {}\n    expect: {next: [{jira_serch: {}}]}",
        "then: [{trigger: {payload: {id: 8}}, expect: {tools: {required: jira_serch}}}]",
    ],
)
def test_renamed_tool_is_found_wherever_an_eval_names_the_tool(root: Path, place: str) -> None:
    (found,) = checked(root, f"{CASE}    {place}\n")
    assert found.endswith("There is no tool `jira_serch`. Write `jira_search`.")


def test_expected_status_is_one_of_the_run_or_of_the_answer(root: Path) -> None:
    workflow = root / "agents" / "triage.yaml"
    (found,) = checked(root, f"{CASE}    rubric: {{expected_status: [resolved]}}\n")
    assert found.startswith("5:32: There is no status `resolved`. Write one of `done`")
    output = "output: {type: object, properties: {status: {type: string, enum: [resolved]}, state: {type: string}}}\n"
    workflow.write_text(WORKFLOW + output)
    assert checked(root, f"{CASE}    rubric: {{expected_status: [resolved, done]}}\n") == []
    assert checked(root, f"{CASE}    rubric: {{expected_status: anything, status_field: state}}\n") == []
    (found,) = checked(root, f"{CASE}    rubric: {{expected_status: [resolvd]}}\n")
    assert found.endswith("There is no status `resolvd`. Write `resolved`.")
    (found,) = checked(root, f"{CASE}    rubric: {{expected_status: done, status_field: verdict}}\n")
    assert found.endswith("The `output` of `triage` has no field `verdict`. Write a field of the answer.")


NOTES = """\
from gofer.tool import Arguments, Call, Place, ToolResult, tool


class Note(Arguments):
    pass


@tool(effect="keyed", place=lambda origin, arguments: Place("notes", "other", "all"))
async def note_write(call: Call, arguments: Note) -> ToolResult:
    \"\"\"Write a note.\"\"\"
    return ToolResult("Written.", "wrote")


@tool(effect="read")
async def note_read(call: Call, arguments: Note) -> ToolResult:
    \"\"\"Read a note.\"\"\"
    return ToolResult("Nothing.", "read")
"""
MOCKED = '\n\n@note_write.mock\ndef _mock() -> ToolResult:\n    return ToolResult("Written.", "wrote")\n'


def test_writing_tool_without_a_mock_is_a_hint_unless_the_eval_sets_its_result(root: Path) -> None:
    (root / "tools").mkdir()
    (root / "tools" / "notes.py").write_text(NOTES)
    assert checked(root, CASE) == []
    workflow = root / "agents" / "triage.yaml"
    workflow.write_text(WORKFLOW.replace("tools: [jira_search]", "tools: [note_write, note_read]"))
    message = "`note_write` writes and has no mock, so plays of this eval refuse its calls."
    hint = "Add a mock to the tool with `@note_write.mock`, or its result under `mocks`."
    assert checked(root, CASE) == [f"1:11: Hint: {message} {hint}"]
    mocks = "mocks: {note_write: {text: Done.}}\n"
    assert checked(root, mocks + CASE) == []
    assert checked(root, f"{CASE}    {mocks}") == []
    assert len(checked(root, f"{CASE}    {mocks}  - name: two\n    trigger: {{payload: {{id: 8}}}}\n")) == 1
    (root / "tools" / "notes.py").write_text(NOTES + MOCKED)
    assert checked(root, CASE) == []


def test_quarantine_of_90_days_is_allowed_and_91_days_are_not(root: Path) -> None:
    quarantine = "    quarantine: {until: %s, reason: slow, runs: 9, passed: 8}\n"
    today = datetime.fromtimestamp(SetClock().now(), UTC).date()
    assert checked(root, CASE + quarantine % (today + timedelta(days=90))) == []
    assert "lasts longer than 90 days" in checked(root, CASE + quarantine % (today + timedelta(days=91)))[0]


def test_world_is_checked_by_its_simulator(root: Path) -> None:
    (found,) = checked(root, CASE + "    world: {jira: {projcts: []}}\n")
    assert "The world is wrong at jira" in found


def test_file_of_a_world_is_checked_by_its_simulator(root: Path) -> None:
    (root / "evals" / "worlds").mkdir()
    (root / "evals" / "worlds" / "empty.yaml").write_text("[]\n")
    (found,) = checked(root, CASE + "    world: worlds/empty.yaml\n")
    assert "5:12: The world has no system" in found


def test_payload_is_not_judged_while_a_workflow_has_mistakes(root: Path) -> None:
    wrong = CASE.replace("{id: 7}", "{number: 7}")
    assert "4:24: This payload starts nothing: The body has no" in checked(root, wrong)[0]
    (root / "agents" / "other.yaml").write_text("description: only\n")
    assert checked(root, wrong) == []


def test_start_of_gofer_does_not_read_evals(root: Path) -> None:
    (root / "evals" / "triage.yaml").write_text("workflow: [")
    assert list(checked_catalog(root / "agents").workflows) == ["triage"]


def test_shipped_evals_have_no_mistake() -> None:
    assert [str(found) for found in eval_mistakes(ROOT / "agents", SetClock()) if not found.is_hint] == []


def test_decision_about_a_tool_that_does_not_exist_is_a_mistake(root: Path) -> None:
    (found,) = checked(root, f"{CASE}    approve: {{jira_serch: true}}\n")
    assert found.startswith("5:15: There is no tool `jira_serch`.")


def test_golden_without_a_delivery_takes_no_world_of_its_own(root: Path) -> None:
    (root / "evals" / "goldens").mkdir()
    (root / "evals" / "goldens" / "good.yaml").write_text("workflow: triage\n")
    of_case = CASE.partition("    trigger")[0]
    text = f"{of_case}    golden: good\n    mocks: {{}}\n    expect: {{world: {{unchanged: jira}}}}\n"
    found = [line for line in checked(root, text) if line[:1].isdigit()]
    assert [line.partition(", so")[0] for line in found] == [
        "5:5: The golden `good` has its recorded deliveries and outcomes",
        "6:14: A golden reaches no system",
    ]


def test_golden_with_a_delivery_needs_a_world(root: Path) -> None:
    (root / "evals" / "goldens").mkdir()
    (root / "evals" / "goldens" / "good.yaml").write_text("workflow: triage\n")
    found = [line for line in checked(root, f"{CASE}    golden: good\n") if line[:1].isdigit()]
    assert [line.partition(" and no")[0] for line in found] == ["4:5: The golden `good` has a `trigger`"]


@pytest.mark.parametrize(
    ("world", "problem"),
    [
        ("", "The case has no world, so nothing can change at `jira`. Give the case a `world`, or remove it."),
        ("{slack: {}}", "The world of the case has no `jira`, so nothing can change there."),
        ("worlds/small.yaml", "The world of the case has no `jira`, so nothing can change there."),
        ("demo", ""),
    ],
)
def test_path_of_a_system_that_the_world_lacks_is_a_mistake(root: Path, world: str, problem: str) -> None:
    (root / "evals" / "worlds").mkdir()
    (root / "evals" / "worlds" / "small.yaml").write_text("slack: {}\n")
    key = f"    world: {world}\n" * bool(world)
    found = [
        one for one in checked(root, f"{CASE}{key}    expect: {{world: {{unchanged: [jira]}}}}\n") if "jira" in one
    ]
    assert len(found) == bool(problem)
    assert all(problem in one for one in found)
