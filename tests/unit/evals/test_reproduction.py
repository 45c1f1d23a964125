"""Reproduction rates: what counts, what is left out, and whether another prompt ended it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gofer.evals.reproduction import Rate, Shows, compared_prompts, parse_shows, rate_of, shown_by
from gofer.evals.reproduction_text import comparison_lines, rate_lines
from gofer.models.language_model import Answer, Unavailable
from gofer.replay.changes import Changes
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.values.errors import ConfigError
from gofer.values.messages import ProviderError
from support.engine.memory_run import says
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"ts": "1.0"})
OTHER_READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"ts": "9.0"})
POST: tuple[str, dict[str, object]] = ("slack_post_message", {"channel": "#deploys", "text": "Restarted."})
AWAY = Unavailable("The model is overloaded.", ProviderError("busy"))


async def worked(*answers: Answer) -> tuple[MemoryWorker, RecordedRun]:
    """Return a worker whose run is over, and its recording."""
    made = memory_worker(*answers)
    made.grant("slack_read_thread", "slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()
    return made, await recorded_by(made)


async def live(made: MemoryWorker, recorded: RecordedRun, *answers: Answer | Exception) -> Replay:
    """Return a replay whose model gives these answers."""
    made.model.answers = list(answers)
    return await replayed(made, recorded, Changes(live=True))


@pytest.mark.parametrize(
    ("option", "shows"),
    [
        ("check:no-tool-loops", Shows("check", "no-tool-loops")),
        ("text:a: b", Shows("text", "a: b")),
        ("call:jira_search", Shows("call", "jira_search")),
        ("status:failed", Shows("status", "failed")),
    ],
)
async def test_option_names_a_check_a_text_a_call_or_a_status(option: str, shows: Shows) -> None:
    assert parse_shows(option) == shows


@pytest.mark.parametrize("option", ["", "text", "text:", "checks:x", "check:nope", "check:execution-time"])
async def test_other_options_are_refused(option: str) -> None:
    with pytest.raises(ConfigError):
        parse_shows(option)


async def test_finished_run_with_passed_checks_needs_the_option() -> None:
    _, recorded = await worked(says("Hello."))
    with pytest.raises(ConfigError, match="say what to reproduce with --shows"):
        shown_by(recorded, [])


async def test_recorded_run_must_show_the_failure() -> None:
    _, recorded = await worked(says("Hello."))
    assert shown_by(recorded, [Shows("text", "hello")]) == [Shows("text", "hello")]
    with pytest.raises(ConfigError, match="does not show that the answer contains 'Goodbye'"):
        shown_by(recorded, [Shows("text", "Goodbye")])


async def test_failed_checks_of_the_run_are_reproduced_by_default() -> None:
    _, recorded = await worked(says("", READ), says("", READ), says("", READ), says("", READ), says("Hello."))
    assert Shows("check", "no-tool-loops") in shown_by(recorded, [])


async def test_status_of_an_unfinished_run_is_reproduced_by_default() -> None:
    made = memory_worker(*[Answer("", (), "content_filter", "m", says("").usage) for _ in range(6)])
    await made.accept("run1", private=False)
    await made.work_once()
    (shown, *_) = shown_by(await recorded_by(made), [])
    assert (shown.kind, shown.name) == ("status", "failed")


async def test_rate_leaves_out_inconclusive_replays_and_those_without_a_model() -> None:
    made, recorded = await worked(says("", READ), says("Hello."))
    shows = [Shows("text", "hello")]
    replays = [
        await live(made, recorded, says("", READ), says("Hello again.")),
        await live(made, recorded, says("Goodbye.")),
        await live(made, recorded, says("", OTHER_READ), says("Hello.")),
        await live(made, recorded, AWAY, AWAY, AWAY),
    ]
    rate = rate_of(replays, recorded, shows)
    assert (rate.shown, rate.conclusive, rate.inconclusive, rate.away) == (1, 2, 1, 1)
    assert (rate.answers, rate.share, rate.exit_code) == (5, 0.5, 0)
    assert rate.cost_usd == pytest.approx(5 * 0.00002)
    assert list(rate_lines("run1", shows, rate)) == [
        "run run1  reproduced: the answer contains 'hello'",
        "  recorded prompt  1 of 2 (50%; 95 % interval 9.5% to 90.5%)",
        "    1 replay left out as inconclusive",
        "    1 replay left out, because no model answered",
        "    the first: slack_read_thread (1.0) was not recorded",
        "  5 live answers, $0.0001; recorded results answered the tools, and nothing was written",
    ]


async def test_call_before_a_made_up_outcome_counts_and_a_later_one_does_not() -> None:
    made, recorded = await worked(says("", READ), says("Hello."))
    shows = [Shows("call", "slack_read_thread")]
    before = await live(made, recorded, says("", READ), says("", POST), says("Hello."))
    after = await live(made, recorded, says("", POST), says("", READ), says("Hello."))
    assert (before.outcome, after.outcome) == ("inconclusive", "inconclusive")
    rate = rate_of([before, after], recorded, shows)
    assert (rate.shown, rate.conclusive, rate.inconclusive) == (1, 1, 1)


async def test_check_of_a_replay_is_made_from_its_own_steps() -> None:
    made, recorded = await worked(says("", READ), says("", READ), says("", READ), says("", READ), says("Hello."))
    shows = [Shows("check", "no-tool-loops")]
    again = await live(made, recorded, says("", READ), says("", READ), says("", READ), says("", READ), says("Hello."))
    better = await live(made, recorded, says("", READ), says("Hello."))
    assert [rate_of([one], recorded, shows).shown for one in (again, better)] == [1, 0]


async def test_rate_without_any_answer_of_a_model_is_a_failure_of_infrastructure() -> None:
    made, recorded = await worked(says("Hello."))
    rate = rate_of([await live(made, recorded, AWAY, AWAY, AWAY)], recorded, [Shows("text", "hello")])
    assert (rate.share, rate.exit_code, rate.reason) == (None, 4, "No model answered: The model is overloaded.")


@pytest.mark.parametrize(
    ("before", "now", "allow", "verdict"),
    [
        ((40, 50), (0, 50), None, "ended"),
        ((40, 50), (1, 50), None, "continues"),
        ((2, 50), (0, 50), None, "not_enough_evidence"),
        ((0, 50), (0, 50), None, "not_enough_evidence"),
        ((40, 50), (1, 50), 0.2, "ended"),
        ((40, 50), (5, 50), 0.15, "not_enough_evidence"),
        ((40, 50), (10, 50), 0.15, "continues"),
        ((40, 50), (0, 0), None, "not_enough_evidence"),
        ((0, 0), (0, 50), None, "not_enough_evidence"),
        ((0, 0), (3, 50), None, "continues"),
    ],
)
async def test_prompt_passes_only_if_the_interval_is_below_the_old_or_the_allowed_rate(
    before: tuple[int, int], now: tuple[int, int], allow: float | None, verdict: str
) -> None:
    assert compared_prompts(Rate(*before), Rate(*now), allow).verdict == verdict


async def test_too_few_replays_say_how_many_more_tell() -> None:
    found = compared_prompts(Rate(5, 50), Rate(0, 30))
    assert found.more is not None
    assert compared_prompts(Rate(5, 50), Rate(0, 30 + found.more)).verdict == "ended"
    assert compared_prompts(Rate(5, 50), Rate(0, 30 + found.more - 1)).verdict == "not_enough_evidence"
    lines = list(comparison_lines("run1", [Shows("text", "x")], found, "new.md"))
    told = f"the new prompt needs about {found.more} more conclusive replays, if its rate stays"
    assert lines[3] == f"  verdict: not enough evidence; {told}"


@pytest.mark.parametrize("away", [replace(Rate(0, 0), away=50)])
async def test_no_answer_for_one_of_both_prompts_is_a_failure_of_infrastructure(away: Rate) -> None:
    verdicts: Sequence[str] = [compared_prompts(*pair).verdict for pair in ((away, Rate(0, 50)), (Rate(40, 50), away))]
    assert verdicts == ["infrastructure", "infrastructure"]
