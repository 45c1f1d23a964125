"""`gofer suggest` finds a planted weakness from feedback and reviews, proves its edit by replay, and writes a branch.

A script answers in place of the models, so the journeys show that the steps work, and prove nothing about a model.
"""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gofer.journal.head_facts import decode
from support.app.command_line import gofer
from support.app.company import ROOT, Company, company
from support.app.filed_tickets import (
    EVAL,
    FORGETFUL,
    GREEDY,
    IDLE,
    MENDED,
    NAME,
    PROMPT,
    TERSE,
    TICKETS,
    WORKFLOW,
    TicketModel,
    is_forgotten,
    thread,
)
from support.app.shipped_workflows import GENERAL, SUPPORT

Capture = pytest.CaptureFixture[str]
Suggest = Callable[..., tuple[int, str, str]]
PROMPT_FILE = f"agents/{NAME}.md"
SKILL_FILE = "skills/projects/SKILL.md"
SKILL = f"---\nname: projects\ndescription: The projects of tickets.\n---\n# Projects\n\n{FORGETFUL}\n"
GUIDE = ROOT / "docs" / "suggest.md"
CLOSED = "http://127.0.0.1:1/v1"
"""An address at which no model answers."""


MINI = "{name: gpt-5.4-mini, price: {input: 0.75, cached_input: 0.075, output: 4.5}}"
STRONG = "{name: gpt-5.4, price: {input: 2.5, cached_input: 0.25, output: 15}}"
"""The models with their prices, because a model on this machine costs nothing by itself."""


def git(folder: Path, *words: str) -> str:
    """Run Git in a folder, and return its output."""
    ended = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, encoding="utf-8")
    return ended.stdout


def write_repository(folder: Path, *, with_skill: bool = False) -> None:
    """Write a repository with the forgetful workflow, and commit it. `with_skill`: its skill is what forgets."""
    (folder / "agents").mkdir(parents=True)
    for name in ("defaults.yaml", "preamble.md"):
        shutil.copy(ROOT / "agents" / name, folder / "agents")
    defaults = folder / "agents" / "defaults.yaml"
    text = defaults.read_text().replace("[gpt-5.4-mini, gpt-5.4]", f"[{MINI}, gpt-5.4]")
    defaults.write_text(text.replace("suggester: gpt-5.4 ", f"suggester: {STRONG} "))
    (folder / "agents" / f"{NAME}.yaml").write_text(WORKFLOW)
    (folder / PROMPT_FILE).write_text(PROMPT)
    if with_skill:
        (folder / SKILL_FILE).parent.mkdir(parents=True)
        (folder / SKILL_FILE).write_text(SKILL)
        (folder / PROMPT_FILE).write_text(PROMPT.replace(FORGETFUL, "See the skill projects."))
        (folder / "agents" / f"{NAME}.yaml").write_text(f"{WORKFLOW}skills: {{required: [projects]}}\n")
    (folder / "evals" / "payloads").mkdir(parents=True)
    (folder / "evals" / f"{NAME}.yaml").write_text(EVAL)
    shutil.copy(ROOT / "evals" / "payloads" / "file-ticket-one-ticket.json", folder / "evals" / "payloads")
    (folder / ".gitignore").write_text("state/\n")
    git(folder, "init", "--initial-branch=main")
    git(folder, "config", "user.name", "Owner")
    git(folder, "config", "user.email", "owner@example.com")
    git(folder, "config", "commit.gpgsign", "false")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Begin")


def file_tickets(folder: Path, numbers: range, disliked: Callable[[int], bool]) -> None:
    """Let people react to messages and then to the answers, and wait for the reviews."""
    with TicketModel().served() as url:
        asyncio.run(_file_tickets(folder, url, numbers, disliked))


async def _file_tickets(folder: Path, url: str, numbers: range, disliked: Callable[[int], bool]) -> None:
    async with company(folder, root=folder, OPENAI_BASE_URL=url) as made:
        for filed, number in enumerate(numbers, start=1):
            asked = await made.slack.say(SUPPORT, GENERAL, thread(number))
            await made.slack.react(SUPPORT, asked.channel, asked.ts, "jira")
            await made.ended(filed)
            (answer,) = made.answers(asked)
            emoji = "+1"
            if disliked(number):
                emoji = "-1"
            await made.slack.react(SUPPORT, answer.channel, answer.ts, emoji)
        await _reviewed(made, len(numbers))


async def _reviewed(made: Company, runs: int) -> None:
    """Wait until each run has its feedback and its review."""
    async with asyncio.timeout(60):
        while True:
            facts = [decode(head.facts) for head in await made.ended(runs)]
            if all(fact is not None and fact.is_reviewed and fact.has_feedback for fact in facts):
                return
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def twenty_tickets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the state of twenty runs."""
    folder = tmp_path_factory.mktemp("tickets")
    write_repository(folder)
    file_tickets(folder, range(TICKETS), is_forgotten)
    return folder


@pytest.fixture
def repository(twenty_tickets: Path, tmp_path: Path, terminal: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the repository with the twenty runs, which is the current folder."""
    folder = tmp_path / "repository"
    shutil.copytree(twenty_tickets, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GOFER_DATA", str(folder / "state"))
    return folder


@pytest.fixture
def suggest(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Suggest:
    """Return a function that runs `gofer suggest file-ticket` with a scripted model."""

    def run(model: TicketModel, *words: str) -> tuple[int, str, str]:
        with model.served() as url:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            return gofer(capsys, "suggest", NAME, *words)

    return run


def branches(folder: Path) -> list[str]:
    """Return the branches that suggestions wrote."""
    return git(folder, "branch", "--list", "gofer/*", "--format=%(refname:short)").split()


def test_planted_weakness_becomes_a_branch_proven_by_replays(suggest: Suggest, repository: Path) -> None:
    code, out, err = suggest(TicketModel(), "--body", "pr.md")
    assert (code, out.splitlines()[0]) == (0, "Suggestion, proven.")
    assert "people or reviews said similar things (4 runs, 4 with bad feedback)" in out
    assert "with at most 2 calls of a model. A proof needs at most 360 more" in err
    assert "The answers came from a script in place of a model." in out
    assert "eval case  without the edit 0 of 3 plays passed, with it 3 of 3 plays passed" in out
    assert out.count("first difference: jira_search project: PAY → SHOP") == 4
    assert out.count("good      first difference: none") == 4
    assert "1 of 2 cases pass without the edit, 2 with it; exit code 0" in out
    (branch,) = branches(repository)
    changed = git(repository, "diff", "--name-only", "main", branch).split()
    golden = f"evals/goldens/suggested-{NAME}-{branch[-8:]}"
    answers = ["evals/answers/file-ticket.json", "evals/answers/goldens.json"]
    assert changed == [PROMPT_FILE, *answers, f"{golden}.run.json", f"{golden}.yaml"]
    assert git(repository, "log", "-1", "--format=%an %s", branch) == "Owner Name the project of the shop\n"
    text = Path("pr.md").read_text()
    assert "+2. Choose the project. " + MENDED in text
    assert "prove nothing about a model" in text
    assert "Without the edit, 0 of 3 plays pass; with it, 3 of 3." in text


def without_ids(text: str) -> str:
    """Return a text without the ids of runs and commits, which differ each time."""
    return re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,12}\b", "ID", text)


def test_guide_shows_the_output(suggest: Suggest) -> None:
    proven, refused = re.findall(r"^```text\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    _, out, err = suggest(TicketModel(), "--body", "pr.md")
    assert without_ids(f"$ gofer suggest {NAME} --body pr.md\n{err}{out}") == without_ids(proven)
    _, out, _ = suggest(TicketModel(IDLE))
    assert out.splitlines()[0] == refused.strip()


def test_branch_passes_its_check_and_its_suite(suggest: Suggest, repository: Path, capsys: Capture) -> None:
    suggest(TicketModel())
    (branch,) = branches(repository)
    git(repository, "switch", "--quiet", branch)
    assert MENDED in (repository / PROMPT_FILE).read_text()
    assert gofer(capsys, "check")[0] == 0
    code, out, _ = gofer(capsys, "eval")
    assert (code, "goldens/suggested-" in out) == (0, True)


def test_same_proposal_finds_its_branch(suggest: Suggest, repository: Path) -> None:
    suggest(TicketModel())
    (branch,) = branches(repository)
    code, out, _ = suggest(TicketModel())
    assert (code, f"Suggested before: The branch {branch} has this edit already." in out) == (0, True)


def test_working_tree_and_index_stay_unchanged(suggest: Suggest, repository: Path) -> None:
    (repository / PROMPT_FILE).write_text("Half an edit.\n")
    (repository / "agents" / "new.md").write_text("A new file.\n")
    git(repository, "add", "agents/new.md")
    before = git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")
    _, _, err = suggest(TicketModel())
    assert len(branches(repository)) == 1
    assert (git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")) == before
    assert "has changes that are not committed" in err
    assert (repository / PROMPT_FILE).read_text() == "Half an edit.\n"


def test_edit_that_changes_no_step_is_no_suggestion(suggest: Suggest, repository: Path) -> None:
    code, out, _ = suggest(TicketModel(IDLE))
    first = "No suggestion: The edit did not change that the eval case fails (0 of 3 plays passed)."
    assert (code, out.splitlines()[0], branches(repository)) == (0, first, [])


def test_fault_of_words_is_proven_by_answers(suggest: Suggest, repository: Path) -> None:
    code, out, _ = suggest(TicketModel(TERSE), "--body", "pr.md")
    assert (code, out.splitlines()[0]) == (0, "Suggestion, proven.")
    assert "The answer must not contain 'in PAY'." in out
    assert len(re.findall(r"first difference: answer: \S+: a problem with search, in PAY\. → \S+: a problem", out)) == 4
    assert out.count("good      first difference: none") == 4
    assert len(branches(repository)) == 1


def test_link_out_of_the_repository_ends_with_one_sentence(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "skills").mkdir()
    (repository / "skills" / "shared.md").symlink_to("/etc/hostname")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "Link")
    code, out, err = gofer(capsys, "suggest", NAME)
    assert (code, out) == (2, "")
    assert "skills/shared.md is a link that leads out of the repository (/etc/hostname)" in err


def test_edit_that_harms_good_runs_is_no_suggestion(suggest: Suggest, repository: Path) -> None:
    code, out, _ = suggest(TicketModel(GREEDY))
    first = out.splitlines()[0]
    assert (code, branches(repository)) == (0, [])
    assert re.fullmatch(r"No suggestion: The edit changes the good run \w{8} for the worse: jira_\w+ has .*", first)
    assert "eval case  without the edit 0 of 3 plays passed, with it 3 of 3 plays passed" in out


def test_model_may_propose_no_edit(suggest: Suggest, repository: Path) -> None:
    code, out, _ = suggest(TicketModel(""))
    first = "No suggestion: The model proposes nothing: The runs have no cause in common."
    assert (code, out.splitlines()[0], branches(repository)) == (0, first, [])


def test_edit_of_a_workflow_file_is_refused_and_asked_for_again(suggest: Suggest, repository: Path) -> None:
    model = TicketModel(first_file=f"agents/{NAME}.yaml")
    code, out, _ = suggest(model, "--no-branch")
    assert (code, out.splitlines()[0], branches(repository)) == (0, "Suggestion, proven.", [])
    first, second = model.asked_for_proposals
    assert ("problem" in first, f"The file 'agents/{NAME}.yaml' may not be edited" in second["problem"]) == (
        False,
        True,
    )


@pytest.mark.rehearsal(
    "tests/journeys/test_suggestions.py::test_planted_weakness_becomes_a_branch_proven_by_replays",
)
def test_skill_is_edited_and_proven_like_a_prompt(
    tmp_path: Path, terminal: None, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(tmp_path, with_skill=True)
    file_tickets(tmp_path, range(10), is_forgotten)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    model = TicketModel(file=SKILL_FILE)
    with model.served() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        code, out, _ = gofer(capsys, "suggest", NAME)
    assert (code, out.splitlines()[0]) == (0, "Suggestion, proven.")
    assert [file["path"] for file in model.asked_for_proposals[0]["files"]] == [PROMPT_FILE, SKILL_FILE]
    (branch,) = branches(tmp_path)
    assert git(tmp_path, "diff", "--name-only", "main", branch, "--", "agents", "skills").split() == [SKILL_FILE]
    assert MENDED in git(tmp_path, "show", f"{branch}:{SKILL_FILE}")


def test_question_has_the_files_and_the_affected_runs_only(suggest: Suggest) -> None:
    model = TicketModel("")
    suggest(model)
    (asked,) = model.asked_for_proposals
    assert asked["files"] == [{"path": PROMPT_FILE, "text": PROMPT}]
    assert len(asked["runs"]) == 4
    assert {run["answer"].partition(": ")[2] for run in asked["runs"]} == {"a problem with search, in PAY."}


def test_spent_limit_ends_the_suggestion(suggest: Suggest, repository: Path) -> None:
    code, out, _ = suggest(TicketModel(), "--usd", "0.001")
    assert (code, branches(repository)) == (5, [])
    assert "Stopped after 0.0032 USD of at most 0.001 USD" in out


def test_cost_of_replays_and_plays_is_counted_and_limited(suggest: Suggest, repository: Path) -> None:
    priced = TicketModel(named="gpt-5.4-mini")
    code, out, _ = suggest(priced, "--json", "--no-branch")
    found = json.loads(out)
    assert (code, found["outcome"], found["proof"]["scripted"]) == (0, "proven", False)
    assert {round(usd, 6) for replay in found["proof"]["replays"] for usd in replay["usd"]} == {0.002925}
    # One question to the suggester, six plays of one call, 16 replays of three calls, and two suites of ten calls.
    assert round(found["usd"], 6) == round(0.00325 + 0.000975 * (6 + 16 * 3 + 10), 6)
    code, out, _ = suggest(priced, "--usd", "0.005")
    assert (code, branches(repository)) == (5, [])
    assert "Stopped after 0.0052 USD of at most 0.005 USD" in out
    assert "Name the project of the shop" in out


def test_suggestion_without_a_model_is_not_asked_for(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    code, out, _ = gofer(capsys, "suggest", NAME)
    assert (code, out.startswith("No suggestion yet: A proposal needs a model")) == (3, True)


def test_model_without_an_answer_is_a_failure_of_infrastructure(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", CLOSED)
    code, out, _ = gofer(capsys, "suggest", NAME)
    assert (code, "Not proven now: The model gpt-5.4 did not answer" in out) == (4, True)


def test_proposal_without_a_live_model_for_the_workflow_is_not_proven(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TicketModel().served() as url:
        defaults = repository / "agents" / "defaults.yaml"
        strong = "{name: gpt-5.4, endpoint: strong, price: {input: 2.5, output: 15}}"
        named = defaults.read_text().replace(f"suggester: {STRONG}", f"suggester: {strong}")
        defaults.write_text(f'{named}\nendpoints:\n  strong: {{base_url: "{url}", key: ""}}\n')
        git(repository, "commit", "-am", "Ask another endpoint")
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        monkeypatch.setenv("MODEL_BASE_URLS", url)
        code, out, _ = gofer(capsys, "suggest", NAME, "--json", "--usd", "1")
    found = json.loads(out)
    assert (code, found["outcome"], found["branch"]) == (3, "not_proven", "")
    assert found["proposal"]["edit"] == {"file": PROMPT_FILE, "old": FORGETFUL, "new": MENDED}


def test_feedback_without_words_or_a_common_cause_asks_no_model(
    tmp_path: Path, terminal: None, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(tmp_path)
    file_tickets(tmp_path, range(3), lambda number: number == 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    monkeypatch.setenv("OPENAI_BASE_URL", CLOSED)
    code, out, _ = gofer(capsys, "suggest", NAME)
    assert (code, out.splitlines()[0].startswith("No suggestion: No 2 runs have the same failed check")) == (0, True)
    assert "Looked at 3 runs of 30 days, 3 with the current prompt: 1 with bad and 2 with good feedback" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["missing"], "There is no workflow 'missing' in the commit"),
        ([NAME, "--body", "no/folder/pr.md"], "name a file in an existing folder"),
        ([NAME, "--usd", "0"], "is not an amount above 0"),
    ],
)
def test_wrong_input_is_refused_with_one_sentence(
    repository: Path, capsys: Capture, words: list[str], problem: str
) -> None:
    try:
        code, _, err = gofer(capsys, "suggest", *words)
    except SystemExit as ended:
        code, err = ended.code, capsys.readouterr().err
    assert (code, problem in err) == (2, True)


def test_folder_without_git_is_refused(
    repository: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = gofer(capsys, "suggest", NAME)
    assert (code, "A suggestion needs a Git repository" in err) == (2, True)
