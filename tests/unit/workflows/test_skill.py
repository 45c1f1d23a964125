"""A required skill stands in the prompt; one that is not in order is told of with its file."""

from pathlib import Path

import pytest

from gofer.bootstrap.catalog import mistakes
from gofer.workflows.load import load_catalog

WORKFLOW = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\nskills: {required: [routing]}\n'
SKILL = "---\nname: routing\ndescription: Where things go.\n---\nPayments go to PAY.\n"


def repository(folder: Path, skill: str | bytes, name: str = "routing") -> Path:
    (folder / "agents").mkdir()
    (folder / "agents" / "w.yaml").write_text(WORKFLOW)
    (folder / "agents" / "w.md").write_text("Do it.")
    (folder / "skills" / name).mkdir(parents=True)
    (folder / "skills" / name / "SKILL.md").write_bytes(skill if isinstance(skill, bytes) else skill.encode())
    return folder / "agents"


def test_a_required_skill_stands_behind_the_prompt(tmp_path: Path) -> None:
    agents = repository(tmp_path, SKILL)
    assert mistakes(agents) == []
    loaded = load_catalog(agents).workflows["w"]
    assert loaded.system.startswith("Do it.\n\n# Skill: routing\n\nPayments go to PAY.\n\n# Your plan\n")


def test_a_skill_that_is_not_there_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    (found,) = mistakes(repository(tmp_path, SKILL, "routings"))
    assert (found.rule, found.hint) == ("missing-skill", "Write `routings`.")
    assert (found.place.line, found.place.column) == (5, 21)


@pytest.mark.parametrize(
    ("skill", "told"),
    [
        ("Payments go to PAY.\n", "begins with `name` and `description`"),
        ("---\nname: routing\n", "begins with `name` and `description`"),
        ("---\nname: [\n---\n", "not YAML"),
        ("---\nname: other\ndescription: d\n---\n", "It needs `name: routing`"),
        ("---\nname: routing\n---\nbody\n", "a `description`"),
        ("---\n- routing\n---\nbody\n", "It needs `name: routing`"),
        (b"\xff\xfe", "cannot be read as text"),
    ],
)
def test_a_skill_that_is_not_in_order_says_why(tmp_path: Path, skill: str | bytes, told: str) -> None:
    (found,) = mistakes(repository(tmp_path, skill))
    assert found.rule == "invalid-skill"
    assert found.file.name == "SKILL.md"
    assert told in f"{found.message} {found.hint}"
