"""The causes of differences: what moved between a recorded run and its replay with a live model."""

from dataclasses import replace

import pytest

from gofer.models.language_model import Answer
from gofer.replay.changes import Changes
from gofer.replay.divergence import Cause
from support.engine.memory_run import says
from support.models.served import served
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

LIVE = Changes(live=True)


async def worked(*answers: Answer) -> MemoryWorker:
    """Return a worker whose run is over."""
    made = memory_worker(*answers)
    await made.accept("run1", private=False)
    await made.work_once()
    return made


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (says("Hello."), says("Goodbye."), "sampling"),
        (replace(says("Hello."), fingerprint="fp_1"), replace(says("Goodbye."), fingerprint="fp_1"), "sampling"),
        (replace(says("Hello."), fingerprint="fp_1"), replace(says("Goodbye."), fingerprint="fp_2"), "version"),
        (says("Hello."), replace(says("Goodbye."), fingerprint="fp_2"), "sampling"),
        (says("Hello."), replace(says("Goodbye."), model="m-2"), "version"),
        (says("Hello."), replace(says("Hello."), model="m-2"), "version"),
    ],
)
async def test_other_answer_to_the_same_request_is_sampling_unless_the_model_has_another_version(
    before: Answer, after: Answer, cause: Cause
) -> None:
    made = await worked(before)
    made.model.answers = [after]
    again = await replayed(made, await recorded_by(made), LIVE)
    assert again.first is not None
    assert (again.outcome, again.first.step, again.first.cause) == ("diverged", "llm.response", cause)


async def test_same_live_answer_of_another_fingerprint_is_no_difference() -> None:
    made = await worked(replace(says("Hello."), fingerprint="fp_1"))
    made.model.answers = [replace(says("Hello."), fingerprint="fp_2")]
    again = await replayed(made, await recorded_by(made), LIVE)
    assert (again.outcome, again.divergences) == ("identical", [])


async def test_differences_after_the_first_one_have_its_cause() -> None:
    made = await worked(says("Hello."))
    made.model.answers = [says("", ("nope", {})), says("Goodbye.")]
    again = await replayed(made, await recorded_by(made), LIVE)
    assert len(again.divergences) > 2
    assert {one.cause for one in again.divergences if one.kind != "reworded"} == {"sampling"}


async def test_other_parameters_of_a_request_are_a_setting() -> None:
    made = await worked(says("Hello."))
    recorded = await recorded_by(made)
    bundle = recorded.bundles["run1"]
    other = replace(bundle, loaded=replace(bundle.loaded, models=served("m-2")))
    again = await replayed(made, replace(recorded, bundles={"run1": other}))
    assert again.first is not None
    assert (again.first.step, again.first.cause) == ("llm.request", "setting")


async def test_changed_prompt_is_an_input_also_of_the_live_answers_that_follow() -> None:
    made = await worked(says("Hello."))
    recorded = await recorded_by(made)
    bundle = recorded.bundles["run1"]
    loaded = replace(bundle.loaded, prompt_span=(0, len(bundle.loaded.system)))
    spanned = replace(recorded, bundles={"run1": replace(bundle, loaded=loaded)})
    made.model.answers = [says("Goodbye.")]
    again = await replayed(made, spanned, Changes(prompt="Be long.", live=True))
    causes = {one.step: one.cause for one in again.divergences if one.kind != "reworded"}
    assert causes["llm.request"] == "input"
    assert causes["llm.response"] == "input"
