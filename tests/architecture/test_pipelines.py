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

from support.aws.template import ROOT, of_type, written

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
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
    assert "secrets." not in text
    assert "aws-access-key" not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_github_job_may_read_the_repository_and_at_most_get_an_identity_token(path: Path) -> None:
    told = yaml.safe_load(path.read_text())["permissions"]
    assert told in ({}, {"contents": "read"})
    for job in jobs(path).values():
        assert job.get("permissions", told) in ({"contents": "read"}, {"contents": "read", "id-token": "write"})
        for step in job.get("steps", ()):
            assert "checkout" not in step.get("uses", "") or step["with"]["persist-credentials"] is False


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
