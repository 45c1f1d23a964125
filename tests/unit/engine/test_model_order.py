"""The order in which the models of a run are asked, and how long a run waits for them."""

import json
from dataclasses import replace

import pytest

from gofer.app.logs import JsonLines
from gofer.engine.model_order import LONGEST_PARKED, Parked, log_failure, order
from gofer.journal import inbox
from gofer.journal.entries import CallDeferred, LlmRequest, LlmResponse, MessageReceived, RunOwned, RunParked
from gofer.models.failures import failed, reason_of
from gofer.models.language_model import Answer, Unusable
from gofer.models.served_model import Candidate
from gofer.projections import progress
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import FailureClass, ProviderError
from gofer.workflows.schema import Limits
from support.engine.memory_run import PROVENANCE, MemoryRun, RemoteListModel, coordinate, memory_run, says
from support.models.served import served

pytestmark = pytest.mark.anyio

BUSY = TemporaryError("busy", retry_after=LONGEST_PARKED)
"""The model asks for the longest pause, so it is asked only once."""
REFUSED = RunStopped("no such model")


def chained(*answers: Answer | Exception, models: tuple[str, ...] = ("small", "big")) -> MemoryRun:
    made = memory_run(*answers)
    made.tool("look", "read")
    made.models = models
    return made


async def work(made: MemoryRun, owner: str = "me") -> str:
    """Return the result of one owner: the answer, `parked`, or the reason of the stop."""
    step = await made.step(owner)
    if step.conversation.parts == []:
        step.note(MessageReceived("please"))
    try:
        ending = await coordinate(step, made.bundle(), PROVENANCE)
    except Parked as parked:
        step.note(parked.entry)
        await step.commit()
        return "parked"
    except RunStopped as error:
        await step.commit()
        return str(error)
    await step.commit()
    return ending.answer


def asked(made: MemoryRun) -> list[str]:
    return [json.loads(body)["model"] for body in made.model.requests]


async def requested(made: MemoryRun) -> list[object]:
    return [item.entry.params["model"] for item in await made.journal() if isinstance(item.entry, LlmRequest)]


async def deferred(made: MemoryRun) -> list[CallDeferred]:
    return [item.entry for item in await made.journal() if isinstance(item.entry, CallDeferred)]


@pytest.mark.parametrize("failure", [BUSY, REFUSED])
async def test_next_model_is_asked_after_a_failure_and_the_failure_is_journaled(failure: Exception) -> None:
    made = chained(failure, says("From the big one."))
    assert await work(made) == "From the big one."
    assert await requested(made) == asked(made) == ["small", "big"]
    assert await deferred(made) == [CallDeferred("model", str(failure))]
    assert await made.kinds() == [
        ["RunOwned", "RunStarted", "MessageReceived", "LlmRequest"],
        ["CallDeferred", "LlmRequest"],
        ["LlmResponse"],
    ]


@pytest.mark.parametrize("failure", ["no_credit", "too_large", "unknown_model", "unknown_parameter", "refused"])
async def test_refusal_that_another_model_may_not_share_goes_to_the_next_model(failure: FailureClass) -> None:
    made = chained(failed(ProviderError(failure, 400)), says("From the big one."))
    assert await work(made) == "From the big one."
    assert asked(made) == ["small", "big"]


@pytest.mark.parametrize("failure", ["wrong_key", "filtered"])
async def test_refused_key_or_filter_ends_the_run_without_asking_the_next_model(failure: FailureClass) -> None:
    said = ProviderError(failure, 401, "some_code", message="words")
    made = chained(failed(said), says("never asked"))
    assert await work(made) == reason_of(said)
    assert asked(made) == ["small"]
    assert await deferred(made) == [CallDeferred("model", reason_of(said), provider_error=said)]


async def test_missing_credit_with_every_model_ends_the_run() -> None:
    made = chained(*[failed(ProviderError("no_credit", 429))] * 2)
    assert (await work(made)).startswith(
        "The account at the model's provider has no credit or no quota left (HTTP 429)"
    )


async def test_bad_sample_is_requested_again_with_the_same_bytes() -> None:
    made = chained(failed(ProviderError("bad_sample", 400)), says("Good."))
    assert await work(made) == "Good."
    assert made.model.requests[0] == made.model.requests[1]


@pytest.mark.parametrize("private", [False, True])
def test_provider_message_of_a_private_run_is_not_logged(private: bool, caplog: pytest.LogCaptureFixture) -> None:
    said = ProviderError("refused", 400, "a_code", message="the words")
    log_failure("run1", failed(said), private=private)
    full, summary = (JsonLines(level).format(caplog.records[-1]) for level in ("full", "summary"))
    assert ("the words" in full, "run1" in full) == (not private, not private)
    assert ("the words" in summary, "a_code" in summary) == (False, True)


async def test_model_with_unusable_answers_is_asked_three_times_before_the_next_model() -> None:
    made = chained(Unusable("HTML"), Unusable("HTML"), Unusable("HTML"), says("Good."))
    assert await work(made) == "Good."
    assert asked(made) == ["small", "small", "small", "big"]


async def test_run_stays_with_the_last_asked_model_after_a_crash() -> None:
    made = chained(REFUSED, says("", ("look", {})), KeyError("the worker dies here"))
    with pytest.raises(KeyError):
        await work(made)
    made.model.answers = [says("", ("look", {})), says("Done.")]
    assert await work(made, "second") == "Done."
    assert asked(made) == ["small", "big", "big", "big", "big"]


async def test_model_chain_is_asked_once_around_from_the_current_model() -> None:
    chain = [Candidate(model, {"model": model.name}) for model in served("a", "b", "c")]
    assert [one.model.name for one in order(chain, "b")] == ["b", "c", "a"]
    assert [one.model.name for one in order(chain, "gone")] == ["a", "b", "c"]
    made = chained(REFUSED, says("", ("look", {})), BUSY, says("The small one is back."))
    assert await work(made) == "The small one is back."
    assert asked(made) == ["small", "big", "big", "small"]


async def test_prompt_only_grows_for_one_model_and_restarts_for_another() -> None:
    made = chained(says("", ("look", {})), REFUSED, says("", ("look", {})), says("Done."))
    await work(made)
    entries = [item.entry for item in await made.journal() if isinstance(item.entry, LlmRequest)]
    prefixes = [body[: -len(entry.tail.encode())] for body, entry in zip(made.model.requests, entries, strict=True)]
    assert asked(made) == ["small", "small", "big", "big"]
    assert prefixes[1].startswith(prefixes[0])
    assert prefixes[3].startswith(prefixes[2])
    assert prefixes[2].replace(b'"big"', b'"small"') == prefixes[1]


async def test_run_is_parked_when_no_model_is_available() -> None:
    made = chained(BUSY, BUSY)
    made.patience = type(made.patience)(pause=60)
    now = int(made.clock.now() * 1000)
    assert await work(made) == "parked"
    until = now + int(LONGEST_PARKED * 1000)
    assert (await made.kinds())[-1] == ["CallDeferred", "RunParked"]
    assert [item.entry for item in await made.journal()][-2:] == [
        CallDeferred("model", "busy", until),
        RunParked("model", until),
    ]


async def test_parked_run_resumes_with_the_first_model() -> None:
    made = chained(BUSY, BUSY, says("Here I am."))
    await work(made)
    assert await work(made, "second") == "Here I am."
    assert asked(made) == ["small", "big", "small"]


async def test_run_is_parked_if_any_model_may_come_back() -> None:
    assert await work(chained(BUSY, REFUSED)) == "parked"
    assert await work(chained(REFUSED, BUSY)) == "parked"
    assert await work(chained(BUSY, *[Unusable("HTML")] * 3)) == "parked"


@pytest.mark.parametrize(
    ("failures", "reason"),
    [([REFUSED, RunStopped("wrong key")], "wrong key"), ([Unusable("HTML")] * 6, "HTML"), ([REFUSED] * 2, "no such")],
)
async def test_run_is_not_parked_for_refusals_or_unusable_answers(failures: list[Exception], reason: str) -> None:
    made = chained(*failures)
    assert (await work(made)).startswith(reason)
    assert made.model.answers == []


async def pauses(made: MemoryRun) -> tuple[list[float], str]:
    """Return the seconds of each parking of a run whose models never answer, and the reason of its end."""
    found: list[float] = []
    while (outcome := await work(made, f"owner {len(found)}")) == "parked":
        state = progress.project(await made.journal())
        assert state.parked is not None
        found.append(state.parked.until / 1000 - made.clock.now())
        made.clock.advance(found[-1])
    return found, outcome


async def test_run_is_parked_for_growing_times_and_thirty_minutes_in_all() -> None:
    made = chained(*[TemporaryError("nobody is there")] * 60, models=("m",))
    made.patience = type(made.patience)(backoff=0)
    assert await pauses(made) == (
        [60, 120, 240, 480, 900],
        "the model's provider did not answer for 30 minutes: nobody is there",
    )


async def test_run_is_parked_as_long_as_the_provider_asks_up_to_thirty_minutes() -> None:
    made = chained(*[TemporaryError("busy", retry_after=700)] * 9, models=("m",))
    found, _ = await pauses(made)
    assert found == [700, 700, 400]
    made = chained(*[TemporaryError("busy", retry_after=86_400)] * 9, models=("m",))
    assert (await pauses(made))[0] == [900, 900]


async def test_model_answer_restarts_the_thirty_minutes_of_waiting() -> None:
    made = chained(BUSY, says("", ("look", {})), *[BUSY] * 9, models=("m",))
    made.limits = Limits(minutes=60)
    found, _ = await pauses(made)
    assert found == [900, 900, 900]


async def test_waiting_for_a_silent_model_does_not_use_run_time() -> None:
    made = chained(models=("m",))

    class Hanging:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            made.clock.advance(timeout)
            raise TemporaryError("slow")

    made.model = Hanging()
    made.limits = Limits(minutes=5)
    for owner in ("first", "second", "third"):
        assert await work(made, owner) == "parked"
    state = progress.project(await made.journal())
    assert (state.waited_ms, state.owned_ms(int(made.clock.now() * 1000))) == (900_000, 0)


async def test_message_received_during_a_failed_request_is_in_the_next_request() -> None:
    made = chained(says("unused"))

    class Interrupted:
        def __init__(self) -> None:
            self.requests: list[bytes] = []

        async def ask(self, body: bytes, timeout: float) -> Answer:
            self.requests.append(body)
            if len(self.requests) == 1:
                await inbox.put(made.store, "run1", "a", MessageReceived("one more thing"))
                raise REFUSED
            return says("Done.")

    made.model = Interrupted()
    assert await work(made) == "Done."
    first, second = made.model.requests
    assert b"one more thing" not in first
    assert b"one more thing" in second


async def test_taking_over_a_parked_run_ends_the_parking() -> None:
    made = chained(BUSY, BUSY)
    await work(made)
    step = await made.step("second")
    assert step.progress.parked is None
    await step.commit()
    assert [type(item.entry) for item in await made.journal()][-1] is RunOwned


async def test_days_of_suspension_do_not_count_as_waiting_for_a_model() -> None:
    made = chained(*[TemporaryError("busy")] * 3, says("Here I am."), models=("m",))
    assert await work(made) == "parked"
    made.clock.advance(3 * 86_400)
    assert await work(made, "days later") == "Here I am."


async def test_schema_of_the_output_is_added_beside_the_same_requests() -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    requests: list[bytes] = []
    for output in (schema, None):
        made = chained(says("", ("look", {})), says('{"size": 1}'))
        made.model = remote = RemoteListModel(made.model.answers)
        made.output = output
        await work(made)
        requests += remote.requests
        assert [added.get("output_schema") for added in remote.added] == [output, output]
    assert len(requests) == 4
    assert requests[:2] == requests[2:]


async def test_request_names_the_last_answer_of_its_own_model() -> None:
    look = says("", ("look", {}))
    first, second = replace(look, response_id="resp_1"), replace(look, response_id="resp_2")
    made = chained(first, REFUSED, second, look, says("done"))
    made.model = remote = RemoteListModel(made.model.answers)
    assert await work(made) == "done"
    assert asked(made) == ["small", "small", "big", "big", "big"]
    assert [added["previous_response"] for added in remote.added] == ["", "resp_1", "", "resp_2", ""]
    answers = [one.entry.response_id for one in await made.journal() if isinstance(one.entry, LlmResponse)]
    assert answers == ["resp_1", "resp_2", "", ""]
