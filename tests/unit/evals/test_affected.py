"""The recorded runs that a change affects: which requests change, and why."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.evals.affected import AffectedRun, affected_run, affected_runs, by_cause, summary
from gofer.journal.entries import Recorded
from gofer.journal.subagent_entries import SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.values.canonical_json import as_object
from gofer.workflows.bundle import Bundle
from gofer.workflows.skill import Skill
from support.engine.memory_run import MemoryRun, memory_run, says
from support.evals.recorded_work import Work, recorded_work, with_system
from support.evals.suite_results import affected
from support.models.served import served

pytestmark = pytest.mark.anyio


def looking() -> MemoryRun:
    made = memory_run(says("", ("look", {"text": "a"})), says("done"))
    made.tool("look", "read")
    return made


def compared(work: Work, after: Bundle | None) -> AffectedRun:
    return affected_run(work.run, work.entries, work.bundle, after)


async def test_run_with_the_current_files_is_unaffected() -> None:
    work = await recorded_work(looking())
    found = compared(work, work.bundle)
    assert found.causes == []
    assert found.first is None
    assert found.requests == 2


async def test_changed_prompt_line_changes_every_request_and_is_shown() -> None:
    work = await recorded_work(looking())
    (cause,) = compared(work, with_system(work.bundle, "You are a test.\nCall nothing.")).causes
    assert (cause.kind, cause.first) == ("prompt", 1)
    assert cause.lines == ["+Call nothing."]


async def test_renamed_tool_is_one_removed_and_one_new_tool() -> None:
    work = await recorded_work(looking())
    renamed: list[Mapping[str, object]] = [
        {**schema, "function": {**as_object(schema["function"]), "name": "see"}} for schema in work.bundle.tools
    ]
    found = compared(work, replace(work.bundle, tools=renamed))
    assert [(cause.title, cause.first) for cause in found.causes] == [("tool look", 1), ("tool see", 1)]


async def test_changed_schema_of_a_tool_names_the_parameter() -> None:
    work = await recorded_work(looking())
    function = dict(as_object(work.bundle.tools[0]["function"]))
    function["parameters"] = {**as_object(function["parameters"]), "properties": {"words": {"type": "string"}}}
    changed = replace(work.bundle, tools=[{**work.bundle.tools[0], "function": function}])
    (cause,) = compared(work, changed).causes
    assert cause.title == "tool look"
    assert '+words: {"type":"string"}' in cause.lines


async def test_other_model_changes_the_parameters_of_every_request() -> None:
    work = await recorded_work(looking())
    other = replace(work.bundle, loaded=replace(work.bundle.loaded, models=served("n")))
    (cause,) = compared(work, other).causes
    assert (cause.kind, cause.first) == ("parameters", 1)


async def test_changed_limits_change_no_request() -> None:
    work = await recorded_work(looking())
    limits = work.bundle.loaded.workflow.limits.model_copy(update={"llm_calls": 1})
    workflow = work.bundle.loaded.workflow.model_copy(update={"limits": limits})
    assert compared(work, replace(work.bundle, loaded=replace(work.bundle.loaded, workflow=workflow))).first is None


async def test_changed_skill_changes_the_requests_after_its_loading() -> None:
    work = await recorded_work(looking())
    last = work.entries[-1]
    loaded = [*work.entries, Recorded(last.n + 1, 0, last.at, "me", SkillLoaded("routing"))]
    before = _with_skill(work.bundle, "Ask the team.")
    after = _with_skill(work.bundle, "Ask the captain.")
    (cause,) = affected_run("run1", loaded, before, after).causes
    assert (cause.title, cause.first) == ("skill routing", 3)
    assert cause.lines == ["-Ask the team.", "+Ask the captain."]
    assert affected_run("run1", work.entries, before, after).causes == []


async def test_removed_subagent_changes_the_requests_after_its_question() -> None:
    work = await recorded_work(looking())
    last = work.entries[-1]
    started = SubagentStarted(call="2.0", name="reader", prompt="read", params={})
    asked = [*work.entries, Recorded(last.n + 1, 0, last.at, "me", started)]
    (cause,) = affected_run("run1", asked, work.bundle, work.bundle).causes
    assert (cause.title, cause.first) == ("subagent reader", 3)


async def test_run_of_a_removed_workflow_is_affected_from_the_beginning() -> None:
    work = await recorded_work(looking())
    (found,) = affected_runs([work], {})
    assert found.first == 1
    assert found.causes[0].kind == "workflow"


async def test_run_that_did_not_start_is_left_out() -> None:
    work = await recorded_work(looking())
    assert affected_runs([replace(work, bundles={})], {}) == []


def test_summary_counts_unaffected_runs_and_those_that_change_at_once_or_later() -> None:
    assert summary(affected()) == (
        "Of 214 recorded runs 203 are unaffected, 8 change from the first request, 3 change later."
    )
    assert summary([]) == "There are no recorded runs to compare with."


def test_causes_are_counted_by_workflow() -> None:
    assert by_cause(affected()) == {
        "file-ticket": {"prompt": 8, "tool jira_create_issue": 8},
        "answer-here": {"skill jira-formatting": 3},
    }


def _with_skill(bundle: Bundle, body: str) -> Bundle:
    return replace(bundle, loaded=replace(bundle.loaded, skills={"routing": Skill("routing", "routes", body)}))
