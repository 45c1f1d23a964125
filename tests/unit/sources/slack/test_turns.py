"""Turns of calls that a rate limit of Slack makes wait: order, pace, tickets of parked runs, and other calls."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.slack.api import CHANNEL_PACE, SlackApi, SlackRefusal
from gofer.sources.slack.turns import KEPT, LONGEST_LIMIT, Kind, Line, Lines
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.simulation.virtual_time import VirtualClock, VirtualLoop, play
from support.stand_ins import SetClock
from support.tools.calls import any_call

CHANNEL = "C0000001"
OTHER = "C0000002"


@dataclass
class LimitedSlack:
    """A Slack that takes one call of a kind in each `seconds`, and refuses more as Slack does."""

    clock: VirtualClock
    seconds: float = 1.0
    latency: float = 0.05
    accepted: list[str] = field(default_factory=list[str])
    """The texts of the accepted messages, or else the channels, in the order of their acceptance."""
    refused: int = 0
    early: int = 0
    """The calls that were sent after a refusal and before the time that it named."""
    dead: frozenset[str] = frozenset()
    """The texts of messages that get no answer for a quarter of a minute."""
    _next: dict[tuple[str, ...], float] = field(default_factory=dict[tuple[str, ...], float])
    _named: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    async def send(self, request: HttpRequest) -> HttpResponse:
        kind, name = _kind_of(request)
        sent = self.clock.monotonic()
        await asyncio.sleep(self.latency)
        if name in self.dead:
            await asyncio.sleep(15.0)
            raise TemporaryError("no answer")
        self.early += any(refused < sent < until for refused, until in self._named)
        wait = self._next.get(kind, 0.0) - self.clock.monotonic()
        if wait > 0:
            self.refused += 1
            seconds = int(wait) + 1
            self._named.append((self.clock.monotonic(), self.clock.monotonic() + seconds - 0.001))
            return HttpResponse(429, {"retry-after": str(seconds)}, b"")
        self._next[kind] = self.clock.monotonic() + self.seconds
        self.accepted.append(name)
        return HttpResponse(200, {}, b'{"ok":true}')


def _kind_of(request: HttpRequest) -> tuple[tuple[str, ...], str]:
    method = request.url.rpartition("/")[2]
    token = request.headers["Authorization"]
    if method == "chat.postMessage":
        message = json.loads(request.content)
        return (token, method, message["channel"]), message["text"]
    return (token, method), parse_qs(request.content.decode())["channel"][0]


Story = Callable[[LimitedSlack], Awaitable[None]]


def in_virtual_time(story: Story, **options: float) -> LimitedSlack:
    loop = VirtualLoop()
    slack = LimitedSlack(VirtualClock(loop), **options)

    async def run() -> None:
        await story(slack)

    play(loop, run())
    return slack


def a_client(token: str = "xoxb-1") -> SlackApi:
    return SlackApi("http://slack/api/", Secret(token))


async def post(api: SlackApi, slack: LimitedSlack, text: str, channel: str = CHANNEL) -> None:
    call = any_call(slack, key=f"run{text}/answer/1", clock=slack.clock)
    await api.write(call, "chat.postMessage", channel=channel, text=text)


async def look(api: SlackApi, slack: LimitedSlack) -> None:
    call = any_call(slack, key="look/1.0", clock=slack.clock)
    await api.read(call, "conversations.info", channel=CHANNEL)


async def post_as_a_run(api: SlackApi, slack: LimitedSlack, text: str) -> None:
    """Post a message, and park for as long as each refusal says, as the engine does."""
    while True:
        try:
            return await post(api, slack, text)
        except SlackRefusal as refused:
            await asyncio.sleep(refused.retry_after)


def numbered(count: int) -> Sequence[str]:
    return [f"{number:03}" for number in range(count)]


def test_waiting_messages_of_a_channel_are_accepted_in_their_order_without_further_refusals() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        runs: list[asyncio.Task[None]] = []
        for text in numbered(40):
            runs.append(asyncio.create_task(post_as_a_run(api, slack, text)))
            await asyncio.sleep(0.05)
        await asyncio.gather(*runs)

    slack = in_virtual_time(story)
    assert slack.accepted == numbered(40)
    # These two were sent before the first refusal arrived.
    assert slack.refused <= 2


def test_messages_sent_at_once_are_each_refused_at_most_once() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        await asyncio.gather(*(post_as_a_run(api, slack, text) for text in numbered(40)))

    slack = in_virtual_time(story)
    assert slack.accepted == numbered(40)
    assert slack.refused == 39


def test_limit_of_a_channel_holds_up_no_other_channel_method_or_workspace() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        waiting = asyncio.gather(*(post_as_a_run(api, slack, text) for text in numbered(20)))
        await asyncio.sleep(0.1)
        before = slack.clock.monotonic()
        await post(api, slack, "other channel", OTHER)
        await look(api, slack)
        await post(a_client("xoxb-2"), slack, "other workspace")
        assert slack.clock.monotonic() - before == pytest.approx(3 * slack.latency)
        await waiting

    in_virtual_time(story)


def test_call_with_a_turn_too_late_is_refused_without_a_request_and_keeps_its_ticket() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        waiting = asyncio.gather(*(post_as_a_run(api, slack, text) for text in numbered(20)))
        await asyncio.sleep(0.1)
        refused = slack.refused
        with pytest.raises(SlackRefusal, match="Slack accepts no more calls of this kind") as error:
            await post(api, slack, "parked")
        assert slack.refused == refused
        later = asyncio.create_task(post_as_a_run(api, slack, "later"))
        await asyncio.sleep(error.value.retry_after)
        await post(api, slack, "parked")
        await asyncio.gather(waiting, later)

    assert in_virtual_time(story).accepted == [*numbered(20), "parked", "later"]


def test_turns_end_when_all_calls_went() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        await asyncio.gather(*(post_as_a_run(api, slack, text) for text in numbered(3)))
        await asyncio.sleep(CHANNEL_PACE)
        slack.seconds = 0.0
        before = slack.clock.monotonic()
        await asyncio.gather(*(post(api, slack, text) for text in numbered(9)))
        assert slack.clock.monotonic() - before == pytest.approx(slack.latency)
        assert dict(api._lines._by_clock[slack.clock]) == {}

    in_virtual_time(story)


def test_cancelled_call_holds_up_no_other_call() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        runs = [asyncio.create_task(post_as_a_run(api, slack, text)) for text in numbered(9)]
        await asyncio.sleep(0.5)
        for run in runs[1:5]:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    assert in_virtual_time(story).accepted == [text for text in numbered(9) if text not in numbered(5)[1:]]


def test_call_without_an_answer_holds_up_no_other_call() -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        runs = [asyncio.create_task(post_as_a_run(api, slack, text)) for text in numbered(9)]
        await asyncio.sleep(0.5)
        slack.dead = frozenset({"003"})
        outcomes = await asyncio.gather(*runs, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes if outcome] == [TemporaryError]
        assert slack.accepted[-1] == "008"

    assert in_virtual_time(story).accepted == [text for text in numbered(9) if text != "003"]


@given(
    st.lists(st.floats(0.0, 3.0), min_size=1, max_size=30),
    st.floats(0.0, 5.0),
    st.floats(0.01, 0.9),
)
def test_every_call_is_accepted_and_none_is_sent_before_the_time_that_slack_named(
    pauses: list[float], seconds: float, latency: float
) -> None:
    async def story(slack: LimitedSlack) -> None:
        api = a_client()
        runs: list[asyncio.Task[None]] = []
        for text, pause in zip(numbered(len(pauses)), pauses, strict=True):
            await asyncio.sleep(pause)
            runs.append(asyncio.create_task(post_as_a_run(api, slack, text)))
        await asyncio.gather(*runs)

    slack = in_virtual_time(story, seconds=seconds, latency=latency)
    assert sorted(slack.accepted) == numbered(len(pauses))
    assert slack.early == 0


class Refusing:
    """A Slack that refuses every call with the same header, and counts them."""

    def __init__(self, seconds: str) -> None:
        self.headers = {"retry-after": seconds} if seconds else {}
        self.sent = 0

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.sent += 1
        return HttpResponse(429, self.headers, b"")


async def refused(http: Refusing, api: SlackApi, clock: SetClock, key: str) -> float:
    with pytest.raises(SlackRefusal) as error:
        await api.read(any_call(http, key=key, clock=clock), "users.info", user="U1")
    return error.value.retry_after


@pytest.mark.anyio
async def test_refusal_without_a_time_makes_no_other_call_wait() -> None:
    http, api, clock = Refusing(""), a_client(), SetClock()
    assert [await refused(http, api, clock, key) for key in ("a", "b")] == [math.inf, math.inf]
    assert http.sent == 2


@pytest.mark.anyio
async def test_calls_are_tried_again_after_an_hour_although_slack_named_a_later_time() -> None:
    http, api, clock = Refusing("90000"), a_client(), SetClock()
    assert await refused(http, api, clock, "a") == 90_000
    assert await refused(http, api, clock, "b") == pytest.approx(LONGEST_LIMIT, abs=1)
    clock.advance(LONGEST_LIMIT + 1)
    assert await refused(http, api, clock, "c") == 90_000
    assert http.sent == 2


@pytest.mark.anyio
async def test_clocks_of_several_plays_share_no_turns() -> None:
    http, api = Refusing("30"), a_client()
    assert [await refused(http, api, SetClock(), key) for key in ("a", "b")] == [30, 30]
    assert http.sent == 2


def test_line_keeps_the_tickets_of_a_limited_number_of_calls() -> None:
    line = Line(1.0)
    for number in range(KEPT + 5):
        line.leave(line.take(f"run{number}"), f"run{number}")
    assert len(line._kept) == KEPT
    assert line.take("run5") == 5


def test_call_with_several_requests_keeps_one_ticket() -> None:
    line = Line(1.0)
    for _ in range(9):
        line.leave(line.take("run1"), "run1")
    assert (line.take("run1"), line.take("run2")) == (0, 1)


def test_lines_of_clocks_that_ended_are_dropped() -> None:
    lines = Lines()

    async def answer() -> None:
        call = any_call(Refusing("30"), clock=SetClock())
        await lines.send(call, HttpRequest("POST", "http://slack/api/x"), Kind("x"), asyncio.sleep)

    asyncio.run(answer())
    assert len(lines._by_clock) == 0
