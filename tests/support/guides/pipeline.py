"""GitHub in a folder: the jobs of workflow files, whose scripts bash runs, and a stand-in for `gh`."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support.guides import fake_gh

_TOKENS = re.compile(r"'[^']*'|&&|\|\||==|!=|!|[()]|[\w.-]+")
_WORDS = {"&&": "and", "||": "or", "!": "not", "==": "==", "!=": "!=", "(": "(", ")": ")"}
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_IGNORED = ("actions/setup-python",)
_INSTALL = "bash .ci/install"
GH = Path(fake_gh.__file__)


def evaluated(expression: str, contexts: Mapping[str, Any]) -> Any:
    """Return the value of an expression of a workflow file. A name that is not known is the empty text."""
    words: list[str] = []
    for token in _TOKENS.findall(expression.replace("cancelled()", "''")):
        if token in _WORDS:
            words.append(_WORDS[token])
        elif token[0] == "'":
            words.append(repr(token[1:-1]))
        else:
            words.append(repr(_value(token, contexts)))
    return eval(" ".join(words), {})


def _value(name: str, contexts: Mapping[str, Any]) -> Any:
    if name in ("true", "false"):
        return name == "true"
    value: Any = contexts
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def filled(text: object, contexts: Mapping[str, Any]) -> str:
    """Return a text with the values of its expressions, as environment variables have them."""
    return _EXPRESSION.sub(lambda found: _as_text(evaluated(found[1], contexts)), str(text))


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass
class Job:
    """One job: its result, the step that failed, and its outputs."""

    name: str
    result: str = "success"
    failed: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    def told(self, workflow: str) -> str:
        """Return the result in one line, with the name of the workflow."""
        if self.failed:
            return f"failed   {workflow} / {self.name}: {self.failed}"
        result = {"success": "passed"}.get(self.result, self.result)
        return f"{result:<8} {workflow} / {self.name}"


@dataclass
class Hub:
    """A repository on a forge, as a bare repository in `folder`, with secrets and one pull request."""

    folder: Path
    environment: Path
    """The virtual environment in place of the one that `.ci/install` makes."""
    secrets: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    log: str = ""
    """The output of all steps."""

    def __post_init__(self) -> None:
        programs = self.folder / "programs"
        programs.mkdir(parents=True)
        gh = programs / "gh"
        gh.write_text(f'#!/bin/sh\nexec {sys.executable} {GH} {self.folder} "$@"\n')
        gh.chmod(0o755)
        git("init", "-q", "--bare", "-b", "main", str(self.origin), at=self.folder)
        self.write([])

    @property
    def origin(self) -> Path:
        return self.folder / "origin.git"

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "hub.json").read_text())

    def write(self, reviews: Sequence[Mapping[str, Any]]) -> None:
        """Set the reviews of the pull request; its comments stay."""
        file = self.folder / "hub.json"
        comments = self.state["comments"] if file.exists() else []
        file.write_text(json.dumps({"author": "grace", "reviews": list(reviews), "comments": comments}))

    def head(self, branch: str) -> str:
        return git("rev-parse", branch, at=self.origin)

    def comment(self, lines: int) -> Sequence[str]:
        """Return the first lines of the comment on the pull request that are not empty."""
        text = "".join(one["body"] for one in self.state["comments"])
        return [line for line in text.splitlines() if line][:lines]

    def review(self, person: str, state: str, branch: str) -> Mapping[str, Any]:
        """Return a review of the last commit of a branch."""
        return {"user": {"login": person}, "state": state, "commit_id": self.head(branch)}

    def push(self) -> Sequence[str]:
        """Return what the workflows say to a push of the main branch."""
        return self.says("gofer.yml", self.event("push", "main"))

    def pull_request(self, branch: str) -> Sequence[str]:
        """Return what the workflows say to the last commit of a pull request, and the begin of the comment."""
        event = self.event("pull_request", branch)
        return [*self.says("gofer.yml", event), *self.says("evals.yml", event)]

    def event(self, name: str, branch: str) -> Mapping[str, Any]:
        github: dict[str, Any] = {"event_name": name, "ref": f"refs/heads/{branch}", "repository": "acme/gofer"}
        github |= {"token": "t", "event": {"repository": {"default_branch": "main"}}, "head_ref": branch}
        if name != "push":
            head = {"sha": self.head(branch), "ref": branch, "repo": {"full_name": "acme/gofer"}}
            github["event"] |= {"pull_request": {"number": 7, "head": head, "base": {"ref": "main"}}}
            github["base_ref"] = "main"
        return {**github, "branch": branch}

    def says(self, workflow: str, event: Mapping[str, Any]) -> Sequence[str]:
        """Run the jobs of a workflow, and return one line for each."""
        name = workflow.removesuffix(".yml")
        return [job.told(name) for job in self.jobs(workflow, event).values()]

    def jobs(self, workflow: str, event: Mapping[str, Any]) -> Mapping[str, Job]:
        """Run the jobs of a workflow of the pushed branch in their order."""
        text = git("show", f"{event['branch']}:.github/workflows/{workflow}", at=self.origin)
        done: dict[str, Job] = {}
        shutil.rmtree(self.folder / "artifacts", ignore_errors=True)
        for name, job in yaml.safe_load(text)["jobs"].items():
            done[name] = self._job(name, job, event, done)
        return done

    def again(self, branch: str) -> Sequence[str]:
        """Review: run the job that a review starts, and the verdict again as it asks for; return what both say."""
        event = self.event("pull_request_review", branch)
        text = git("show", f"{branch}:.github/workflows/evals.yml", at=self.origin)
        found = yaml.safe_load(text)["jobs"]
        first = self._job("again", found["again"], event, {})
        assert self.state["rerun"] == "--job 72"
        before = {"play": Job("play", outputs=self._played)}
        verdict = self._job("verdict", found["verdict"], self.event("pull_request", branch), before)
        return [first.told("evals"), verdict.told("evals")]

    def _job(self, name: str, job: Mapping[str, Any], event: Mapping[str, Any], done: Mapping[str, Job]) -> Job:
        made = Job(name)
        needs = job.get("needs", [])
        needed = {one: done[one] for one in ([needs] if isinstance(needs, str) else needs)}
        contexts: dict[str, Any] = {"github": event, "secrets": self.secrets, "vars": self.variables, "steps": {}}
        contexts["needs"] = {one.name: {"result": one.result, "outputs": one.outputs} for one in needed.values()}
        if not _runs(str(job.get("if", "")), contexts, all(one.result == "success" for one in needed.values())):
            made.result = "skipped"
            return made
        workspace = self.folder / "work"
        shutil.rmtree(workspace, ignore_errors=True)
        workspace.mkdir()
        for step in job["steps"]:
            if _runs(str(step.get("if", "")), contexts, not made.failed):
                self._step(step, workspace, contexts, made, event)
        made.outputs = {key: filled(value, contexts) for key, value in job.get("outputs", {}).items()}
        if name == "play":
            self._played = made.outputs
        if made.failed:
            made.result = "failure"
        return made

    def _step(
        self, step: Mapping[str, Any], workspace: Path, contexts: dict[str, Any], job: Job, event: Mapping[str, Any]
    ) -> None:
        if "run" not in step:
            self._action(step, workspace, contexts, event)
            return
        if step["run"] == _INSTALL:
            (workspace / ".venv").symlink_to(self.environment)
            return
        output = self.folder / "output"
        output.write_text("")
        given = {name: filled(value, contexts) for name, value in step.get("env", {}).items()}
        found = {"PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}", "HOME": str(self.folder), **given}
        found |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}
        command = ["bash", "-e", "-c", step["run"]]
        done = subprocess.run(command, check=False, cwd=workspace, env=found, capture_output=True, text=True)
        self.log += f"\n$ {step['run']}\n{done.stdout}{done.stderr}"
        if done.returncode and not job.failed:
            job.failed = step.get("name", step["run"])
        said = dict(line.split("=", 1) for line in output.read_text().splitlines())
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": said}

    def _action(
        self, step: Mapping[str, Any], workspace: Path, contexts: Mapping[str, Any], event: Mapping[str, Any]
    ) -> None:
        action = step["uses"].partition("@")[0]
        given = {name: filled(value, contexts) for name, value in step.get("with", {}).items()}
        match action:
            case "actions/checkout":
                git("clone", "-q", str(self.origin), str(workspace), at=self.folder)
                git("checkout", "-q", given.get("ref", f"origin/{event['branch']}"), at=workspace)
            case "actions/upload-artifact":
                shutil.copytree(workspace / given["path"], self.folder / "artifacts" / given["name"])
            case "actions/download-artifact":
                shutil.copytree(self.folder / "artifacts" / given["name"], workspace / given["path"])
            case _:
                assert action in _IGNORED, action


def _runs(condition: str, contexts: Mapping[str, Any], succeeded: bool) -> bool:
    """Return whether a job or step runs: a condition that names no status function also needs success before."""
    text = _EXPRESSION.sub(lambda found: found[1], condition).strip()
    if "cancelled()" not in text and not succeeded:
        return False
    return not text or bool(evaluated(text, contexts))


def git(*words: str, at: Path) -> str:
    """Run git with an author of its own, and return what it prints."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *words], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(words)}\n{done.stderr}"
    return done.stdout.strip()
