"""Skills and tools in a run: a skill's text enters the conversation only when loaded."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gofer.journal.entries import ToolCall, ToolResult
from gofer.journal.workspace_entries import SkillLoaded
from gofer.models.scripted import ScriptedModel
from gofer.values.model_script import load_scripts
from support.app.company import ROOT, Company, company

pytestmark = pytest.mark.anyio
SCRIPTS = """\
- name: broken
  when: {says: 'checkout is down', tools: [load_skills]}
  steps:
    - calls:
        - load_skills: {names: [incident-runbooks]}
    - calls:
        - load_skills: {names: [incident-runbooks]}
    - text: Since when, and for how many customers?
- name: plain
  steps:
    - text: At four.
"""


def prompts(model: ScriptedModel) -> list[dict[str, Any]]:
    return [json.loads(body) for body in model.requests]


async def loaded(made: Company, run: str) -> list[SkillLoaded]:
    return [entry for entry in await made.entries(run) if isinstance(entry, SkillLoaded)]


async def test_skill_is_loaded_only_when_needed(tmp_path: Path) -> None:
    model = ScriptedModel(load_scripts(SCRIPTS, "here"))
    async with company(tmp_path, model=model) as made:
        plain = await made.ask("@Gofer when is the meeting?")
        await made.ended(1)
        broken = await made.ask("@Gofer checkout is down, what now?")
        first, second = await made.ended(2)
        assert [answer.text for answer in made.answers(plain)] == ["At four."]
        assert [answer.text for answer in made.answers(broken)] == ["Since when, and for how many customers?"]
        assert await loaded(made, first.run) == []
        assert await loaded(made, second.run) == [SkillLoaded("incident-runbooks")]
        gave = [entry.text for entry in await made.entries(second.run) if isinstance(entry, ToolResult)]
    assert model.leftovers() == []
    plain_prompt, before, after, again = prompts(model)
    body = "What do customers notice?"
    assert body not in json.dumps([plain_prompt, before])
    assert body in after["messages"][-2]["content"]
    assert "is already in this conversation" in again["messages"][-2]["content"]
    assert sum(body in text for text in gave) == 1
    # The prompt has one line about the skill, the same in every request; the prefix never changes.
    line = "- `incident-runbooks`: How to help in an incident"
    assert all(line in prompt["messages"][0]["content"] for prompt in prompts(model))
    assert after["messages"][: len(before["messages"]) - 1] == before["messages"][:-1]
    assert plain_prompt["tools"] == before["tools"] == after["tools"]


SEARCHES = """\
- name: searches
  when: {says: 'mark this', tools: [tool_search, call_tool]}
  steps:
    - calls:
        - tool_search: {query: add an emoji to a message}
    - calls:
        - call_tool: {name: slack_read_thread, arguments: {}}
    - text: Read.
"""


async def test_tool_outside_the_prompt_is_found_by_search_and_called(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    for room in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / room, root / room)
    with (root / "agents" / "answer-here.yaml").open("a") as file:
        file.write("search_above: 1\n")
    model = ScriptedModel(load_scripts(SEARCHES, "here"))
    async with company(tmp_path, root=root, model=model) as made:
        asked = await made.ask("@Gofer mark this please")
        (head,) = await made.ended()
        assert [answer.text for answer in made.answers(asked)] == ["Read."]
        entries = await made.entries(head.run)
    assert [one.tool for one in entries if isinstance(one, ToolCall) and "/" not in one.call] == [
        "tool_search",
        "slack_read_thread",
    ]
    found = next(one.text for one in entries if isinstance(one, ToolResult) and one.call == "1.0")
    assert '"name": "slack_add_reaction"' in found
    first = prompts(model)[0]
    names = {tool["function"]["name"] for tool in first["tools"]}
    assert {"tool_search", "call_tool", "load_skills", "file_read"} <= names
    assert not names & {"slack_read_thread", "slack_add_reaction"}
    assert "You have 2 tools beside those listed, of: slack (2)." in first["messages"][0]["content"]
    assert all(prompt["tools"] == first["tools"] for prompt in prompts(model))


COMPUTES = """\
- name: computes
  when: {says: 'add these up', tools: [python]}
  steps:
    - calls:
        - load_skills: {names: [adding-up]}
    - calls:
        - load_subskill: {skill: adding-up, file: references/units.md}
        - python: {skill: adding-up, script: scripts/total.py, code: "total([1, 2.5])"}
        - python: {skill: adding-up, script: scripts/other.py, code: "1"}
    - text: Three and a half.
"""


async def test_script_of_a_skill_computes_in_the_sandbox(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    for room in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / room, root / room)
    home = root / "skills" / "adding-up"
    for name, text in {
        "SKILL.md": "---\nname: adding-up\ndescription: How sums are made. Use it for sums.\n---\nCall `total`.\n",
        "references/units.md": "Euros.\n",
        "scripts/total.py": "def total(values):\n    return f'{sum(values):.2f}'\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    workflow = root / "agents" / "answer-here.yaml"
    workflow.write_text(workflow.read_text().replace("allowed: [", "allowed: [adding-up, "))
    model = ScriptedModel(load_scripts(COMPUTES, "here"))
    async with company(tmp_path, root=root, model=model) as made:
        asked = await made.ask("@Gofer add these up please")
        (head,) = await made.ended()
        assert [answer.text for answer in made.answers(asked)] == ["Three and a half."]
        gave = {entry.call: entry.text for entry in await made.entries(head.run) if isinstance(entry, ToolResult)}
    assert "- scripts/total.py (" in gave["1.0"]
    assert "scripts/ is Python for the tool python" in gave["1.0"]
    assert gave["2.0"].endswith("Euros.\n")
    assert gave["2.1"] == "3.50"
    assert gave["2.2"].startswith("The skill 'adding-up' has no script 'scripts/other.py'.")
