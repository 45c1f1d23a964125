"""The program with which a pipeline accepts missing evidence: who accepts, for which files, and for which commit."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.guides.pipeline import Hub, git

PROGRAM = Path(__file__).parents[2] / ".ci" / "accepted.py"
PROMPT = "agents/answer-here.md"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("accepted", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ACCEPTED = loaded()


@pytest.mark.parametrize(
    ("pattern", "owned", "others"),
    [
        ("*", ["a.md", "agents/a.md", ".github/workflows/x.yml"], []),
        ("*.md", ["a.md", "agents/a.md"], ["agents/a.yaml", "a.md.yaml"]),
        ("/agents/", ["agents/a.md", "agents/b/c.md"], ["x/agents/a.md", "agents", "agents-too/a.md"]),
        ("agents/", ["agents/a.md", "x/agents/a.md"], ["agents.md"]),
        ("agents/*", ["agents/a.md"], ["agents/b/c.md"]),
        ("/agents/a.md", ["agents/a.md"], ["x/agents/a.md", "agents/a+md"]),
        ("**/answers", ["answers", "evals/answers/a.json"], ["evals/answers-too"]),
        ("evals/**/a.json", ["evals/a.json", "evals/x/y/a.json"], ["a.json"]),
        ("skills/**", ["skills/a/SKILL.md"], ["skills"]),
        ("agents/?.md", ["agents/a.md"], ["agents/ab.md", "agents//md"]),
    ],
)
def test_patterns_of_owners_fit_as_on_the_forge(pattern: str, owned: list[str], others: list[str]) -> None:
    rules = list(ACCEPTED.rules_of(f"{pattern} @ada\n"))
    assert {path: ACCEPTED.owners_of(path, rules) for path in owned} == {path: ["ada"] for path in owned}
    assert {path: ACCEPTED.owners_of(path, rules) for path in others} == dict.fromkeys(others, ())


def test_last_rule_counts_and_people_only() -> None:
    text = "# @nobody\n* @Ada @acme/team ada@example.com # all\n/docs/ @bob\n/docs/open/\n!x @eve\n"
    rules = list(ACCEPTED.rules_of(text))
    assert ACCEPTED.owners_of("x.md", rules) == ["ada"]
    assert ACCEPTED.owners_of("docs/a.md", rules) == ["bob"]
    assert ACCEPTED.owners_of("docs/open/a.md", rules) == []


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    made = Hub(tmp_path / "hub", tmp_path)
    clone = tmp_path / "clone"
    git("clone", "-q", str(made.origin), str(clone), at=tmp_path)
    commit(clone, "main", {".github/CODEOWNERS": "* @ada @grace\n/skills/ @bob\n", PROMPT: "One.\n"})
    commit(clone, "edit", {PROMPT: "Two.\n"})
    return made


def commit(clone: Path, branch: str, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
    git("add", "--all", at=clone)
    git("commit", "-q", "-m", "Change", at=clone)
    git("push", "-q", "origin", f"HEAD:{branch}", at=clone)


def decision(hub: Hub, reviews: Sequence[Mapping[str, Any]], head: str = "") -> tuple[str, str]:
    """Run the program in a checkout of the base branch; return its output and the second paragraph of the comment."""
    hub.write(reviews)
    base = hub.folder / "base"
    if not base.exists():
        git("clone", "-q", "-b", "main", str(hub.origin), str(base), at=hub.folder)
    (base / "evals-report").mkdir(exist_ok=True)
    (base / "evals-report" / "comment.md").write_text("### ⚪ No evidence.\n\nrest\n")
    output = hub.folder / "output"
    output.write_text("")
    given = {"PATH": f"{hub.folder / 'programs'}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(output)}
    given |= {"REPOSITORY": "acme/gofer", "NUMBER": "7", "HEAD": head or hub.head("edit")}
    subprocess.run([sys.executable, str(PROGRAM)], cwd=base, env=given, check=True, capture_output=True)
    comment = (base / "evals-report" / "comment.md").read_text()
    assert comment.endswith("\n\nrest\n")
    return output.read_text().strip().removeprefix("by="), comment


def test_owner_accepts_the_last_commit_and_is_named_first(hub: Hub) -> None:
    by, comment = decision(hub, [hub.review("Ada", "APPROVED", "edit")])
    assert by == "ada"
    assert comment.startswith("### ✅ Accepted without evidence by `@ada`, with an approving review of `")
    assert "\n⚪ No evidence.\n" in comment


@pytest.mark.parametrize(
    ("person", "states"),
    [
        ("ada", ["COMMENTED"]),
        ("ada", ["APPROVED", "CHANGES_REQUESTED"]),
        ("ada", ["DISMISSED"]),
        ("grace", ["APPROVED"]),
        ("bob", ["APPROVED"]),
        ("", ["APPROVED"]),
    ],
    ids=[
        "a comment",
        "changes asked for later",
        "dismissed",
        "the author",
        "an owner of other files",
        "a deleted account",
    ],
)
def test_other_reviews_accept_no_change(hub: Hub, person: str, states: list[str]) -> None:
    by, comment = decision(hub, [hub.review(person, state, "edit") for state in states])
    assert by == ""
    assert f"⚪ Not accepted: `{PROMPT}` needs an approving review of `" in comment
    assert "by `@ada`." in comment


def test_comment_after_an_approval_leaves_the_approval(hub: Hub) -> None:
    assert decision(hub, [hub.review("ada", state, "edit") for state in ("APPROVED", "COMMENTED")])[0] == "ada"


def test_approval_of_an_earlier_commit_does_not_count(hub: Hub, tmp_path: Path) -> None:
    earlier = hub.review("ada", "APPROVED", "edit")
    commit(tmp_path / "clone", "edit", {PROMPT: "Three.\n"})
    assert decision(hub, [earlier])[0] == ""
    by, comment = decision(hub, [earlier], head=earlier["commit_id"])
    assert by == ""
    assert "is not the last commit any more" in comment


def test_each_changed_file_needs_an_approving_owner(hub: Hub, tmp_path: Path) -> None:
    commit(tmp_path / "clone", "edit", {"skills/a/SKILL.md": "A rule.\n"})
    ada, bob = (hub.review(person, "APPROVED", "edit") for person in ("ada", "bob"))
    assert "`skills/a/SKILL.md` needs an approving review" in decision(hub, [ada])[1]
    assert decision(hub, [ada, bob])[0] == "ada bob"


def test_owners_are_read_from_the_base_branch(hub: Hub, tmp_path: Path) -> None:
    commit(tmp_path / "clone", "edit", {".github/CODEOWNERS": "* @eve\n"})
    assert decision(hub, [hub.review("eve", "APPROVED", "edit")])[0] == ""


@pytest.mark.parametrize("text", ["# * @NAME\n", "* @acme/support\n", "* @grace\n", "/docs/ @ada\n"])
def test_file_without_a_person_beside_the_author_is_never_accepted(hub: Hub, text: str) -> None:
    decision(hub, [])
    (hub.folder / "base" / ".github" / "CODEOWNERS").write_text(text)
    reviews = [hub.review(person, "APPROVED", "edit") for person in ("ada", "grace", "acme/support", "NAME")]
    by, comment = decision(hub, reviews)
    assert by == ""
    assert f"names no person beside the author for `{PROMPT}`" in comment


STATES = st.sampled_from(["APPROVED", "CHANGES_REQUESTED", "DISMISSED", "COMMENTED"])
REVIEWS = st.lists(st.tuples(st.sampled_from(["ada", "bob", "Grace"]), STATES, st.sampled_from(["new", "old"])))


@given(REVIEWS)
def test_approval_counts_only_as_the_last_review_of_the_last_commit(reviews: list[tuple[str, str, str]]) -> None:
    approved = ACCEPTED.approvals(iter(reviews), "new")
    for person in approved:
        own = [(state, commit) for name, state, commit in reviews if name.lower() == person and state != "COMMENTED"]
        assert own[-1] == ("APPROVED", "new")


def test_text_of_outsiders_cannot_leave_its_code_span() -> None:
    shown = ACCEPTED.shown("a`b\n@ada <img>" + "x" * 500)
    assert shown.count("`") == 2
    assert "\n" not in shown
    assert len(shown) <= 202
    assert json.dumps(shown)
