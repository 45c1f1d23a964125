"""Statistics of runs, from the facts in their heads."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.cli.stats_report import lines, to_json
from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.statistics import By, Statistics, percentile, statistics, week_of
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

FACTS = HeadFacts(
    person="ada",
    llm_calls=2,
    tools={"read": ToolCount(3, 1)},
    skills=("find-owners",),
    input_tokens=100,
    usd=0.25,
    answer_ms=2_000,
)


def head(run: str, at: int = DAY_MS, facts: HeadFacts | None = FACTS, **changes: object) -> Head:
    text = ""
    if facts is not None:
        text = encode(facts)
    made = Head(run, "answer-here", "c", at, "done", private=False, updated_at=at, facts=text)
    return replace(made, **changes)


async def counted(made: MemoryWorker, by: By = "workflow", *, most_read: int = 10, since: int = 0) -> Statistics:
    services = made.worker.services
    readings = RunReadings(RunReader(services.stores, made.clock, {}), OPERATOR, most_read)
    return await statistics(readings, since, 2**40, by)


async def test_runs_are_counted_in_total_and_by_workflow() -> None:
    made = memory_worker()
    failed = replace(FACTS, cause="outage", system="Slack", usd=None, answer_ms=None, checks=("no-tool-loops",))
    await made.store.create_head(head("a"))
    await made.store.create_head(head("b", facts=failed, status="failed", workflow="file-ticket"))
    await made.store.create_head(head("c", facts=HeadFacts(), status="ignored"))
    found = await counted(made)
    total = found.total
    assert (total.runs, total.failed, dict(total.statuses)) == (2, 1, {"done": 1, "failed": 1, "ignored": 1})
    assert (total.usd, total.unpriced) == (0.25, 1)
    assert (dict(total.causes), dict(total.checks)) == ({("outage", "Slack"): 1}, {"no-tool-loops": 1})
    assert (total.tools, dict(total.skills)) == ({"read": ToolCount(6, 2)}, {"find-owners": 2})
    assert (total.llm_calls, total.input_tokens, list(total.answer_ms)) == (4, 200, [2_000])
    assert {name: tally.runs for name, tally in found.groups.items()} == {"answer-here": 1, "file-ticket": 1}


async def test_private_and_hidden_runs_enter_no_statistic() -> None:
    made = memory_worker()
    await made.store.create_head(head("public"))
    await made.store.create_head(head("private", facts=None, private=True))
    await made.store.create_head(head("hidden"))
    await made.store.hide("hidden")
    found = await counted(made)
    assert found.total.statuses.total() == 1
    assert found.total.unmeasured == 0


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("person", {"ada"}),
        ("tool", {"read"}),
        ("skill", {"find-owners"}),
        ("week", {"1970-W01"}),
        ("workflow", {"answer-here"}),
    ],
)
async def test_runs_are_grouped_by(by: By, groups: set[str]) -> None:
    made = memory_worker()
    await made.store.create_head(head("old"))
    await made.store.create_head(head("new", DAY_MS + 5))
    found = await counted(made, by)
    assert set(found.groups) == groups
    assert [tally.runs for tally in found.groups.values()] == [2]
    assert {newest.run for newest in found.newest.values()} == {"new"}


async def test_runs_before_the_time_are_left_out() -> None:
    made = memory_worker()
    await made.store.create_head(head("before", DAY_MS - 1))
    await made.store.create_head(head("since", DAY_MS))
    assert (await counted(made, since=DAY_MS)).total.runs == 1


async def test_head_without_facts_is_measured_from_the_journal_of_the_run() -> None:
    made = memory_worker(says("Hello.", tokens=30))
    await made.accept("run1", DAY_MS)
    await made.work_once()
    written = await made.store.head("run1")
    assert written is not None
    # An earlier version wrote no facts.
    await made.store.put_head(replace(written, facts=""))
    found = await counted(made)
    assert (found.total.llm_calls, found.total.input_tokens, found.total.unmeasured) == (1, 30, 0)


async def test_heads_without_facts_are_read_up_to_the_limit_and_counted_beyond() -> None:
    made = memory_worker(says("one"), says("two"))
    for run in ("run1", "run2"):
        await made.accept(run, DAY_MS)
    while await made.work_once():
        pass
    for run in ("run1", "run2"):
        written = await made.store.head(run)
        assert written is not None
        await made.store.put_head(replace(written, facts=""))
    found = await counted(made, most_read=1)
    assert (found.total.runs, found.total.llm_calls, found.total.unmeasured) == (2, 1, 1)


async def test_percentiles_of_limited_facts_have_one_value_for_each_measured_run() -> None:
    made = memory_worker()
    for calls in range(1, 21):
        facts = replace(FACTS, llm_calls=calls, owned_ms=calls * 1_500, plan_calls=1, equal_calls=2)
        await made.store.create_head(head(f"r{calls}", facts=facts))
    await made.store.create_head(head("ignored", facts=HeadFacts(), status="ignored"))
    found = await counted(made)
    found.until = DAY_MS
    per_run = to_json(found, 0, {})["groups"][0]["per_run"]
    assert per_run["llm-call-budget"] == {"runs": 20, "p50": 10, "p95": 19}
    assert per_run["execution-time"] == {"runs": 20, "p50": 15.0, "p95": 28.5}
    assert (per_run["plan-call-budget"]["p95"], per_run["no-tool-loops"]["p95"]) == (1, 2)


async def test_table_of_runs_labels_ignored_events_and_has_no_empty_groups() -> None:
    made = memory_worker()
    await made.store.create_head(head("a", facts=replace(FACTS, skills=(), llm_calls=1, tool_calls=1)))
    await made.store.create_head(head("b", facts=HeadFacts(), status="ignored"))
    found = await counted(made, "skill")
    found.until = DAY_MS
    shown = lines(found, 0, {})
    assert "  runs 1: 1 done" in shown
    assert "  events that matched no workflow, which are no runs: 1" in shown
    assert "  1 model call, 1 tool call toward the limits, 0 subagents; those of subagent runs are included" in shown
    assert not any(line.startswith("  skill") for line in shown)
    assert "  Calls by tool, with refused ones and those about the plan, without those of subagent runs" in shown


@given(values=st.lists(st.integers(0, 10**9), min_size=1), share=st.floats(0.01, 1.0))
def test_percentile_is_the_smallest_value_that_covers_the_share(values: list[int], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6
    smaller = [value for value in values if value < found]
    assert len(smaller) < share * len(values)


def test_percentile_of_no_values_is_unknown() -> None:
    assert percentile([], 0.5) is None


def test_week_is_the_iso_week_in_utc() -> None:
    assert week_of(1_795_262_400_000) == "2026-W47"


async def test_feedback_and_reviews_are_counted_by_version_of_the_prompt_with_days() -> None:
    made = memory_worker()
    reviewed = replace(FACTS, good=1, bad=2, effective=True, prompt="ab" * 6, review_usd=0.5)
    await made.store.create_head(head("a", at=DAY_MS, facts=reviewed))
    await made.store.create_head(head("b", at=3 * DAY_MS, facts=replace(reviewed, effective=False, bad=0)))
    await made.store.create_head(head("c"))
    found = await counted(made, "prompt")
    total = found.total
    assert (total.good, total.bad, total.reviewed, total.effective) == (2, 2, 2, 1)
    # The cost of reviews is in no other cost.
    assert (total.usd, total.review_usd) == (0.75, 1.0)
    assert [*found.groups] == [f"answer-here {'ab' * 6}"]
    found.until = 4 * DAY_MS
    (row,) = [line for line in lines(found, 0, {}) if "abab" in line]
    assert row.split()[-10:] == ["0.5000", "2/2", "50", "%", "of", "2", "?", "1970-01-02", "to", "1970-01-04"]
    assert "the reviews cost 1.00 USD, which is not in the cost above" in "\n".join(lines(found, 0, {}))
