"""The guides, followed literally in a checkout and in a company's repository: files, commands, and their output."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic_monty import Monty
from skills_ref.validator import validate

from gofer.app.new_repository.contents import STARTERS
from gofer.sources.workflow_files import load_catalog
from support.app.company import ROOT
from support.guides.checkout import FENCE, Terminal, checkout, company_repository

GUIDES = ("write-a-workflow.md", "write-a-script.md", "write-a-skill.md")
Followed = tuple[list[int], str]
"""The exit codes of a guide's commands, and the output of the last one."""


def follow(guide: str, terminal: Terminal) -> Followed:
    """Follow a guide to its end."""
    codes: list[int] = []
    for kind, file, text in FENCE.findall((ROOT / "docs" / guide).read_text()):
        if file:
            (terminal.folder / file).parent.mkdir(exist_ok=True, parents=True)
            (terminal.folder / file).write_text(text)
        elif kind == "sh":
            codes.append(terminal.exit_code(text))
        else:
            assert re.sub(r"\b\d\d:\d\d\.", "NOW.", terminal.says()) == text
    return codes, terminal.says()


@dataclass(frozen=True)
class FollowedGuides:
    """All guides, followed one after the other in one checkout."""

    folder: Path
    results: Mapping[str, Followed]


@pytest.fixture(scope="module", params=["checkout", "company"])
def followed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, forked_gofer: Path
) -> FollowedGuides:
    """Follow all guides one after the other in one checkout, and in a repository that `gofer init` wrote."""
    folder = tmp_path_factory.mktemp("followed") / "gofer"
    if request.param == "checkout":
        terminal = replace(checkout(folder), programs=forked_gofer)
    else:
        terminal = company_repository(folder, STARTERS, forked_gofer)
    return FollowedGuides(terminal.folder, {guide: follow(guide, terminal) for guide in GUIDES})


def test_workflow_guide_works_as_written(followed: FollowedGuides) -> None:
    codes, said = followed.results[GUIDES[0]]
    assert codes == [1, 0, 0, 0]
    # The last command lists the run that the one before it made.
    assert re.search(r"^[0-9a-f]{24}  done .*  sum-up$", said, re.MULTILINE)


def test_script_guide_works_as_written(followed: FollowedGuides) -> None:
    assert followed.results["write-a-script.md"][0] == [1, 0, 0]


def test_skill_guide_works_as_written(followed: FollowedGuides) -> None:
    assert followed.results["write-a-skill.md"][0] == [1, 0, 0]
    home = followed.folder / "skills" / "release-notes"
    assert validate(home) == []
    # The script of the skill runs in the sandbox of scripts.
    script = (home / "scripts" / "next_version.py").read_text()
    with Monty() as pool, pool.checkout() as session:
        said: list[str] = []
        session.feed_run(script, print_callback=lambda _, text: said.append(text))
    assert "".join(said) == "4.18.0\n"
    loaded = load_catalog(followed.folder / "agents").workflows["what-is-new"]
    assert "- `release-notes`: How we write release notes." in loaded.system
    assert "One line for each change" not in loaded.system


def test_guides_can_be_followed_one_after_the_other(followed: FollowedGuides) -> None:
    assert [codes[:3] for codes, _ in followed.results.values()] == [[1, 0, 0]] * len(GUIDES)


def test_guide_can_be_followed_in_a_checkout_of_its_own(
    everywhere: bool, followed: FollowedGuides, tmp_path: Path
) -> None:
    # The first guide was followed in a new checkout; `make test-long` follows each of the others in one.
    assert followed.results[GUIDES[0]][0][:3] == [1, 0, 0]
    others = GUIDES[1:] if everywhere else ()
    for guide in others:
        assert follow(guide, checkout(tmp_path / guide))[0] == [1, 0, 0]
