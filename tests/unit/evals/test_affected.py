"""The recorded runs that a change affects: which requests change, and why."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.evals.affected import AffectedRun, FileVersion, affected_runs, by_cause, summary
from gofer.journal.entries import Entry, LlmRequest, Recorded
from gofer.journal.subagent_entries import SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.values.canonical_json import as_object
from gofer.workflows.bundle import Bundle
from gofer.workflows.schema import Subagent, SubagentLimits
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent
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
    current = {after.loaded.name: after} if after is not None else {}
    (found,) = affected_runs([work], FileVersion(current, {}))
    return found


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


async def test_further_model_that_no_request_needed_is_no_change() -> None:
    work = await recorded_work(looking())
    first = work.bundle.loaded.models
    further = replace(work.bundle, loaded=replace(work.bundle.loaded, models=(*first, *served("n"))))
    assert compared(work, further).causes == []
    before = replace(work.bundle, loaded=replace(work.bundle.loaded, models=(*served("n"), *first)))
    (cause,) = compared(work, before).causes
    assert cause.kind == "parameters"


async def test_changed_limits_change_no_request() -> None:
    work = await recorded_work(looking())
    limits = work.bundle.loaded.workflow.limits.model_copy(update={"llm_calls": 1})
    workflow = work.bundle.loaded.workflow.model_copy(update={"limits": limits})
    assert compared(work, replace(work.bundle, loaded=replace(work.bundle.loaded, workflow=workflow))).first is None


async def test_skill_that_changed_changes_the_requests_after_its_loading() -> None:
    work = await recorded_work(looking())
    before = _with_skill(work.bundle, "Ask the team.")
    after = _with_skill(work.bundle, "Ask the captain.")
    loaded = replace(_noting(work, SkillLoaded("routing")), bundles={work.run: before})
    (cause,) = compared(loaded, after).causes
    assert (cause.title, cause.first) == ("skill routing", 2)
    assert cause.lines == ["-Ask the team.", "+Ask the captain."]
    assert compared(replace(work, bundles={work.run: before}), after).causes == []


async def test_skill_that_no_request_followed_is_no_cause() -> None:
    work = await recorded_work(looking())
    last = work.entries[-1]
    entries = [*work.entries, Recorded(last.n + 1, 0, last.at, "me", SkillLoaded("routing"))]
    loaded = replace(work, entries=entries, bundles={work.run: _with_skill(work.bundle, "Ask the team.")})
    assert compared(loaded, _with_skill(work.bundle, "Ask the captain.")).causes == []


async def test_changed_question_of_a_subagent_changes_later_requests() -> None:
    work = await recorded_work(looking())
    asked = _noting(work, SubagentStarted(call="1.0", name="reader", prompt="read", params={}))
    asked = replace(asked, bundles={work.run: _with_reader(work.bundle, "Read all of it.")})
    (cause,) = compared(asked, _with_reader(work.bundle, "Read the end.")).causes
    assert (cause.title, cause.first) == ("subagent reader", 2)
    assert cause.lines == ["-Read all of it.", "+Read the end."]
    (gone,) = compared(asked, work.bundle).causes
    assert gone.lines[0] == "-Read all of it."
    assert compared(work, _with_reader(work.bundle, "Read the end.")).causes == []


async def test_limits_of_a_subagent_change_no_request() -> None:
    work = await recorded_work(looking())
    asked = _noting(work, SubagentStarted(call="1.0", name="reader", prompt="read", params={}))
    asked = replace(asked, bundles={work.run: _with_reader(work.bundle, "Read.")})
    assert compared(asked, _with_reader(work.bundle, "Read.", SubagentLimits(llm_calls=1))).causes == []


async def test_question_of_gofer_itself_is_no_changed_subagent() -> None:
    work = await recorded_work(looking())
    asked = _noting(work, SubagentStarted(call="compaction/1", name="compaction", prompt="sum up", params={}))
    assert compared(asked, work.bundle).causes == []


async def test_changed_requests_of_a_subagent_run_are_found_below_a_script() -> None:
    work = await recorded_work(looking())
    script = replace(work.bundle.loaded, name="assign", system="", script_sha256="1")
    entries = [replace(work.entries[0], entry=SubagentStarted("1.0", "reader", "read", {}, run="child"))]
    for was, changed in [("Read all of it.", ["subagent reader"]), ("Read the end.", list[str]())]:
        bundles = {"root": Bundle(script, ()), "child": replace(with_system(work.bundle, was), tools=())}
        recorded = Work("root", entries, bundles, {"child": work.entries})
        after = _with_reader(Bundle(script, ()), "Read the end.")
        assert [cause.title for cause in compared(recorded, after).causes] == changed


async def test_script_that_changed_is_a_cause_without_any_request() -> None:
    work = await recorded_work(looking())
    script = replace(work.bundle.loaded, name="assign", system="", script_sha256="1")
    recorded = Work("root", work.entries[:1], {"root": Bundle(script, ())})
    after = Bundle(replace(script, script_sha256="2", models=served("other")), ())
    assert [cause.kind for cause in compared(recorded, after).causes] == ["script"]


async def test_run_of_a_removed_workflow_is_affected_from_the_beginning() -> None:
    work = await recorded_work(looking())
    (found,) = affected_runs([work], FileVersion({}))
    assert found.first == 1
    assert found.causes[0].kind == "workflow"


async def test_run_that_did_not_start_is_left_out() -> None:
    work = await recorded_work(looking())
    assert affected_runs([replace(work, bundles={})], FileVersion({})) == []


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


def _with_reader(bundle: Bundle, system: str, limits: SubagentLimits | None = None) -> Bundle:
    subagent = Subagent(description="Reads.", limits=limits or SubagentLimits())
    reader = LoadedSubagent(subagent, system, served("m"))
    return replace(bundle, loaded=replace(bundle.loaded, subagents={"reader": reader}))


def _noting(work: Work, entry: Entry) -> Work:
    """Return a run with one entry more, after its first request."""
    at = next(index for index, one in enumerate(work.entries) if isinstance(one.entry, LlmRequest))
    noted = replace(work.entries[at], entry=entry)
    return replace(work, entries=[*work.entries[: at + 1], noted, *work.entries[at + 1 :]])
