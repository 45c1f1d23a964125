"""The Events API of the simulated Slack: signed, two events for a mention, repeated after a failure."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer_simulators.json_values import is_object, object_of, objects, text_of
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import SlackRefusal
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time

NOW = 1_763_709_120.0
TOKEN = {"Authorization": "Bearer xoxb-simulated"}
WORLD: dict[str, object] = {
    "slack": {
        "team": {"id": "T1", "domain": "acme", "name": "Acme"},
        "app": {"id": "A1"},
        "bot": {"user": "UBOT", "bot_id": "BBOT", "name": "Gofer"},
        "users": [{"id": "U1", "name": "On-call"}, {"id": "U3", "name": "Build Bot", "bot": True}],
        "channels": [
            {"id": "C1", "name": "deploys", "members": ["UBOT", "U1"]},
            {"id": "C2", "name": "random", "members": ["U1"]},
            {"id": "C3", "name": "leads", "private": True, "members": ["UBOT", "U1"]},
        ],
    }
}


class Receiver:
    """An app that keeps deliveries and answers with the given responses."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Response | float] = []
        self.app = Starlette(routes=[Route("/slack/events", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        self.headers.append(dict(request.headers))
        answer = self.answers.pop(0) if self.answers else Response()
        if isinstance(answer, Response):
            return answer
        await asyncio.sleep(answer)
        return Response()

    @property
    def envelopes(self) -> list[dict[str, object]]:
        bodies: list[object] = [json.loads(body) for body in self.bodies]
        return [body for body in bodies if is_object(body)]

    @property
    def events(self) -> list[dict[str, object]]:
        return [object_of(envelope, "event") for envelope in self.envelopes]


def play(story: Callable[[SlackSimulator, Receiver], Awaitable[None]], *, subscribed: bool = True) -> None:
    async def run() -> None:
        receiver = Receiver()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=receiver.app)) as http:
            pace = Pace(gap_factor=0, answer_within=0.1)
            simulator = SlackSimulator(WORLD, clock=lambda: NOW, http=http, pace=pace)
            if subscribed:
                simulator.subscribe("http://gofer/slack/events")
            await story(simulator, receiver)
            await simulator.close()

    in_virtual_time(VirtualLoop(), run())


async def call(simulator: SlackSimulator, method: str, arguments: dict[str, object]) -> dict[str, object]:
    transport = httpx2.ASGITransport(app=simulator.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://slack") as http:
        body: object = (await http.post(f"/api/{method}", json=arguments, headers=TOKEN)).json()
    assert is_object(body)
    return body


def test_simulated_slack_sends_a_mention_as_two_events_with_the_same_ts() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        said = await simulator.say("U1", "C1", "<@UBOT> is &lt;this&gt; fine?")
        await simulator.settled()
        mention, message = sorted(receiver.events, key=lambda event: text_of(event, "type"))
        assert (mention["type"], message["type"]) == ("app_mention", "message")
        assert mention["ts"] == message["ts"] == said.ts
        assert mention["client_msg_id"] == message["client_msg_id"]
        assert "channel_type" not in mention
        assert message["channel_type"] == "channel"
        assert len({text_of(envelope, "event_id") for envelope in receiver.envelopes}) == 2
        section = objects(objects(mention["blocks"])[0]["elements"])[0]
        assert objects(section["elements"])[0] == {"type": "user", "user_id": "UBOT"}
        assert objects(section["elements"])[1] == {"type": "text", "text": " is <this> fine?"}

    play(story)


def test_simulated_slack_envelope_names_the_bot_and_the_time() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        said = await simulator.say("U1", "C3", "quietly")
        (envelope,) = simulator.envelopes(said)
        assert (envelope["type"], envelope["team_id"], envelope["api_app_id"]) == (
            "event_callback",
            "T1",
            "A1",
        )
        assert envelope["event_time"] == int(NOW)
        (authorization,) = objects(envelope["authorizations"])
        assert (authorization["user_id"], authorization["is_bot"]) == ("UBOT", True)
        assert object_of(envelope, "event")["channel_type"] == "group"
        await simulator.settled()
        assert receiver.envelopes == [envelope]

    play(story)


def test_simulated_slack_signs_deliveries_over_the_raw_bytes() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        said = await simulator.say("U1", "C1", "grüß Gott")
        await simulator.settled()
        timestamp = receiver.headers[0]["x-slack-request-timestamp"]
        base = f"v0:{timestamp}:".encode() + receiver.bodies[0]
        expected = "v0=" + hmac.new(b"simulated-signing-secret", base, hashlib.sha256).hexdigest()
        assert receiver.headers[0]["x-slack-signature"] == expected
        assert timestamp == str(int(NOW))
        assert "x-slack-retry-num" not in receiver.headers[0]
        assert await simulator.deliver(simulator.envelopes(said)[0], retry_num=2, retry_reason="http_error") == 200
        assert receiver.bodies[1] == receiver.bodies[0]
        assert receiver.headers[1]["x-slack-retry-num"] == "2"

    play(story)


def test_simulated_slack_sends_a_failed_delivery_four_times_with_the_reason() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        receiver.answers = [0.5, Response(status_code=503), Response(status_code=302)]
        await simulator.say("U1", "C1", "hello")
        await simulator.settled()
        numbers = [headers.get("x-slack-retry-num") for headers in receiver.headers]
        reasons = [headers.get("x-slack-retry-reason") for headers in receiver.headers]
        assert numbers == [None, "1", "2", "3"]
        assert reasons == [None, "http_timeout", "http_error", "http_error"]
        assert len(set(receiver.bodies)) == 1
        receiver.answers = [Response(status_code=500)] * 6
        await simulator.say("U1", "C1", "never accepted")
        await simulator.settled()
        assert len(receiver.bodies) == 4 + 4

    play(story)


def test_simulated_slack_stops_retries_on_the_no_retry_header() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        receiver.answers = [Response(status_code=500, headers={"X-Slack-No-Retry": "1"})]
        await simulator.say("U1", "C1", "hello")
        await simulator.settled()
        assert len(receiver.bodies) == 1

    play(story)


def test_simulated_slack_retries_an_unreachable_app_as_connection_failed() -> None:
    attempts: list[str | None] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        attempts.append(request.headers.get("X-Slack-Retry-Reason"))
        raise httpx2.ConnectError("refused", request=request)

    async def story() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(refuse)) as http:
            simulator = SlackSimulator(WORLD, clock=lambda: NOW, http=http, pace=Pace(gap_factor=0))
            simulator.subscribe("http://gofer/slack/events")
            said = await simulator.say("U1", "C1", "hello")
            await simulator.settled()
            assert attempts == [None] + ["connection_failed"] * 3
            with pytest.raises(httpx2.ConnectError):
                await simulator.deliver(simulator.envelopes(said)[0])

    in_virtual_time(VirtualLoop(), story())


def test_simulated_slack_sends_own_posts_as_bot_messages_without_a_mention() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        await call(simulator, "chat.postMessage", {"channel": "C1", "text": "I am <@UBOT>"})
        await simulator.settled()
        (event,) = receiver.events
        assert (event["type"], event["bot_id"], event["user"]) == ("message", "BBOT", "UBOT")
        assert object_of(event, "bot_profile")["app_id"] == "A1"

    play(story)


def test_simulated_slack_sends_events_for_edits_and_reactions() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        said = await simulator.say("U1", "C1", "hello")
        ts = (await call(simulator, "chat.postMessage", {"channel": "C1", "text": "draft"}))["ts"]
        await simulator.settled()
        receiver.bodies.clear()
        await call(simulator, "chat.update", {"channel": "C1", "ts": ts, "text": "final"})
        await simulator.react("U1", "C1", said.ts, ":jira:")
        await simulator.settled()
        changed, added = sorted(receiver.events, key=lambda event: text_of(event, "type"))
        assert (changed["subtype"], changed["hidden"]) == ("message_changed", True)
        assert object_of(changed, "message")["text"] == "final"
        assert object_of(changed, "previous_message")["text"] == "draft"
        assert (added["type"], added["reaction"], added["item_user"]) == ("reaction_added", "jira", "U1")
        assert added["item"] == {"type": "message", "channel": "C1", "ts": said.ts}
        await simulator.react("U1", "C1", said.ts, "jira", added=False)
        await simulator.settled()
        assert receiver.events[-1]["type"] == "reaction_removed"

    play(story)


def test_simulated_slack_sends_posts_of_other_bots_but_not_of_foreign_channels() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        await simulator.say("U3", "C1", "build is green")
        await simulator.say("U1", "C2", "the bot is not here")
        await simulator.settled()
        assert [event["bot_id"] for event in receiver.events] == ["B3"]
        with pytest.raises(SlackRefusal, match="user_not_found"):
            await simulator.say("U9", "C1", "who?")

    play(story)


def test_simulated_slack_sends_no_event_without_a_subscription() -> None:
    async def story(simulator: SlackSimulator, receiver: Receiver) -> None:
        said = await simulator.say("U1", "C1", "<@UBOT> hello")
        await simulator.settled()
        assert receiver.bodies == []
        assert len(simulator.envelopes(said)) == 2
        with pytest.raises(ValueError, match="subscribe"):
            await simulator.deliver(simulator.envelopes(said)[0])

    play(story, subscribed=False)


def test_simulated_slack_adopts_a_recorded_payload_for_later_reads() -> None:
    event: dict[str, object] = {
        "type": "app_mention",
        "user": "U0RECORDED",
        "text": "<@UBOT> again?",
        "ts": "1515449522.000016",
        "thread_ts": "1515449500.000001",
        "channel": "C0RECORDED",
        "event_ts": "1515449522.000016",
    }

    async def story(simulator: SlackSimulator, _: Receiver) -> None:
        recorded: dict[str, object] = {"type": "event_callback", "team_id": "T9", "event": event}
        simulator.adopt(recorded)
        once = simulator.state()
        simulator.adopt(recorded)
        assert simulator.state() == once
        arguments: dict[str, object] = {"channel": "C0RECORDED", "ts": "1515449522.000016"}
        answer = await call(simulator, "conversations.replies", arguments)
        assert [message["text"] for message in objects(answer["messages"])] == ["", "<@UBOT> again?"]
        assert (await call(simulator, "users.info", {"user": "U0RECORDED"}))["ok"] is True
        reaction: dict[str, object] = {
            "type": "reaction_added",
            "user": "U1",
            "item_user": "U7",
            "item": {"type": "message", "channel": "G7", "ts": "1515449600.000001"},
        }
        simulator.adopt({"type": "event_callback", "event": reaction})
        assert simulator.workspace.message("G7", "1515449600.000001").user == "U7"
        info = await call(simulator, "conversations.info", {"channel": "G7"})
        assert object_of(info, "channel")["is_private"] is True

    play(story)
