"""Git, as a suggestion uses it: the files of a commit, and a new branch, without a change of the working tree."""

import subprocess
from pathlib import Path

import pytest

from gofer.app.suggestions.git import commit_of
from gofer.app.suggestions.scratch import scratch_of
from gofer.values.errors import ConfigError

BRANCH = "gofer/suggest-w-0a1b2c3d"


def git(folder: Path, *words: str) -> str:
    ended = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, encoding="utf-8")
    return ended.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a committed folder `bot` within a larger repository, with a hook that refuses everything."""
    folder = tmp_path / "repository"
    (folder / "bot" / "agents").mkdir(parents=True)
    (folder / "bot" / "agents" / "w.md").write_text("Find it.\n")
    (folder / "other.txt").write_text("Something else.\n")
    git(folder, "init", "--initial-branch=main")
    git(folder, "config", "user.name", "Owner")
    git(folder, "config", "user.email", "owner@example.com")
    git(folder, "config", "commit.gpgsign", "false")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Begin")
    for name in ("pre-commit", "commit-msg", "reference-transaction"):
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
        (folder / ".git" / "hooks" / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / ".git" / "hooks" / name).chmod(0o755)
    return folder


def test_branch_has_the_files_below_the_folder_and_runs_no_hook(repository: Path) -> None:
    commit = commit_of(repository / "bot")
    files = {"agents/w.md": b"Find it by its number.\n", "evals/goldens/a b.json": b'{"a": "\xc3\xa4"}\n'}
    made = commit.add_branch(BRANCH, files, "Name the number\n\nBecause.\n")
    assert git(repository, "rev-parse", BRANCH) == made
    assert git(repository, "diff", "--name-only", "main", BRANCH).splitlines() == [
        "bot/agents/w.md",
        "bot/evals/goldens/a b.json",
    ]
    assert git(repository, "show", f"{BRANCH}:bot/evals/goldens/a b.json") == '{"a": "ä"}'
    assert git(repository, "log", "-1", "--format=%an %ae %s", BRANCH) == "Owner owner@example.com Name the number"
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "branch", "--show-current") == "main"


def test_branch_is_written_once(repository: Path) -> None:
    commit = commit_of(repository / "bot")
    assert not commit.has_branch(BRANCH)
    commit.add_branch(BRANCH, {"agents/w.md": b"New.\n"}, "Edit")
    assert commit.has_branch(BRANCH)
    with pytest.raises(ConfigError, match="There is a branch gofer/suggest-w-0a1b2c3d already"):
        commit.add_branch(BRANCH, {"agents/w.md": b"Newer.\n"}, "Edit")


def test_fetched_branch_is_found(repository: Path, tmp_path: Path) -> None:
    commit_of(repository / "bot").add_branch(BRANCH, {"agents/w.md": b"New.\n"}, "Edit")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    assert commit_of(tmp_path / "clone" / "bot").has_branch(BRANCH)


def test_scratch_checkouts_have_the_commit_and_not_the_working_tree(repository: Path) -> None:
    (repository / "bot" / "agents" / "w.md").write_text("Half an edit.\n")
    (repository / "bot" / "agents" / "new.md").write_text("New.\n")
    commit = commit_of(repository / "bot")
    assert commit.is_changed()
    with scratch_of(commit) as scratch:
        for folder in (scratch.without, scratch.with_edit):
            assert (folder / "agents" / "w.md").read_text() == "Find it.\n"
            assert [path.name for path in folder.iterdir()] == ["agents"]
        scratch.write({"evals/a.yaml": b"a"})
        scratch.write({"evals/answers/a.json": b"{}"}, only_with=True)
        assert (scratch.without / "evals" / "a.yaml").read_bytes() == b"a"
        assert scratch.new_answers() == {"evals/answers/a.json": b"{}"}
    assert not scratch.without.exists()


def test_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="A suggestion needs a Git repository with a commit"):
        commit_of(tmp_path)


@pytest.mark.parametrize("target", ["/etc/hostname", "../../other.txt"])
def test_link_out_of_the_repository_is_named(repository: Path, target: str) -> None:
    (repository / "bot" / "agents" / "link.md").symlink_to(target)
    git(repository, "add", ".")
    git(repository, "-c", "core.hooksPath=/dev/null", "commit", "-m", "Link")
    named = pytest.raises(ConfigError, match=r"agents/link\.md is a link that leads out of the repository \(" + target)
    with named, scratch_of(commit_of(repository / "bot")):
        pass


def test_link_within_the_repository_is_followed(repository: Path) -> None:
    (repository / "bot" / "agents" / "link.md").symlink_to("w.md")
    git(repository, "add", ".")
    git(repository, "-c", "core.hooksPath=/dev/null", "commit", "-m", "Link")
    with scratch_of(commit_of(repository / "bot")) as scratch:
        assert (scratch.without / "agents" / "link.md").read_text() == "Find it.\n"
