"""The page of the simulated Slack on which a person reads and writes."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx2

from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback

NOW = 1_763_709_120.0
TOKEN = {"Authorization": "Bearer xoxb-simulated"}
ROOT = "1763700000.000100"
WORLD: dict[str, object] = {
    "slack": {
        "team": {"id": "T1", "domain": "acme", "name": "Acme"},
        "app": {"id": "A1"},
        "bot": {"user": "UBOT", "bot_id": "BBOT", "name": "Gofer"},
        "users": [
            {"id": "U1", "name": "On-call"},
            {"id": "U2", "name": "On-call Deputy"},
            {"id": "U3", "name": "Build Bot", "bot": True},
        ],
        "channels": [
            {"id": "C1", "name": "deploys", "members": ["UBOT", "U1", "U2"]},
            {"id": "C2", "name": "quiet", "members": ["UBOT"]},
        ],
        "messages": [
            {
                "channel": "deploys",
                "user": "U1",
                "text": "Shall *we*? <@UBOT> &lt;b&gt; <https://example.com/?a=1&amp;b=2|the plan>",
                "ts": ROOT,
                "reactions": {"eyes": ["U2"]},
                "replies": [{"user": "U2", "text": "a reply", "ts": "1763700060.000100"}],
            }
        ],
    }
}
Story = Callable[[SlackSimulator, httpx2.AsyncClient], Awaitable[None]]


def play(story: Story) -> None:
    async def run() -> None:
        async with loopback.client() as outside:
            simulator = SlackSimulator(WORLD, clock=lambda: NOW, http=outside)
            transport = httpx2.ASGITransport(app=simulator.app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://slack") as http:
                await story(simulator, http)

    asyncio.run(run())


def test_simulated_slack_page_shows_channels_threads_and_reactions() -> None:
    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        front = (await http.get("/")).text
        assert "#deploys" in front
        assert "Shall <b>we</b>?" in front
        assert '<span class="mention own">@Gofer</span> &lt;b&gt;' in front
        assert '<a href="https://example.com/?a=1&amp;b=2" rel="noreferrer noopener"' in front
        assert 'title="On-call Deputy · :eyes:">👀 1</button>' in front
        assert f'href="/?channel=C1&amp;thread={ROOT}">1 reply' in front
        assert "a reply" not in front
        thread = (await http.get(f"/?channel=C1&thread={ROOT}")).text
        assert 'id="thread"' in thread
        assert "a reply" in thread
        assert "No messages yet." in (await http.get("/?channel=C2")).text

    play(story)


def test_simulated_slack_page_escapes_posts_and_resolves_mentions() -> None:
    async def story(simulator: SlackSimulator, http: httpx2.AsyncClient) -> None:
        form = {"user": "U2", "channel": "C1", "thread_ts": ROOT}
        form["text"] = (
            "@gofer ask @On-call Deputy, see https://acme.slack.com/archives/C1/p1763700000000100. <i> #quiet"
        )
        sent = await http.post("/post", data=form)
        assert (sent.status_code, sent.headers["location"]) == (303, f"/?channel=C1&thread={ROOT}")
        said = simulator.workspace.all_messages()[-1]
        assert (said.user, said.thread_ts) == ("U2", ROOT)
        assert said.text == (
            "<@UBOT> ask <@U2>, see <https://acme.slack.com/archives/C1/p1763700000000100>. &lt;i&gt; <#C2|>"
        )
        page = (await http.get(sent.headers["location"])).text
        assert "<i>" not in page
        assert f'<a href="/?channel=C1&amp;thread={ROOT}#m{ROOT}">' in page

    play(story)


def test_simulated_slack_page_renders_markdown_and_context_of_the_bot() -> None:
    markdown = (
        "# Result\n\nIt is **done** and *fine*, `a<b`:\n\n- one\n- [two](https://example.com/2)\n\n"
        "1. first\n\n> quoted\n\n```\n<script>\n```\n[bad](javascript:go) <javascript:go|worse>"
        " <script>alert(1)</script>"
    )
    context = {
        "type": "context",
        "elements": [{"type": "mrkdwn", "text": "<https://example.com/p|prompt> & run"}],
    }

    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        said = {"channel": "C2", "text": "x", "blocks": [{"type": "markdown", "text": markdown}, context]}
        assert (await http.post("/api/chat.postMessage", json=said, headers=TOKEN)).json()["ok"] is True
        page = (await http.get("/?channel=C2")).text
        assert "<h4>Result</h4><p>It is <b>done</b> and <i>fine</i>, <code>a&lt;b</code>:</p>" in page
        assert "<ul><li>one</li><li><a href=" in page
        assert "<ol><li>first</li></ol><blockquote><p>quoted</p></blockquote><pre>&lt;script&gt;</pre>" in page
        assert "<p>[bad](javascript:go) &lt;javascript:go|worse&gt; &lt;script&gt;alert(1)" in page
        assert 'href="javascript' not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert '<p class="context"><a href="https://example.com/p"' in page
        assert "prompt</a> &amp; run</p>" in page
        assert '<span class="badge">APP</span>' in page

    play(story)


def test_simulated_slack_page_renders_nested_lists_tasks_tables_and_files() -> None:
    markdown = (
        "1. first\n   - inner\n2. second\n\n- [x] done\n- [ ] open\n\n"
        "| who | what |\n|:---|---:|\n| <b> | `ab` |\n\n| who | what |\n|---|---|\n| Ada | 3 |\n\n"
        "```python\nx < 1\n```"
    )

    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        said = {"channel": "C2", "blocks": [{"type": "markdown", "text": markdown}]}
        assert (await http.post("/api/chat.postMessage", json=said, headers=TOKEN)).json()["ok"] is True
        form = {"filename": "<report>.md", "length": "5"}
        place = (await http.post("/api/files.getUploadURLExternal", data=form, headers=TOKEN)).json()
        assert (await http.post(place["upload_url"], content=b"a < b")).status_code == 200
        done = {"files": [{"id": place["file_id"]}], "channel_id": "C2"}
        assert (await http.post("/api/files.completeUploadExternal", json=done, headers=TOKEN)).json()["ok"] is True
        page = (await http.get("/?channel=C2")).text
        assert "<ol><li>first<ul><li>inner</li></ul></li><li>second</li></ol>" in page
        assert '<ul><li class="task">☑ done</li><li class="task">☐ open</li></ul>' in page
        assert '<th class="right">what</th>' in page
        assert "<td>Ada</td><td>3</td>" in page
        assert '<td class="left">&lt;b&gt;</td>' in page
        assert "<pre>x &lt; 1</pre>" in page
        assert "📄 &lt;report&gt;.md <small>5 bytes</small></summary><pre>a &lt; b</pre>" in page

    play(story)


def test_simulated_slack_page_toggles_a_reaction() -> None:
    async def story(simulator: SlackSimulator, http: httpx2.AsyncClient) -> None:
        form = {"user": "U1", "channel": "C1", "ts": ROOT, "name": "jira"}
        assert (await http.post("/react", data=form)).status_code == 303
        assert simulator.workspace.message("C1", ROOT).reactions["jira"] == ("U1",)
        await http.post("/react", data=form)
        assert "jira" not in simulator.workspace.message("C1", ROOT).reactions

    play(story)


def test_simulated_slack_page_refuses_wrong_forms_with_the_reason() -> None:
    async def story(simulator: SlackSimulator, http: httpx2.AsyncClient) -> None:
        before = simulator.state()
        form = {"user": "U1", "channel": "C1", "text": "x"}
        empty = await http.post("/post", data=form | {"text": "  "})
        nowhere = await http.post("/post", data=form | {"channel": "C9"})
        nobody = await http.post("/post", data=form | {"user": "U9"})
        foreign = await http.post("/post", data=form, headers={"Origin": "https://elsewhere.example"})
        assert [empty.status_code, nowhere.status_code, nobody.status_code] == [400, 400, 400]
        assert nowhere.text == "Slack refuses: channel_not_found: C9."
        assert foreign.status_code == 403
        assert simulator.state() == before
        own = await http.post("/post", data=form, headers={"Origin": "http://slack"})
        assert own.status_code == 303

    play(story)


def test_simulated_slack_page_allows_only_the_script_of_the_page_and_lists_only_people() -> None:
    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        page = await http.get("/?channel=C1")
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert '<option value="U1">On-call</option><option value="U2">On-call Deputy</option></select>' in page.text
        assert "http-equiv" not in page.text
        assert 'id="timeline" data-live' in page.text

    play(story)


def test_mention_opens_the_thread_of_its_answer_and_keeps_its_author() -> None:
    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        plain = {"channel": "C1", "user": "U2", "text": "lunch?"}
        said = await http.post("/post", data=plain)
        assert said.headers["location"] == "/?channel=C1"
        asked = await http.post("/post", data={**plain, "text": "@Gofer are we done?"})
        opened = asked.headers["location"]
        assert opened.startswith("/?channel=C1&thread=")
        page = (await http.get(opened)).text
        assert '<option value="U2" selected>' in page
        assert '<option value="U1">' in page
        assert page.count('<input type="hidden" name="user" value="U2">') == page.count('action="/react"')

    play(story)


def test_quick_reactions_include_good_and_bad_feedback() -> None:
    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        front = (await http.get("/?channel=C1")).text
        assert '<button name="name" value="+1"' in front
        assert '<button name="name" value="-1"' in front

    play(story)


def test_thread_shows_the_status_of_the_session_and_stop_while_the_agent_works() -> None:
    async def story(simulator: SlackSimulator, http: httpx2.AsyncClient) -> None:
        session = {"channel_id": "C1", "thread_ts": ROOT, "title": "Deploys", "status": "processing"}
        await http.post("/api/agents.sessions.setStatus", json=session, headers=TOKEN)
        thread = (await http.get(f"/?channel=C1&thread={ROOT}")).text
        assert '<div class="session processing"><span><b>Gofer</b> is working…</span>' in thread
        assert '<div class="bar">Deploys <small>' in thread
        assert 'action="/stop"' in thread
        stop = {"user": "U1", "channel": "C1", "thread_ts": ROOT}
        assert (await http.post("/stop", data=stop)).status_code == 303
        await http.post("/api/agents.sessions.setStatus", json={**session, "status": "suspended"}, headers=TOKEN)
        thread = (await http.get(f"/?channel=C1&thread={ROOT}")).text
        assert "waits for a person" in thread
        assert 'action="/stop"' not in thread
        refused = await http.post("/stop", data=stop)
        assert (refused.status_code, refused.text) == (400, f"Slack refuses: no_stop_button: {ROOT}.")

    play(story)


def test_page_shows_plans_votes_and_containers_without_markup_of_their_texts() -> None:
    task = {"type": "task_card", "task_id": "t1", "title": "Reading <b>", "status": "complete"}
    vote = {"text": {"type": "plain_text", "text": "Good"}, "value": "up"}
    feedback = {"type": "feedback_buttons", "action_id": "vote", "positive_button": vote, "negative_button": vote}
    blocks: list[dict[str, object]] = [
        {"type": "plan", "title": "Looking", "tasks": [task]},
        {"type": "context_actions", "elements": [feedback]},
        {
            "type": "container",
            "title": {"type": "plain_text", "text": "How I worked"},
            "is_collapsible": True,
            "default_collapsed": True,
            "child_blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "*slowly*"}}],
        },
        {"type": "alert", "level": "error", "text": {"type": "mrkdwn", "text": "Jira is away"}},
        {"type": "data_table", "caption": "x", "rows": [[{"type": "raw_text", "text": word}] for word in ("a", "<i>")]},
    ]

    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        posted = {"channel": "C1", "text": "x", "blocks": blocks}
        assert (await http.post("/api/chat.postMessage", json=posted, headers=TOKEN)).json()["ok"] is True
        front = (await http.get("/?channel=C1")).text
        assert '<div class="plan"><b>Looking</b><div class="card task complete"><span class="state">✓</span>' in front
        assert "Reading &lt;b&gt;" in front
        assert 'name="action_id" value="vote"' in front
        assert '<button class="button" name="value" value="up">👍 Good</button>' in front
        assert '<details class="card"><summary><b>How I worked</b>' in front
        assert '<div class="alert error"><p>Jira is away</p></div>' in front
        assert "<table><tr><th>a</th></tr><tr><td>&lt;i&gt;</td></tr></table>" in front

    play(story)


def test_stream_on_the_page_grows_only_for_its_recipient() -> None:
    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        place = {"channel": "C1", "recipient_user_id": "U1", "recipient_team_id": "T1", "markdown_text": "One "}
        ts = (await http.post("/api/chat.startStream", json=place, headers=TOKEN)).json()["ts"]
        more = {"channel": "C1", "ts": ts, "markdown_text": "two"}
        await http.post("/api/chat.appendStream", json=more, headers=TOKEN)
        assert "One two" in (await http.get("/?channel=C1", headers={"Cookie": "as=U1"})).text
        other = (await http.get("/?channel=C1", headers={"Cookie": "as=U2"})).text
        assert "One two" not in other
        assert '<span class="edited">writing…</span>' in other

    play(story)


def test_home_tab_is_opened_and_its_buttons_are_pressed() -> None:
    button = {"type": "button", "action_id": "more", "text": {"type": "plain_text", "text": "More"}}
    view = {"type": "home", "blocks": [{"type": "actions", "elements": [button]}]}

    async def story(_: SlackSimulator, http: httpx2.AsyncClient) -> None:
        opened = await http.post("/home", data={"user": "U1"})
        assert (opened.status_code, opened.headers["location"]) == (303, "/?home=U1")
        assert "has not published a Home tab" in (await http.get("/?home=U1")).text
        await http.post("/api/views.publish", json={"user_id": "U1", "view": view}, headers=TOKEN)
        assert 'action="/press-home"' in (await http.get("/?home=U1")).text
        pressed = await http.post("/press-home", data={"user": "U1", "action_id": "more"})
        assert pressed.text == "Slack refuses: the app did not accept the press."
        elsewhere = await http.post("/home", data={"user": "U1"}, headers={"Origin": "http://other.example"})
        assert elsewhere.status_code == 403

    play(story)
