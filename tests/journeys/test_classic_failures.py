"""The known failures of such systems, one test for each, from what people do to what they see.

| failure                     | tests                                                                             |
|-----------------------------|-----------------------------------------------------------------------------------|
| double reply on retry       | here                                                                              |
| lost by dropping retries    | here                                                                              |
| dedupe forgotten on restart | here                                                                              |
| three seconds, cold start   | tests/benchmarks/test_cold_start.py, test_ingress.py                              |
| bot loops                   | here; tests/unit/runtime/test_receive_loops.py: a thousand events without a model |
| edit and unfurl loops       | here; test_slack_triggers.py: previews and thread counts                          |
| delete                      | test_slack_stops.py: before the next write, and the status is taken back          |
| too long                    | test_long_answer.py; tests/unit/sources/slack/test_parts.py: any Markdown         |
| broken bold and links       | tests/unit/sources/slack/test_parts.py, test_fallback_text.py                     |
| raw ids, wrong person       | test_mention.py: names; tests/unit/sources/slack/test_write_found_again.py: ambiguity  |
| private content leaks       | test_mention.py, test_retention.py, test_approval.py; here: through another's run |
| silent nothing              | here                                                                              |
| expired token               | here; test_long_answer.py: in Slack                                               |
| history quota               | here                                                                              |
| lost on deploy              | test_serve.py; tests/survival/test_killed.py                                      |
| duplicate tickets           | here; tests/unit/engine/test_once.py: wherever a worker is lost                   |
| fails only when live        | here                                                                              |
| files dropped silently      | here; test_slack_triggers.py: in a channel                                        |
| approval lost or forged     | test_approval.py; tests/unit/engine/test_approvals.py: edited, expired, replayed  |
"""

import asyncio
import re
import time
from pathlib import Path

import pytest

from gofer.journal.entries import RunAccepted, ToolResult
from gofer.journal.unlisted_ends import recent
from gofer.values.errors import TemporaryError
from gofer_simulators.faults import Fault
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company
from support.app.one_workflow import CAPTAIN, DEPLOYS, ONCALL, Echo, gofer, quiet, texts
from support.app.socket_mode import SECRET, socket_gofer

pytestmark = pytest.mark.anyio
SUPPORT, CHECKOUT = "U0SUPPT0", "U0CHECK0"
ISSUE = "/rest/api/3/issue"


async def test_message_delivered_eleven_times_over_http_and_socket_gets_one_answer(tmp_path: Path) -> None:
    """One message, eleven deliveries: both event types, new event ids, retries, over HTTP and through the socket."""
    async with socket_gofer(tmp_path, SLACK_SIGNING_SECRET=SECRET) as (made, _):
        made.slack.subscribe(f"{made.embedded.url}/slack/events")
        asked = await made.ask("@Gofer hello", "general")
        envelopes = made.slack.envelopes(asked)
        assert {envelope["event"]["type"] for envelope in envelopes} == {"app_mention", "message"}
        for number in range(9):
            envelope = {**envelopes[number % 2], "event_id": f"Ev{number // 4}"}
            if number % 3:
                assert await made.slack.deliver(envelope, retry_num=number % 4, retry_reason="http_timeout") == 200
            else:
                assert await made.slack.sockets.attempt(envelope, 5, number % 4, "timeout") is None
        assert len(await made.ended()) == 1
        assert len(made.answers(asked)) == 1


async def test_retry_is_answered_when_the_first_delivery_could_not_be_stored(tmp_path: Path) -> None:
    """The first delivery is refused because the store is full; the retry starts the run."""
    async with company(tmp_path) as made:
        store, ingress = made.embedded.state.store, made.embedded.ingress

        async def full(*_: object) -> object:
            raise TemporaryError("the disk is full")

        asked = Message("C0GENERA0", "", CAPTAIN, made.slack.typed("@Gofer hello"))
        asked = made.slack.workspace.post(asked)
        envelope = made.slack.envelopes(asked)[0]
        working = store.claim
        store.claim = full  # type: ignore[method-assign]
        assert await made.slack.deliver(envelope) == 503
        assert await store.heads(10, private=True) == []
        store.claim = working  # type: ignore[method-assign]
        assert ingress.stores.journals is store
        assert await made.slack.deliver(envelope, retry_num=1, retry_reason="http_error") == 200
        assert await made.slack.deliver(envelope, retry_num=2, retry_reason="http_error") == 200
        (head,) = await made.ended()
        assert head.status == "done"
        assert len(made.answers(asked)) == 1


@pytest.mark.parametrize("answered", [False, True])
async def test_deliveries_repeated_after_a_restart_are_one_run(tmp_path: Path, answered: bool) -> None:
    """Gofer is restarted between a delivery and its retry, before the run or after it."""
    async with company(tmp_path, work=answered) as made:
        asked = await made.ask("@Gofer hello", "general")
        if answered:
            await made.ended()
        await made.slack.settled()
        envelopes = made.slack.envelopes(asked)
    async with company(tmp_path) as made:
        for number, envelope in enumerate(envelopes, 1):
            made.slack.adopt(envelope)
            assert await made.slack.deliver(envelope, retry_num=number, retry_reason="http_timeout") == 200
        (head,) = await made.ended()
        assert head.status == "done"
        assert len(made.answers(asked)) == (0 if answered else 1)


async def test_bot_that_replies_to_every_answer_starts_no_run(tmp_path: Path) -> None:
    """Another bot answers every message of Gofer and mentions it."""
    model = Echo()
    async with gofer(tmp_path, "when: [slack.mention, {slack.message: {channels: any}}]", model) as made:
        asked = await made.ask("@Gofer hello")
        await made.ended()
        for number in range(50):
            await made.slack.say("U0OTHER00", DEPLOYS, f"<@U0GOFER0> and {number}?", asked.ts)
            for envelope in made.slack.envelopes(made.answers(asked)[0]):
                assert await made.slack.deliver(envelope) == 200
        assert len(await quiet(made)) == 1
        assert texts([message for message in made.answers(asked) if message.user == "U0GOFER0"]) == ["Here you are."]
    assert len(model.bodies) == 1


async def test_previews_and_edits_start_no_run_and_an_added_mention_starts_one(tmp_path: Path) -> None:
    """A preview, an edit and an edit of an answered mention start no run; a mention added by an edit starts one."""
    async with gofer(tmp_path, "when: [slack.mention]") as made:
        answered = await made.ask("@Gofer see https://example.com")
        await made.ended()
        plain = await made.slack.say(CAPTAIN, DEPLOYS, "see https://example.com")
        for message in (answered, plain):
            await made.slack.unfurl(DEPLOYS, message.ts)
        await made.slack.edit(CAPTAIN, DEPLOYS, answered.ts, "<@U0GOFER0> see https://example.com, please")
        await made.slack.edit(CAPTAIN, DEPLOYS, plain.ts, "see https://example.com, please")
        assert len(await quiet(made)) == 1
        await made.slack.edit(CAPTAIN, DEPLOYS, plain.ts, "<@U0GOFER0> see https://example.com")
        assert len(await made.ended(2)) == 2
        assert len(await quiet(made)) == 2


async def test_public_run_cannot_read_a_private_channel_that_the_requester_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A run of a public channel cannot read a private one, although Gofer and the asker are members."""
    secret = "canary-2c9e"
    model = Echo()
    async with gofer(tmp_path, "when: [slack.mention]\ntools: [slack_read_thread]", model) as made:
        told = await made.slack.say(CAPTAIN, "C0LEADS00", f"between us: {secret}")
        model.asks = [("slack_read_thread", {"link": made.slack.workspace.permalink(told)})]
        asked = await made.ask("@Gofer what do the leads say?")
        (head,) = await made.ended()
        assert texts(made.answers(asked)) == ["Here you are."]
        pages = [(await made.get(path)).text for path in ("/runs", f"/runs/{head.run}", f"/runs/{head.run}/trace")]
    assert any(b"channel_not_found" in body for body in model.bodies)
    assert not any(secret in text for text in [*pages, caplog.text, *(body.decode() for body in model.bodies)])


async def test_every_run_without_an_answer_has_a_reason_in_the_run_list(tmp_path: Path) -> None:
    """Every accepted message without an answer has a reason in the list of runs."""
    async with gofer(tmp_path, "when: [{slack.message: {channels: '#dep*'}}]") as made:
        await made.slack.say(CAPTAIN, "C0GENERA0", "hello")
        await made.ended()
        made.slack.fail_next("conversations.replies", "channel_not_found")
        await made.slack.say(CAPTAIN, DEPLOYS, "hello")
        heads = await made.ended(2)
        listed = (await made.get("/runs")).text
    assert [head.status for head in heads] == ["ignored", "failed"]
    assert all(head.reason for head in heads)
    assert "Slack knows no such channel" in listed


async def test_expired_jira_token_creates_no_issue_and_is_logged_for_the_operator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Jira's token expires in the middle of a run: no issue is created, and the log names the problem."""
    async with company(tmp_path) as made:
        jira, about = _jira(made), _refund(made)
        before = set(jira.state())
        jira.faults.add("POST", ISSUE, Fault("expired_token"))
        await made.slack.react(SUPPORT, about.channel, about.ts, "jira")
        (head,) = await made.ended()
        assert set(jira.state()) == before
        refused = [e for e in await made.entries(head.run) if isinstance(e, ToolResult) and e.status == "error"]
    assert "the operator of Gofer must renew it" in refused[0].text
    assert "Jira refuses Gofer's calls (401)" in caplog.text


async def test_rate_limited_thread_read_is_answered_with_the_reason_and_no_model(tmp_path: Path) -> None:
    """Slack limits the reading of history: the answer gives this reason, and no model is asked."""
    model = Echo()
    async with gofer(tmp_path, "when: [slack.mention]", model) as made:
        made.slack.fail_next("conversations.replies", "ratelimited")
        asked = await made.ask("@Gofer hello")
        (head,) = await made.ended()
        (answer,) = texts(made.answers(asked))
    assert head.status == "failed"
    assert answer == "I could not read this thread, because Slack takes no more requests now. Please ask again later."
    assert model.bodies == []


async def test_one_ticket_is_filed_when_the_response_of_jira_is_lost(tmp_path: Path) -> None:
    """Jira creates the issue and its response never arrives."""
    async with company(tmp_path) as made:
        jira, about = _jira(made), _refund(made)
        before = set(jira.state())
        jira.faults.add("POST", ISSUE, Fault("timeout_after_success"))
        await made.slack.react(SUPPORT, about.channel, about.ts, "jira")
        (head,) = await made.ended()
        (key,) = set(jira.state()) - before
        assert head.status == "done"
        assert key in texts(made.answers(about))[-1]


async def test_one_ticket_is_filed_when_two_people_react_at_once(tmp_path: Path) -> None:
    """One issue is created; the thread and the private message to the second person have its key."""
    async with company(tmp_path) as made:
        jira, about = _jira(made), _refund(made)
        before, said = set(jira.state()), len(made.slack.workspace.replies(about))
        jira.faults.add("POST", ISSUE, Fault("timeout_after_success"))
        await asyncio.gather(*(made.slack.react(who, about.channel, about.ts, "jira") for who in (SUPPORT, CHECKOUT)))
        heads = await made.ended(2)
        (key,) = set(jira.state()) - before
        words = [*made.slack.whispers(SUPPORT), *made.slack.whispers(CHECKOUT)]
        answers = texts([*made.slack.workspace.replies(about)[said:], *words])
    assert [head.status for head in heads] == ["done", "done"]
    assert [key in text for text in answers] == [True, True]
    assert len(words) == 1


async def test_delivery_is_accepted_alike_by_a_simulated_and_a_live_gofer(tmp_path: Path) -> None:
    """One envelope becomes the same event with the simulated Slack of a demo and with a Slack named by settings."""
    async with company(tmp_path / "simulated", work=False) as made:
        asked = await made.ask("@Gofer hello", "general")
        await made.slack.settled()
        envelope = made.slack.envelopes(asked)[0]
        simulated = await _accepted(made)
    async with socket_gofer(tmp_path / "live", SLACK_SIGNING_SECRET=SECRET) as (live, _):
        live.slack.subscribe(f"{live.embedded.url}/slack/events")
        live.slack.adopt(envelope)
        assert await live.slack.deliver(envelope) == 200
        await live.ended()
        assert await _accepted(live) == simulated
        assert type(live.embedded.ingress) is type(made.embedded.ingress)


async def test_refused_read_is_reported_to_the_person_and_counted_for_the_operator(tmp_path: Path) -> None:
    """A refused read is reported where the person asked."""
    async with company(tmp_path) as made:
        jira = _jira(made)
        issue = jira.site.find("PAY-17")
        assert issue is not None
        jira.faults.add("GET", f"{ISSUE}/*", Fault("status", 403))
        jira.people.comment("712020:support", issue, "@gofer may this go out?")
        await jira.settled()
        await made.ended()
        made.slack.fail_next("conversations.replies", "restricted_action")
        asked = await made.ask("@Gofer hello", "general")
        heads = await made.ended(2)
        (told,) = texts(made.answers(asked))
        ends = await recent(made.embedded.state.store, int(time.time() * 1000))
    assert [head.status for head in heads] == ["failed", "failed"]
    # Whether the place is private could not be read, so no list shows the runs; only the answer gives the reason.
    assert [(head.private, head.reason) for head in heads] == [(True, ""), (True, "")]
    assert "I am not allowed to read the issue, page or pull request. Please tell " in str(jira.state()["PAY-17"])
    assert told.startswith("I could not read this thread, because Slack refused it. Please tell ")
    # The operator learns of both without a run, a channel or a person.
    assert {end.sentence() for end in ends} == {
        "1 run could not begin: Jira did not allow a call that was needed; the log names it.",
        "1 run could not begin: Slack refused a call that was needed; the log has its code.",
    }


@pytest.mark.rehearsal(
    "tests/survival/test_outages.py::test_outage_is_visible_to_people_and_operators",
)
async def test_comment_and_mention_are_answered_after_an_outage(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        jira = _jira(made)
        issue = jira.site.find("PAY-17")
        assert issue is not None
        jira.faults.add("GET", f"{ISSUE}/*", Fault("status", 503), times=7)
        jira.people.comment("712020:support", issue, "@gofer may this go out?")
        await jira.settled()
        await made.ended()
        made.slack.fail_next("users.info", *[503] * 4)
        made.slack.fail_next("conversations.replies", *[503] * 6)
        made.slack.fail_next("chat.postMessage", *[503] * 3)
        asked = await made.ask("@Gofer hello", "general")
        heads = await made.ended(2)
        (told,) = texts(made.answers(asked))
    assert [head.status for head in heads] == ["done", "done"]
    assert "Hello" in told


@pytest.mark.parametrize(
    ("name", "kind"),
    [("crash.png", "image/png"), ("notes.pdf", "application/pdf"), ("dump.bin", "application/octet-stream")],
)
async def test_file_without_text_is_answered_and_named_to_the_model(tmp_path: Path, name: str, kind: str) -> None:
    """A file without text in a direct message is answered; the model gets its id, and a note when it is damaged."""
    model = Echo()
    async with gofer(tmp_path, "when: [slack.direct]", model) as made:
        direct = made.slack.direct(ONCALL)
        sent = await made.slack.upload(ONCALL, direct.id, name, b"\x00\x01", mimetype="application/octet-stream")
        (head,) = await made.ended()
        assert head.status == "done"
        assert texts(made.answers(sent)) == ["Here you are."]
    (asked,) = model.bodies
    assert re.search(rf'\[file file_[0-9a-f]{{12}}: \\"{name}\\", {kind}, 2 bytes]', asked.decode())
    damaged = 'crash.png\\" could not be shown: The image is damaged; ask for it to be sent again.'
    assert (damaged in asked.decode()) == (name == "crash.png")


def _jira(made: Company) -> JiraSimulator:
    system = made.embedded.simulated.system(JiraSimulator)
    assert system is not None
    return system


def _refund(made: Company) -> Message:
    return next(one for one in made.slack.workspace.timeline("C0GENERA0") if "refund" in one.text)


async def _accepted(made: Company) -> object:
    (head,) = await made.embedded.state.store.heads(10, private=True)
    (first,) = [entry for entry in await made.entries(head.run) if isinstance(entry, RunAccepted)]
    return first
