"""The health of a run: checks, states, context, waste and unusual traits, without contents."""

import json
from dataclasses import replace
from typing import cast

import pytest

from gofer.journal.check_entries import Verdict
from gofer.journal.entries import RunChecked, RunConcluded, RunFinished
from gofer.projections import progress
from gofer.projections.examination.anomalies import Anomalies, Anomaly, traits
from gofer.projections.examination.health import Health, health
from gofer.projections.examination.health_text import health_json, health_lines
from gofer.projections.prompted_run import PromptedRun
from gofer.values.messages import Usage
from support.engine.memory_run import memory_run, says
from support.engine.prompted_runs import prompted

pytestmark = pytest.mark.anyio
NO_BASELINE = Anomalies(3, (), 0)
SECRET = "heron7"


async def looped() -> PromptedRun:
    """Return a run without an end that called a tool three times in the same way, with a word in all its texts."""
    again = says(SECRET, ("look", {"text": SECRET}))
    made = memory_run(again, again, again, says(f"The {SECRET} flies."))
    made.tool("look", "read")
    await made.run()
    return await prompted(made)


async def ended(*verdicts: Verdict) -> PromptedRun:
    run = await looped()
    last = run.entries[-1]
    ends = (RunConcluded("done", "", f"The {SECRET} flies."), RunFinished("done"), RunChecked(verdicts))
    return replace(
        run, entries=[*run.entries, *(replace(last, n=last.n + 1, i=i, entry=end) for i, end in enumerate(ends))]
    )


def text(found: Health) -> str:
    return "\n".join(health_lines(found))


async def test_recorded_verdicts_of_a_run_are_shown_with_their_entries() -> None:
    failed = Verdict(
        "no-tool-loops", passed=False, summary="look 3 times", detail=SECRET, implies="goal_drift", entries=("4.0",)
    )
    found = health(await ended(failed, Verdict("llm-call-budget", passed=True, severity="warning")), NO_BASELINE)
    assert not found.is_healthy
    shown = text(found)
    assert "Checks: 1 error and 0 warnings of 2 checks, recorded at the end" in shown
    assert "✗ no-tool-loops: look 3 times Implies goal drift. Entries: 4.0." in shown
    assert "✓ llm-call-budget" in shown


async def test_checks_of_an_unfinished_run_are_made_from_its_journal_so_far() -> None:
    found = health(await looped(), NO_BASELINE)
    (run,) = found.runs
    assert run.made == "so far, because the run has not ended"
    assert [verdict.check for verdict in run.errors] == ["no-tool-loops"]
    assert "no-orphaned-tools" not in {verdict.check for verdict in run.verdicts}


async def test_checks_of_an_unfinished_run_have_the_limits_of_its_bundle() -> None:
    run = await looped()
    for keys in ({"limit": 4, "off": False}, {"limit": None, "off": True}):
        bundle = {**run.bundle, "workflow": {"checks": {"no-tool-loops": keys}}}
        assert health(replace(run, bundle=bundle), NO_BASELINE).runs[0].errors == []


async def test_health_names_repeats_and_each_request() -> None:
    found = health(await ended(), NO_BASELINE)
    shown = text(found)
    assert "repeats, calls that returned what they had returned before: look ×2" in shown
    assert "Context: 4 requests, at most " in shown
    assert (
        "no baseline yet; answer-here has 3 other ended runs among the newest 10,000 runs, and 20 are needed" in shown
    )


async def test_health_shows_reads_writes_and_misses_of_the_cache() -> None:
    usage = Usage(1_000, 10, cached_tokens=600, written_tokens=300)
    made = memory_run(replace(says("Yes."), usage=usage, cache_miss="tools_changed"))
    await made.run()
    found = health(await prompted(made), NO_BASELINE)
    assert "Cache: 600 of 1,000 input tokens read, 300 written; misses: tools_changed ×1" in text(found)
    cache = {"read_tokens": 600, "written_tokens": 300, "misses": {"tools_changed": 1}}
    assert cast(list[dict[str, object]], health_json(found)["runs"])[0]["cache"] == cache


async def test_health_shows_the_cache_of_the_workflow_with_the_most_frequent_reason_first() -> None:
    usage = Usage(1_000, 10, cached_tokens=600, written_tokens=300)
    kinds = ("messages_changed", "tools_changed", "tools_changed", "")
    runs = [memory_run(replace(says("Yes."), usage=usage, cache_miss=kind)) for kind in kinds]
    for made in runs:
        await made.run()
    journals = [await made.journal() for made in runs]
    of_workflow = [traits(entries, progress.project(entries), ()) for entries in journals]
    found = health(await prompted(runs[0]), NO_BASELINE, of_workflow)
    expected = "2,400 of 4,000 input tokens read, 1,200 written; misses: tools_changed ×2, messages_changed ×1"
    assert f"Cache of the last 4 runs of answer-here: {expected}" in text(found)
    misses = {"messages_changed": 1, "tools_changed": 2}
    cache = {"read_tokens": 2_400, "written_tokens": 1_200, "misses": misses}
    assert health_json(found)["workflow"] == {"runs": 4, "cache": cache}


async def test_health_shows_no_contents() -> None:
    failed = Verdict("no-invented-names", passed=False, severity="warning", summary="1 name", detail=SECRET)
    found = health(await ended(failed), NO_BASELINE)
    assert SECRET not in text(found)
    assert SECRET not in json.dumps(health_json(found))


async def test_name_that_a_model_made_up_for_a_tool_is_not_shown() -> None:
    made = memory_run(says("", (f"password_{SECRET}", {})), says("", (SECRET, {})), says("done"))
    made.tool("look", "read")
    await made.run()
    found = health(await prompted(made), NO_BASELINE)
    assert SECRET not in text(found)
    assert SECRET not in json.dumps(health_json(found))
    assert "+result of an unknown tool (1.0)" in text(found)


async def test_unusual_trait_is_advice_with_its_rate_of_false_alarms() -> None:
    unusual = Anomalies(87, [Anomaly("tokens", "48,200 tokens; the median is 12,100 tokens (robust z +6.2)", 2)], 5)
    found = health(await ended(), unusual)
    assert found.is_healthy
    shown = text(found)
    assert "(robust z +6.2). This rule flags 2 of 87 other runs, 2.3%" in shown
    assert "All rules together flag 5 of 87 other runs, 5.7%" in shown


async def test_damaged_run_is_not_healthy_and_shows_the_part_before_the_damage() -> None:
    found = health(replace(await looped(), damage="Run run1 is damaged at frame 9."), NO_BASELINE)
    assert not found.is_healthy
    assert found.summary.status == "damaged"
    assert "✗ Run run1 is damaged at frame 9." in text(found)
    assert found.runs[0].made == "of the part before the damage"
