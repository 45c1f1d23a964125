"""Every condition of every trigger, with events that match and events that do not."""

import copy
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gofer.sources.triggers import TRIGGER_KINDS
from gofer_simulators.demo import demo_world
from gofer_simulators.jira.people import NewIssue
from support.app.company import Company
from support.app.one_workflow import CAPTAIN, DEPLOYS, GENERAL, ONCALL
from support.app.shipped_workflows import BOT, SUPPORT, github, jira, notion

Act = Callable[["Scene"], Awaitable[object]]
GOFER, COLLEAGUE = f"<@{BOT}>", "712020:support"
OWNER = "checkout-owner"
EDITOR = "Checkout Owner"
ELSEWHERE: Mapping[str, str] = {
    "webhook.auth": "says how a caller proves itself; tests/unit/sources/webhook/test_receiver.py",
    "webhook.fields": "says what a run gets of the body; tests/unit/sources/webhook/test_receiver.py",
    "webhook.key": "says what tells one call from another; tests/unit/sources/webhook/test_receiver.py",
    "webhook.private": "says who sees the runs; tests/unit/sources/webhook/test_receiver.py",
    "schedule.missed": "says what becomes of missed times; tests/unit/runtime/test_scheduler.py",
}
"""Keys of triggers that are no conditions: they do not decide whether an event starts the workflow."""


@dataclass
class Scene:
    """A company, with the webhook calls and schedule times that no simulated system produces."""

    made: Company
    call: Callable[[str], Awaitable[None]]
    """Calls the webhook of a name."""
    fire_schedule: Callable[[str], Awaitable[None]]
    """A time comes, written as ISO 8601."""
    follow: Callable[[Mapping[str, object]], Awaitable[None]]
    """Feedback on a run arrives, or its review, as a payload describes it."""
    kept: list[Any] = field(default_factory=list)
    """What an act leaves to the next one."""


@dataclass(frozen=True)
class Row:
    """One condition; `other` is played with `other_trigger` where the workflow file differs instead of the event."""

    kind: str
    condition: str
    trigger: Mapping[str, object]
    matching: Sequence[Act]
    """Acts of which the last one starts the workflow."""
    other: Sequence[Act]
    """Acts of which the last one does not."""
    other_trigger: Mapping[str, object] | None = None

    @property
    def name(self) -> str:
        return f"{self.kind}.{self.condition}" if self.condition else self.kind


def documented() -> set[str]:
    """Return the conditions of workflow files from their models; a trigger without conditions by its kind."""
    named = set[str]()
    for kind in TRIGGER_KINDS:
        conditions = kind.form.model_fields
        named |= {f"{kind.name}.{one.alias or condition}" for condition, one in conditions.items()} or {kind.name}
    return named


def world() -> Mapping[str, Any]:
    """Return the demo's company with a second database, whose pages have two statuses, and a second repository."""
    made: dict[str, Any] = copy.deepcopy(dict(demo_world()))
    steps = ["Draft", "Ready", "Done"]
    statuses = {name: {"type": "status", "options": steps} for name in ("Status", "Stage")}
    notes = {
        "id": "5f1c7d2e-0a3b-4c4d-8e9f-00000000aaaa",
        "name": "Notes",
        "properties": {"Name": "title", **statuses},
        "pages": [
            {
                "id": "5f1c7d2e-0a3b-4c4d-8e9f-00000000bbbb",
                "title": "A note",
                "properties": {"Status": "Draft", "Stage": "Draft"},
                "created_by": EDITOR,
                "blocks": [],
            }
        ],
    }
    made["notion"]["databases"].append(notes)
    made["github"]["repositories"].append({"full_name": "acme/app", "files": {"a.py": "a = 1\n"}})
    return made


# Acts in Slack.


def say(text: str, channel: str = DEPLOYS) -> Act:
    async def act(scene: Scene) -> None:
        scene.kept = [await scene.made.slack.say(CAPTAIN, channel, text)]

    return act


def reply(text: str) -> Act:
    """Return an act: a reply to the kept message, or to the first one in #deploys."""

    async def act(scene: Scene) -> None:
        slack = scene.made.slack
        parent = scene.kept[0] if scene.kept else slack.workspace.timeline(DEPLOYS)[0]
        await slack.say(ONCALL, parent.channel, text, thread_ts=parent.ts)

    return act


async def say_directly(scene: Scene) -> None:
    await scene.made.slack.say(CAPTAIN, scene.made.slack.direct(CAPTAIN).id, "hello")


def react(emoji: str, channel: str = DEPLOYS) -> Act:
    async def act(scene: Scene) -> None:
        said = await scene.made.slack.say(CAPTAIN, channel, "something new")
        await scene.made.slack.react(SUPPORT, channel, said.ts, emoji)

    return act


def create_channel(name: str) -> Act:
    async def act(scene: Scene) -> None:
        await scene.made.slack.create_channel(CAPTAIN, f"{name}{len(scene.made.slack.workspace.channels)}")

    return act


def invite(name: str) -> Act:
    """Return an act: a new channel, to which Gofer is invited."""

    async def act(scene: Scene) -> None:
        slack = scene.made.slack
        channel = await slack.create_channel(CAPTAIN, f"{name}{len(slack.workspace.channels)}")
        scene.kept = [await slack.join(BOT, channel.id, inviter=CAPTAIN)]

    return act


async def join(scene: Scene) -> None:
    await scene.made.slack.join(ONCALL, scene.kept[0].id)


# Acts in Jira, Notion and GitHub.


def issue(project: str = "PAY", type_: str = "Bug", *labels: str) -> Act:
    async def act(scene: Scene) -> None:
        new = NewIssue(project, type_, "Something is wrong", labels=labels)
        scene.kept = [jira(scene.made).people.create(COLLEAGUE, new)]

    return act


def change(**changes: object) -> Act:
    async def act(scene: Scene) -> None:
        people = jira(scene.made).people
        scene.kept = [people.edit(COLLEAGUE, scene.kept[0], **changes)]

    return act


def comment(text: str = "Is it done?") -> Act:
    async def act(scene: Scene) -> None:
        jira(scene.made).people.comment(COLLEAGUE, scene.kept[0], text)

    return act


async def attach(scene: Scene) -> None:
    jira(scene.made).people.attach(COLLEAGUE, scene.kept[0], "export.log", b"x", "text/plain")


def page(database: str = "Notes", **values: object) -> Act:
    async def act(scene: Scene) -> None:
        scene.kept = [notion(scene.made).people.create_page(database, "New", by=EDITOR, values=values)]

    return act


def set_values(**values: object) -> Act:
    async def act(scene: Scene) -> None:
        notion(scene.made).people.set_values(scene.kept[0].id, values, by=EDITOR)

    return act


async def write(scene: Scene) -> None:
    notion(scene.made).people.write(scene.kept[0].id, "More.", by=EDITOR)


async def discuss(scene: Scene) -> None:
    notion(scene.made).people.comment(scene.kept[0].id, "Is it done?", by=EDITOR)


def pull(repository: str = "acme/shop", base: str = "", *labels: str) -> Act:
    async def act(scene: Scene) -> None:
        number = len(github(scene.made).state()["repositories"][repository]["pulls"])  # type: ignore[index, call-overload]
        files = {f"new{number}.py": "b = 2\n"}
        opened = github(scene.made).people.open_pull(
            repository, OWNER, "Add b", files, head=f"more{number}", base=base, labels=labels
        )
        scene.kept = [opened]

    return act


def report(repository: str = "acme/shop", *labels: str) -> Act:
    async def act(scene: Scene) -> None:
        scene.kept = [github(scene.made).people.open_issue(repository, OWNER, "It fails", labels=labels)]

    return act


def on_it(method: str, *arguments: object) -> Act:
    """Return an act on an issue or a pull request, by its name in the simulator."""

    async def act(scene: Scene) -> None:
        getattr(github(scene.made).people, method)(scene.kept[0], OWNER, *arguments)

    return act


def push(repository: str = "acme/shop", branch: str = "main") -> Act:
    async def act(scene: Scene) -> None:
        github(scene.made).people.push(repository, OWNER, "Go on", {"c.py": f"c = {len(scene.kept)}\n"}, branch)
        scene.kept.append(branch)

    return act


def call(name: str) -> Act:
    async def act(scene: Scene) -> None:
        await scene.call(name)

    return act


def fire_schedule(time: str) -> Act:
    async def act(scene: Scene) -> None:
        await scene.fire_schedule(time)

    return act


def follow(workflow: str = "answer-here", **described: object) -> Act:
    async def act(scene: Scene) -> None:
        await scene.follow({"run": "run1", "workflow": workflow, **described})

    return act


MENTION = say(f"{GOFER} hello")
NOTES = {"database": "Notes"}
ANY = {"channels": "any"}


def rows() -> Sequence[Row]:
    """Return the table of all conditions."""
    return [*_slack(), *_jira(), *_notion(), *_github(), *_other(), *_runs()]


def _slack() -> Sequence[Row]:
    elsewhere = say(f"{GOFER} hello", GENERAL)
    deploys = {"channels": "#deploys"}
    return [
        Row("slack.mention", "channels", deploys, [MENTION], [elsewhere]),
        Row("slack.mention", "follow_ups", {"follow_ups": True}, [MENTION, reply("and now?")], [reply("and now?")]),
        Row("slack.message", "channels", {"channels": "#dep*"}, [say("hello")], [say("hello", GENERAL)]),
        Row("slack.message", "mention", {**ANY, "mention": True}, [MENTION], [say("hello")]),
        Row("slack.message", "mention", {**ANY, "mention": False}, [say("hello")], [MENTION]),
        Row("slack.message", "replies", {**ANY, "replies": False}, [say("hello")], [reply("hello")]),
        Row("slack.message", "replies", {**ANY, "replies": True}, [reply("hello")], [reply("hello")], {**ANY}),
        Row("slack.message", "says", {**ANY, "says": "*is down*"}, [say("It IS DOWN again")], [say("all is well")]),
        Row(
            "slack.message",
            "says",
            {**ANY, "says": "*R&D <*"},
            [say("ask R&amp;D &lt;now&gt;")],
            [say("ask R&amp;amp;D &lt;")],
        ),
        Row("slack.direct", "", {}, [say_directly], [MENTION]),
        Row("slack.reaction", "emoji", {"emoji": "jira"}, [react("jira")], [react("eyes")]),
        Row("slack.reaction", "channels", {"emoji": "jira", **deploys}, [react("jira")], [react("jira", GENERAL)]),
        Row("slack.channel_created", "name", {"name": "proj-*"}, [create_channel("proj-")], [create_channel("lunch")]),
        Row("slack.member_joined", "channels", {"channels": "team-*"}, [invite("team-"), join], [invite("fun"), join]),
        Row("slack.member_joined", "member", {"member": "gofer"}, [invite("team-")], [invite("team-"), join]),
    ]


def _jira() -> Sequence[Row]:
    found: list[Row] = []
    about: Mapping[str, tuple[Act, Act]] = {
        "project": (issue("PAY"), issue("OPS")),
        "type": (issue("PAY", "Bug"), issue("PAY", "Task")),
        "label": (issue("PAY", "Bug", "urgent"), issue("PAY", "Bug", "later")),
    }
    wanted = {"project": "PAY", "type": "bug", "label": "urgent"}
    acts: Mapping[str, list[Act]] = {
        "jira.issue_created": [],
        "jira.issue_updated": [change(summary="Else")],
        "jira.commented": [comment()],
        "jira.attachment_added": [attach],
    }
    for kind, then in acts.items():
        for condition, (right, wrong) in about.items():
            found.append(Row(kind, condition, {condition: wanted[condition]}, [right, *then], [wrong, *then]))
    updated, to_progress = "jira.issue_updated", change(status="In Progress")
    back = change(status="To Do")
    return [
        *found,
        Row(updated, "field", {"field": "status"}, [issue(), to_progress], [issue(), change(summary="Else")]),
        Row(updated, "from", {"from": "To Do"}, [issue(), to_progress], [issue(), to_progress, back]),
        Row(updated, "to", {"to": "In Progress"}, [issue(), to_progress], [issue(), to_progress, back]),
        Row("jira.commented", "says", {"says": "*@gofer*"}, [issue(), comment("@gofer go")], [issue(), comment()]),
    ]


def _notion() -> Sequence[Row]:
    rfc, note = page("RFCs"), page()
    set_done = set_values(Status="Done")
    status = "notion.status"
    ready = set_values(Status="Ready")
    return [
        Row("notion.page_created", "database", NOTES, [note], [rfc]),
        Row("notion.properties_updated", "database", NOTES, [note, ready], [rfc, set_values(Status="Accepted")]),
        Row("notion.content_updated", "database", NOTES, [note, write], [rfc, write]),
        Row("notion.commented", "database", NOTES, [note, discuss], [rfc, discuss]),
        Row(status, "database", NOTES, [note, ready], [rfc, set_values(Status="Accepted")]),
        Row(status, "property", {**NOTES, "property": "Stage"}, [note, set_values(Stage="Ready")], [note, ready]),
        Row(status, "from", {**NOTES, "from": "Ready"}, [note, ready, set_done], [note, set_done, ready]),
        Row(status, "to", {**NOTES, "to": "Ready"}, [note, ready], [note, set_done]),
    ]


def _github() -> Sequence[Row]:
    found: list[Row] = []
    acts: Mapping[str, tuple[Callable[..., Act], list[Act], str]] = {
        "github.pull_request": (lambda repository, *labels: pull(repository, "", *labels), [], "opened"),
        "github.issue": (report, [], "opened"),
        "github.comment": (report, [on_it("comment", "Since when?")], "created"),
        "github.review": (
            lambda repository, *labels: pull(repository, "", *labels),
            [on_it("review", "APPROVED", "Fine.")],
            "submitted",
        ),
    }
    for kind, (begin, then, action) in acts.items():
        shop = begin("acme/shop")
        found += [
            Row(kind, "repository", {"repository": "acme/shop"}, [shop, *then], [begin("acme/app"), *then]),
            Row(kind, "action", {"action": action}, [shop, *then], [shop, *then], {"action": "deleted"}),
            Row(kind, "label", {"label": "bug"}, [begin("acme/shop", "bug"), *then], [shop, *then]),
        ]
    release = pull("acme/shop", "release")
    merge = on_it("merge")
    return [
        *found,
        Row("github.pull_request", "action", {"action": "merged"}, [pull(), merge], [pull(), on_it("close")]),
        Row("github.pull_request", "base", {"base": "rel*"}, [push(branch="release"), release], [pull()]),
        Row(
            "github.comment",
            "says",
            {"says": "*@gofer*"},
            [report(), on_it("comment", "@gofer since when?")],
            [report(), on_it("comment", "Since when?")],
        ),
        Row("github.push", "repository", {"repository": "acme/s*"}, [push()], [push("acme/app")]),
        Row("github.push", "branch", {"branch": ["main"]}, [push()], [push(branch="else")]),
    ]


def _other() -> Sequence[Row]:
    bearer = {"auth": "bearer"}
    monday, tuesday = "2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"
    cron = {"cron": "0 8 ? * MON *"}
    berlin = {"cron": "0 9 ? * MON *", "zone": "Europe/Berlin"}
    fortnight = {"every": "14 days", "first": "2026-11-09T08:00"}
    return [
        Row("webhook", "name", {"name": "right", **bearer}, [call("right")], [call("wrong")]),
        Row("schedule", "cron", cron, [fire_schedule(monday)], [fire_schedule(tuesday)]),
        Row(
            "schedule", "every", {"every": "7 days"}, [fire_schedule("2026-11-19T00:00:00Z")], [fire_schedule(tuesday)]
        ),
        Row("schedule", "first", fortnight, [fire_schedule(monday)], [fire_schedule("2026-11-16T08:00:00Z")]),
        Row("schedule", "at", {"at": "2026-11-23T08:00"}, [fire_schedule(monday)], [fire_schedule(tuesday)]),
        Row("schedule", "zone", berlin, [fire_schedule(monday)], [fire_schedule("2026-11-23T09:00:00Z")]),
    ]


def _runs() -> Sequence[Row]:
    bad, good = {"verdict": "bad"}, {"verdict": "good"}
    yes, no = {"effective": True}, {"effective": False}
    answers = {"workflows": ["answer-*"]}
    return [
        Row("runs.feedback", "verdict", bad, [follow(feedback=bad)], [follow(feedback=good)]),
        Row("runs.feedback", "workflows", answers, [follow(feedback=bad)], [follow("file-ticket", feedback=bad)]),
        Row("runs.review", "effective", no, [follow(review=no)], [follow(review=yes)]),
        Row("runs.review", "workflows", answers, [follow(review=yes)], [follow("file-ticket", review=yes)]),
    ]


def written(row: Row, trigger: Mapping[str, object]) -> str:
    """Return the lines of a workflow file with one trigger; JSON is YAML."""
    return f"when: [{json.dumps({row.kind: trigger})}]\nreply: none\n"
