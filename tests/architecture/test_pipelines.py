"""GitHub pipelines: no stored keys, few permissions, and a deployment only when more than prompts changed."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from cfnlint.api import ManualArgs, lint_file
from samtranslator.yaml_helper import yaml_parse

from gofer.evals.reports.markdown import MARKER, MOST_BYTES
from support.aws.template import ROOT, of_type, written

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EVALS = ROOT / ".github" / "workflows" / "evals.yml"
SECRETS = {"evals": {"OPENAI_API_KEY", "ANSWERS_TOKEN"}, "suggest": {"OPENAI_API_KEY"}}
"""The secrets that a pipeline may read: the key of a model, and the token of a job. Pull requests of forks get none."""
PERMISSIONS = {
    ("evals", "play"): {"actions": "read", "contents": "read"},
    ("evals", "verdict"): {"contents": "read", "pull-requests": "write"},
    ("evals", "record"): {"contents": "write"},
    ("evals", "again"): {"actions": "write"},
    ("suggest", "propose"): {"contents": "write", "pull-requests": "write"},
    ("release", "publish"): {"contents": "write", "id-token": "write"},
}
"""The permissions of jobs that need others than to read the repository or to get an identity token."""
SUGGEST = ROOT / ".github" / "workflows" / "suggest.yml"
DEPLOY = ROOT / ".github" / "workflows" / "deploy.yml"


def jobs(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_github_actions_are_pinned_by_hash_and_use_no_stored_key(path: Path) -> None:
    text = path.read_text()
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used != []
    for action, comment in used:
        assert action.startswith("./") or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert action.startswith("./") or re.search(r"# v\d+\.\d+\.\d+", comment), action
    assert set(re.findall(r"secrets\.(\w+)", text)) == SECRETS.get(path.stem, set())
    assert "aws-access-key" not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_github_job_may_read_the_repository_and_at_most_get_an_identity_token(path: Path) -> None:
    told = yaml.safe_load(path.read_text())["permissions"]
    assert told in ({}, {"contents": "read"})
    for name, job in jobs(path).items():
        reading = ({"contents": "read"}, {"contents": "read", "id-token": "write"})
        assert job.get("permissions", told) in (PERMISSIONS.get((path.stem, name)), *reading)
        for step in job.get("steps", ()):
            assert "checkout" not in step.get("uses", "") or step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_pipeline_puts_an_expression_into_a_script_or_runs_foreign_code_with_rights(path: Path) -> None:
    text = path.read_text()
    assert "pull_request_target" not in text
    assert "workflow_run" not in text
    for job in jobs(path).values():
        assert all("${{" not in step.get("run", "") for step in job.get("steps", ()))


OF_THE_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"


def test_verdict_runs_one_program_of_the_base_branch_and_gets_no_secret() -> None:
    verdict = jobs(EVALS)["verdict"]
    checkout, download, *steps = verdict["steps"]
    assert checkout["with"] == {"ref": "${{ github.base_ref }}", "persist-credentials": False}
    assert download["uses"].startswith("actions/download-artifact@")
    assert [step["run"] for step in steps if ".ci/" in step["run"]] == ["python3 .ci/accepted.py"]
    assert all(word not in str(verdict) for word in ("secrets.", ".venv", "bash .ci"))
    (comment,) = [step for step in steps if step.get("name", "").startswith("Write the comment")]
    assert OF_THE_REPOSITORY in comment["if"]


@pytest.mark.parametrize("name", ["record", "again"])
def test_job_that_may_write_runs_no_code_of_the_change_and_only_for_branches_of_the_repository(name: str) -> None:
    job = jobs(EVALS)[name]
    assert OF_THE_REPOSITORY in job["if"]
    assert all(word not in str(job) for word in (".ci/", ".venv", "make ", "OPENAI"))


def test_token_for_answers_is_read_by_one_job_with_an_environment_of_its_own() -> None:
    readers = [name for name, job in jobs(EVALS).items() if "ANSWERS_TOKEN" in str(job)]
    assert readers == ["record"]
    assert [name for name, job in jobs(EVALS).items() if job.get("environment") == "answers"] == ["record"]


def test_evals_run_for_pull_requests_their_reviews_and_every_night_one_at_a_time() -> None:
    whole = yaml.safe_load(EVALS.read_text())
    # YAML reads the key `on` as true.
    assert set(whole[True]) == {"pull_request", "pull_request_review", "schedule", "workflow_dispatch"}
    assert whole["concurrency"]["cancel-in-progress"] is True
    assert all(job["timeout-minutes"] <= 60 for job in whole["jobs"].values())


def test_missing_evidence_fails_in_a_step_of_its_own() -> None:
    code = "needs.play.outputs.code"
    steps = {step.get("name", ""): step for step in jobs(EVALS)["verdict"]["steps"]}
    (unproved,) = [step for name, step in steps.items() if name.startswith("No evidence")]
    assert unproved["if"] == f"${{{{ {code} == '3' && steps.accepted.outputs.by == '' }}}}"
    assert unproved["run"] == "exit 3"
    (failed,) = [step for name, step in steps.items() if name.startswith("Failed")]
    assert failed["if"] == f"${{{{ {code} != '0' && {code} != '3' }}}}"
    # Only missing evidence is ever looked at by a person.
    (accepted,) = [step for step in steps.values() if step.get("id") == "accepted"]
    assert accepted["if"] == f"{code} == '3'"


def test_missing_evidence_fails_at_night_too() -> None:
    steps = {step.get("name", ""): step for step in jobs(EVALS)["play"]["steps"]}
    (unproved,) = [step for name, step in steps.items() if name.startswith("No evidence")]
    assert unproved["if"] == "steps.play.outputs.code == '3' && github.event_name != 'pull_request'"
    (failed,) = [step for name, step in steps.items() if name.startswith("Failed")]
    assert failed["if"] == "steps.play.outputs.code != '0' && steps.play.outputs.code != '3'"


FAKE_GOFER = """#!/bin/sh
echo "$*" >> arguments
case "$*" in *--record*) FAKE_CODE=$LIVE_CODE; echo new > evals/answers/a.json; echo new > evals/answers/b.json ;; esac
test -f report-of-gofer || printf '### the report\\n\\n<!-- gofer-evals -->\\n' > report-of-gofer
test "$FAKE_CODE" = 2 || cp report-of-gofer evals-report/report.md
exit "$FAKE_CODE"
"""


def evals_script(folder: Path, code: int, **variables: str) -> str:
    """Run the script that plays the evals with a command that ends with `code`; return what it writes as output."""
    (folder / ".venv" / "bin").mkdir(parents=True)
    gofer = folder / ".venv" / "bin" / "gofer"
    gofer.write_text(FAKE_GOFER)
    gofer.chmod(0o755)
    output = folder / "output"
    found = {"PATH": os.environ["PATH"], "FAKE_CODE": str(code), "GITHUB_OUTPUT": str(output), **variables}
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary")}
    subprocess.run(["bash", str(ROOT / ".ci" / "evals")], cwd=folder, env={**found, **summary}, check=True)
    return output.read_text()


@pytest.mark.parametrize("code", [0, 1, 3, 5])
def test_evals_script_says_the_exit_code_and_writes_comment_and_summary(code: int, tmp_path: Path) -> None:
    assert evals_script(tmp_path, code) == f"code={code}\nrecorded=0\n"
    comment = (tmp_path / "evals-report" / "comment.md").read_text()
    assert comment == "### the report\n\n<!-- gofer-evals -->\n"
    assert (tmp_path / "summary").read_text() == comment
    assert "--changed" not in (tmp_path / "arguments").read_text()
    assert "--live" not in (tmp_path / "arguments").read_text()


def test_evals_script_plays_every_case_live_at_night(tmp_path: Path) -> None:
    evals_script(tmp_path, 0, OPENAI_API_KEY="key")
    assert (tmp_path / "arguments").read_text().endswith("--markdown evals-report/report.md --live\n")


def test_evals_script_adds_the_review_and_the_baseline(tmp_path: Path) -> None:
    (tmp_path / "evals-report").mkdir()
    (tmp_path / "evals-report" / "review.md").write_text("the review\n")
    (tmp_path / "evals-report" / "main.json").write_text("{}")
    evals_script(tmp_path, 0, BASE="main", OPENAI_API_KEY="key")
    (arguments,) = (tmp_path / "arguments").read_text().splitlines()
    assert arguments.endswith("--changed origin/main --affected --baseline evals-report/main.json")
    comment = (tmp_path / "evals-report" / "comment.md").read_text().splitlines()
    assert comment[0] == "### the report"
    assert comment[-3:] == ["the review", "", "<!-- gofer-evals -->"]


@pytest.mark.parametrize(
    ("live", "said", "answers"),
    [
        ("0", "code=0\nrecorded=2\n", ["a.json", "b.json"]),
        ("1", "code=1\nrecorded=0\n", []),
        ("4", "code=4\nrecorded=0\n", []),
    ],
)
def test_evals_script_asks_a_model_without_evidence_and_keeps_answers_of_passed_cases(
    repository: "Repository", live: str, said: str, answers: list[str]
) -> None:
    repository.commit("evals/answers/a.json", "evals/answers/unchanged.json")
    assert evals_script(repository.folder, 3, BASE="main", OPENAI_API_KEY="key", LIVE_CODE=live) == said
    first, second = (repository.folder / "arguments").read_text().splitlines()
    assert second == f"{first} --live --record"
    kept = repository.folder / "evals-report" / "answers"
    assert sorted(path.name for path in kept.glob("*")) == answers


def test_evals_script_without_a_key_leaves_missing_evidence(repository: "Repository") -> None:
    assert evals_script(repository.folder, 3, BASE="main") == "code=3\nrecorded=0\n"


LEFT_OUT = "_The prompt review is too long for this comment; read `review.md` among the artifacts._"


@pytest.mark.parametrize(
    ("characters", "is_shown"), [(4_000, True), (65_000 - MOST_BYTES - 4, True), (65_000 - MOST_BYTES - 3, False)]
)
def test_evals_comment_leaves_out_a_review_that_would_make_the_comment_too_long(
    characters: int, is_shown: bool, tmp_path: Path
) -> None:
    review = "ä" + characters * "x"
    (tmp_path / "evals-report").mkdir()
    (tmp_path / "evals-report" / "review.md").write_text(f"{review}\n")
    report = f"{'x' * (MOST_BYTES - 2 - len(MARKER))}\n{MARKER}\n"
    assert len(report.encode()) == MOST_BYTES
    (tmp_path / "report-of-gofer").write_text(report)
    evals_script(tmp_path, 0)
    comment = (tmp_path / "evals-report" / "comment.md").read_text()
    assert len(comment.encode()) <= 65_000
    assert (review in comment) is is_shown
    assert (LEFT_OUT in comment) is not is_shown
    assert comment.endswith(f"\n\n{MARKER}\n")
    assert _write_comment(tmp_path, comment, "").returncode == 0


def test_evals_script_reports_evals_that_could_not_be_played(tmp_path: Path) -> None:
    assert evals_script(tmp_path, 2) == "code=2\nrecorded=0\n"
    comment = (tmp_path / "evals-report" / "comment.md").read_text()
    assert comment.startswith(
        "### ❌ Read the log of the step “Play”: the evals were not played, because gofer eval ended with exit code 2."
    )
    assert comment.endswith("<!-- gofer-evals -->\n")


FAKE_GH = """#!/bin/sh
printf '%s\\n' "$*" >> calls
case "$*" in *--paginate*) printf '%s' "$FOUND" ;; esac
"""


@pytest.mark.parametrize(
    ("found", "call"),
    [
        ("", "--method POST repos/acme/gofer/issues/7/comments"),
        ("41\n42\n", "--method PATCH repos/acme/gofer/issues/comments/41"),
    ],
)
def test_evals_comment_is_written_once_and_then_updated_in_place(found: str, call: str, tmp_path: Path) -> None:
    done = _write_comment(tmp_path, "### the report\n<!-- gofer-evals -->\n", found)
    assert done.returncode == 0
    assert (tmp_path / "calls").read_text().splitlines()[1] == (
        f"api --silent {call} --field body=@evals-report/comment.md"
    )


@pytest.mark.parametrize(
    "comment", ["no mark\n", "x" * 65_501 + "\n<!-- gofer-evals -->\n"], ids=["no mark", "too long"]
)
def test_evals_comment_without_a_report_is_not_written(comment: str, tmp_path: Path) -> None:
    assert _write_comment(tmp_path, comment, "").returncode != 0
    assert not (tmp_path / "calls").exists()


def _write_comment(folder: Path, comment: str, found: str) -> subprocess.CompletedProcess[str]:
    """Run the step that writes the comment, with a command `gh` that notes its calls."""
    (folder / "evals-report").mkdir(exist_ok=True)
    (folder / "evals-report" / "comment.md").write_text(comment)
    (folder / "gh").write_text(FAKE_GH)
    (folder / "gh").chmod(0o755)
    (step,) = [step for step in jobs(EVALS)["verdict"]["steps"] if "gofer-evals" in step.get("run", "")]
    given = {"PATH": f"{folder}:{os.environ['PATH']}", "FOUND": found, "NUMBER": "7", "REPOSITORY": "acme/gofer"}
    told = ["bash", "-e", "-c", step["run"]]
    return subprocess.run(told, cwd=folder, env=given, capture_output=True, text=True, check=False)


def test_deploy_role_is_used_by_the_deploy_job_after_all_tests_only() -> None:
    roles = {
        name: [
            step["with"]["role-to-assume"] for step in job.get("steps", ()) if "credentials@" in step.get("uses", "")
        ]
        for name, job in jobs(DEPLOY).items()
    }
    publishing = ["${{ vars.GOFER_PUBLISH_ROLE }}"]
    assert roles == {
        "decide": publishing,
        "test": [],
        "deploy": ["${{ vars.GOFER_DEPLOY_ROLE }}"],
        "publish": publishing,
    }
    assert jobs(DEPLOY)["deploy"]["needs"] == ["decide", "test"]
    assert jobs(DEPLOY)["test"]["uses"] == "./.github/workflows/test.yml"


def test_changed_prompts_are_checked_and_published_without_a_deployment() -> None:
    code = "needs.decide.outputs.code == 'true'"
    assert [name for name, job in jobs(DEPLOY).items() if job.get("if") == code] == ["test", "deploy"]
    said = [step["run"] for step in jobs(DEPLOY)["publish"]["steps"] if "run" in step]
    assert said[-2:] == [".venv/bin/gofer check", '.venv/bin/gofer publish --stage "$STAGE"']


FAKE_AWS = """#!/bin/sh
test "$*" = "ssm get-parameter --name /gofer-deployed/prod --query Parameter.Value --output text" || exit 2
cat "$(dirname "$0")/deployed"
"""


class Repository:
    """A repository with a deployed commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = folder.parent / "tools"
        self.tools.mkdir()
        (self.tools / "aws").write_text(FAKE_AWS)
        (self.tools / "aws").chmod(0o755)
        folder.mkdir()
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
        told = subprocess.run(["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return told.stdout.strip()

    def commit(self, *paths: str) -> str:
        for path in paths:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{file.read_text() if file.exists() else ''}more\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "Something is true now.", "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def deployed(self, commit: str) -> None:
        (self.tools / "deployed").write_text(f"{commit}\n")

    def decision(self) -> str:
        found = {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "STAGE": "prod"}
        told = ["bash", str(ROOT / "deploy" / "changes.sh")]
        done = subprocess.run(told, cwd=self.folder, env=found, capture_output=True, text=True, check=True)
        return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.deployed(made.commit("agents/a.md", "src/code.py", "coordinators/a.py"))
    return made


def test_push_of_prompts_subagents_and_skills_only_publishes(repository: Repository) -> None:
    repository.commit("agents/a.md", "subagents/b.yaml", "skills/c/SKILL.md")
    repository.commit("agents/new.yaml", "agents/übergabe.md")
    assert repository.decision() == "code=false"


def test_push_without_changes_only_publishes(repository: Repository) -> None:
    repository.commit()
    assert repository.decision() == "code=false"


@pytest.mark.parametrize(
    "path", ["src/code.py", "coordinators/a.py", "template.yaml", "x/agents/a.md", "agents-too/a.md"]
)
def test_push_with_any_other_file_deploys(repository: Repository, path: str) -> None:
    repository.commit("agents/a.md", path)
    assert repository.decision() == "code=true"


@pytest.mark.parametrize("path", ["src/code.py", "coordinators/a.py"])
def test_push_that_moves_code_to_prompts_deploys(repository: Repository, path: str) -> None:
    repository.git("mv", path, "agents/moved.py")
    repository.commit()
    assert repository.decision() == "code=true"


def test_code_of_an_overtaken_push_is_deployed_by_the_next_push(repository: Repository) -> None:
    repository.commit("src/code.py")
    repository.commit("agents/a.md")
    assert repository.decision() == "code=true"


@pytest.mark.parametrize("said", ["", "None", "0" * 40, "HEAD"])
def test_push_deploys_when_the_deployed_commit_is_unknown(repository: Repository, said: str) -> None:
    repository.deployed(said)
    assert repository.decision() == "code=true"


def test_push_deploys_when_aws_does_not_answer(repository: Repository) -> None:
    (repository.tools / "deployed").unlink()
    assert repository.decision() == "code=true"


def test_github_roles_pass_the_linter_and_are_bound_to_one_environment() -> None:
    path = ROOT / "deploy" / "github.yaml"
    assert [str(match) for match in lint_file(path, ManualArgs(regions=["eu-west-1"]))] == []
    assert "repo:${Repository}:environment:${Stage}" in path.read_text()


def test_github_roles_cannot_change_lambda_resources_outside_the_stack() -> None:
    roles = of_type(yaml_parse((ROOT / "deploy" / "github.yaml").read_text()), "AWS::IAM::Role")
    statements = [
        statement
        for role in roles.values()
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    anywhere = [one for one in statements if one["Resource"] == "*"]
    mapping = {action for one in anywhere if "Condition" in one for action in one["Action"]}
    assert mapping == {f"lambda:{verb}EventSourceMapping" for verb in ("Create", "Update", "Delete")}
    rest = {action.split(":")[0] for one in anywhere if "Condition" not in one for action in one["Action"]}
    assert rest == {"logs", "ssm"}


@pytest.mark.parametrize("path", sorted((ROOT / "deploy").glob("*.toml")), ids=lambda path: path.stem)
def test_stage_file_has_parameters_that_the_template_accepts(path: Path) -> None:
    told = tomllib.loads(path.read_text())["default"]["deploy"]["parameters"]
    given = dict(line.split("=", 1) for line in told["parameter_overrides"])
    parameters = written()["Parameters"]
    assert told["stack_name"] == f"gofer-{given['Stage']}" == f"gofer-{path.stem}"
    assert set(given) <= set(parameters)
    for name, value in given.items():
        allowed = parameters[name].get("AllowedValues")
        assert allowed is None or value in map(str, allowed), name


def test_suggestions_are_pushed_by_a_job_without_keys_and_without_code_of_the_repository() -> None:
    propose = jobs(SUGGEST)["propose"]
    used = [step["uses"].partition("@")[0] for step in propose["steps"] if "uses" in step]
    assert used == ["actions/checkout", "actions/download-artifact"]
    assert "secrets." not in str(propose)
    assert not any(word in str(propose) for word in (".ci/", "make ", ".venv", "id-token"))
    assert jobs(SUGGEST)["prove"]["if"] == "vars.GOFER_SUGGEST_ROLE != ''"


SUGGESTING = """#!/bin/sh
echo "$*" >> arguments
case "$2" in
quiet) exit 0 ;;
away) exit 4 ;;
esac
git branch "gofer/suggest-$2-0a1b2c3d" "$(git commit-tree -p HEAD -m "$2" "$(cat tree)")"
printf '# Edit %s\n\nBecause.\n' "$2" > suggestions/new.md
"""


def suggested(repository: Repository, workflows: str, path: str = "agents/loud.md") -> int:
    """Run the script of suggestions with a command that proposes a file; return its exit code."""
    repository.commit("agents/loud.md", "agents/quiet.md", "agents/loud.yaml", "agents/quiet.yaml", "agents/note.md")
    base = repository.git("rev-parse", "HEAD")
    repository.commit(path)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    repository.git("reset", "-q", "--hard", base)
    (repository.folder / "tree").write_text(tree)
    gofer = repository.folder / ".venv" / "bin" / "gofer"
    gofer.parent.mkdir(parents=True)
    gofer.write_text(SUGGESTING)
    gofer.chmod(0o755)
    found = {"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(repository.folder / "output"), "STAGE": "prod"}
    told = ["bash", str(ROOT / ".ci" / "suggest")]
    given = {**found, "WORKFLOWS": workflows, "HOME": str(repository.folder)}
    return subprocess.run(told, cwd=repository.folder, env=given, capture_output=True, check=False).returncode


def test_suggest_script_bundles_the_branch_and_its_text(repository: Repository) -> None:
    assert suggested(repository, "") == 0
    assert (repository.folder / "arguments").read_text().split("\n")[:2] == [
        "suggest loud --stage prod --body suggestions/new.md",
        "suggest quiet --stage prod --body suggestions/new.md",
    ]
    assert (repository.folder / "output").read_text() == "made=1\n"
    made = repository.folder / "suggestions"
    assert (made / "suggest-loud-0a1b2c3d.md").read_text() == "# Edit loud\n\nBecause.\n"
    heads = repository.git("bundle", "list-heads", str(made / "branches.bundle"))
    assert heads.endswith("refs/heads/gofer/suggest-loud-0a1b2c3d")


def test_suggest_script_fails_after_the_other_workflows_if_a_model_was_away(repository: Repository) -> None:
    assert suggested(repository, "away loud") == 4
    assert (repository.folder / "output").read_text() == "made=1\n"


def proposed(repository: Repository, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the step that pushes suggestions, in a clone of the repository with a command `gh` that notes its calls."""
    clone = folder / "clone"
    repository.git("clone", "-q", str(repository.folder), str(clone))
    (repository.folder / "suggestions").rename(clone / "suggestions")
    repository.git("branch", "-D", "gofer/suggest-loud-0a1b2c3d")
    (repository.tools / "gh").write_text("#!/bin/sh\nprintf '%s\\n' \"$*\" >> calls\n")
    (repository.tools / "gh").chmod(0o755)
    (step,) = [step for step in jobs(SUGGEST)["propose"]["steps"] if "run" in step]
    given = {"PATH": f"{repository.tools}:{os.environ['PATH']}", "MAIN": "main", "HOME": str(folder)}
    told = ["bash", "-e", "-c", step["run"]]
    return subprocess.run(told, cwd=clone, env=given, capture_output=True, text=True, check=False)


def test_suggestion_is_pushed_with_one_pull_request(repository: Repository, tmp_path: Path) -> None:
    suggested(repository, "loud")
    assert proposed(repository, tmp_path).returncode == 0
    assert repository.git("log", "-1", "--format=%s", "gofer/suggest-loud-0a1b2c3d") == "loud"
    calls = (tmp_path / "clone" / "calls").read_text().splitlines()
    body = "--body-file suggestions/suggest-loud-0a1b2c3d.md"
    assert calls == [
        "auth setup-git",
        f"pr create --head gofer/suggest-loud-0a1b2c3d --base main --title Edit loud {body}",
    ]


@pytest.mark.parametrize("path", ["src/code.py", "agents/loud.yaml", ".github/workflows/x.yml", "evals/loud.yaml"])
def test_suggestion_with_any_other_file_is_not_pushed(repository: Repository, tmp_path: Path, path: str) -> None:
    suggested(repository, "loud", path)
    ended = proposed(repository, tmp_path)
    assert (ended.returncode, "no suggestion may change" in ended.stdout) == (1, True)
    assert repository.git("branch", "--list", "gofer/*") == ""


def committed(repository: Repository, folder: Path, name: str, token: str = "") -> subprocess.CompletedProcess[str]:
    """Run the step that commits answers, in a clone with a report that has an answer file `name`."""
    repository.commit("evals/answers/a.json")
    clone = folder / "clone"
    repository.git("clone", "-q", str(repository.folder), str(clone))
    repository.git("checkout", "-q", "--detach")
    (clone / "evals-report" / "answers").mkdir(parents=True)
    (clone / "evals-report" / "answers" / name).write_text("new\n")
    (repository.tools / "gh").write_text("#!/bin/sh\n")
    (repository.tools / "gh").chmod(0o755)
    (step,) = [step for step in jobs(EVALS)["record"]["steps"] if "run" in step]
    given = {"PATH": f"{repository.tools}:{os.environ['PATH']}", "HOME": str(folder)}
    given |= {"BRANCH": _main(repository), "STARTS_CHECKS": token}
    told = ["bash", "-e", "-c", step["run"]]
    return subprocess.run(told, cwd=clone, env=given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("token", ["true", "false"])
def test_answers_are_committed_and_a_push_that_starts_no_checks_is_named(
    repository: Repository, tmp_path: Path, token: str
) -> None:
    done = committed(repository, tmp_path, "b.json", token)
    assert done.returncode == 0, done.stderr
    assert repository.git("log", "-1", "--format=%s", "--name-only", _main(repository)) == (
        "Record the answers of the evals\n\nevals/answers/b.json"
    )
    assert ("GitHub starts no checks" in done.stdout) == (token == "false")


def _main(repository: Repository) -> str:
    return repository.git("branch", "--format=%(refname:short)", "--list", "ma*")


@pytest.mark.parametrize("target", ["../../.github/workflows/x.yml", "../../agents/a.md"])
def test_answers_behind_a_link_change_no_other_file(repository: Repository, tmp_path: Path, target: str) -> None:
    repository.commit("evals/answers/a.json", ".github/workflows/x.yml", "agents/a.md")
    (repository.folder / "evals" / "answers" / "b.json").symlink_to(target)
    before = repository.commit()
    done = committed(repository, tmp_path, "b.json")
    assert done.returncode == 1
    assert "Nothing is committed, because only recorded answers may be" in done.stdout
    assert repository.git("rev-parse", f"{_main(repository)}~1") == before


@pytest.mark.parametrize("name", ["run.sh", "a b.json"])
def test_file_with_another_name_is_not_committed(repository: Repository, tmp_path: Path, name: str) -> None:
    done = committed(repository, tmp_path, name)
    assert (done.returncode, f"evals/answers/{name}" in done.stdout) == (1, True)
