"""One-shot subagents of a script: their requests, answers and limits."""

import json
from dataclasses import replace

import pytest

from gofer.engine.loop import Ending
from gofer.engine.model_order import Parked
from gofer.journal.entries import CallDeferred, SubagentFinished, SubagentStarted
from gofer.models.language_model import Answer
from gofer.projections import progress
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import Usage
from gofer.workflows.schema import Limits, Subagent
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import MemoryRun, RemoteListModel, memory_run, says
from support.models.served import served

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"kind": {"enum": ["bug", "wish"]}}, "required": ["kind"]}
ASK = 'return await run.subagent("classify", "it broke")'


def asking(
    body: str, *answers: Answer | Exception, output: object = None, limits: dict[str, int] | None = None
) -> MemoryRun:
    made = memory_run(*answers)
    made.script = "from gofer.coordinator import ToolFailed\nasync def coordinate(run):\n"
    made.script += "\n".join(f"    {line}" for line in body.split("\n"))
    subagent = Subagent.model_validate({"description": "d", "output": output, "limits": limits or {}})
    made.subagents["classify"] = LoadedSubagent(subagent, "You classify.", served("m", "n"))
    return made


async def test_one_shot_subagent_is_asked_with_a_separate_prompt_and_the_answer_is_recorded() -> None:
    made = asking(ASK, says("a bug", tokens=100))
    assert await made.run_script() == Ending("done", "a bug")
    assert json.loads(made.model.requests[0]) == {
        "model": "m",
        "stream": False,
        "messages": [
            {"role": "system", "content": "You classify."},
            {"role": "user", "content": "It is Saturday, 21 November 2026, 12:00 UTC.\n\nit broke"},
        ],
    }
    made.model.requests.clear()
    assert await made.run_script("another") == Ending("done", "a bug")
    assert made.model.requests == []


async def test_one_shot_subagent_sends_the_schema_of_its_output_beside_both_questions() -> None:
    made = asking(ASK, says("a bug"), says('{"kind": "bug"}'), output=SCHEMA)
    made.model = remote = RemoteListModel(made.model.answers)
    await made.run_script()
    assert remote.added == [{"output_schema": SCHEMA}] * 2
    assert b"output_schema" not in b"".join(remote.requests)


async def test_one_shot_subagent_records_the_system_fingerprint_of_its_answer() -> None:
    made = asking(ASK, replace(says("a bug"), fingerprint="fp_1"))
    await made.run_script()
    (finished,) = [one.entry for one in await made.journal() if isinstance(one.entry, SubagentFinished)]
    assert finished.fingerprint == "fp_1"


async def test_one_shot_subagent_counts_in_calls_tokens_and_cost_of_the_run() -> None:
    made = asking(ASK, says("a bug", tokens=100))
    await made.run_script()
    done = progress.project(await made.journal())
    assert (done.llm_calls, done.usage, done.cost_usd) == (1, Usage(100, 1, 0), 100e-6 + 10e-6)
    _, subagent, llm = trace.project(await made.journal())
    assert (subagent.kind, subagent.name, subagent.parent) == ("agent", "subagent classify", "run")
    assert (llm.name, llm.parent, llm.status) == ("chat m", subagent.id, "ok")
    assert "100 in, 1 out, 0.0001 USD" in "\n".join(outline("run1", [*trace.project(await made.journal())]))


async def test_concurrent_one_shot_subagents_share_the_limit_of_model_calls() -> None:
    made = asking('await run.gather(*[run.subagent("classify", str(n)) for n in range(5)])', *[says("x")] * 5)
    made.limits = Limits(llm_calls=3)
    assert await made.run_script() == Ending("limited", reason="stopped after 3 model calls")
    assert len(made.model.requests) == 3


async def test_one_shot_subagent_has_a_separate_limit_of_calls() -> None:
    made = asking(
        'for n in range(3):\n    await run.subagent("classify", "same")', *[says("x")] * 5, limits={"calls": 2}
    )
    assert (await made.run_script()).reason == "stopped after 2 calls of the subagent classify"


@pytest.mark.parametrize(
    ("answer", "output", "code"),
    [
        (says("   "), None, "empty"),
        (Answer("I will not", (), "refusal", "m", Usage()), None, "refusal"),
        (Answer("", (), "content_filter", "m", Usage()), None, "filtered"),
        (Answer("half an", (), "length", "m", Usage()), None, "cut"),
    ],
)
async def test_useless_answer_of_a_one_shot_subagent_is_raised_with_a_code_also_on_replay(
    answer: Answer, output: object, code: str
) -> None:
    made = asking(
        'try:\n    await run.subagent("classify", "x")\nexcept ToolFailed as e: return e.code', answer, output=output
    )
    assert (await made.run_script()).answer == code
    assert (await made.run_script("another")).answer == code
    assert len(made.model.requests) == 1


CATCHING = 'try:\n    return await run.subagent("classify", "x")\nexcept ToolFailed as e: return e.code'


@pytest.mark.parametrize("unfit", ["a bug", '{"kind": "rant"}'])
async def test_one_shot_subagent_is_asked_once_more_after_an_unfit_answer(unfit: str) -> None:
    made = asking(CATCHING, says(unfit), says('{"kind": "bug"}'), output=SCHEMA, limits={"calls": 1})
    assert (await made.run_script()).answer == '{"kind":"bug"}'
    first, second = [json.loads(request)["messages"] for request in made.model.requests]
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": unfit}
    assert second[3]["content"].startswith("[Gofer, by code] Your answer does not fit the schema of the output:")
    assert second[3]["content"].endswith("Answer with the whole corrected object and nothing else.")
    done = progress.project(await made.journal())
    assert (done.llm_calls, len(done.subagents["classify"])) == (2, 1)
    assert (await made.run_script("another")).answer == '{"kind":"bug"}'
    assert len(made.model.requests) == 2


async def test_second_unfit_answer_of_a_one_shot_subagent_is_raised_also_on_replay() -> None:
    made = asking(CATCHING, says("a bug"), says("a wish"), output=SCHEMA)
    assert (await made.run_script()).answer == "unfit"
    assert (await made.run_script("another")).answer == "unfit"
    assert len(made.model.requests) == 2


async def test_next_owner_asks_a_one_shot_subagent_again_about_the_unfit_answer_in_the_journal() -> None:
    busy = TemporaryError("busy", retry_after=100)
    made = asking(CATCHING, says("a bug"), busy, busy, says('{"kind": "bug"}'), output=SCHEMA)
    with pytest.raises(Parked):
        await made.run_script()
    assert (await made.run_script("another")).answer == '{"kind":"bug"}'
    _, *again = [json.loads(request)["messages"] for request in made.model.requests]
    assert all(messages == again[0] for messages in again)
    assert again[0][2]["content"] == "a bug"


async def test_unfit_answer_in_a_journal_of_before_ends_the_question() -> None:
    fit = asking(CATCHING, says('{"kind": "bug"}'), output=SCHEMA)
    await fit.run_script()
    (started,) = [item.entry for item in await fit.journal() if isinstance(item.entry, SubagentStarted)]
    made = asking(CATCHING, output=SCHEMA)
    step = await made.step()
    step.note(started)
    step.note(SubagentFinished(started.call, "error", "The answer is no JSON.", "m", Usage(), 0.0, 0, "unfit"))
    assert (await made.run_script(step=step)).answer == "unfit"
    assert made.model.requests == []


async def test_one_shot_subagent_answer_of_the_required_form_is_json() -> None:
    made = asking(ASK, says('```json\n{"kind":   "bug"}\n```'), output=SCHEMA)
    assert (await made.run_script()).answer == '{"kind":"bug"}'


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('run.subagent("clasify", "x")', "There is no subagent 'clasify'. There are: classify."),
        ('run.subagent("classify", "x", files=["a.txt"])', "The run has no file 'a.txt'."),
    ],
)
async def test_invalid_one_shot_subagent_call_is_refused(call: str, said: str) -> None:
    made = asking(f"try:\n    await {call}\nexcept ToolFailed as e: return f'{{e.code}}: {{e.text}}'")
    for owner in ("me", "another"):
        assert (await made.run_script(owner)).answer == f"refused: {said}"


async def test_one_shot_subagent_asks_the_next_model_when_the_first_fails() -> None:
    made = asking(ASK, RunStopped("no such model"), says("a bug"))
    assert (await made.run_script()).answer == "a bug"
    started = [item.entry for item in await made.journal() if isinstance(item.entry, SubagentStarted)]
    assert [entry.params["model"] for entry in started] == ["m", "n"]
    assert len({entry.call for entry in started}) == 1


async def test_run_waits_for_unavailable_models_of_a_one_shot_subagent_and_asks_again() -> None:
    busy = TemporaryError("busy", retry_after=100)
    made = asking(ASK, busy, busy, says("a bug"))
    with pytest.raises(Parked) as parked:
        await made.run_script()
    assert parked.value.entry.reason == "model"
    (*_, deferred) = [item.entry for item in await made.journal() if isinstance(item.entry, CallDeferred)]
    assert (deferred.until, deferred.reason) == (parked.value.entry.until, "busy")
    state = progress.project(await made.journal())
    assert (state.deferrals, state.llm_calls) == (1, 0)
    assert (await made.run_script("another")).answer == "a bug"
    answered = [item.entry for item in await made.journal() if isinstance(item.entry, SubagentFinished)]
    assert len(answered) == 1
