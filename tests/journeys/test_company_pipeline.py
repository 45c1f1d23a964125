"""A company's pipeline, as GitHub would run it: from the first push to an edit of a prompt that is green."""

import re
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.earlier_wheel import earlier_wheel
from support.app.installed import environment, install, wheel
from support.evals.live_answers import Said, answering_each
from support.guides.pipeline import Hub, git

PREAMBLE = ("agents/preamble.md", "Gofer", "GOFER")
EARLIER = (
    ("pyproject.toml", '\nversion = "0.1.0"', '\nversion = "0.0.9"'),
    ("agents/defaults.yaml", "minutes: 5", "minutes: 4"),
    (".ci/evals", "# Plays the evals", "# Plays all evals"),
)
"""What the earlier version wrote in place of words of this one, by file."""
GUIDE = ROOT / "docs" / "evals-in-ci.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the built wheel, in which pip installs nothing: pytest is there already."""
    folder = tmp_path_factory.mktemp("pipeline")
    programs = environment(folder / "installed", wheel(folder / "dist"))
    (programs / "pip").write_text("#!/bin/sh\n")
    (programs / "pip").chmod(0o755)
    return programs.parent


class Company:
    """A clone of the repository of a company, and the forge that it is pushed to."""

    def __init__(self, folder: Path, installed: Path, *options: str) -> None:
        self.hub = Hub(folder / "hub", installed)
        self.clone = folder / "acme"
        self.gofer = installed / "bin" / "gofer"
        command = [self.gofer, "init", self.clone, "--owners", "ada", *options]
        subprocess.run(command, check=True, capture_output=True)
        git("init", "-q", "-b", "main", at=self.clone)
        git("remote", "add", "origin", str(self.hub.origin), at=self.clone)
        self.push("main", "Start with Gofer")

    def push(self, branch: str, words: str) -> None:
        git("add", "--all", at=self.clone)
        git("commit", "-q", "-m", words, at=self.clone)
        git("push", "-q", "--force", "origin", f"HEAD:{branch}", at=self.clone)

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        file = self.clone / path
        file.write_text(change(file.read_text()))


@pytest.fixture
def company(tmp_path: Path, installed: Path) -> Company:
    return Company(tmp_path, installed, "--with", "answer-in-jira")


ANSWERS = {
    "set this to Done": [
        Said("I cannot change the issue. The Checkout Owner decides whether it is done. Ask in #payments.")
    ],
    "": [Said("Not yet. The fix is on staging, and the Checkout Owner waits for an hour there. Ask in #payments.")],
}
"""What the model answers, by words of the first message."""
PROMPT = "agents/answer-in-jira.md"


class Guide:
    """The shown output of the guide, block by block."""

    def __init__(self) -> None:
        section = GUIDE.read_text().split("## From the first push to green", 1)[1].split("\n## ", 1)[0]
        self.blocks = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)

    def shows(self, company: Company, lines: Sequence[str], comment: int = 0) -> None:
        """Compare the next block with the lines of the jobs and the first lines of the comment."""
        said = "\n".join([*lines, *company.hub.comment(comment), ""])
        if comment:
            said = said.replace(company.hub.head("edit")[:12], "COMMIT")
        assert said == self.blocks.pop(0), company.hub.log[-5000:]


@pytest.mark.rehearsal(
    "tests/journeys/test_company_pipeline.py::test_own_tests_of_a_company_stop_a_push",
    "tests/journeys/test_eval_recording.py::test_changed_prompt_is_recorded_by_the_named_command_and_then_green_without_a_key",
)
def test_prompt_becomes_green_as_the_guide_says(company: Company) -> None:
    guide = Guide()
    hub = company.hub
    guide.shows(company, hub.push())
    company.edit(PROMPT, lambda text: f"{text}\nEnd with the channel of the team.\n")
    company.push("edit", "End answers with the channel of the team")
    guide.shows(company, hub.pull_request("edit"), comment=2)
    hub.write([hub.review("ada", "APPROVED", "edit")])
    guide.shows(company, hub.again("edit"), comment=2)
    company.edit(PROMPT, lambda text: text.replace("channel of", "channel and a person of"))
    company.push("edit", "Name a person, too")
    guide.shows(company, hub.pull_request("edit")[2:], comment=2)
    hub.secrets["OPENAI_API_KEY"] = "key"
    with answering_each(ANSWERS) as url:
        hub.variables["OPENAI_BASE_URL"] = url
        guide.shows(company, hub.pull_request("edit"), comment=1)
    changed = git("show", "--name-only", "--format=%s", "edit", at=hub.origin)
    assert changed == "Record the answers of the evals\n\nevals/answers/answer-in-jira.json"
    hub.secrets.clear()
    guide.shows(company, hub.pull_request("edit"), comment=1)
    answers = hub.state["comments"][0]["body"].split("Answers before → now")[1]
    assert "I cannot change the issue. Its assignee" in answers
    assert ANSWERS[""][0].text in answers
    assert guide.blocks == []


def test_own_tests_of_a_company_stop_a_push(company: Company) -> None:
    for text, result in (("1 == 1", "passed   gofer / check"), ("1 == 2", "failed   gofer / check: bash .ci/tests")):
        (company.clone / "tests" / "test_ours.py").write_text(f"def test_ours() -> None:\n    assert {text}\n")
        company.push("main", "Test our code")
        assert company.hub.push()[0] == result


@pytest.mark.rehearsal(
    "tests/unit/replay/test_replay.py::test_channel_for_logs_that_was_switched_on_or_off_is_no_difference",
    "tests/journeys/test_company_pipeline.py::test_own_tests_of_a_company_stop_a_push",
)
def test_channel_for_summaries_and_none_leave_ci_green(tmp_path: Path, installed: Path) -> None:
    company = Company(tmp_path, installed)
    for channel in ('ai_logs: "#ai-logs"', ""):
        edit = partial(re.sub, r"^(# )?ai_logs:.*$", channel, flags=re.MULTILINE)
        company.edit("agents/defaults.yaml", edit)
        company.push("main", "Choose the channel for summaries")
        company.edit("agents/answer-here.yaml", lambda text: f"# Ours.\n{text}")
        company.push("edit", "Say that the workflow is ours")
        assert company.hub.push()[0] == "passed   gofer / check"
        assert company.hub.pull_request("edit")[2:4] == ["passed   evals / play", "passed   evals / verdict"]
        git("checkout", "-q", "-B", "main", "origin/main", at=company.clone)


@pytest.mark.rehearsal(
    "tests/journeys/test_new_repository.py::test_upgrade_keeps_five_kinds_of_local_changes",
    "tests/journeys/test_company_pipeline.py::test_own_tests_of_a_company_stop_a_push",
)
@pytest.mark.parametrize("more", [(), (PREAMBLE,)], ids=["the same prompts", "another preamble"])
def test_upgrade_without_another_prompt_is_green_and_others_need_an_owner(
    tmp_path: Path, installed: Path, more: Sequence[tuple[str, str, str]]
) -> None:
    programs = environment(tmp_path / "installed", earlier_wheel(tmp_path / "source", [*EARLIER, *more]))
    (programs / "pip").symlink_to(installed / "bin" / "pip")
    company = Company(tmp_path, programs.parent, "--with", "answer-in-jira")
    company.edit("agents/answer-in-jira.yaml", lambda text: text.replace("# yaml", "# Ours.\n# yaml", 1))
    company.push("main", "Say that the workflow is ours")
    assert company.hub.push()[0] == "passed   gofer / check"
    install(programs, next((installed.parent / "dist").glob("*.whl")))
    subprocess.run([programs / "gofer", "upgrade"], cwd=company.clone, check=True, capture_output=True)
    company.push("edit", "Upgrade Gofer")
    changed = git("diff", "--name-only", "main", "edit", at=company.hub.origin).splitlines()
    assert {"requirements.lock", "agents/defaults.yaml", ".ci/evals", *(path for path, _, _ in more)} <= {*changed}
    assert "# Ours." in (company.clone / "agents/answer-in-jira.yaml").read_text()
    check, _, play, verdict, *_ = company.hub.pull_request("edit")
    assert (check, play) == ("passed   gofer / check", "passed   evals / play")
    if more:
        assert verdict.startswith("failed   evals / verdict: No evidence")
        company.hub.write([company.hub.review("ada", "APPROVED", "edit")])
        verdict = company.hub.again("edit")[1]
    assert verdict == "passed   evals / verdict", company.hub.log[-5000:]
