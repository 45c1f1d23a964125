"""Approval questions in the simulated Slack: displayed arguments, allowed people, and presses of buttons."""

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.receiver import Click, Ignored, RawRequest
from gofer.sources.slack.approvals import (
    CloseQuestion,
    FindGroups,
    MayDecide,
    TellOne,
    slack_ask_approval,
    slack_ask_requester,
    slack_close_question,
    slack_find_groups,
    slack_may_decide,
    slack_tell_one,
)
from gofer.sources.slack.interactivity import PATH, InteractivityReceiver
from gofer.sources.slack.question import Question, blocks, fallback, fits, rendered, whole_text
from gofer.sources.slack.receiver import sign
from gofer.sources.slack.tools import TOOLS
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.values.errors import BadRequest, ToolError
from gofer.values.secret import Secret
from gofer_simulators.deliveries import form
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.content import content_of
from gofer_simulators.slack.interactivity import press_payload
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Group, Message, SlackRefusal
from support.tools.declared_tools import look_for
from support.vendors.slack import API, NOW, ROOT, play

ADA = "U0000001"
NASTY = "<!channel> *bold* [x](https://evil) <@U0000001>\n> `quote`"


def question(**changes: object) -> Question:
    given = {
        "tool": "jira_create_issue",
        "arguments": {"project": "OPS", "summary": NASTY, "labels": ["a", "b"], "private": False, "none": ""},
        "arguments_sha256": "ab" * 32,
        "about": "call",
        "by": ["@leads"],
        "page": ["S0LEADS00", ADA],
        "until": 1_763_795_520_000,
        "approve": "yes-token",
        "deny": "no-token",
        "thread_ts": ROOT,
    }
    return Question.model_validate({**given, **changes})


def texts(value: object) -> list[str]:
    """Return every text element of some blocks, in order."""
    if isinstance(value, Mapping):
        own = [str(value["text"])] if value.get("type") == "text" else []
        return own + [text for inner in value.values() for text in texts(inner)]
    return [text for inner in value for text in texts(inner)] if isinstance(value, list | tuple) else []


def reply(slack: SlackSimulator) -> Message:
    (found,) = slack.workspace.replies(slack.workspace.message("C0000001", ROOT))
    return found


def test_slack_question_shows_every_argument_and_mentions_only_the_deciders() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        assert await look_for(slack_ask_approval, API, call, question()) is None
        done = await slack_ask_approval.act(API, call, question())
        assert await look_for(slack_ask_approval, API, call, question()) == done
        message = reply(slack)
        shown = texts(message.blocks)
        for part in ("project", "OPS", "summary", NASTY, "labels", '["a","b"]', "false", '""'):
            assert part in shown
        # Texts of the model mention no person, also where Slack would find a mention in a text.
        assert message.text == "May I call jira_create_issue with exactly this?"
        leaves = json.dumps(message.blocks)
        assert '"usergroup_id": "S0LEADS00"' in leaves
        assert '"user_id": "U0000001"' in leaves
        assert any("22 November 07:12 UTC" in text for text in shown)
        assert "yes-token" in leaves

    play(story)


def test_slack_closed_question_has_no_buttons_and_names_the_decision() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        done = await slack_ask_approval.act(API, call, question())
        where = {"channel": "C0000001", "ts": str(done.details["ts"]), "ending": "Approved by Ada."}
        for asked in (question(approve="", deny=""), None):
            closing = CloseQuestion.model_validate({**where, "asked": asked.model_dump() if asked else None})
            await slack_close_question.act(API, call, closing)
            message = reply(slack)
            assert "actions" not in [block["type"] for block in message.blocks]
            assert texts(message.blocks)[-1] == "Approved by Ada."
            assert (NASTY in texts(message.blocks)) is (asked is not None)

    play(story)


def test_slack_question_with_a_file_gets_its_buttons_later() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        asked = question(file="all.txt", arguments={"text": "x" * 50_000})
        bare = asked.model_copy(update={"approve": "", "deny": ""})
        done = await slack_ask_approval.act(API, call, bare)
        assert [block["type"] for block in reply(slack).blocks if block["type"] == "actions"] == []
        assert "The buttons appear once the file is below." in texts(reply(slack).blocks)
        showing = {"channel": "C0000001", "ts": str(done.details["ts"]), "ending": "", "asked": asked.model_dump()}
        await slack_close_question.act(API, call, CloseQuestion.model_validate(showing))
        assert [block["type"] for block in reply(slack).blocks if block["type"] == "actions"] == ["actions"]
        assert (reply(slack).text, "yes-token" in str(reply(slack).blocks)) == (fallback(asked), True)

    play(story)


def test_slack_question_marks_a_cut_argument_with_length_and_hash() -> None:
    text = "x" * 50_000
    ((_, shown), (_, short)) = rendered({"body": text, "title": "t"})
    assert len(shown) > 9_000
    assert "x\n[Cut here. It has 50,000 characters in all, sha256 " in shown
    assert hashlib.sha256(text.encode()).hexdigest() in shown
    assert short == "t"


@given(st.dictionaries(st.text("abc", min_size=1), st.text() | st.integers() | st.lists(st.text()), max_size=30))
def test_slack_question_with_any_arguments_is_accepted_and_hides_no_text(
    arguments: dict[str, object],
) -> None:
    for name, shown in rendered(arguments):
        assert name in arguments
        assert shown
        assert all(char.isprintable() or char == "\n" for char in shown)
    made = blocks(question(arguments=arguments))
    assert len(made) == 2
    assert all(texts(made))
    taken(made)


def taken(made: list[dict[str, object]]) -> None:
    """Check a question with its links against all limits of the simulated Slack."""
    links = {"type": "context", "elements": [{"type": "mrkdwn", "text": "x" * 500}]}
    content_of(Arguments({"text": "x", "blocks": [*made, links]}))
    assert sum(map(len, texts(made))) < 11_000


@pytest.mark.parametrize("count", [1, 2, 8, 20, 30, 60, 400])
@pytest.mark.parametrize("value", ["x" * 50_000, "<&>" * 900, "日本" * 300, "\u202e" * 400, "short"])
def test_slack_question_with_many_long_arguments_shows_or_names_each(value: str, count: int) -> None:
    arguments: dict[str, object] = {f"argument_{n}": value for n in range(count)}
    made = blocks(question(arguments=arguments))
    taken(made)
    shown = dict(rendered(arguments))
    whole = " ".join(texts(made))
    left = count - len(shown)
    assert left == 0 or f"no room for {left} more arguments of the call: argument_{len(shown)} (" in whole
    assert all(name in whole for name in list(arguments)[: len(shown) + 5])
    assert all(text == value or "[Cut here. It has " in text or "\\u{202e}" in text for text in shown.values())
    taken(blocks(question(arguments=arguments, approve="", deny=""), "Approved by Ada."))


def test_slack_question_gives_long_arguments_the_space_of_short_ones() -> None:
    shown = dict(rendered({"title": "t", "body": "x" * 8_000, "fields": {"Tags": ["a"]}, "note": "y" * 30_000}))
    assert (shown["title"], shown["fields"]) == ("t", '{"Tags":["a"]}')
    assert 4_000 < len(shown["body"]) < len(shown["note"]) + 10


def test_slack_approval_may_be_decided_by_the_named_people_only() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.groups["S0LEADS00"] = Group("S0LEADS00", "leads", "Leads", (ADA, "U0000003"))

        async def may(user: str, *by: str, requester: str = "") -> bool:
            return (
                await slack_may_decide.act(API, call, MayDecide(user=user, by=list(by), requester=requester))
            ).details["allowed"] is True

        assert await may(ADA, "@leads")
        assert await may(ADA, "S0LEADS00")
        assert await may("U0000002", "@leads", "U0000002")
        assert await may("U0000002", "requester", requester="U0000002")
        assert not await may("U0000002", "@leads")
        assert not await may(ADA, "requester", requester="U0000002")
        assert not await may(ADA, "requester", requester="")
        # Deactivated, and a bot.
        assert not await may("U0000003", "@leads")
        assert not await may("U0000004", "U0000004")
        found = await slack_find_groups.act(API, call, FindGroups(names=["@leads"]))
        assert found.details == {"ids": {"@leads": "S0LEADS00"}}
        with pytest.raises(ToolError, match="no user group @none"):
            await slack_find_groups.act(API, call, FindGroups(names=["@leads", "@none"]))

    play(story)


def test_slack_questions_and_notices_to_one_person_are_visible_to_no_other() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack_ask_requester.act(API, call, question(about="leaving", by=["requester"], to=ADA))
        await slack_tell_one.act(API, call, TellOne(user=ADA, text="Only <@leads> may decide.", thread_ts=ROOT))
        asked, told = slack.whispers(ADA)
        assert "private channel. May jira_create_issue take this out of it?" in asked.text
        assert (told.text, told.paged) == ("Only &lt;@leads&gt; may decide.", frozenset())
        assert slack.workspace.replies(slack.workspace.message("C0000001", ROOT)) == []
        with pytest.raises(SlackRefusal):
            await slack.press(asked, "approve", "U0000002")
        with pytest.raises(ToolError, match="user_not_in_channel"):
            await slack_tell_one.act(API, call, TellOne(user="U0000002", text="x"))

    play(story)


def test_slack_question_about_leaving_names_origin_and_target() -> None:
    asked = question(about="leaving", where="#general", direct=True)
    title = "You started this in a direct message. May jira_create_issue take this to #general?"
    assert fallback(asked) == title


def test_slack_approval_tools_declare_the_scopes_used() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.groups["S0LEADS00"] = Group("S0LEADS00", "leads", "Leads", (ADA,))
        given: Mapping[str, Mapping[str, object]] = {
            "slack_ask_approval": question(channel="#deploys").model_dump(),
            "slack_ask_requester": question(channel="#deploys", to=ADA).model_dump(),
            "slack_close_question": {"channel": "C0000001", "ts": "", "ending": "x"},
            "slack_tell_one": {"user": ADA, "text": "x", "channel": "#deploys"},
            "slack_may_decide": {"user": ADA, "by": [ADA]},
            "slack_find_groups": {"names": ["@leads"]},
        }
        tools = {tool.name: tool for tool in bind_all(TOOLS, API) if tool.internal}
        assert tools.keys() - {"slack_get_file", "slack_find_place"} == given.keys()
        for name in given:
            tool = tools[name]
            asked = slack.workspace.replies(slack.workspace.message("C0000001", ROOT))
            arguments = {**given[name], **({"ts": asked[0].ts} if name == "slack_close_question" else {})}
            slack._web_api.scopes_used.clear()
            await tool.act(call, tool.parse(arguments))
            assert slack.scopes_used, name
            assert slack.scopes_used <= tool.target.scopes, name

    play(story)


def receiver(secret: str = "simulated-signing-secret") -> InteractivityReceiver:
    return InteractivityReceiver((Secret(secret),))


def delivery(body: bytes, secret: str = "simulated-signing-secret") -> RawRequest:
    headers = (
        ("X-Slack-Request-Timestamp", str(int(NOW))),
        ("X-Slack-Signature", sign(Secret(secret), str(int(NOW)), body)),
    )
    return RawRequest("POST", PATH, headers, body)


def test_slack_press_is_read_from_a_signed_form_and_from_socket_json() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack_ask_approval.act(API, call, question())
        for action, token in (("approve", "yes-token"), ("deny", "no-token")):
            payload = press_payload(slack.workspace, reply(slack), action, ADA)
            for body in (form(payload), json.dumps(payload).encode()):
                request = delivery(body)
                receiver().verify(request, NOW)
                click = receiver().translate(request)
                assert isinstance(click, Click)
                assert (click.token, click.actor.id) == (token, ADA)
                assert abs(click.at - NOW * 1000) < 1000
        with pytest.raises(BadRequest, match="does not match"):
            receiver("another").verify(delivery(form(payload)), NOW)

    play(story)


def test_slack_interaction_other_than_a_known_button_is_ignored_with_a_reason() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack_ask_approval.act(API, call, question())
        payload = dict(press_payload(slack.workspace, reply(slack), "approve", ADA))
        (action,) = payload["actions"]
        others = [
            {**payload, "type": "view_submission"},
            {**payload, "actions": []},
            {**payload, "actions": [action, action]},
            {**payload, "actions": [{**action, "action_id": "else"}]},
            {**payload, "actions": [{**action, "action_ts": "soon"}]},
            {**payload, "user": None},
        ]
        for other in others:
            assert isinstance(receiver().translate(delivery(form(other))), Ignored)
        for broken in (b"", b"payload=%7B", b"a=b", b"\xff", b"payload"):
            with pytest.raises(BadRequest):
                receiver().translate(delivery(broken))

    play(story)


@given(st.binary(max_size=200) | st.builds(lambda text: form({"type": "block_actions", "actions": text}), st.text()))
def test_slack_interactivity_translates_or_refuses_any_body(body: bytes) -> None:
    with contextlib.suppress(BadRequest):
        assert isinstance(receiver().translate(delivery(body)), Click | Ignored)


def test_simulated_slack_sends_a_press_signed_and_without_retry() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        got: list[httpx2.Request] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            got.append(request)
            return httpx2.Response(500 if len(got) == 1 else 200)

        slack._deliveries._http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        slack.subscribe("http://gofer/slack/events")
        await slack_ask_approval.act(API, call, question())
        assert await slack.press(reply(slack), "approve", ADA) is False
        assert await slack.press(reply(slack), "approve", ADA) is True
        assert [str(request.url) for request in got] == ["http://gofer/slack/interactivity"] * 2
        payload = json.loads(dict(parse_qsl(got[0].content.decode()))["payload"])
        assert (payload["container"]["thread_ts"], payload["message"]["ts"]) == (ROOT, reply(slack).ts)
        receiver().verify(RawRequest("POST", PATH, list(got[0].headers.items()), got[0].content), NOW)
        await slack._deliveries._http.aclose()

    play(story)


def buttons(asked: Question) -> list[object]:
    """Return the actions of the buttons of a question."""
    return re.findall(r'"action_id": "([a-z]+)"', json.dumps(blocks(asked)))


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(0, 12_000), max_size=6))
def test_slack_question_with_a_cut_argument_has_no_button_to_approve(sizes: dict[str, int]) -> None:
    asked = question(arguments={name: "x" * size for name, size in sizes.items()})
    cut = "Cut here" in str(blocks(asked)) or "no room for" in str(blocks(asked))
    assert buttons(asked) == (["deny"] if cut else ["approve", "deny"])
    assert fits(asked.arguments) is not cut


@pytest.mark.parametrize("count", [1, 8, 60, 400])
@pytest.mark.parametrize("value", ["x" * 50_000, "<&>" * 900, "\u202e" * 400])
def test_slack_question_with_a_file_shows_each_argument_whole_or_names_the_file(value: str, count: int) -> None:
    asked = question(arguments={"title": "t", **{f"argument_{n}": value for n in range(count)}}, file="all.txt")
    made = blocks(asked)
    taken(made)
    said = " ".join(texts(made))
    assert "Cut here" not in said
    assert ("The file all.txt here has all arguments whole." in said) is not fits(asked.arguments)
    assert buttons(asked) == ["approve", "deny"]
    whole = whole_text(asked)
    assert all(f"argument_{n}:\n" in whole for n in range(count))
    assert value in whole or "\\u{202e}" * 400 in whole
