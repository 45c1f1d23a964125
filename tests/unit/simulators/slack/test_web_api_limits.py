"""The limits of calls in the simulated Slack: a number of calls a minute for each method, by its tier."""

import httpx2

from gofer_simulators.slack.methods import METHODS
from support.stand_ins import SetClock
from support.vendors.slack_web_api import ROOT, TOKEN, Slack, play


async def status(slack: Slack, method: str, **arguments: object) -> httpx2.Response:
    return await slack.http.post(f"/api/{method}", json=arguments, headers=TOKEN)


def test_method_of_tier_two_takes_twenty_calls_a_minute() -> None:
    clock = SetClock()

    async def story(slack: Slack) -> None:
        for _ in range(20):
            assert (await status(slack, "users.list")).status_code == 200
            clock.advance(1)
        refused = await status(slack, "users.list")
        assert (refused.status_code, refused.json()) == (429, {"ok": False, "error": "ratelimited"})
        assert refused.headers["Retry-After"] == "40"
        # Each method has a limit of its own.
        assert (await status(slack, "users.info", user="U1")).status_code == 200
        clock.advance(40)
        assert (await status(slack, "users.list")).status_code == 200
        assert (await status(slack, "users.list")).status_code == 429

    play(story, clock=clock.now)


def test_new_messages_are_limited_for_each_channel() -> None:
    async def story(slack: Slack) -> None:
        for _ in range(60):
            await slack.call("chat.postMessage", channel="C1", text="x")
        assert (await status(slack, "chat.postMessage", channel="C1", text="x")).status_code == 429
        assert (await status(slack, "chat.postMessage", channel="C3", text="x")).status_code == 200

    play(story)


def test_refused_call_has_no_effect() -> None:
    async def story(slack: Slack) -> None:
        for _ in range(50):
            await status(slack, "reactions.add", channel="C1", timestamp=ROOT, name="eyes")
        assert (await status(slack, "reactions.add", channel="C1", timestamp=ROOT, name="tada")).status_code == 429
        assert "tada" not in slack.simulator.workspace.message("C1", ROOT).reactions

    play(story)


def test_methods_without_a_limit_are_the_generous_ones() -> None:
    free = {name for name, method in METHODS.items() if not method.per_minute}
    assert free == {"auth.test", "chat.getPermalink"}
