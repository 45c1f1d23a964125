"""Skills of a workflow: selection, limits, and their lines in the prompt beside those of further tools."""

import importlib
import shutil
from pathlib import Path

import pytest
from pydantic_monty import Monty

from gofer.app.catalog import mistakes
from gofer.check.skills import SANDBOX_MODULES
from gofer.cli.main import main
from gofer.sources.workflow_files import decode_bundle, load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.allowed_skills import SIZE_LIMIT
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Loaded

WORKFLOW = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\nplan: "off"\n'
NAMES = ("notes", "routing", "tables")


def repository(folder: Path, keys: str = "", *, size: int = 0) -> Path:
    (folder / "agents").mkdir()
    (folder / "agents" / "w.yaml").write_text(WORKFLOW + keys)
    (folder / "agents" / "w.md").write_text("Do it.")
    for name in NAMES:
        home = folder / "skills" / name
        home.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: >-\n  How {name}\n  look.\n---\n{name} look good.\n"
        (home / "SKILL.md").write_text(text)
        for number in range(4 if size else 0):
            (home / f"{number}.md").write_bytes(b"x" * (size // 4))
    return folder / "agents"


def loaded(folder: Path, keys: str = "") -> Loaded:
    agents = repository(folder, keys)
    assert mistakes(agents) == []
    return load_catalog(agents).workflows["w"]


def listed(found: Loaded) -> list[str]:
    return [line for line in found.system.splitlines() if line.startswith("- `")]


def test_prompt_lists_all_skills_by_name_with_one_line_each(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert found.system.startswith("Do it.\n\n# Skills\n\nLoad what fits with `load_skills`")
    assert listed(found) == [f"- `{name}`: How {name} look." for name in NAMES]
    assert "look good" not in found.system


def test_required_skill_follows_the_prompt_and_is_not_listed(tmp_path: Path) -> None:
    found = loaded(tmp_path, "skills: {required: [tables], allowed: [routing]}\n")
    assert found.system.startswith("Do it.\n\n# Skill: tables\n\ntables look good.\n\n# Skills\n")
    assert listed(found) == ["- `routing`: How routing look."]
    # Its other files can be read as well.
    assert sorted(found.skills) == ["routing", "tables"]


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("skills: {allowed: []}\n", []),
        ("skills: {prohibited: [routing]}\n", ["notes", "tables"]),
        ("skills: {allowed: [tables, notes]}\n", ["notes", "tables"]),
        ("coordinator: script\ncoordinator_script: coordinators/s.py\n", []),
    ],
)
def test_workflow_file_selects_the_skills_of_a_run(tmp_path: Path, keys: str, names: list[str]) -> None:
    (tmp_path / "coordinators").mkdir()
    (tmp_path / "coordinators" / "s.py").write_text("async def coordinate(run):\n    return None\n")
    found = loaded(tmp_path, keys)
    assert list(found.skills) == names
    assert ("# Skills" in found.system) == bool(names)


def test_bundle_keeps_skills_when_the_files_change(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    (tmp_path / "skills" / "tables" / "SKILL.md").write_text("gone")
    assert decode_bundle(encode_bundle(Bundle(found, []))).loaded == found


def test_bundle_without_a_skills_field_has_no_skills(tmp_path: Path) -> None:
    found = loaded(tmp_path, "skills: {allowed: []}\n")
    raw = encode_bundle(Bundle(found, [])).replace(b',"skills":{}', b"", 1)
    assert decode_bundle(raw).loaded == found


def test_prompt_offers_tool_search_above_the_limit_of_listed_skills(tmp_path: Path) -> None:
    found = loaded(tmp_path, "search_above: 2\n")
    assert listed(found) == []
    assert "There are 3 skills; find those for your work with `tool_search`." in found.system


def test_prompt_names_the_systems_of_further_tools(tmp_path: Path) -> None:
    found = loaded(tmp_path, "search_above: 2\ntools: [jira_search, jira_get_issue, slack_read_thread]\n")
    assert "You have 3 tools beside those listed, of: jira (2), slack (1)." in found.system


def test_skills_above_the_size_limit_of_a_workflow_are_refused(tmp_path: Path) -> None:
    agents = repository(tmp_path, size=400_000)
    assert mistakes(agents) == []
    for number in range(3):
        home = tmp_path / "skills" / f"more-{number}"
        home.mkdir()
        (home / "SKILL.md").write_text(f"---\nname: more-{number}\ndescription: d\n---\n")
        (home / "all.md").write_bytes(b"x" * 400_000)
    with pytest.raises(ConfigError, match=f"{SIZE_LIMIT} bytes together"):
        load_catalog(agents)
    (found,) = mistakes(agents)
    assert (found.rule, found.hint) == ("too-large", "List fewer in `skills.allowed`.")


def test_missing_required_skill_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no skill 'other'"):
        load_catalog(repository(tmp_path, "skills: {required: [other]}\n"))


def test_check_takes_a_single_skill_folder_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(tmp_path)
    (tmp_path / "skills" / "tables" / "SKILL.md").write_text("Tables.")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "skills/tables"]) == 1
    assert capsys.readouterr().out.startswith("skills/tables/SKILL.md:1:1: The skill does not begin with")
    assert main(["check", "skills/notes/SKILL.md"]) == 0


def test_modules_allowed_in_skill_scripts_equal_the_modules_of_the_sandbox() -> None:
    with Monty() as pool:
        for module, names in {**SANDBOX_MODULES, "__future__": {"annotations"}}.items():
            with pool.checkout() as session:
                session.feed_run(f"import {module}" if module != "__future__" else "from __future__ import annotations")
                for name in dir(importlib.import_module(module)) if names else ():
                    if name in names:
                        session.feed_run(f"from {module} import {name}")
                    elif not name.startswith("_") and module != "__future__":
                        with pytest.raises(Exception, match="cannot import"):
                            session.feed_run(f"from {module} import {name}")
        for module in ("statistics", "urllib.request", "subprocess", "numpy"):
            with pool.checkout() as session, pytest.raises(Exception, match=r"No module|ModuleNotFound"):
                session.feed_run(f"import {module}")


def test_required_skill_lists_further_files_for_runs_with_tools(tmp_path: Path) -> None:
    agents = repository(tmp_path, "skills: {required: [notes], allowed: []}\n")
    alone = load_catalog(agents).workflows["w"].system
    (tmp_path / "skills" / "notes" / "scripts").mkdir()
    (tmp_path / "skills" / "notes" / "scripts" / "sum.py").write_text("1\n")
    system = load_catalog(agents).workflows["w"].system
    assert system.startswith(alone)
    told = "Its other files, for load_subskill; what is in scripts/ is Python for the tool python:"
    assert system.removeprefix(alone) == f"\n\n{told}\n- scripts/sum.py (2 bytes)"
    (tmp_path / "subagents").mkdir()
    file = tmp_path / "subagents" / "reader.yaml"
    file.with_suffix(".md").write_text("Read.")
    workflow = tmp_path / "agents" / "w.yaml"
    workflow.write_text(workflow.read_text() + "subagents: [reader]\n")
    for keys, said in (("tools: []\n", True), ("", False)):
        # A subagent without tools cannot read them.
        file.write_text(f"description: d\nmodel: gpt-5\n{keys}skills: {{required: [notes], allowed: []}}\n")
        assert (told in load_catalog(agents).workflows["w"].subagents["reader"].system) == said


def test_subagent_file_selects_skills_kept_in_the_bundle(tmp_path: Path) -> None:
    agents = repository(tmp_path, "subagents: [reader]\nskills: {allowed: []}\n")
    (tmp_path / "subagents").mkdir()
    file = tmp_path / "subagents" / "reader.yaml"
    file.with_suffix(".md").write_text("Read.")
    for keys, names in (("", []), ("skills: {allowed: [notes]}", ["notes"]), ("skills: {prohibited: [notes]}", [])):
        file.write_text(f"description: d\nmodel: gpt-5\ntools: []\n{keys}\n")
        assert mistakes(agents) == []
        bundle = Bundle(load_catalog(agents).workflows["w"], ())
        assert list(decode_bundle(encode_bundle(bundle)).loaded.subagents["reader"].skills) == names
    file.write_text("description: d\nmodel: gpt-5\nskills: {allowed: [notes, routing, tables, notes-0, notes-1]}\n")
    for name in NAMES:
        (tmp_path / "skills" / name / "all.md").write_bytes(b"x" * 480_000)
    for number in range(2):
        shutil.copytree(tmp_path / "skills" / "notes", tmp_path / "skills" / f"notes-{number}")
        (tmp_path / "skills" / f"notes-{number}" / "SKILL.md").write_text(
            f"---\nname: notes-{number}\ndescription: d\n---"
        )
    (found,) = mistakes(agents)
    assert (found.file.name, found.rule, found.place.line) == ("reader.yaml", "too-large", 3)
