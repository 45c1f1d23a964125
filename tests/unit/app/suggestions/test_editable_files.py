"""The files that a suggestion may edit: the prompt of the workflow, and the skills that its runs loaded."""

from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.suggestions.editable_files import editable_texts
from gofer.journal.workspace_entries import SkillLoaded
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.load import Loaded
from support.learning.ended_run import ended_run

WORKFLOW = """\
description: Help.
owner: "#o"
when: [slack.mention]
skills: {required: [tone], allowed: [routing]}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Return a workflow with a prompt, a required skill, and a skill that its runs may load."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    (tmp_path / "agents" / "w.yaml").write_text(WORKFLOW)
    (tmp_path / "agents" / "w.md").write_text("Help.\n")
    for name in ("tone", "routing", "other"):
        (tmp_path / "skills" / name / "references").mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\nText.\n")
        (tmp_path / "skills" / name / "references" / "table.md").write_text("A table.\n")
        (tmp_path / "skills" / name / "references" / "code.py").write_text("code = 1\n")
    return load_catalog(tmp_path / "agents").workflows["w"]


def test_prompt_and_required_skills_may_be_edited(tmp_path: Path, loaded: Loaded) -> None:
    assert list(editable_texts(tmp_path, loaded, [])) == ["agents/w.md", "skills/tone/SKILL.md"]


def test_loaded_skill_files_may_be_edited_if_written_in_markdown(tmp_path: Path, loaded: Loaded) -> None:
    record = ended_run(
        "r",
        SkillLoaded("routing", ""),
        SkillLoaded("routing", "references/table.md"),
        SkillLoaded("routing", "references/code.py"),
        SkillLoaded("other", ""),
    )
    assert list(editable_texts(tmp_path, loaded, [record])) == [
        "agents/w.md",
        "skills/tone/SKILL.md",
        "skills/routing/SKILL.md",
        "skills/routing/references/table.md",
    ]


def test_link_to_another_file_may_not_be_edited(tmp_path: Path, loaded: Loaded) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "skills" / "tone" / "SKILL.md").unlink()
    (tmp_path / "skills" / "tone" / "SKILL.md").symlink_to(tmp_path / "secret.md")
    assert list(editable_texts(tmp_path, loaded, [])) == ["agents/w.md"]
    record = ended_run("r", SkillLoaded("routing", "../../secret.md"))
    assert list(editable_texts(tmp_path, loaded, [record])) == ["agents/w.md"]


def test_files_too_long_for_a_question_are_refused(tmp_path: Path, loaded: Loaded) -> None:
    (tmp_path / "agents" / "long.md").write_text("x" * 80_000)
    with pytest.raises(ConfigError, match="too long for a question"):
        editable_texts(tmp_path, replace(loaded, prompt_file="agents/long.md"), [])
