"""Dead names in texts: misspelt, with another verb, or of an earlier commit; names of other things are left alone."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gofer.app.catalog import checked_catalog, known_tools, mistakes
from gofer.app.toolbox import build_tools
from gofer.check.company_tools import check_company
from gofer.check.dead_names import Former, ToolNames, former_names
from gofer.check.names import Known, Page, check_page
from gofer.cli.main import main
from gofer.sources.workflow_files import WorkflowForm
from gofer.tools.definition import AnyTool
from support.app.company import ROOT, settings

TOOL = '''
@tool(effect="read")
async def NAME(call: Call, arguments: Customer) -> ToolResult:
    """Look up a customer."""
    return ToolResult("Ada", "found Ada")
'''
CRM = """
from gofer.tool import Arguments, Call, ToolResult, tool


class Customer(Arguments):
    name: str
"""


def with_company(folder: Path) -> dict[str, AnyTool]:
    (folder / "tools").mkdir()
    names = ("crm_find_customer", "crm_note", "invoice_open", "invoice_send")
    (folder / "tools" / "crm.py").write_text(CRM + "".join(TOOL.replace("NAME", name) for name in names))
    return {**known_tools(), **check_company(folder, known_tools()).tools}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    skills = ["jira-routing", "large-files", "planning"]
    former = Former({"ticket_lookup"}, {"incident-handbook"}, {"fact-finder"})
    words = {"slack_read_threads", "jira_key"}
    tools = with_company(tmp_path_factory.mktemp("company"))
    return Known(ROOT, tools, skills, ["choose-reviewers", "research"], ["answer-here"], words, lambda: former)


def found(known: Known, text: str) -> list[str]:
    return [f"{one.rule}: {one.hint}" for one in check_page(Page(Path("x.md"), text), known)]


LISTED = "docs/workflow-file.md lists the tools that exist."


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("jira_serch", "jira_search"),
        ("jira_saerhc", "jira_search"),
        ("slack_post_mesage", "slack_post_message"),
        ("slak_read_thread", "slack_read_thread"),
        ("notion_query_databses", "notion_query_database"),
        ("github_list_commit", "github_list_commits"),
        ("slackread_thread", "slack_read_thread"),
        ("jira-serch", "jira_search"),
        ("todo_wrtie", "todo_write"),
        ("load_skils", "load_skills"),
        ("grep_jsn", "grep_json"),
        ("pyton", "python"),
        ("subagnt", "subagent"),
        ("crm_find_custmer", "crm_find_customer"),
        ("invoice_sned", "invoice_send"),
        ("jira_find_issues", "jira_search"),
        ("jira_find", "jira_search"),
        ("jira_query_issues", "jira_search"),
        ("find_jira_issues", "jira_search"),
        ("search_jira", "jira_search"),
        ("slack_send_message", "slack_post_message"),
        ("slack_message_send", "slack_post_message"),
        ("slack_edit_message", "slack_update_message"),
        ("slack_remove_message", "slack_delete_message"),
        ("jira_get_issues", "jira_get_issue"),
        ("github_fetch_pull_request", "github_get_pull_request"),
        ("notion_load_page", "notion_get_page"),
        ("crm_search_customers", "crm_find_customer"),
        ("notion_create_page", ""),
        ("slack_archive_channel", ""),
        ("crm_delete_customer", ""),
        ("invoice_cancel", ""),
        ("todo_add", "todo_write"),
        ("ticket_lookup", ""),
    ],
)
@pytest.mark.parametrize("form", ["`{}`", "`{}()`", "`{}('x')`"])
def test_planted_name_of_a_dead_tool_is_a_mistake(known: Known, name: str, meant: str, form: str) -> None:
    if form != "`{}`" and "-" in name:
        return
    hint = f"Write `{meant}`." if meant else LISTED
    assert found(known, f"Then use {form.format(name)}.") == [f"unknown-tool: {hint}"]


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("jira-routng", "missing-skill: Write `jira-routing`."),
        ("large-flies", "missing-skill: Write `large-files`."),
        ("planing", "missing-skill: Write `planning`."),
        ("incident-handbook", "missing-skill: Create skills/<name>/SKILL.md, or remove the name."),
        ("choose-reviewer", "unknown-subagent: Write `choose-reviewers`."),
        ("reserch", "unknown-subagent: Write `research`."),
        ("fact-finder", "unknown-subagent: Create it in subagents/, or remove the name."),
    ],
)
def test_planted_name_of_a_dead_skill_or_subagent_is_a_mistake(known: Known, name: str, mistake: str) -> None:
    assert found(known, f"Then use `{name}`.") == [mistake]


FIELDS = """slack_channel slack_user_id slack_thread_ts slack_link slack_post_id jira_issue jira_issue_link
    jira_search_query github_login github_pull_request notion_page crm_name crm_kind"""


@pytest.mark.parametrize(
    "name",
    FIELDS.split(),
)
def test_name_that_only_begins_like_a_tool_is_one_hint_in_a_text(known: Known, name: str) -> None:
    assert found(known, f"`{name}`, then\n`{name}`") == ["unknown-name: Correct it if a tool is meant."]


OTHERS = """file_shared file_created file_id file_name file_path todo_list log_file lock_file get_issue issue_key
    thread_ts reaction_added in_progress cant_update_message finished pythons subagents customer-visible answer-here
    per_message remote true name ts skill subagent my_tool tool_call tool_calls read_file teams_read_thread
    weekly-numbers file_1a2b3c4d5e6f result_0d77a006950e read-time invoice_total invoice_id first_page discussion
    jira_key slack_read_threads invoice_link"""


@pytest.mark.parametrize("name", OTHERS.split())
def test_name_of_another_thing_is_left_alone(known: Known, name: str) -> None:
    assert found(known, f"`{name}`, the skill `{name}` and `{name}()`") == []


def test_words_of_the_programs_and_data_in_a_text_are_left_alone(known: Known) -> None:
    block = '```json\n{"jira_links": 1, "slack_send_message": 2}\n```\n'
    assert found(known, f"{block}Fill in `jira_links` and `slack_send_message`.") == []


NAMES = ToolNames.of(known_tools())
VERBS = "find search read get send post create edit delete archive"
FAMILIES = sorted(set(NAMES.names) - set(NAMES.base))
LETTERS = st.sampled_from("abcdefghijklmnopqrstuvwxyz")


@st.composite
def edited(draw: st.DrawFn, names: Iterable[str], most: int) -> str:
    """Draw a name with up to `most` letters replaced, left out, added or swapped with their neighbour."""
    name = draw(st.sampled_from(sorted(names)))
    for _ in range(draw(st.integers(1, most))):
        at = draw(st.sampled_from([at for at, letter in enumerate(name) if letter != "_"]))
        letter = draw(LETTERS)
        swapped = name[:at] + name[at : at + 2][::-1] + name[at + 2 :]
        edits = (name[:at] + letter + name[at + 1 :], name[:at] + name[at + 1 :], name[:at] + letter + name[at:])
        name = draw(st.sampled_from((*edits, swapped)))
    return name


def is_candidate(name: str) -> bool:
    return bool(re.fullmatch(r"[a-z]+(_[a-z]+)*", name)) and name not in {*NAMES.names, *NAMES.fields}


@given(edited(FAMILIES, 2))
def test_every_listed_tool_with_one_or_two_edited_letters_is_found(name: str) -> None:
    words = name.split("_")
    assume(is_candidate(name) and not (len(words) == 2 and words[1] in NAMES.fields))
    dead = NAMES.dead(name)
    assert dead is not None
    assert dead.is_certain


@given(edited([name for name in NAMES.base if len(name) >= 6], 1))
def test_every_base_tool_with_one_edited_letter_is_found(name: str) -> None:
    assume(is_candidate(name) and name.removesuffix("s") not in NAMES.names)
    assert NAMES.dead(name) is not None


@given(st.sampled_from(FAMILIES), st.sampled_from(VERBS.split()))
def test_every_listed_tool_with_another_verb_is_found(name: str, verb: str) -> None:
    family, _, *rest = name.split("_")
    other = "_".join((family, verb, *(rest or ["issues"])))
    assume(family != "run" and other not in NAMES.names)
    dead = NAMES.dead(other)
    assert dead is not None
    assert dead.is_certain


@pytest.mark.parametrize("name", sorted(NAMES.names))
def test_existing_name_is_no_dead_name(known: Known, name: str) -> None:
    assert found(known, f"Call `{name}`, then `{name}()`.") == []


def shipped_texts(folder: Path) -> Iterable[Path]:
    """Yield each text of the repository, and of a repository that `gofer init` writes."""
    for where in ("agents", "skills", "subagents", "docs", "evals", ".agents", ".github", "src", "deploy"):
        yield from (path for kind in ("md", "yaml", "yml") for path in (ROOT / where).rglob(f"*.{kind}"))
    yield from ROOT.glob("*.md")
    yield from (path for path in folder.rglob("*") if path.suffix in (".md", ".yaml", ".yml"))


def test_shipped_texts_have_no_dead_names(tmp_path: Path) -> None:
    assert main(["init", "--aws", str(tmp_path / "company")]) == 0
    tools = build_tools(settings(tmp_path))
    skills = [path.name for folder in ("skills", ".agents/skills") for path in (ROOT / folder).iterdir()]
    subagents = [path.stem for path in (ROOT / "subagents").glob("*.yaml")]
    workflows = [path.stem for path in (ROOT / "agents").glob("*.yaml")]
    known = Known(ROOT, tools, skills, subagents, workflows, {*WorkflowForm.model_fields})
    texts = list(shipped_texts(tmp_path / "company"))
    assert len(texts) > 150
    rules = ("unknown-tool", "unknown-name", "missing-skill", "unknown-subagent")
    found = [
        f"{path}:{one.place.line} {one.message}"
        for path in texts
        for one in check_page(Page(path, path.read_text()), known)
        if one.rule in rules
    ]
    assert found == []


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ops", "-c", "user.email=ops@localhost")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    """A repository in which a tool, a skill and a tool of another version of Gofer got other names."""
    skill = "---\nname: NAME\ndescription: What to do in an incident.\n---\nAct.\n"
    (tmp_path / "agents").mkdir()
    (tmp_path / "tools").mkdir()
    for name in ("incident-handbook", "first-steps"):
        (tmp_path / "skills" / name).mkdir(parents=True)
    yaml = (
        'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\ntools:\n  - TOOL: {once: true}  # old_note\n'
    )
    tool = tmp_path / "tools" / "crm.py"
    workflow = tmp_path / "agents" / "w.yaml"
    tool.write_text(CRM + TOOL.replace("NAME", "customer_lookup"))
    workflow.write_text(yaml.replace("TOOL", "chat_say"))
    (tmp_path / "skills" / "incident-handbook" / "SKILL.md").write_text(skill.replace("NAME", "incident-handbook"))
    git(tmp_path, "init", "--initial-branch=main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "Begin")
    tool.write_text(CRM + TOOL.replace("NAME", "who_is"))
    workflow.write_text(yaml.replace("TOOL", "who_is").replace(": {once: true}", ""))
    (tmp_path / "agents" / "w.md").write_text(
        "`who_is`, `customer_lookup`, `chat_say`, `old_note`, `incident-handbook`\n"
    )
    (tmp_path / "skills" / "incident-handbook" / "SKILL.md").unlink()
    (tmp_path / "skills" / "incident-handbook").rmdir()
    (tmp_path / "skills" / "first-steps" / "SKILL.md").write_text(skill.replace("NAME", "first-steps"))
    return tmp_path


def test_earlier_names_are_mistakes_of_the_check_and_stop_no_start(
    renamed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(renamed)
    assert main(["check"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [re.search(r"`\S+`", line)[0] for line in said] == ["`customer_lookup`", "`chat_say`", "`incident-handbook`"]
    assert list(checked_catalog(renamed / "agents").workflows) == ["w"]
    assert mistakes(renamed / "agents") == []


def test_folder_without_a_repository_has_no_earlier_names(
    renamed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(renamed)
    (renamed / ".git").rename(renamed / "elsewhere")
    assert main(["check"]) == 0
    (renamed / "elsewhere").rename(renamed / ".git")
    monkeypatch.setenv("PATH", "")
    assert main(["check"]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_options_comments_and_other_keys_of_a_workflow_name_no_tools() -> None:
    changes = """\
--- a/agents/w.yaml
+++ b/agents/w.yaml
@@ -3 +3 @@ tools:
-  - crm_find: {once: true, private_channels: any}  # not crm_note
+      private_channels: any
@@ -9 +9 @@ output:
-    enum: [in_progress]
@@ -12 +12 @@
-tools: [old_name, second_name: {a: b, c_d: 1}]
-limits: {tool_calls: 1}
-  - some_item
--- a/subagents/fact-finder.yaml
+++ /dev/null
--- a/tools/crm.py
+++ b/tools/crm.py
@@ -1 +1 @@
-async def crm_look(
-async def _send_it(
+def crm_place(
"""
    assert former_names(changes) == Former(
        {"crm_find", "old_name", "second_name", "crm_look"}, frozenset(), {"fact-finder"}
    )
