"""The Web API of the simulated Slack: answers, paging and visibility."""

import json

import pytest

from gofer_simulators.json_values import is_object, object_of, objects, text_of
from support.vendors.slack_web_api import ROOT, TOKEN, Slack, cursor, play, texts


def test_simulated_slack_auth_test_answers_and_refuses_wrong_tokens_and_methods() -> None:
    async def story(slack: Slack) -> None:
        who = await slack.call("auth.test")
        assert (who["ok"], who["user_id"], who["bot_id"], who["team_id"]) == (True, "UBOT", "BBOT", "T1")
        assert (await slack.http.post("/api/auth.test")).json() == {"ok": False, "error": "not_authed"}
        wrong = await slack.http.post("/api/auth.test", headers={"Authorization": "Bearer xoxb-other"})
        assert wrong.json()["error"] == "invalid_auth"
        assert await slack.error("chat.shout") == "unknown_method"
        bad = {**TOKEN, "Content-Type": "application/json"}
        assert (await slack.http.post("/api/auth.test", content=b"{", headers=bad)).json()["error"] == "invalid_json"

    play(story)


def test_simulated_slack_takes_the_same_arguments_as_json_form_and_query() -> None:
    async def story(slack: Slack) -> None:
        blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*hi*"}}]
        form = {"channel": "C1", "blocks": json.dumps(blocks), "token": "xoxb-simulated"}
        posted = (await slack.http.post("/api/chat.postMessage", data=form)).json()
        assert posted["message"]["blocks"][0]["text"]["text"] == "*hi*"
        got = await slack.http.get("/api/users.info", params={"user": "U2"}, headers=TOKEN)
        assert got.json()["user"]["is_restricted"] is True
        bot = object_of(await slack.call("users.info", user="UBOT"), "user")
        assert bot["is_bot"] is True

    play(story)


def test_simulated_slack_posts_as_the_bot_with_a_growing_ts() -> None:
    async def story(slack: Slack) -> None:
        metadata = {"event_type": "run", "event_payload": {"run": "r1"}}
        one = await slack.call("chat.postMessage", channel="C1", text="one", metadata=metadata)
        other = await slack.call("chat.postMessage", channel="#deploys", text="other")
        message = object_of(one, "message")
        assert (message["user"], message["bot_id"], message["app_id"]) == ("UBOT", "BBOT", "A1")
        assert text_of(one, "ts") == "1763709120.000000" < text_of(other, "ts")
        plain = await slack.call("conversations.history", channel="C1", limit=2)
        assert "metadata" not in objects(plain["messages"])[1]
        full = await slack.call("conversations.history", channel="C1", limit=2, include_all_metadata=True)
        assert objects(full["messages"])[1]["metadata"] == metadata

    play(story)


def test_simulated_slack_reply_joins_the_thread_and_the_parent_counts_replies() -> None:
    async def story(slack: Slack) -> None:
        reply = await slack.call("chat.postMessage", channel="C1", text="from the bot", thread_ts="1763700010.000100")
        message = object_of(reply, "message")
        assert (message["thread_ts"], message["parent_user_id"]) == (ROOT, "U1")
        history = await slack.call("conversations.history", channel="C1")
        assert texts(history) == ["third", "second", "First & foremost"]
        parent = objects(history["messages"])[-1]
        assert (parent["reply_count"], parent["latest_reply"], parent["thread_ts"]) == (6, reply["ts"], ROOT)
        assert parent["reactions"] == [{"name": "eyes", "users": ["U1", "U2"], "count": 2}]
        shown = await slack.call("chat.postMessage", channel="C1", text="for all", thread_ts=ROOT, reply_broadcast=True)
        assert object_of(shown, "message")["subtype"] == "thread_broadcast"
        assert texts(await slack.call("conversations.history", channel="C1"))[0] == "for all"

    play(story)


def test_simulated_slack_pages_replies_with_the_parent_on_every_page() -> None:
    async def story(slack: Slack) -> None:
        page = await slack.call("conversations.replies", channel="C1", ts=ROOT, limit=3)
        assert (texts(page), page["has_more"]) == (["First & foremost", "reply 1", "reply 2"], True)
        second = await slack.call("conversations.replies", channel="C1", ts=ROOT, limit=4, cursor=cursor(page))
        assert (texts(second), cursor(second)) == (["First & foremost", "reply 3", "reply 4", "reply 5"], "")
        whole = await slack.call("conversations.replies", channel="C1", ts="1763700030.000100")
        assert len(texts(whole)) == 6
        late = await slack.call("conversations.replies", channel="C1", ts=ROOT, oldest="1763700040.000100")
        assert texts(late) == ["First & foremost", "reply 5"]
        assert await slack.error("conversations.replies", channel="C1", ts="1.000001") == "thread_not_found"

    play(story)


def test_simulated_slack_pages_history_backwards_and_finds_a_single_message() -> None:
    async def story(slack: Slack) -> None:
        page = await slack.call("conversations.history", channel="C1", limit=2)
        assert (texts(page), page["has_more"]) == (["third", "second"], True)
        await slack.call("chat.postMessage", channel="C1", text="came between")
        last = await slack.call("conversations.history", channel="C1", limit=2, cursor=cursor(page))
        assert (texts(last), last["has_more"], cursor(last)) == (["First & foremost"], False, "")
        one = await slack.call("conversations.history", channel="C1", latest=ROOT, inclusive=True, limit=1)
        assert texts(one) == ["First & foremost"]
        assert await slack.error("conversations.history", channel="C1", cursor="nonsense") == "invalid_cursor"
        assert await slack.error("conversations.history", channel="C1", limit="0") == "invalid_limit"

    play(story)


def test_simulated_slack_answers_broken_surrogates_and_excessive_limits() -> None:
    async def story(slack: Slack) -> None:
        posted = await slack.http.post(
            "/api/chat.postMessage",
            content=rb'{"channel": "C1", "text": "half \ud83d pair"}',
            headers={**TOKEN, "Content-Type": "application/json"},
        )
        assert posted.json()["message"]["text"] == "half \ufffd pair"
        assert (await slack.http.get("/?channel=C1")).status_code == 200
        for method in ("conversations.history", "conversations.list", "users.list"):
            assert await slack.error(method, channel="C1", limit="9" * 5000) == "invalid_limit"
            assert await slack.error(method, channel="C1", limit=1_000) == "invalid_limit"
            assert (await slack.call(method, channel="C1", limit=999))["ok"] is True

    play(story)


def test_simulated_slack_updates_only_messages_of_the_bot() -> None:
    async def story(slack: Slack) -> None:
        ts = (await slack.call("chat.postMessage", channel="C1", text="draft"))["ts"]
        updated = await slack.call("chat.update", channel="C1", ts=ts, text="final")
        assert (updated["ts"], updated["text"]) == (ts, "final")
        assert is_object(object_of(updated, "message")["edited"])
        assert texts(await slack.call("conversations.history", channel="C1", limit=1)) == ["final"]
        assert await slack.error("chat.update", channel="C1", ts=ROOT, text="x") == "cant_update_message"
        assert await slack.error("chat.update", channel="C1", ts="1.000001", text="x") == "message_not_found"

    play(story)


def test_simulated_slack_adds_and_removes_a_reaction_once() -> None:
    async def story(slack: Slack) -> None:
        item: dict[str, object] = {"channel": "C1", "timestamp": ROOT}
        assert await slack.error("reactions.add", name="jira", **item) == "invalid_name"
        assert await slack.call("reactions.add", name="+1::skin-tone-3", **item) == {"ok": True}
        assert await slack.call("reactions.add", name="flag-jp", **item) == {"ok": True}
        slack.simulator.workspace.emoji = frozenset({"jira"})
        assert await slack.call("reactions.add", name="jira", **item) == {"ok": True}
        assert await slack.error("reactions.add", name="jira", **item) == "already_reacted"
        assert await slack.call("reactions.remove", name="jira", **item) == {"ok": True}
        assert await slack.error("reactions.remove", name="jira", **item) == "no_reaction"
        assert await slack.error("reactions.add", name=":jira:", **item) == "invalid_name"
        assert await slack.error("reactions.add", name="white_tick", **item) == "invalid_name"
        assert await slack.call("reactions.add", name="punch", **item) == {"ok": True}
        assert await slack.error("reactions.add", name="facepunch", **item) == "already_reacted"
        assert await slack.error("reactions.add", name="x", channel="C1", timestamp="1.000001") == "message_not_found"
        assert await slack.error("reactions.add", name="x", channel="C1") == "no_item_specified"

    play(story)


def test_simulated_slack_permalink_of_a_reply_names_the_thread() -> None:
    async def story(slack: Slack) -> None:
        parent = await slack.call("chat.getPermalink", channel="C1", message_ts=ROOT)
        assert parent["permalink"] == "https://acme.slack.com/archives/C1/p1763700000000100"
        reply = await slack.call("chat.getPermalink", channel="C1", message_ts="1763700010.000100")
        assert text_of(reply, "permalink").endswith(f"/p1763700010000100?thread_ts={ROOT}&cid=C1")

    play(story)


def test_simulated_slack_shows_channels_by_the_memberships_of_the_bot() -> None:
    async def story(slack: Slack) -> None:
        leads = object_of(await slack.call("conversations.info", channel="C3", include_num_members=True), "channel")
        assert (leads["is_private"], leads["is_member"], leads["num_members"]) == (True, True, 2)
        assert await slack.error("conversations.info", channel="C4") == "channel_not_found"
        assert object_of(await slack.call("conversations.info", channel="C2"), "channel")["is_member"] is False
        assert await slack.error("conversations.history", channel="C2") == "not_in_channel"
        assert await slack.error("chat.postMessage", channel="C2", text="x") == "not_in_channel"
        assert await slack.error("chat.postMessage", channel="C5", text="x") == "is_archived"
        assert await slack.error("chat.postMessage", text="x") == "invalid_arguments"
        both = await slack.call("conversations.list", types="public_channel,private_channel", exclude_archived=True)
        assert [channel["id"] for channel in objects(both["channels"])] == ["C1", "C2", "C3"]
        assert await slack.error("conversations.list", types="secret") == "invalid_types"

    play(story)


def test_simulated_slack_pages_the_list_of_users() -> None:
    async def story(slack: Slack) -> None:
        seen: list[object] = []
        following = ""
        for _ in range(2):
            page = await slack.call("users.list", limit=3, cursor=following)
            seen += [user["id"] for user in objects(page["members"])]
            following = cursor(page)
        assert (seen, following) == (["UBOT", "U1", "U2", "U3"], "")
        assert await slack.error("users.info", user="U9") == "user_not_found"

    play(story)


def test_simulated_slack_state_is_json_with_messages_and_reactions() -> None:
    async def story(slack: Slack) -> None:
        await slack.call("chat.postMessage", channel="C3", markdown_text="**quiet**")
        await slack.call("reactions.add", channel="C1", timestamp=ROOT, name="eyes")
        state = slack.simulator.state()
        assert json.loads(json.dumps(state)) == state
        channels = object_of(state, "channels")
        first = objects(object_of(channels, "deploys")["messages"])[0]
        assert first["reactions"] == {"eyes": ["U1", "U2", "UBOT"]}
        leads = object_of(channels, "leads")
        assert (leads["private"], objects(leads["messages"])[0]["text"]) == (True, "**quiet**")

    play(story)


def test_simulated_slack_uploads_a_file_in_three_calls_and_shares_the_file_in_a_thread() -> None:
    async def story(slack: Slack) -> None:
        place = await slack.call("files.getUploadURLExternal", filename="report.md", length=5)
        files = [{"id": place["file_id"], "title": "Report"}]
        where = {"channel_id": "C1", "thread_ts": ROOT}
        assert await slack.error("files.completeUploadExternal", files=files, **where) == "file_not_found"
        assert (await slack.http.post(text_of(place, "upload_url"), content=b"four")).status_code == 400
        assert (await slack.http.post(text_of(place, "upload_url"), content=b"hello")).status_code == 200
        done = await slack.call("files.completeUploadExternal", files=files, **where)
        assert [(file["name"], file["title"], file["size"]) for file in objects(done["files"])] == [
            ("report.md", "Report", 5)
        ]
        replies = objects((await slack.call("conversations.replies", channel="C1", ts=ROOT))["messages"])
        assert (replies[-1]["subtype"], objects(replies[-1]["files"])[0]["id"]) == ("file_share", place["file_id"])

    play(story)


@pytest.mark.parametrize(
    ("said", "paged"),
    [
        ({"text": "<!here> <@U1> <#C1>"}, {"!here", "@U1"}),
        ({"text": "@here &lt;!here&gt;"}, set()),
        ({"text": "@here", "link_names": True}, {"!here"}),
        ({"text": "mail@here.com @Everyone", "parse": "full"}, {"!everyone"}),
        ({"blocks": [{"type": "markdown", "text": "`<!channel|x>`"}]}, {"!channel"}),
        ({"blocks": [{"type": "markdown", "text": r"\<!subteam^S1> &#60;@U2>"}]}, {"!subteam^S1", "@U2"}),
        ({"blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "<@U1|ada>"}]}]}, {"@U1"}),
    ],
)
def test_simulated_slack_message_pages_the_mentioned_users_and_groups(said: dict[str, object], paged: set[str]) -> None:
    async def story(slack: Slack) -> None:
        ts = text_of(await slack.call("chat.postMessage", channel="C1", **said), "ts")
        assert slack.simulator.workspace.message("C1", ts).paged == paged

    play(story)
