"""Names in place of references: what is looked up, how often, and what stands there without a name."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.slack.approvals import MayDecide, slack_may_decide
from gofer.sources.slack.directory import GetUser, slack_get_user
from gofer.sources.slack.look_ups import look_up
from gofer.sources.slack.names import Names, mentioned
from gofer.sources.slack.places import channel_name
from gofer.sources.slack.read_thread import ReadThread, people, render, slack_read_thread
from gofer.tools.definition import Call, RunAtHand
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel, Group, User
from support.tools.calls import any_call
from support.vendors.slack import API, ROOT, play

ADA = "U0000001"


class Counting(Http):
    """HTTP that counts the look-ups of people, and the requests by their method."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self.asked: list[str] = []
        self.methods: Counter[str] = Counter()

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.methods[request.url.rpartition("/")[2]] += 1
        if request.url.endswith("/users.info"):
            self.asked.append(request.content.decode().removeprefix("user="))
        return await self._http.send(request)


def counted(call: Call) -> tuple[Counting, Call]:
    http = Counting(call.http)
    return http, replace(call, http=http)


def test_texts_of_a_run_look_each_person_up_once() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        await slack_get_user.act(API, call, GetUser(name=ADA))
        for _ in range(2):
            assert "@Ada at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert http.asked == [ADA]
        await slack_read_thread.act(API, replace(call, run=RunAtHand()), ReadThread())
        assert http.asked == [ADA, ADA]

    play(story)


def test_decisions_about_a_person_look_the_person_up_each_time() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        await slack_read_thread.act(API, call, ReadThread())
        for _ in range(2):
            await slack_get_user.act(API, call, GetUser(name=ADA))
            await slack_may_decide.act(API, call, MayDecide(user=ADA, by=[ADA]))
        assert http.asked == [ADA] * 5

    play(story)


def test_person_unknown_to_slack_is_looked_up_again() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        slack.fail_next("users.info", "user_not_found")
        assert "@U0000001 at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert "@Ada at " in (await slack_read_thread.act(API, call, ReadThread())).text
        assert http.asked == [ADA, ADA]

    play(story)


BOT = "U0000004"
SECRET = Channel("C0SECRET0", "secret-plans", "group", ("UBOT0000", ADA))


async def read(slack: SlackSimulator, call: Call, text: str) -> str:
    """Return the thread with a reply in it, as a model reads it."""
    await slack.say(ADA, "C0000001", text, thread_ts=ROOT)
    return (await slack_read_thread.act(API, call, ReadThread())).text


def test_references_without_a_label_have_their_names_after_one_look_up_each() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.groups["S0000001"] = Group("S0000001", "oncall", "On call")
        slack.workspace.groups["S0000002"] = Group("S0000002", "leads", "Leads")
        http, call = counted(call)
        text = "<#C0000002> <#C0000002|> <!subteam^S0000001> <!subteam^S0000002|> <@B0000004> <#C0000003|labelled>"
        shown = await read(slack, call, text)
        assert "    #random #random @oncall @leads @Build Bot #labelled" in shown
        once = {"users.info": 1, "bots.info": 1, "usergroups.list": 1}
        # One for the channel of the thread, one for the channel that the text names.
        assert once.items() <= http.methods.items()
        assert http.methods["conversations.info"] == 2
        await slack_read_thread.act(API, call, ReadThread())
        assert once.items() <= http.methods.items()
        assert http.methods["conversations.info"] == 3

    play(story)


def test_references_that_slack_does_not_name_keep_ids_that_tools_take() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        shown = await read(slack, call, "<#C0GONE000> <!subteam^S0GONE00> <@B0GONE00> <@U0GONE00> <@U0GONE01|Jo>")
        assert "    #C0GONE000 @S0GONE00 @B0GONE00 @U0GONE00 @Jo" in shown
        assert channel_name(call, "#C0GONE000") == "C0GONE000"
        assert "handle @ada" in (await slack_get_user.act(API, call, GetUser(name=f"@{ADA}"))).text

    play(story)


def test_a_private_channel_is_named_only_in_the_channel_itself() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.put_channel(SECRET)
        assert f"#{SECRET.id}" in await read(slack, call, f"see <#{SECRET.id}>")
        said = await slack.say(ADA, SECRET.id, f"see <#{SECRET.id}>")
        inside = any_call(call.http, place={"team": "T1", "channel": SECRET.id, "ts": said.ts, "thread_ts": said.ts})
        assert "see #secret-plans" in (await slack_read_thread.act(API, inside, ReadThread())).text

    play(story)


def test_authors_of_a_connected_company_have_the_names_that_their_messages_bring() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.users["U0PARTNER"] = User("U0PARTNER", "Jo", "Jo of Partner", external=True)
        await slack.say("U0PARTNER", "C0000001", "Our gateway is down", thread_ts=ROOT)
        http, call = counted(call)
        shown = await read(slack, call, "ask <@U0PARTNER>")
        assert "@Jo at " in shown
        assert "    ask @Jo" in shown
        assert http.asked == [ADA]

    play(story)


@pytest.mark.parametrize(
    ("fields", "author"),
    [
        (
            {"user": "U0GONE00", "user_profile": {"real_name": "Sam of Partner", "display_name": ""}},
            "@Sam of Partner at",
        ),
        ({"user": "U0GONE00", "user_profile": {"name": "sam"}}, "@sam at"),
        ({"user": "U0GONE00", "bot_id": "B0GONE00", "bot_profile": {"name": "Deployer"}}, "@Deployer at"),
        ({"user": "U0GONE00", "bot_id": "B0GONE00", "username": "deploys"}, "@deploys at"),
        ({"user": BOT, "bot_id": "B0000004", "username": "Ada"}, "@Build Bot at"),
        ({"user": "U0GONE00"}, "@U0GONE00 at"),
        ({"bot_id": "B0000004"}, "app Build Bot at"),
        ({"bot_id": "B0GONE00", "username": "deploys"}, "app deploys at"),
        ({"bot_id": "B0GONE00"}, "app B0GONE00 at"),
        ({}, "app unnamed at"),
    ],
)
def test_author_has_the_best_name_that_slack_gives(fields: Mapping[str, object], author: str) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        messages = [{"ts": ROOT, "text": "Same here", **fields}]
        names = await look_up(API, call, people(messages), messages)
        assert render("deploys", messages, names).split("\n")[2].startswith(author)

    play(story)


def test_look_ups_of_one_reading_are_bounded() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        http, call = counted(call)
        ids = [f"{kind}{number:08}" for kind in "UBCS" for number in range(1_000)]
        names = await look_up(API, call, ids)
        assert http.methods == {"users.info": 100, "bots.info": 50, "conversations.info": 50, "usergroups.list": 1}
        assert names.text("<@U00000999> <#C00000999>") == "@U00000999 #C00000999"

    play(story)


def test_thread_of_plain_messages_needs_no_further_requests() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        for number in range(198):
            await slack.say(ADA, "C0000001", f"message {number}", thread_ts=ROOT)
        http, call = counted(call)
        await slack_read_thread.act(API, call, ReadThread())
        assert http.methods == {"conversations.info": 1, "conversations.replies": 1, "users.info": 1}

    play(story)


MOMENT = "2014-02-18 06:39 UTC"


@pytest.mark.parametrize(
    ("mrkdwn", "text"),
    [
        ("<!date^1392705582^{date_num} at {time_secs}>", "2014-02-18 at 06:39:42 UTC"),
        ("<!date^1392705582^{date_short_pretty}>", f"2014-02-18 ({MOMENT})"),
        ("<!date^1392705582^Posted {ago}|a date>", f"a date ({MOMENT})"),
        (f"<!date^1392705582^{{date}}|{MOMENT}>", MOMENT),
        ("<!date^1392705582^{time}^https://x.example/|then>", f"then ({MOMENT}) (https://x.example/)"),
        ("<!date^1392705582>", MOMENT),
        ("<!date^soon^{date}|soon>", "soon"),
        ("<!date^99999999999999999999^{date}>", "{date}"),
        ("<!here> <!channel|channel> <!everyone> <!group>", "@here @channel @everyone @channel"),
        ("<!subteam^S0000001|@leads> <!subteam^S0000001|leads>", "@leads @leads"),
        ("<!hologram^1> <!hologram^1|words>", "(reference that Gofer does not know: !hologram) words"),
        ("<mailto:ops@example.com|ops@example.com> <tel:+1555|+1555>", "ops@example.com +1555"),
        ("<mailto:ops@example.com|the team>", "the team (mailto:ops@example.com)"),
        ("<https://x.example|x> <https://x.example>", "x (https://x.example) https://x.example"),
        ("a &lt;b&gt; &amp;amp; <>", "a <b> &amp; "),
    ],
)
def test_reference_is_shown_in_the_form_that_people_see(mrkdwn: str, text: str) -> None:
    assert Names({}).text(mrkdwn) == text


@given(st.text(alphabet="<>@#!|^UCBS0123456789{}date:&; ", max_size=60))
def test_any_text_is_shown_without_people_in_the_form_of_references(text: str) -> None:
    shown = Names(dict.fromkeys(mentioned([text]), "Ada")).text(text.replace("&", ""))
    assert not mentioned([shown])
