"""Names in the code of prompts and skills: unknown or ungranted names are mistakes, prose is left alone."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.catalog import known_tools, mistakes
from gofer.check.code_in_markdown import code_in
from gofer.check.names import Known, Page, check_page
from gofer.cli.main import main

ROOT = Path(__file__).parents[3]
KNOWN = Known(ROOT, known_tools(), ["jira-routing", "citing-sources"], ["choose-reviewers"], ["answer-here"])
HINTED = ROOT / "tests" / "broken" / "163-tool-that-nothing-mentions"


def told(text: str) -> list[str]:
    found = sorted(check_page(Page(Path("x.md"), text), KNOWN), key=lambda m: (m.place.line, m.place.column))
    return [f"{m.place.line}:{m.place.column} {m.rule} {m.hint}" for m in found]


@pytest.mark.parametrize(
    ("text", "rule", "hint"),
    [
        ("`slack_read_tread`", "unknown-tool", "Write `slack_read_thread`."),
        ("`slack_thread_read`", "unknown-tool", "Write `slack_read_thread`."),
        ("`slack-read-thread`", "unknown-tool", "Write `slack_read_thread`."),
        ("`search_jira`", "unknown-tool", "Write `jira_search`."),
        ("`todo-write`", "unknown-tool", "Write `todo_write`."),
        ("`slack_reed_thread`", "unknown-tool", "Write `slack_read_thread`."),
        ("`slack_read_canvas`", "unknown-tool", "docs/workflow-file.md lists the tools that exist."),
        ("`jira_update_issue`", "unknown-tool", "docs/workflow-file.md lists the tools that exist."),
        ("`slack_send_message(text='x')`", "unknown-tool", "Write `slack_post_message`."),
        ("`read_files(name='x')`", "unknown-tool", "docs/workflow-file.md lists the tools that exist."),
        ("`load_skills(names=['jira-rooting'])`", "missing-skill", "Write `jira-routing`."),
        ("`load_subskill(skill='numbers')`", "missing-skill", "Create skills/<name>/SKILL.md, or remove the name."),
        ("`subagent(agent_name='choose-reviewer')`", "unknown-subagent", "Write `choose-reviewers`."),
        ("`subagent(agent_name='count')`", "unknown-subagent", "Create it in subagents/, or remove the name."),
        ("`file_read(fle='x')`", "unknown-argument", "Write `file`."),
        ("`python(kode='(', files=['a=b'])`", "unknown-argument", "Write `code`."),
        ("`finish(reply='x')`", "unknown-argument", "Its arguments are: answer."),
        ("`todo_read(x=1)`", "unknown-argument", "The tool has no arguments; remove it."),
        ("`skills/jira-routing/SKIL.md`", "missing-file", "Write `skills/jira-routing/SKILL.md`."),
        ("`coordinators/nothing_here.py`", "missing-file", "Create it, or correct its name."),
    ],
)
def test_unknown_name_in_code_is_a_mistake_with_a_hint(text: str, rule: str, hint: str) -> None:
    (found,) = told(f"Here: {text} and so on.")
    assert found.split(" ", 1)[1] == f"{rule} {hint}"


@pytest.mark.parametrize(
    "text",
    [
        "`f(x=1)`, `json.dumps(obj=2)`, `run.call(tool=3)`, `my_function(3)` and `my_function()`",
        "`run.call('slack_reed_thread', x=1)`",
        "```python\nfile_read(x=1)\n```",
        "```json\nfile_read(x=1)\n```",
        "~~~text\n`slack_read_tread`, slack_read_tread and my_function(3)\n~~~",
        "`file_read(file='x == y, start=3')`",
        "`file_read(file=f(start=3), end_line=4)`",
        "`file_read(file=my_function(start=3))`",
        "``slack_read_tread``",
        "`agents/<name>.yaml`, `skills/`, `docs/nothing.md`, `agents/../x.md`, `src/gofer/x.py`",
        "[a page](https://example.org/a.md) and [here](nothing.md)",
        "the skill `my-skill` and the subagent `your-subagent`",
        "slack_read_tread(x=1), slack_send_message(text='x') and file_read(fle='x') without any code",
        "the jira_ticket of a user_name, your_own/jira_serch, [x](slack_read_tread.md) and @slack_read_tread",
        "Load the skill first, use the skills of `people`, call the subagent and read a skill `x-y`.",
        "`see https://example.org/slack_read_tread or lib/slack_read_tread.py`",
    ],
)
def test_prose_and_foreign_code_are_left_alone(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "rule", "hint"),
    [
        ("Use slack_read_tread.", "named-in-prose", "Write `slack_read_thread`."),
        ("Use search_jira, then stop.", "named-in-prose", "Write `jira_search`."),
        ("Load the skill jira-rooting.", "named-in-prose", "Write `jira-routing`."),
        ("Load the skill `numbers` first.", "missing-skill", "Create skills/<name>/SKILL.md, or remove the name."),
        ("Ask the subagent `count` first.", "unknown-subagent", "Create it in subagents/, or remove the name."),
        ("Ask subagent count-all.", "named-in-prose", "Create it in subagents/, or remove the name."),
    ],
)
def test_unknown_name_in_a_sentence_is_found(text: str, rule: str, hint: str) -> None:
    (found,) = told(text)
    assert found.split(" ", 1)[1] == f"{rule} {hint}"


def test_tool_calls_in_text_blocks_are_checked_against_the_arguments_of_the_tool() -> None:
    assert told('```text\nfile_read(file="a", stat_line=3)\n```') == ["2:21 unknown-argument Write `start_line`."]
    lines = "```text\nfile_read( # (a part\n  file='it is (x',\n  stat_line=f(y=1),\n)\nfile_read(\nz=1\n```\n`a`"
    assert told(lines) == []
    lines = "```text\nfile_read(\n  file='it is (x',\n  stat_line=f(y=1),\n)\nfile_read(\nz=1\n```\n`slack_reed_thread`"
    assert told(lines) == [
        "4:3 unknown-argument Write `start_line`.",
        "9:2 unknown-tool Write `slack_read_thread`.",
    ]
    # Also in an unclosed block.
    assert told("~~~\n\njq(\nprogramm='.')") == ["4:1 unknown-argument Write `program`."]
    assert told("```\nslack_reed_thread(channel='C1')\n```") == ["2:1 unknown-tool Write `slack_read_thread`."]


def test_output_keys_are_accepted_in_the_prompt(tmp_path: Path) -> None:
    answer = "{type: object, properties: {slack_read_threads: {type: array, items: {enum: [jira_get_isue]}}}}"
    (tmp_path / "w.yaml").write_text(
        f'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\noutput: {answer}\n'
    )
    (tmp_path / "w.md").write_text("Fill `slack_read_threads` with `jira_get_isue`; not `notion_get_paige`.")
    assert [m.hint for m in mistakes(tmp_path) if m.file.name == "w.md"] == ["Write `notion_get_page`."]


def test_prompt_that_names_a_prohibited_skill_is_a_mistake(tmp_path: Path) -> None:
    agents, skill = tmp_path / "agents", tmp_path / "skills" / "jira-routing"
    agents.mkdir()
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: jira-routing\ndescription: Which project.\n---\nPAY.\n")
    yaml = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\nskills: {prohibited: [jira-routing]}\n'
    (agents / "w.yaml").write_text(yaml)
    (agents / "w.md").write_text("Choose by `jira-routing`.")
    assert [str(m.place.column) for m in mistakes(agents) if m.rule == "tool-not-granted"] == ["12"]


def test_skill_file_in_lower_case_is_known_and_checked(tmp_path: Path) -> None:
    agents, skill = tmp_path / "agents", tmp_path / "skills" / "weekly-numbers"
    agents.mkdir()
    skill.mkdir(parents=True)
    (skill / "skill.md").write_text("---\nname: weekly-numbers\ndescription: d\n---\nCall `file_read(fle='x')`.\n")
    (agents / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\n')
    (agents / "w.md").write_text("Count by the skill `weekly-numbers`.")
    assert [(m.file.name, m.rule) for m in mistakes(agents)] == [("skill.md", "unknown-argument")]


def test_script_may_call_python_but_not_an_ungranted_tool(tmp_path: Path) -> None:
    for folder in ("agents", "coordinators"):
        (tmp_path / folder).mkdir()
    (tmp_path / "agents" / "w.yaml").write_text(
        'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\ncoordinator: script\n'
        "coordinator_script: coordinators/w.py\n"
    )
    (tmp_path / "coordinators" / "w.py").write_text(
        "from gofer.coordinator import Run\n\n\nasync def coordinate(run: Run) -> str | None:\n"
        '    await run.call("python", code="1 + 1")\n    return await run.call("load_file", file="x")\n'
    )
    assert [(m.rule, m.place.line) for m in mistakes(tmp_path / "agents")] == [("tool-not-granted", 6)]


def test_hint_is_printed_and_does_not_fail_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(HINTED)]) == 0
    said = capsys.readouterr()
    assert (
        "w.yaml:7:5: Hint: The prompt mentions other tools, but not `slack_add_reaction`. Say in the prompt when"
        in said.out
    )
    assert said.err == "No mistakes. 1 hint.\n"
    assert main(["check", "--sarif", str(HINTED)]) == 0
    assert '"level": "note"' in capsys.readouterr().out
    assert main(["check", "--json", str(HINTED)]) == 0
    assert '"level": "hint"' in capsys.readouterr().out


def test_tool_without_a_grant_is_a_hint_in_prose_and_a_mistake_in_code(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\n')
    (tmp_path / "w.md").write_text("First jira_search, then `jira_search`.\n```text\njira_search(txt='x')\n```\n")
    found = [(m.place.line, m.place.column, m.rule) for m in mistakes(tmp_path)]
    assert found[0] == (1, 7, "named-in-prose")
    assert found[1:] == [(1, 26, "tool-not-granted"), (3, 1, "tool-not-granted"), (3, 13, "unknown-argument")]


@pytest.mark.parametrize("text", ["a(", "```\na(\n", "a(b=[", "`file_read(", "a_b "])
def test_long_prompt_is_checked_in_linear_time(text: str) -> None:
    """Quadratic work would exceed the time limit of a test."""
    assert set(told(text * (40_000 // len(text)))) == set(told(text * 1_000)) == set()


@given(st.text() | st.text("`()\"'=a_-/.[]\n", max_size=80))
def test_names_in_code_are_found_at_the_reported_place(text: str) -> None:
    code = code_in(text)
    of_calls = [word for call in code.calls for word in (call.name, *call.arguments, *dict(call.strings).values())]
    for word in (*code.spans, *code.links, *of_calls):
        line = text.split("\n")[word.place.line - 1]
        assert line[word.place.column - 1 :].startswith(word.text)


def shown_calls() -> list[str]:
    """Return each call in the text blocks of the shipped skills, one per line."""
    texts = [file.read_text() for file in sorted((ROOT / "skills").glob("*/SKILL.md"))]
    blocks = [block for text in texts for block in re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    return [line[: line.rindex(")") + 1] for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("call", shown_calls())
def test_tool_call_shown_in_a_shipped_skill_is_valid(call: str) -> None:
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    given = {one.arg: ast.literal_eval(one.value) for one in tree.keywords if one.arg}
    assert KNOWN.tools[tree.func.id].parse(given)
    assert not tree.args


def test_files_named_in_shipped_skills_exist() -> None:
    for file in sorted((ROOT / "skills").glob("*/SKILL.md")):
        named = re.findall(r"`((?:docs|src|tests|skills|agents|subagents|coordinators)/[\w./-]+)`", file.read_text())
        assert [name for name in named if not (ROOT / name).exists()] == []
