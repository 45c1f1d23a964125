"""The changed workflow file: three lines more, and the rest as it was."""

from pathlib import Path

from gofer.learning.promotion.workflow_draft import with_script, workflow_diff
from gofer.workflows.yaml_source import read_source

BEFORE = """\
# a comment
description: d
when:
  - webhook: {name: h}

# about the tools
tools: [a]
subagents:
  - old  # gone
reply: none
"""
AFTER = """\
# a comment
description: d
when:
  - webhook: {name: h}
coordinator: script
coordinator_script: coordinators/w.py
subagents: [w-judgement]

# about the tools
tools: [a]
reply: none
"""


def changed(folder: Path, text: str, *subagents: str) -> str:
    file = folder / "w.yaml"
    file.write_text(text)
    return with_script(read_source(file), "coordinators/w.py", subagents)


def test_script_and_subagent_are_named_after_the_triggers(tmp_path: Path) -> None:
    assert changed(tmp_path, BEFORE, "w-judgement") == AFTER


def test_triggers_may_be_the_last_key(tmp_path: Path) -> None:
    text = "description: d\nwhen:\n  - webhook: {name: h}\n"
    assert changed(tmp_path, text) == f"{text}coordinator: script\ncoordinator_script: coordinators/w.py\n"


def test_named_coordinator_is_replaced(tmp_path: Path) -> None:
    text = "coordinator: llm\nwhen: [{webhook: {name: h}}]\ntools: [a]\n"
    assert changed(tmp_path, text).splitlines() == [
        "when: [{webhook: {name: h}}]",
        "coordinator: script",
        "coordinator_script: coordinators/w.py",
        "tools: [a]",
    ]


def test_change_is_a_diff_of_the_file() -> None:
    diff = workflow_diff("agents/w.yaml", BEFORE, AFTER)
    assert diff.startswith("--- a/agents/w.yaml\n+++ b/agents/w.yaml\n@@ ")
    assert "+coordinator: script\n" in diff
    assert "-  - old  # gone\n" in diff
