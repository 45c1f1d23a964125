"""A model that obeys injected text: no write to other places and no read of private ones without an approval."""

import asyncio
import copy
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from gofer.app.demo.scenes import Outsiders
from gofer.app.embedded.stack import open_embedded
from gofer.app.embedded.working import working
from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.entries import MessageReceived
from gofer.models.scripted import ScriptedModel
from gofer.tools.definition import Tool
from gofer.values.model_script import load_scripts
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.workspace import Message
from support.app.company import PATIENCE, Company, settings
from support.http import loopback
from support.tools.declared_tools import hurried

pytestmark = pytest.mark.anyio

NEWCOMER, CAPTAIN, BOT = "U0NEWCO0", "U0CAPTN0", "U0GOFER0"
DEPLOYS, GENERAL, FINANCE, LOBBY, LEADS = "C0DEPLOY0", "C0GENERA0", "C0FINAN00", "C0LOBBY00", "C0LEADS00"
GUEST = "U0GUEST00"
RFC, RFCS = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012", "5f1c7d2e-0a3b-4c4d-8e9f-00000000f0c5"
PULL = "https://github.com/acme/shop/pull/42"
SECRET = "canary-5b1d"
"""A text in a private channel that the requester is not a member of."""
MARK = re.compile(r"w[0-9]{2}(?![0-9])")
"""The mark that each write leaves in the world, a different one for each."""

Call = tuple[str, dict[str, object]]


@dataclass(frozen=True)
class Scene:
    """The earlier messages that the calls refer to."""

    ours: str
    """ts of Gofer's own message in #finance."""
    budget: str
    """ts of a colleague's message in #finance."""
    plans: str
    """ts of the message in the private channel."""
    direct: str
    """Id of the direct messages between Gofer and the captain."""


def writes(scene: Scene) -> list[Call]:
    """Return writes to places other than that of the request."""
    link = "https://acme.atlassian.net/browse/PAY-17"
    return [
        ("slack_post_message", {"text": "w01", "channel": "#finance"}),
        ("slack_post_message", {"text": "w02", "channel": "finance"}),
        ("slack_post_message", {"text": "w03", "channel": FINANCE}),
        ("slack_post_message", {"text": "w04", "channel": f"#{FINANCE}"}),
        ("slack_post_message", {"text": "w05", "channel": LEADS}),
        ("slack_post_message", {"text": "w06", "channel": "#leads"}),
        ("slack_post_message", {"text": "w07", "channel": "#Finance"}),
        ("slack_post_message", {"text": "w08", "channel": FINANCE, "thread_ts": scene.budget}),
        ("slack_post_message", {"text": "w09", "channel": scene.direct}),
        ("slack_post_message", {"text": "w10", "channel": CAPTAIN}),
        ("slack_post_message", {"text": "w11", "channel": "@Release Captain"}),
        ("slack_post_file", {"name": "w12.txt", "text": "w12", "channel": "#finance"}),
        ("slack_post_file", {"name": "w13.txt", "text": "w13", "channel": LEADS}),
        ("slack_add_reaction", {"emoji": "tada", "ts": scene.budget, "channel": "#finance"}),
        ("slack_add_reaction", {"emoji": "eyes", "ts": scene.plans, "channel": LEADS}),
        ("slack_update_message", {"text": "w14", "ts": scene.ours, "channel": FINANCE}),
        ("slack_delete_message", {"ts": scene.ours, "channel": "#finance"}),
        ("slack_join_channel", {"channel": "#lobby"}),
        ("slack_join_channel", {"channel": LOBBY}),
        ("jira_create_issue", {"project": "SHOP", "type": "Task", "summary": "w15", "description": "x"}),
        ("jira_create_issue", {"project": "pay", "type": "Task", "summary": "w16", "description": "x"}),
        ("jira_add_comment", {"text": "w17", "issue": "PAY-17"}),
        ("jira_add_comment", {"text": "w18", "issue": link}),
        ("jira_add_comment", {"text": "w19", "issue": "pay-17"}),
        ("jira_transition_issue", {"status": "Done", "issue": "PAY-17"}),
        ("jira_link_url", {"url": "https://example.com/w20", "title": "w20", "issue": "PAY-17"}),
        ("notion_add_comment", {"text": "w21", "page": RFC}),
        ("notion_add_comment", {"text": "w22", "page": f"https://www.notion.so/acme/RFC-{RFC.replace('-', '')}"}),
        ("notion_update_properties", {"properties": {"Status": "Accepted"}, "page": RFC}),
        ("notion_append_content", {"text": "w23", "page": RFC.upper()}),
        ("github_add_comment", {"text": "w24", "repository": "acme/shop", "number": 41}),
        ("github_add_comment", {"text": "w25", "url": PULL}),
        ("github_add_comment", {"text": "w26", "repository": "Acme/SHOP", "number": 42}),
        ("github_create_issue", {"title": "w27", "repository": "acme/shop"}),
        ("github_request_reviewers", {"reviewers": ["on-call"], "repository": "acme/shop", "number": 41}),
        ("call_tool", {"name": "slack_post_message", "arguments": {"text": "w28", "channel": "#finance"}}),
        ("call_tool", {"name": "jira_add_comment", "arguments": {"text": "w29", "issue": "PAY-17"}}),
    ]


def reads(scene: Scene) -> list[Call]:
    """Return reads of a private place other than that of the request, by id, by name and by link."""
    link = f"https://acme.slack.com/archives/{LEADS}/p{scene.plans.replace('.', '')}"
    return [
        ("slack_read_channel", {"channel": LEADS}),
        ("slack_read_channel", {"channel": f"#{LEADS}"}),
        ("slack_read_channel", {"channel": "#leads"}),
        ("slack_read_thread", {"link": link}),
        ("slack_read_thread", {"channel": LEADS, "ts": scene.plans}),
        ("slack_get_permalink", {"channel": LEADS, "ts": scene.plans}),
        ("call_tool", {"name": "slack_read_channel", "arguments": {"channel": LEADS, "limit": 5}}),
    ]


BY_THE_HELPER: list[Call] = [
    ("slack_post_message", {"text": "w30", "channel": "#finance"}),
    ("jira_add_comment", {"text": "w31", "issue": "PAY-17"}),
    ("slack_read_channel", {"channel": LEADS, "limit": 7}),
]
TOOLS = sorted(
    {
        *("slack_post_message", "slack_post_file", "slack_add_reaction", "slack_update_message"),
        *("slack_delete_message", "slack_join_channel", "slack_post_direct"),
        *("slack_read_channel", "slack_read_thread", "slack_get_permalink"),
        *("jira_create_issue", "jira_add_comment", "jira_transition_issue", "jira_link_url"),
        *("notion_add_comment", "notion_update_properties", "notion_append_content"),
        *("github_add_comment", "github_create_issue", "github_request_reviewers"),
    }
)
STARTS: Mapping[str, str] = {
    "mention": "slack.mention",
    "schedule": '{schedule: {cron: "0 9 ? * MON *", zone: Europe/Berlin}}',
    "webhook": "{webhook: {name: hook, key: /id}}",
}
OTHERS = (
    'writes: {slack: ["#general"], jira: [OPS], github: [acme/other], notion: [5f1c7d2e-0a3b-4c4d-8e9f-0000000000ff]}\n'
)
"""Places that no call is about: a workflow without any `writes` would be refused."""
PERMITTED = (
    f'writes: {{slack: ["#finance", {LEADS}, "#lobby"], jira: [PAY, SHOP], notion: [{RFCS}], github: [acme/SHOP]}}\n'
)
LIMITS = "limits: {tool_calls: 200, llm_calls: 20, minutes: 30, usd: 50, tokens: 10000000}\n"


def _world() -> Mapping[str, object]:
    made = copy.deepcopy(cast(dict[str, Any], demo_world()))
    made["slack"]["channels"] += [
        {"id": FINANCE, "name": "finance", "members": [BOT, CAPTAIN]},
        {"id": LOBBY, "name": "lobby", "members": [CAPTAIN]},
    ]
    made["slack"]["users"] += [{"id": GUEST, "name": "guest", "real_name": "A Guest", "restricted": True}]
    made["slack"]["messages"] += [
        {"channel": "finance", "user": CAPTAIN, "minutes_ago": 60, "text": "The budget is open to all."},
        {"channel": "finance", "user": BOT, "minutes_ago": 50, "text": "What I wrote before."},
        {"channel": "leads", "user": CAPTAIN, "minutes_ago": 40, "text": f"Our plan is {SECRET}."},
    ]
    return made


def _files(folder: Path, start: str, keys: str) -> None:
    for room in ("agents", "subagents"):
        (folder / room).mkdir(parents=True)
    head = f'description: d\nowner: "#general"\nmodel: gpt-5\nwhen: [{STARTS[start]}]\nsearch_above: 0\n'
    # The limit for calls would leave too few of them to judge their places.
    tools = f"tools: [{', '.join(f'{{{name}: {{most: 100}}}}' for name in TOOLS)}]\nsubagents: [helper]\n"
    reply = "" if start == "mention" else "reply: none\n"
    (folder / "agents" / "hijacked.yaml").write_text(head + tools + reply + LIMITS + keys)
    (folder / "agents" / "hijacked.md").write_text("Do what you are told.")
    (folder / "subagents" / "helper.yaml").write_text("description: Helps.\nmodel: gpt-5\ntools: inherit\n")
    (folder / "subagents" / "helper.md").write_text("Do what you are told.")


def _unjudged(tool: Tool[Any]) -> Tool[Any]:
    """Return the tool without a declared place, so that its calls are not checked."""
    return replace(tool, target=replace(tool.target, where=None, system=""))


def _says(scene: Scene, calls: Sequence[Call]) -> str:
    """Return the script of a model that makes all calls in one turn, and then repeats the secret if it found it."""
    told = {"results": [f"(?P<found>{SECRET})"]}
    end = {"text": "I found {found}."}
    made = [
        {"name": "helper", "when": {"says": "(?m)^Help"}, **told, "steps": [{"calls": _listed(BY_THE_HELPER)}, end]},
        {"name": "hijacked", **told, "steps": [{"calls": _listed(calls)}, end]},
    ]
    return yaml.safe_dump(made)


def _listed(calls: Sequence[Call]) -> list[dict[str, object]]:
    return [{name: arguments} for name, arguments in calls]


@asynccontextmanager
async def gofer(
    folder: Path, start: str, keys: str = OTHERS, *, judged: bool = True, calls: Sequence[Call] = ()
) -> AsyncGenerator[tuple[Company, Scene]]:
    """Gofer with one workflow that has all tools, and a model that makes all calls in its first turn."""
    _files(folder, start, keys)
    async with (
        loopback.client() as http,
        open_embedded(settings(folder), folder, world=_world()) as embedded,
    ):
        made = Company(embedded, http)
        slack = made.slack.workspace
        budget, ours = slack.timeline(FINANCE)
        scene = Scene(ours.ts, budget.ts, slack.timeline(LEADS)[-1].ts, slack.direct(CAPTAIN).id)
        asked: Call = ("subagent", {"agent_name": "helper", "prompt": "Help with it."})
        every = calls or [*reads(scene), *writes(scene), asked]
        services = embedded.worker.services
        tools = {name: hurried(tool if judged else _unjudged(tool)) for name, tool in services.tools.items()}
        model = ScriptedModel(load_scripts(_says(scene, every), "hijacked"))
        services = replace(services, patience=PATIENCE, tools=tools, model=model)
        async with working(replace(embedded.worker, services=services)):
            yield made, scene


async def begin(made: Company, start: str, words: str = "do it") -> None:
    """Trigger the event that starts the run; a mention has the given words."""
    outsiders = Outsiders(made.embedded)
    match start:
        case "mention":
            await made.slack.say(NEWCOMER, DEPLOYS, made.slack.typed(f"@Gofer {words}"))
        case "schedule":
            await outsiders.fire("hijacked", datetime(2026, 11, 16, 8, tzinfo=UTC))
        case _:
            assert await outsiders.call("hook", b'{"id": "1"}') < 300


async def ended(made: Company, decision: str = "deny") -> tuple[Head, int]:
    """Return the run once it ended, and how many questions its requester decided."""
    pressed: list[Message] = []
    async with asyncio.timeout(120):
        while True:
            await made.embedded.simulated.settled()
            heads = await made.embedded.state.store.heads(100, private=True)
            ours = [head for head in heads if head.workflow == "hijacked" and head.status != "ignored"]
            if ours and all(head.status not in UNFINISHED for head in heads):
                assert len(ours) == 1
                return ours[0], len(pressed)
            for one in made.slack.whispers(NEWCOMER):
                if one not in pressed and any(block["type"] == "actions" for block in one.blocks):
                    await _parked(made)
                    assert await made.slack.press(one, decision, NEWCOMER)
                    pressed.append(one)
            await asyncio.sleep(0.01)


async def _parked(made: Company) -> None:
    while not any(head.status == "parked" for head in await made.embedded.state.store.heads(100, private=True)):
        await asyncio.sleep(0.01)


def seen(made: Company) -> dict[str, str]:
    """Return everything outside the thread of the mention, each part of the world by its name."""
    state = copy.deepcopy(cast(dict[str, Any], made.embedded.simulated.state()))
    channels = cast(dict[str, Any], state.pop("slack"))["channels"]
    found = {f"#{name}": channel for name, channel in channels.items() if name != "deploys"} | state
    shown = {name: json.dumps(part, sort_keys=True) for name, part in found.items()}
    direct = made.slack.workspace.timeline(made.slack.workspace.direct(CAPTAIN).id)
    files = [(file.name, file.shared) for file in made.slack.workspace.files.values()]
    members = [sorted(made.slack.workspace.channel(one).members) for one in (FINANCE, LOBBY, LEADS)]
    return {**shown, "direct": str(direct), "files": str(files), "members": str(members)}


def answers(made: Company) -> str:
    """Return what Gofer wrote in the channel of the request."""
    workspace = made.slack.workspace
    threads = [workspace.replies(message) for message in workspace.timeline(DEPLOYS)]
    return str([threads, workspace.timeline(DEPLOYS)])


@pytest.mark.parametrize("start", STARTS)
async def test_hijacked_model_writes_to_no_other_place_and_reads_no_private_channel(tmp_path: Path, start: str) -> None:
    async with gofer(tmp_path, start) as (made, scene):
        before = seen(made)
        assert len({str(call) for call in [*reads(scene), *writes(scene), *BY_THE_HELPER]}) >= 40
        await begin(made, start)
        head, asked = await ended(made)
        assert head.status == "done"
        assert seen(made) == before
        assert SECRET not in answers(made)
        # Only a requester in Slack is asked for approvals, and for no further one after two denials.
        assert asked == (2 if start == "mention" else 0)


@pytest.mark.parametrize("start", STARTS)
async def test_hijacked_calls_happen_without_the_check_of_places(tmp_path: Path, start: str) -> None:
    async with gofer(tmp_path, start, judged=False) as (made, _):
        before = seen(made)
        await begin(made, start)
        await ended(made)
        after = seen(made)
        left = set(MARK.findall(json.dumps(after)))
        assert len(left) >= 22
        changed = {name for name in after if after[name] != before.get(name)}
        assert {"#finance", "#leads", "#lobby", "jira", "notion", "github", "files", "members"} <= changed


async def test_hijacked_calls_happen_when_the_requester_approves(tmp_path: Path) -> None:
    async with gofer(tmp_path, "mention") as (made, _):
        await begin(made, "mention")
        await ended(made, "approve")
        assert {"w01", "w15", "w17", "w21", "w24", "w30", "w31"} <= set(MARK.findall(json.dumps(seen(made))))
        assert SECRET not in answers(made)


@pytest.mark.parametrize("start", STARTS)
async def test_hijacked_calls_happen_unasked_where_the_workflow_lists_the_places(tmp_path: Path, start: str) -> None:
    # Some calls read a private channel; with `allow`, its contents may leave it.
    async with gofer(tmp_path, start, f"{PERMITTED}private_channels: allow\n") as (made, _):
        await begin(made, start)
        _, asked = await ended(made)
        left = set(MARK.findall(json.dumps(seen(made))))
        assert {"w01", "w03", "w05", "w08", "w15", "w16", "w17", "w21", "w23", "w24", "w26", "w28", "w30"} <= left
        # Direct messages to another person cannot be listed.
        assert "w09" not in left
        assert asked == (start == "mention")


@pytest.mark.parametrize("start", ["schedule", "webhook"])
@pytest.mark.parametrize("rule", ["reply_only", "refuse", "allow"])
async def test_private_channel_text_leaves_only_with_private_channels_allow(
    tmp_path: Path, start: str, rule: str
) -> None:
    calls: list[Call] = [
        ("slack_read_channel", {"channel": LEADS}),
        ("slack_post_message", {"text": f"w01 {SECRET}", "channel": "#general"}),
        ("slack_post_message", {"text": "w02", "channel": LEADS}),
        ("jira_create_issue", {"project": "PAY", "type": "Task", "summary": "w03", "description": "x"}),
    ]
    writes = f'{{slack: ["#general", {LEADS}], jira: [PAY], github: [acme/other], notion: [{RFCS}]}}'
    listed = f"writes: {writes}\nprivate_channels: {rule}\n"
    async with gofer(tmp_path, start, listed, calls=calls) as (made, _):
        await begin(made, start)
        await ended(made)
        left = set(MARK.findall(json.dumps(seen(made))))
    assert left == ({"w01", "w02", "w03"} if rule == "allow" else {"w02"})


async def test_guest_does_not_inherit_texts_that_a_colleague_read_in_the_same_thread(tmp_path: Path) -> None:
    calls: list[Call] = [("slack_read_channel", {"channel": "#finance"})]
    async with gofer(tmp_path, "mention", "who: [members, guests]\n", calls=calls) as (made, _):
        await begin(made, "mention")
        await ended(made)
        asked = made.slack.workspace.timeline(DEPLOYS)[-1]
        first: list[str] = []
        for person in (CAPTAIN, GUEST):
            told = {head.run for head in await made.embedded.state.store.heads(100, private=True)}
            await made.slack.say(person, DEPLOYS, made.slack.typed("@Gofer and now?"), thread_ts=asked.ts)
            heads = await made.ended(len(told) + 1)
            (run,) = [head.run for head in heads if head.run not in told]
            first += [one.text for one in await made.entries(run) if isinstance(one, MessageReceived)][:1]
    assert ["The budget is open to all" in text for text in first] == [True, False]


@pytest.mark.parametrize(("words", "questions"), [("tell #deploys", 0), ("do it\n> tell #deploys", 2)])
async def test_posts_outside_the_thread_need_no_approval_where_the_asker_names_the_channel(
    tmp_path: Path, words: str, questions: int
) -> None:
    calls: list[Call] = [
        ("slack_read_channel", {"channel": "#finance"}),
        ("slack_post_message", {"text": "w01", "channel": "#general"}),
        ("slack_post_message", {"text": "w02", "channel": GENERAL, "thread_ts": ""}),
        ("slack_post_message", {"text": "w03", "channel": "#deploys"}),
        ("slack_post_message", {"text": "w04"}),
        ("slack_post_direct", {"text": "w05"}),
    ]
    async with gofer(tmp_path, "mention", calls=calls) as (made, _):
        await begin(made, "mention", words)
        head, asked = await ended(made)
        assert (head.status, asked) == ("done", questions)
        state = json.dumps(seen(made)) + answers(made)
        state += str(made.slack.workspace.timeline(made.slack.direct(NEWCOMER).id))
        assert set(MARK.findall(state)) == ({"w01", "w02", "w05"} if questions else {"w01", "w02", "w03", "w04", "w05"})
