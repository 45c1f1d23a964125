"""Socket Mode: deliveries through a socket that Gofer opens, with Bolt for Python against the simulated Slack."""

import asyncio
from pathlib import Path

import pytest

from gofer.app.embedded.stack import open_embedded
from gofer.sources.signed_decision import Stamp, token
from gofer.values.errors import ConfigError
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT, Company, settings
from support.app.socket_mode import SECRET, joined, slack, socket_gofer
from support.stand_ins import mention

pytestmark = pytest.mark.anyio
NO_MODEL = "http://127.0.0.1:1/v1"


async def connections(made: Company, count: int) -> None:
    async with asyncio.timeout(60):
        while made.slack.sockets.connections != count:
            await asyncio.sleep(0.01)


async def test_mention_over_the_socket_is_answered_in_the_thread(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
        # The mention and the channel message are acknowledged, and so are Gofer's own two messages.
        delivered = set(made.slack.sockets.acknowledged)
    assert head.status == "done"
    assert "Hello" in answer.text
    assert {envelope["event_id"] for envelope in made.slack.envelopes(asked)} <= delivered


async def test_edits_reactions_uploads_and_deletions_arrive_over_the_socket(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        channel, person = "C0GENERA0", "U0CAPTN0"
        said = await made.slack.say(person, channel, "is it up?")
        await made.slack.edit(person, channel, said.ts, "<@U0GOFER0> hello")
        (head,) = await made.ended()
        await made.slack.react(person, channel, said.ts, "octagonal_sign")
        await made.slack.create_channel(person, "lunch")
        await made.slack.upload(person, channel, "a.txt", b"x")
        await made.slack.delete(person, channel, said.ts)
        await made.slack.settled()
        # Two messages, an edit and the mention it adds, an emoji, a channel, a deletion; and Gofer's own messages.
        assert len(set(made.slack.sockets.acknowledged)) >= 7
        assert len(await made.ended()) == 1
        assert len(made.answers(said)) == 1
    assert head.status == "done"


async def test_same_message_over_the_socket_and_over_http_is_one_run(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path, SLACK_SIGNING_SECRET=SECRET) as (made, _):
        made.slack.subscribe(f"{made.embedded.url}/slack/events")
        asked = await made.ask("@Gofer hello", "general")
        for envelope in made.slack.envelopes(asked):
            assert await made.slack.deliver(envelope) == 200
        assert len(await made.ended()) == 1
        assert len(made.answers(asked)) == 1


async def test_slack_http_receiver_is_absent_without_a_signing_secret(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        response = await made.http.post(f"{made.embedded.url}/slack/events", content=b"{}")
    assert response.status_code == 404


async def test_socket_envelope_is_not_acknowledged_before_frame_1_is_stored(tmp_path: Path) -> None:
    patient = Pace(gap_factor=0, answer_within=30)
    async with socket_gofer(tmp_path, patient, refusals=0) as (made, store):
        asked = await made.ask("@Gofer hello", "general")
        async with asyncio.timeout(60):
            while not store.claims:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert made.slack.sockets.acknowledged == []
        assert await made.embedded.state.store.heads(10, private=True) == []
        store.open.set()
        (head,) = await made.ended()
        assert head.status == "done"
        assert len(made.slack.sockets.acknowledged) >= 2
        assert len(made.answers(asked)) == 1


async def test_socket_envelope_that_could_not_be_stored_is_delivered_again(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path, refusals=2) as (made, store):
        store.open.set()
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        assert store.claims >= 3
        assert head.status == "done"
        assert len(made.answers(asked)) == 1


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_socket_connection_ended_by_slack_is_opened_anew(tmp_path: Path, reason: str) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        for n in range(3):
            await made.slack.sockets.disconnect(reason)
            asked = await made.ask(f"@Gofer hello {n}", "general")
            await made.ended(n + 1)
            assert len(made.answers(asked)) == 1


async def test_mention_is_answered_once_when_the_socket_is_cut_before_acknowledgement(tmp_path: Path) -> None:
    patient = Pace(gap_factor=0, answer_within=10)
    async with socket_gofer(tmp_path, patient, refusals=0) as (made, store):
        asked = await made.ask("@Gofer hello", "general")
        async with asyncio.timeout(60):
            while not store.claims:
                await asyncio.sleep(0.01)
        await made.slack.sockets.cut()
        store.open.set()
        (head,) = await made.ended()
        await connections(made, 1)
        assert head.status == "done"
        assert len(made.answers(asked)) == 1


async def test_failed_socket_connection_is_retried_with_a_new_url(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        made.slack.sockets.refusals = 2
        await made.slack.sockets.cut()
        await connections(made, 0)
        await connections(made, 1)
        asked = await made.ask("@Gofer hello", "general")
        await made.ended()
        assert len(made.answers(asked)) == 1


async def test_each_event_goes_to_one_of_several_socket_connections(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path, SLACK_SIGNING_SECRET=SECRET) as (made, _):
        async with joined(made.embedded):
            await connections(made, 2)
            asked = [await made.ask(f"@Gofer hello {n}", "general") for n in range(4)]
            assert len(await made.ended(4)) == 4
            assert [len(made.answers(message)) for message in asked] == [1, 1, 1, 1]
        await connections(made, 1)


async def test_socket_event_that_starts_no_run_is_acknowledged(tmp_path: Path) -> None:
    async with socket_gofer(tmp_path) as (made, _):
        said = await made.ask("no mention at all", "general")
        await made.slack.settled()
        assert made.slack.sockets.acknowledged == [made.slack.envelopes(said)[0]["event_id"]]
        assert await made.embedded.state.store.heads(10, private=True) == []


async def test_refused_app_token_is_reported_by_name_and_code(tmp_path: Path) -> None:
    token = "xapp-of-another-app"
    async with slack() as (_, api):
        given = {"SLACK_API_URL": api, "SLACK_BOT_TOKEN": "xoxb-simulated", "OPENAI_BASE_URL": NO_MODEL}
        chosen = settings(tmp_path, **given, SLACK_APP_TOKEN=token)
        async with open_embedded(chosen, ROOT) as embedded:
            with pytest.raises(ConfigError, match=r"does not accept SLACK_APP_TOKEN \(invalid_auth\)") as refused:
                async with joined(embedded):
                    pass
    assert token not in str(refused.value)


async def test_button_press_over_the_socket_reaches_the_run_that_asked(tmp_path: Path) -> None:
    async with slack() as (simulator, api):
        given = {"SLACK_API_URL": api, "SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}
        chosen = settings(tmp_path, **given, OPENAI_BASE_URL=NO_MODEL)
        async with (
            open_embedded(chosen, ROOT) as embedded,
            joined(embedded),
        ):
            run = await embedded.ingress.start(mention(), "answer-here")
            stamp = Stamp(run, "1.0", "call", "ab" * 32, "approved")
            made = token(embedded.worker.services.installation_key, stamp)
            button = {"type": "button", "action_id": "approve", "text": {"type": "plain_text", "text": "Yes"}}
            for value, items in ((f"{made}0", 0), (made, 1)):
                actions = {"type": "actions", "block_id": "b", "elements": [{**button, "value": value}]}
                put = simulator.workspace.post(Message("C0GENERA0", "", "U0GOFER0", "May I?", blocks=(actions,)))
                assert await simulator.press(put, "approve", "U0CAPTN0")
                assert len(await embedded.state.store.items(run)) == items
