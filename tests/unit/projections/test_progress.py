from dataclasses import replace

from gofer.engine.gates import budget
from gofer.journal.codec import from_json
from gofer.journal.entries import (
    CallDeferred,
    Entry,
    LlmRequest,
    LlmResponse,
    MessageReceived,
    PermitRenewed,
    Recorded,
    RunAccepted,
    RunCancelled,
    RunConcluded,
    RunHandedOver,
    RunOwned,
    RunParked,
    RunStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
)
from gofer.projections import progress
from gofer.values.messages import Usage
from gofer.workflows.schema import Limits
from support.stand_ins import mention


def project(*entries: Entry, every_ms: int = 1000) -> progress.Progress:
    return progress.project(Recorded(n, 0, n * every_ms, "me", entry) for n, entry in enumerate(entries, start=1))


def answer(cost: float | None) -> LlmResponse:
    return LlmResponse("", (), "stop", "m", Usage(100, 10, 50), cost, 1)


def test_cancelled_run_is_stopping_until_concluded() -> None:
    accepted, cancelled = RunAccepted(mention(), "w"), RunCancelled("Ada")
    assert not project(accepted, RunOwned()).stopping
    assert project(accepted, RunOwned(), cancelled).stopping
    assert not project(accepted, RunOwned(), cancelled, RunConcluded("cancelled", "", "Stopped.")).stopping
    assert not project(accepted, RunOwned(), RunConcluded("done", "", "Yes."), cancelled).stopping


def test_run_is_private_until_event_or_start_says_otherwise() -> None:
    assert project().private
    assert project(RunAccepted(mention(), "w")).private
    assert not project(RunAccepted(replace(mention(), private=False), "w")).private
    assert project(RunAccepted(replace(mention(), private=False), "w"), RunStarted("b", private=True)).private
    assert project(RunStarted("b", private=True)).private
    assert not project(RunStarted("b", private=False)).private


def test_later_words_of_the_asker_are_kept_without_words_of_others() -> None:
    accepted, asker = RunAccepted(mention(), "w"), mention().actor.id
    said = (
        MessageReceived("tell #eng", by=asker),
        MessageReceived("tell #ops", by="U0OTHER0"),
        MessageReceived("note"),
    )
    assert project(accepted, *said).said == ["tell #eng"]


def test_usage_is_summed_and_an_unknown_price_makes_the_cost_unknown() -> None:
    state = project(answer(0.1), answer(0.2))
    assert (state.llm_calls, state.usage) == (2, Usage(200, 20, 100))
    assert state.cost_usd is not None
    assert round(state.cost_usd, 6) == 0.3
    assert project(answer(0.1), answer(None), answer(0.2)).cost_usd is None


def test_usd_limit_counts_the_known_part_of_an_unknown_cost() -> None:
    state = project(answer(0.1), answer(None), answer(0.2))
    assert budget(state, Limits(usd=0.31), 0) is None
    stop = budget(state, Limits(usd=0.3), 0)
    assert stop is not None
    assert stop.reason == "stopped at 0.30 USD"


def test_cost_of_a_one_shot_subagent_counts_as_spent() -> None:
    question = {"call": "1.0", "status": "ok", "text": "", "model": "m", "duration_ms": 1}
    used = {"input_tokens": 1, "output_tokens": 1}
    for cost, spent in ((0.25, 0.25), (None, 0.0)):
        entry = from_json({"kind": "subagent.finished", **question, "usage": used, "cost_usd": cost})
        assert project(entry).spent_usd == spent


def test_progress_counts_tool_calls_of_the_model_and_clears_doubt_with_outcomes() -> None:
    call = ToolCall("1.0", "look", "read")
    state = project(ToolCall("context/1", "look", "read"), call)
    assert state.tool_calls == 1
    assert list(state.in_doubt) == ["context/1", "1.0"]
    done = ToolResult("context/1", "ok", "x")
    state = project(ToolCall("context/1", "look", "read"), call, done, ToolUnknown("1.0", "?"))
    assert state.in_doubt == {}
    assert state.outcomes == {"context/1": done, "1.0": ToolUnknown("1.0", "?")}


def test_run_time_counts_only_while_an_owner_has_the_run() -> None:
    # Owned at 2 s, last entry at 3 s, taken over at 4 s: the second in between had no owner.
    state = project(RunAccepted(mention(), "w"), RunOwned(), answer(0.0), RunOwned())
    assert state.owned_ms(9_000) == 1_000 + 5_000
    assert project(RunAccepted(mention(), "w")).owned_ms(9_000) == 0


def test_owner_followed_by_another_without_progress_counts_as_crashed() -> None:
    assert project(RunOwned()).attempts.crashed == 0
    assert project(RunOwned(), RunOwned(), RunOwned()).attempts.crashed == 2
    assert project(RunOwned(), RunOwned(), ToolResult("1.0", "ok", "x")).attempts.crashed == 0
    for left in (RunParked("quiet_time", 9_000), RunHandedOver()):
        assert project(RunOwned(), left, RunOwned(), left, RunOwned()).attempts.crashed == 0


def test_hand_over_in_the_middle_of_a_call_counts_as_a_crash() -> None:
    left = (ToolCall("1.0", "t", "read", {}), RunHandedOver("interrupted"), RunOwned(), RunHandedOver("interrupted"))
    assert project(RunOwned(), *left).attempts.crashed == 2
    assert project(RunOwned(), *left, ToolResult("1.0", "ok", "x")).attempts.crashed == 0
    # Without a call in progress it says nothing about the run.
    assert project(RunOwned(), RunHandedOver("interrupted")).attempts.crashed == 0


def test_released_run_uses_no_time_and_is_parked_until_owned_again() -> None:
    state = project(RunOwned(), RunHandedOver(), RunOwned())
    assert (state.owned_ms(3_000), state.owned_ms(4_500)) == (1_000, 2_500)
    parked = RunParked("model", 60_000)
    assert project(RunOwned(), parked).parked == parked
    assert project(RunOwned(), parked, RunOwned()).parked is None


def test_renewed_permit_restarts_the_quiet_time() -> None:
    """An owner that sent again may crash too. The next owner then waits the whole quiet time for it."""
    waited = (ToolCall("1.0", "post", "lookup"), RunOwned(), RunParked("quiet_time", 60_000), RunOwned())
    assert project(*waited).quiet_until == 60_000
    assert project(*waited, PermitRenewed(), RunOwned()).quiet_until == 0


def test_deferrals_are_counted_until_the_model_answers() -> None:
    busy = CallDeferred("model", "busy", until=60_000)
    state = project(busy, busy)
    assert (state.deferrals, state.deferred_ms, state.deferred_why) == (2, 59_000 + 58_000, "busy")
    assert project(busy, busy, answer(None)).deferrals == 0
    assert project(CallDeferred("model", "the next one is asked")).deferrals == 0


def test_last_asked_model_is_remembered_until_the_run_is_deferred() -> None:
    small, big = (LlmRequest("1.0", "", {"model": name}, "") for name in ("small", "big"))
    assert project(small, CallDeferred("model", "busy"), big).asked == "big"
    assert project(small, big, CallDeferred("model", "busy", until=60_000)).asked == ""


def test_waiting_for_a_deferred_model_call_is_not_run_time() -> None:
    request, busy = LlmRequest("1.0", "", {"model": "m"}, ""), CallDeferred("model", "busy")
    state = project(RunOwned(), request, busy, request, busy, request, answer(None))
    assert (state.waited_ms, state.owned_ms(8_000)) == (2_000, 5_000)
    assert project(RunOwned(), ToolCall("1.0", "look", "read"), CallDeferred("1.0", "slow")).waited_ms == 0


def test_first_cancellation_counts() -> None:
    assert project(RunCancelled("Ada", "i1"), RunCancelled("Bob", "i2")).cancelled == RunCancelled("Ada", "i1")


AWAY = "Slack did not answer chat.postMessage properly (HTTP 503)."


def test_parked_reason_of_a_run_that_waits_for_late_messages_names_the_outage() -> None:
    call = ToolCall("answer/1", "slack_post_message", "lookup")
    wait = CallDeferred(call.call, AWAY, 60_000, in_doubt=True, cause="outage", last_attempt_at=90_000, system="Slack")
    outage = (call, RunOwned(), wait, RunParked("outage", 60_000))
    assert project(*outage).parked_reason == f"{AWAY.rstrip('.')}; next attempt 00:01 UTC, last 00:01 UTC"
    late = f"{AWAY.rstrip('.')}; before the next attempt, Gofer waits until a late message would be visible"
    assert project(*outage, RunOwned(), RunParked("quiet_time", 70_000)).parked_reason == late


def test_parked_reason_names_a_crashed_worker() -> None:
    crash = (
        RunOwned(),
        ToolCall("answer/1", "slack_post_message", "lookup"),
        RunOwned(),
        RunParked("quiet_time", 70_000),
    )
    assert project(*crash).parked_reason == "waits until messages that a crashed worker may have sent would be visible"


def test_parked_reason_ignores_an_outage_that_has_ended() -> None:
    earlier = ToolCall("1.0", "jira_add_comment", "lookup")
    wait = CallDeferred(earlier.call, AWAY, 9_000, in_doubt=True, cause="outage")
    later = ToolCall("answer/1", "slack_post_message", "lookup")
    crash = (earlier, wait, ToolResult("1.0", "ok", ""), later, RunOwned(), RunParked("quiet_time", 70_000))
    assert "crashed worker" in project(*crash).parked_reason
