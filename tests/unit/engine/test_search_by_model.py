"""Search for tools and skills: by a model of the role `search`, or else by matching words."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.engine import loop
from gofer.engine.loop import Ending
from gofer.engine.search_by_model import WINDOW
from gofer.engine.subagent_runs import Subagents
from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.sources.workflow_files import decode_bundle, load_catalog
from gofer.tools.declare import bind_all
from gofer.tools.search import TOOLS as SEARCH_TOOLS
from gofer.tools.skills import TOOLS as SKILL_TOOLS
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.tokens import estimate
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Limits
from gofer.workflows.skill import Skill
from support.app.company import ROOT
from support.engine.memory_run import PROVENANCE, MemoryRun, at_work, memory_run, says
from support.models.served import served

pytestmark = pytest.mark.anyio
SKILLS = {name: Skill(name, f"How {name} look.", "Like this.") for name in ("tables", "numbers")}
LISTED = ("jira_search", "jira_create_issue", "slack_post_message")
WISH = says("", ("tool_search", {"query": "tell people about the numbers"}))
Answered = Answer | Exception


def many(*answers: Answered) -> MemoryRun:
    made = memory_run(*answers)
    for name in LISTED:
        made.tool(name, "read")
    made.tools |= {tool.name: tool for tool in bind_all((*SEARCH_TOOLS, *SKILL_TOOLS), None)}
    return made


def bundle_of(
    made: MemoryRun, search_models: Sequence[str] = ("small",), skills: Mapping[str, Skill] = SKILLS
) -> Bundle:
    base = {"description": "d", "owner": "#o", "when": ["slack.mention"], "plan": "off", "tools": [*LISTED]}
    workflow = Workflow.model_validate({**base, "search_above": 1, "limits": made.limits})
    loaded = Loaded(
        "answer-here",
        workflow,
        "You are a test.",
        "p.md",
        served("m"),
        search_models=served(*search_models),
        skills=skills,
    )
    return decode_bundle(encode_bundle(made.services().new_bundle(loaded)))


async def work(
    made: MemoryRun, search_models: Sequence[str] = ("small",), skills: Mapping[str, Skill] = SKILLS
) -> Ending:
    bundle = bundle_of(made, search_models, skills)
    step = await made.step()
    step.note(e.MessageReceived("please tell everybody"))
    working = at_work(step, bundle, agents=Subagents(bundle, alone=True))
    ending = await loop.coordinate(working, bundle, PROVENANCE)
    await step.commit()
    return ending


async def entries(made: MemoryRun, kind: type[e.Entry]) -> list[e.Entry]:
    return [item.entry for item in await made.journal() if isinstance(item.entry, kind)]


async def gave(made: MemoryRun) -> str:
    (result,) = [item.entry for item in await made.journal() if isinstance(item.entry, e.ToolResult)]
    return result.text


async def test_search_model_chooses_tools_and_skills_by_the_conversation() -> None:
    made = many(WISH, says("slack_post_message\n- `numbers`\nrm_everything", tokens=400), says("done"))
    assert (await work(made)).answer == "done"
    head, tool, skills, skill = (await gave(made)).splitlines()
    assert head.startswith("Tools; call one with call_tool")
    assert json.loads(tool)["name"] == "slack_post_message"
    assert (skills, skill) == ("Skills, for load_skills:", "- numbers: How numbers look.")
    question = json.loads(made.model.requests[1])
    assert question["model"] == "small"
    assert "tools" not in question
    asked = question["messages"][1]["content"]
    assert "please tell everybody" in asked
    assert "- jira_search: does jira_search" in asked
    assert "- tables: How tables look." in asked
    assert asked.endswith("# Query\n\ntell people about the numbers")


async def test_search_choice_is_recorded_outside_the_conversation_and_counts_as_usage() -> None:
    made = many(WISH, says("slack_post_message", tokens=400), says("done"))
    await work(made)
    (asked,) = await entries(made, e.SubagentStarted)
    assert isinstance(asked, e.SubagentStarted)
    assert (asked.name, asked.prompt) == ("tool_search", "tell people about the numbers")
    last = json.loads(made.model.requests[-1])
    assert all("You choose tools" not in str(message) for message in last["messages"])
    progress = (await made.step("reader")).progress
    assert progress.llm_calls == 3
    assert progress.usage.input_tokens == 420
    assert (progress.tool_calls, progress.asking) == (1, {})


async def test_search_without_a_search_model_matches_words() -> None:
    made = many(WISH, says("done"))
    await work(made, search_models=())
    assert await entries(made, e.SubagentStarted) == []
    assert "- numbers: How numbers look." in await gave(made)


@pytest.mark.parametrize(
    "useless",
    [
        says("Nothing here fits: jira_search must not be used."),
        says("<think>jira_search\nno, that is for reading</think>"),
        says(""),
        says("delete_everything"),
        replace(says("slack_post_message"), finish="length"),
        RunStopped("it was refused"),
        *([TemporaryError("away")],),
    ],
)
async def test_unusable_search_choice_falls_back_to_matching_words(useless: Answered | list[Answered]) -> None:
    # Each model is asked three times before it counts as absent.
    failing = useless * 3 if isinstance(useless, list) else [useless]
    made = many(WISH, *failing, says("done"))
    assert (await work(made)).answer == "done"
    assert "- numbers: How numbers look." in await gave(made)


@pytest.mark.parametrize(
    "listing",
    [
        "slack_post_message",
        "1. `slack_post_message`",
        "* **slack_post_message**,",
        '["slack_post_message", "slack_post_message"]',
        '```json\n{"tools": ["slack_post_message"], "skills": []}\n```',
        "<think>jira_search\ndoes not write</think>\nslack_post_message",
        "I would not take jira_search.\n\n- slack_post_message",
    ],
)
async def test_search_choice_is_recognized_as_a_name_per_line_or_in_a_list(listing: str) -> None:
    made = many(WISH, says(listing), says("done"))
    await work(made)
    (_, tool) = (await gave(made)).splitlines()
    assert json.loads(tool)["name"] == "slack_post_message"


@pytest.mark.parametrize("nothing", ["none", "`None`.", "<think>numbers?</think>none", '["none"]'])
async def test_search_model_may_choose_none(nothing: str) -> None:
    made = many(WISH, says(nothing), says("done"))
    await work(made)
    assert (await gave(made)).startswith("Nothing matches 'tell people about the numbers'.")


async def test_search_leaves_the_last_model_call_to_the_conversation() -> None:
    made = many(WISH, says("done"))
    made.limits = Limits(llm_calls=2)
    assert (await work(made)).answer == "done"
    assert [json.loads(body)["model"] for body in made.model.requests] == ["m", "m"]


async def test_each_search_has_a_separate_choice() -> None:
    made = many(WISH, says("slack_post_message"), WISH, says("jira_search"), says("done"))
    await work(made)
    answered = (await made.step("reader")).replay.answers
    assert {call: one.text for call, one in answered.items()} == {
        "tool_search/1.0": "slack_post_message",
        "tool_search/2.0": "jira_search",
    }
    assert [str(json.loads(body)["model"]) for body in made.model.requests] == ["m", "small", "m", "small", "m"]


async def test_search_with_too_many_candidates_offers_the_best_word_matches() -> None:
    crowd = {f"s{n:03}": Skill(f"s{n:03}", f"{n} " + "word " * 75, "Like this.") for n in range(400)}
    made = many(WISH, says("numbers"), says("done"))
    await work(made, skills={**crowd, **SKILLS})
    question = json.loads(made.model.requests[1])["messages"][1]["content"]
    assert estimate(question) < WINDOW
    assert "- numbers: How numbers look." in question
    assert 50 < question.count("- s") < 400


def test_search_models_are_kept_in_the_bundle() -> None:
    made = many()
    assert bundle_of(made).loaded.search_models == served("small")
    assert bundle_of(made, ()).loaded.search_models == ()


def test_default_search_models_apply_to_a_shipped_workflow(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "agents", tmp_path / "agents")
    shutil.copytree(ROOT / "skills", tmp_path / "skills")
    shutil.copytree(ROOT / "subagents", tmp_path / "subagents")
    shutil.copytree(ROOT / "coordinators", tmp_path / "coordinators")
    defaults = tmp_path / "agents" / "defaults.yaml"
    defaults.write_text(defaults.read_text().replace("models: ", "models:\n  search: [small, smaller]", 1))
    loaded = load_catalog(tmp_path / "agents").workflows["answer-here"]
    assert [model.name for model in loaded.search_models] == ["small", "smaller"]
    assert load_catalog(ROOT / "agents").workflows["answer-here"].search_models == ()
