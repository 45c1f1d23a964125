"""The JSON of one run: its status and answer, and its steps page by page."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from gofer.app.pages import run_api, run_page
from gofer.journal.coordination import Head
from gofer.journal.entries import RunConcluded, RunFinished, RunGraded
from gofer.journal.grade_entries import Grade
from gofer.values.errors import Corrupt
from gofer.workflows.schema import Limits
from support.app.read_runs import pages_of, record_of
from support.engine.memory_run import MemoryRun, memory_run, says
from support.stand_ins import claimed

pytestmark = pytest.mark.anyio
JSON = {"accept": "application/json"}


async def ended(text: str = "a") -> MemoryRun:
    made = memory_run(says("", ("look", {"text": text})), says("The answer."))
    made.tool("look", "read")
    await made.run()
    step = await made.step("next")
    step.note(RunConcluded("done", "", "The answer."))
    step.note(RunFinished("done"))
    await step.commit()
    return made


async def test_run_has_its_status_answer_checks_usage_and_links() -> None:
    async with pages_of(await ended()) as client:
        run = (await client.get("/runs/run1", headers=JSON)).json()
    assert (run["run"], run["workflow"], run["status"], run["answer"]) == ("run1", "answer-here", "done", "The answer.")
    assert run["checks"] == []
    assert (run["usage"]["llm_calls"], run["usage"]["tool_calls"], run["usage"]["input_tokens"]) == (2, 1, 20)
    assert run["links"] == {
        "page": "/runs/run1",
        "trace": "/runs/run1/trace",
        "prompt": "/runs/run1/prompt",
        "continues": "",
    }
    assert "steps" not in run
    assert "damage" not in run


async def test_run_of_an_eval_has_its_case_and_each_grade() -> None:
    made = await ended()
    missing = Grade("tools.required", passed=False, expected="post is called", happened="not called", step="1.0")
    grades = (Grade("judge.faithful", passed=True, score=0.75), missing)
    step = await made.step("evals")
    step.note(RunGraded("answers/basic", 2, "failed", "live", "b" * 64, grades))
    await step.commit()
    async with pages_of(made) as client:
        run = (await client.get("/runs/run1", headers=JSON)).json()
        trace = (await client.get("/runs/run1/trace")).json()
    assert run["eval"] == {
        "case": "answers/basic",
        "number": 2,
        "outcome": "failed",
        "evidence": "live",
        "agent_version": "b" * 64,
    }
    assert [(one["dimension"], one["passed"], one["score"], one["blocks"]) for one in run["grades"]] == [
        ("judge.faithful", True, 0.75, True),
        ("tools.required", False, None, True),
    ]
    assert (
        run["grades"][1] | {"expected": "post is called", "happened": "not called", "step": "1.0"} == run["grades"][1]
    )
    assert trace["steps"][-1]["kind"] == "run.graded"
    assert [event["name"] for event in trace["spans"][0]["events"]] == ["gen_ai.evaluation.result"] * 2


async def test_run_outside_of_evals_has_no_grades() -> None:
    async with pages_of(await ended()) as client:
        run = (await client.get("/runs/run1", headers=JSON)).json()
    assert (run["eval"], run["grades"]) == (None, [])


async def test_trace_has_ordered_steps_and_spans() -> None:
    async with pages_of(await ended()) as client:
        trace = (await client.get("/runs/run1/trace")).json()
    assert list(trace) == ["run", "status", "steps", "spans"]
    assert [step["step"] for step in trace["steps"]] == list(range(1, len(trace["steps"]) + 1))
    kinds = [step["kind"] for step in trace["steps"] if step["kind"] not in ("state.transition", "run.owned")]
    asked = ["llm.request", "context.snapshot", "llm.response"]
    assert kinds == [
        "run.accepted",
        "agent.start",
        "message.received",
        *asked,
        "tool.call",
        "tool.result",
        *asked,
        "run.concluded",
        "agent.end",
    ]
    (result,) = [step for step in trace["steps"] if step["kind"] == "tool.result"]
    assert (result["tool"], result["input_summary"], result["output_summary"]) == (
        "look",
        '{"text": "a"}',
        "look did a",
    )
    assert (result["status"], result["retries"]) == ("ok", 0)
    assert "input" not in result


async def test_full_trace_has_texts_that_the_summaries_cut() -> None:
    async with pages_of(await ended("x" * 5_000)) as client:
        brief = (await client.get("/runs/run1/trace")).json()["steps"]
        full = (await client.get("/runs/run1/trace?full=1")).json()["steps"]
    (short,) = [step for step in brief if step["kind"] == "tool.call"]
    (whole,) = [step for step in full if step["kind"] == "tool.call"]
    assert len(short["input_summary"]) < 400
    assert short["input_summary"].endswith("(5,012 characters in all)")
    assert whole["input"] == '{"text": "' + "x" * 5_000 + '"}'


async def test_long_trace_continues_where_the_answer_before_ended() -> None:
    record = await record_of(await ended())
    found: list[object] = []
    after = 0
    for _ in range(100):
        shown = run_api.trace_json(record, full=False, after=after, most=3_000)
        steps = shown["steps"]
        assert isinstance(steps, list)
        found += [step["step"] for step in steps]
        if "next" not in shown:
            break
        after = int(str(shown["next"]).rpartition("=")[2])
    assert found == [step.step for step in record.steps()]
    assert after > 0


async def test_prompt_of_a_run_comes_from_its_bundle() -> None:
    async with pages_of(await ended()) as client:
        prompt = (await client.get("/runs/run1/prompt", headers=JSON)).json()
        page = await client.get("/runs/run1/prompt")
    assert (prompt["system"], [tool["function"]["name"] for tool in prompt["tools"]]) == ("You are a test.", ["look"])
    assert "You are a test." in page.text


async def test_shortened_id_finds_a_listed_run_and_an_ambiguous_id_is_refused() -> None:
    made = await ended()
    for run in ("ab12", "ab34"):
        await claimed(made.store, run)
        await made.store.create_head(Head(run, "w", f"c:{run}", 1, private=False))
    await made.store.create_head(Head("run1", "w", "c:run1", 1, private=False))
    async with pages_of(made) as client:
        found = await client.get("/runs/ru", headers=JSON)
        ambiguous = await client.get("/runs/ab", headers=JSON)
        page = await client.get("/runs/ab")
    assert found.json()["run"] == "run1"
    assert (ambiguous.status_code, page.status_code) == (409, 409)
    assert ambiguous.json() == {"error": "2 runs begin with 'ab'; write more characters of the id."}
    assert "write more characters" in page.text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?after=x", 400),
        ("?after=-1", 400),
        ("?after=", 400),
        ("?after=99999999999999999999", 400),
        ("?after=999999999", 200),
        ("?full=0", 200),
        ("?full=", 200),
    ],
)
async def test_query_that_names_no_step_is_refused(query: str, status: int) -> None:
    async with pages_of(await ended()) as client:
        answer = await client.get(f"/runs/run1/trace{query}")
    assert answer.status_code == status
    assert ("error" in answer.json()) == (status == 400)


async def test_damage_is_named_in_the_run_in_its_steps_and_on_its_page() -> None:
    record = replace(await record_of(await ended()), error=Corrupt("Frame 9 is <b>damaged</b>."))
    trace = run_api.trace_json(record, full=False, after=0)
    steps = trace["steps"]
    assert isinstance(steps, list)
    assert (run_api.run_json(record)["damage"], trace["damage"]) == (record.damage, record.damage)
    assert (steps[-1]["kind"], steps[-1]["output_summary"]) == ("damage", record.damage)
    assert (run_api.run_json(record)["status"], trace["status"]) == ("damaged", "damaged")
    assert '<span class="damaged">damaged</span>' in run_page.heading(record)
    assert run_page.body(record).count("Frame 9 is &lt;b&gt;damaged&lt;/b&gt;.") == 2


async def test_answer_with_huge_names_arguments_and_calls_keeps_the_size_of_a_page() -> None:
    calls = [(f"invented_{'n' * 2_000}", {"text": "ä\x01" * 1_000}) for _ in range(400)]
    made = memory_run(says("x" * 4_000_000, *calls), says("", ("y" * 3_000_000, {})), says("The answer."))
    made.limits = Limits(llm_calls=9, tool_calls=50_000, tokens=100_000_000)
    await made.run()
    record = await record_of(made)
    for full in (True, False):
        after = 0
        found: list[object] = []
        while True:
            shown = run_api.trace_json(record, full=full, after=after)
            assert len(json.dumps(shown, ensure_ascii=False).encode()) < run_api.PAGE_BYTES + 100_000
            found += [step["step"] for step in _listed(shown, "steps")]
            if "next" not in shown:
                break
            after = int(str(shown["next"]).partition("after=")[2].partition("&")[0])
        assert found == [step.step for step in record.steps()]
    (answer, *_) = [
        step for step in _listed(run_api.trace_json(record, full=True, after=0), "steps") if "left_out" in str(step)
    ]
    assert (answer["kind"], answer["details"]) == (
        "llm.response",
        {"left_out": "They are too long; `gofer trace run1 --full --json` has them."},
    )


async def test_page_goes_on_after_a_step_larger_than_a_row() -> None:
    refused = [(f"i{n}", {}) for n in range(2_400)]
    made = memory_run(says("", *refused), says("", ("z" * 3_000_000, {})), says("The last words."))
    made.limits = Limits(llm_calls=9, tool_calls=50_000, tokens=100_000_000)
    await made.run()
    record = await record_of(made)
    body = run_page.body(record)
    assert len(body.encode()) < run_page.PAGE_BYTES
    assert body.count("too large for this page, as JSON") == 1
    assert "The last words." in body
    assert "z" * 200 not in body


def _listed(shown: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = shown[name]
    assert isinstance(found, list)
    return cast(list[Mapping[str, object]], found)
