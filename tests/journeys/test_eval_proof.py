"""`gofer eval` says what its plays do not prove: prompts and skills that no case loads."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.app.command_line import gofer
from support.app.company import ROOT
from support.evals.small_repository import WORKFLOW, SmallRepository, report, says

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]
SKILL = "---\nname: tone\ndescription: How to write to customers.\n---\nBe kind.\n"


TOOL = '''\
from gofer.tool import Arguments, Call, ToolResult, tool


class Which(Arguments):
    """No arguments."""


@tool(effect="read")
async def notes_read(call: Call, arguments: Which) -> ToolResult:
    """Read the notes."""
    return ToolResult("None.", "read")
'''


def git(*words: str) -> None:
    """Run Git in the present folder."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None, capsys: Capture) -> SmallRepository:
    """A committed repository with one case, and with a skill and a subagent that the case does not load."""
    made = SmallRepository(tmp_path)
    (tmp_path / "skills" / "tone").mkdir(parents=True)
    (tmp_path / "skills" / "tone" / "SKILL.md").write_text(SKILL)
    (tmp_path / "subagents").mkdir()
    (tmp_path / "subagents" / "think.yaml").write_text("description: Thinks.\nmodel: {name: gpt-5.4-mini}\n")
    (tmp_path / "subagents" / "think.md").write_text("Think.\n")
    made.cases({**says("restarted", "restarted"), "tags": ["smoke"]})
    monkeypatch.chdir(tmp_path)
    assert gofer(capsys, "eval", "--record")[0] == 3
    (tmp_path / ".gitignore").write_text("state/\n__pycache__/\n")
    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "Begin")
    return made


@pytest.mark.parametrize(
    ("path", "name"),
    [("skills/tone/SKILL.md", "skills/tone"), ("subagents/think.md", "subagents/think")],
)
def test_changed_text_that_no_case_loads_is_no_evidence(
    capsys: Capture, repository: SmallRepository, path: str, name: str
) -> None:
    assert gofer(capsys, "eval", "--changed", "HEAD")[0] == 0
    with (repository.path / path).open("a") as file:
        file.write("Be brief.\n")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD", "--json", "r.json")
    assert (code, report(repository.path / "r.json")["unproved"]) == (3, [name])
    assert f"`{name}` changed, and no case loads it." in out


def test_change_of_no_request_is_no_change(capsys: Capture, repository: SmallRepository) -> None:
    agents = repository.path / "agents"
    agents.joinpath("pager.yaml").write_text(
        f"# A comment.\n{WORKFLOW.replace('Restart a service', 'Restart anything')}\nlimits: {{usd: 0.4}}\n"
    )
    agents.joinpath("pager.md").write_text("Help.\n\n")
    think = repository.path / "subagents" / "think.yaml"
    think.write_text(f"# A comment.\n{think.read_text()}limits: {{minutes: 2}}\n")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD", "--json", "r.json")
    assert (code, report(repository.path / "r.json")["unproved"]) == (0, [])
    assert "1 passed" in out


def test_comment_on_a_change_says_the_worst_that_its_workflows_could_do(
    capsys: Capture, repository: SmallRepository
) -> None:
    repository.prompt("Help at once.")
    (repository.path / "agents" / "quiet.yaml").write_text(WORKFLOW.replace("slack.mention", "jira.commented"))
    (repository.path / "agents" / "quiet.md").write_text("Help.")
    gofer(capsys, "eval", "--changed", "HEAD", "--markdown", "r.md")
    text = (repository.path / "r.md").read_text()
    assert "- **pager** It is started by" in text
    assert "- **quiet** It is started by" in text
    assert text.endswith("<!-- gofer-evals -->\n")
    gofer(capsys, "eval", "--markdown", "r.md")
    assert "could at worst" not in (repository.path / "r.md").read_text()


def test_changed_prompt_with_new_answers_of_scripts_is_no_evidence(
    capsys: Capture, repository: SmallRepository
) -> None:
    repository.prompt("Help at once.")
    gofer(capsys, "eval", "--record")
    assert gofer(capsys, "eval")[0] == 0
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD")
    assert (code, "Its requests changed (prompt), and only scripted answers exist" in out) == (3, True)


def test_tool_of_a_company_counts_by_its_schema(capsys: Capture, repository: SmallRepository) -> None:
    tool = repository.path / "tools" / "notes.py"
    tool.parent.mkdir()
    tool.write_text(TOOL)
    workflow = repository.path / "agents" / "pager.yaml"
    workflow.write_text(WORKFLOW.replace("[slack_read_thread]", "[slack_read_thread, notes_read]"))
    gofer(capsys, "eval", "--record")
    git("add", ".")
    git("commit", "-m", "Add a tool")
    tool.write_text(TOOL.replace('"None."', '"No notes."'))
    assert gofer(capsys, "eval", "--changed", "HEAD")[0] == 0
    tool.write_text(TOOL.replace("Read the notes", "Read all notes"))
    gofer(capsys, "eval", "--record")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD")
    assert (code, "Its requests changed (tool notes_read), and only scripted answers exist" in out) == (3, True)


def test_commit_without_workflows_before_the_change_makes_every_prompt_new(
    capsys: Capture, repository: SmallRepository
) -> None:
    git("checkout", "--orphan", "empty")
    git("rm", "-r", "--cached", "--quiet", ".")
    git("commit", "--allow-empty", "-m", "Empty")
    git("checkout", "-b", "full")
    git("add", ".")
    git("commit", "-m", "Begin")
    code, out, _ = gofer(capsys, "eval", "--changed", "empty")
    assert (code, "Its requests changed (workflow pager), and only scripted answers exist" in out) == (3, True)


def test_golden_counts_as_loading_a_changed_skill(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository"
    for name in ("agents", "coordinators", "evals", "skills", "subagents"):
        shutil.copytree(ROOT / name, root / name)
    monkeypatch.chdir(root)
    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "Begin")
    for name in ("jira-routing", "notion-formatting"):
        with (root / "skills" / name / "SKILL.md").open("a") as file:
            file.write("Be brief.\n")
    code, out, _ = gofer(capsys, "eval", "goldens", "--changed", "HEAD", "--affected", "--json", "r.json")
    cases = {case["case"]: case["outcome"] for case in report(root / "r.json")["cases"]}
    # The runs of the first two loaded one skill each. The third may load the other skill, and did not.
    assert cases == {
        "goldens/ticket-from-a-reaction": "no_evidence",
        "goldens/rfc-review-with-much-to-read": "no_evidence",
        "goldens/rfc-review": "passed",
    }
    assert (code, report(root / "r.json")["unproved"]) == (3, [])
    assert "Of 5 recorded runs 3 are unaffected, 1 changes from the first request, 1 " in out


def test_changed_prompt_without_any_case_is_no_evidence(capsys: Capture, repository: SmallRepository) -> None:
    workflow = WORKFLOW.replace("slack.mention", "slack.direct")
    (repository.path / "agents" / "other.yaml").write_text(workflow)
    (repository.path / "agents" / "other.md").write_text("Help others.\n")
    code, out, _ = gofer(capsys, "eval", "--changed", "HEAD")
    assert (code, "`agents/other.md` changed, and no case loads it." in out) == (3, True)


def test_whole_suite_lists_the_texts_that_no_case_loads(capsys: Capture, repository: SmallRepository) -> None:
    names = {"--json": "r.json", "--junit": "r.xml", "--markdown": "r.md", "--html": "r.html"}
    code, out, _ = gofer(capsys, "eval", *(word for pair in names.items() for word in pair))
    line = "2 of 4 prompts and skills are loaded by no case: skills/tone, subagents/think."
    assert (code, line in out) == (0, True)
    for name in names.values():
        assert line in (repository.path / name).read_text()
    assert "are loaded by no case" not in gofer(capsys, "eval", "restarted")[1]


def test_recording_and_resuming_exclude_each_other(capsys: Capture, repository: SmallRepository) -> None:
    code, out, err = gofer(capsys, "eval", "--record", "--resume")
    assert (code, out) == (2, "")
    assert err.endswith("Use either --resume or --record: a run that is not played again has no answers to record.\n")


def test_mistake_that_the_check_finds_is_refused_before_a_play(capsys: Capture, repository: SmallRepository) -> None:
    repository.cases({"name": "wrong", "expect": {"tools": {"required": ["slack_read_thred"]}}})
    problem = gofer(capsys, "check")[1]
    code, out, err = gofer(capsys, "eval")
    assert (code, out) == (2, "")
    assert "There is no tool `slack_read_thred`. Write `slack_read_thread`." in err
    assert "slack_read_thred" in problem
