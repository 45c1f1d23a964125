"""`gofer run --mocks`: workflows on mocked tools, with results from a file."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.app.command_line import gofer
from support.app.company import ROOT

pytestmark = pytest.mark.usefixtures("terminal")
MENTION = str(ROOT / "tests" / "events" / "slack_app_mention.json")
FILES_TICKETS = """
- name: ticket
  when: {says: "(?s).*", tools: [jira_create_issue]}
  results: ['Created (?P<key>[A-Z]+-[0-9]+)']
  steps:
    - calls:
        - jira_create_issue: {project: PAY, type: Bug, summary: Paid twice, description: Refunds are paid twice.}
    - text: "Filed {key}."
"""
WORKFLOW = "description: Files a ticket.\nowner: '#dev'\nwhen: [slack.mention]\ntools: [jira_create_issue]\n"
WORKFLOW += "writes: {jira: PAY}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    """A repository with one workflow, `file`, and the script of the offline model in `script.yaml`."""
    agents = tmp_path / "agents"
    agents.mkdir()
    for name in ("defaults.yaml", "preamble.md"):
        shutil.copy(ROOT / "agents" / name, agents)
    (agents / "file.yaml").write_text(WORKFLOW)
    (agents / "file.md").write_text("File a ticket.\n")
    (tmp_path / "script.yaml").write_text(FILES_TICKETS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    asked = ("run", "file", "--event", MENTION, "--script", "script.yaml", "--json", "--mocks", *words)
    code, out, err = gofer(capsys, *asked)
    return code, json.loads(out) if out else {}, err


def test_run_on_mocks_gives_the_same_answer_each_time_and_is_not_stored(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    code, first, err = run(capsys)
    assert (code, first["status"], first["tool_calls"]) == (0, "done", 1)
    assert first["answer"].startswith("[offline model] Filed PAY-")
    assert err == "On mocks, with the offline model: a script, not a language model.\n"
    # Not even the calls made once per message are remembered between runs on mocks.
    assert run(capsys)[1]["answer"] == first["answer"]
    assert gofer(capsys, "runs", "--json")[1].count('"run"') == 0


def test_mocks_file_sets_the_results_of_a_tool(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    said = {
        "jira_create_issue": [
            {"arguments": {"project": "OPS"}, "refusal": "OPS is closed."},
            {"arguments": {"project": "pay", "summary": "*twice"}, "text": "Created PAY-1."},
        ]
    }
    (folder / "mocks.json").write_text(json.dumps(said))
    assert run(capsys, "mocks.json")[1]["answer"] == "[offline model] Filed PAY-1."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("jira_create: {text: x}", "names the tool 'jira_create', which does not exist; the tools are: "),
        ("jira_create_issue: {text: x, refusal: y}", "jira_create_issue.0: Value error, write either a result"),
        ("jira_create_issue: {arguments: {titel: x}, text: y}", "has no argument 'titel'; it has project, type,"),
        ("jira_create_issue: [x", "mocks.yaml is neither YAML nor JSON: "),
        ("- 1", "mocks.yaml is not a valid file of mocks: it: Input should be a valid dictionary"),
        (None, "mocks.yaml cannot be read (No such file or directory); name a YAML or JSON file of mocks."),
    ],
)  # fmt: skip
def test_wrong_mocks_file_is_reported_in_one_sentence(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str | None, told: str
) -> None:
    if text is not None:
        (folder / "mocks.yaml").write_text(text)
    code, _, err = run(capsys, "mocks.yaml")
    assert (code, err.count("\n"), "Traceback" in err) == (2, 1, False)
    assert told in err


def test_mocks_and_world_options_exclude_each_other(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, _, err = run(capsys, "--world", "world.yaml")
    assert (code, err) == (2, "gofer: Use either --mocks or --world: mocks do not use the simulated systems.\n")


def test_run_on_mocks_that_waits_for_an_approval_needs_attention(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    approve = "approve: {tools: [jira_create_issue], by: requester}\n"
    (folder / "agents" / "file.yaml").write_text(WORKFLOW + approve)
    code, result, _ = run(capsys)
    assert (code, result["status"]) == (1, "needs_attention")
    assert result["reason"] == "it waits for approval of jira_create_issue by requester; with mocks it ends here"
    assert gofer(capsys, "runs", "--json")[1].count('"run"') == 0
