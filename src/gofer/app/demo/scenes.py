"""The scenes of the demo beyond Slack: tickets, pages, schedules, pull requests, webhooks and a killed process.

Each scene acts as a person in a simulated system, waits for the resulting runs, and reports the changes there.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten

from gofer.app.demo.adopted_run import adopt_runs
from gofer.app.demo.tour import PATIENCE, WORKFLOW, Tour, TourFailed
from gofer.app.embedded.stack import EmbeddedStack
from gofer.app.embedded.state import State
from gofer.journal.coordination import UNFINISHED, Head
from gofer.sources.schedule.receiver import scheduled
from gofer.sources.webhook.proofs import standard_key, standard_signature
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError
from gofer.values.outside import HttpRequest
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.workspace import Message

_WIDTH = 96


@dataclass(frozen=True, slots=True)
class Scenes:
    """The scenes beyond Slack's own."""

    tour: Tour
    jira: JiraSimulator
    notion: NotionSimulator
    github: GitHubSimulator
    fire: Callable[[str], Awaitable[object]]
    """Starts the run of a workflow's schedule, as if it were due now."""
    call: Callable[[str, bytes], Awaitable[int]]
    """Calls a webhook by name with a signed body, and returns the HTTP status."""

    async def play(self, workflows: Collection[str]) -> None:
        """Play every scene with a workflow that is there. Raises TourFailed."""
        scenes = {
            "file-ticket": self.one_ticket_for_two_people,
            "review-rfc": self.reviewed_when_its_status_changes,
            "answer-in-jira": self.answered_in_jira,
            "weekly-digest": self.digest_at_its_time,
            "mark-merged": self.marked_when_merged,
            "new-hire-checklist": self.checklist_by_webhook,
            WORKFLOW: self.posted_after_approval,
        }
        for number, (workflow, scene) in enumerate(scenes.items(), start=2):
            if workflow in workflows:
                await scene()
            else:
                self.tour.title(f"{number}. Left out: there is no agents/{workflow}.yaml")

    async def one_ticket_for_two_people(self) -> None:
        """Let two people react to one message: one ticket, an answer, and a private message to the second person."""
        tour = self.tour
        slack = tour.slack
        tour.title("2. Two people add :jira: to one message")
        channel = slack.workspace.channel_named("general")
        about = _last(slack.workspace.timeline(channel.id) if channel else [], "refund")
        issues = set(self.jira.state())
        before = await self._known()
        people = ("U0SUPPT0", "U0CHECK0")
        for person in people:
            await slack.react(person, about.channel, about.ts, "jira")
        await self._ended("file-ticket", before, 2)
        tour.show_thread(about)
        new = sorted(set(self.jira.state()) - issues)
        self._show_issues(new)
        answers = tour.answers(about, "file-ticket")
        private = [word for person in people for word in slack.whispers(person) if "Already filed" in word.text]
        for word in private:
            tour.say(f"   Only visible to {slack.workspace.name_of(word.only_for)}: {tour.plain(word.text)}")
        if (len(new), len(answers), len(private)) != (1, 1, 1):
            found = f"{len(new)}, {len(answers)} and {len(private)}"
            raise TourFailed(f"expected one issue, one answer and one private message, found {found}")

    async def reviewed_when_its_status_changes(self) -> None:
        """Move an RFC to a status: Gofer reads it, and comments on it where it is weak."""
        tour = self.tour
        page = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
        tour.title("3. An RFC in Notion goes back to draft, and becomes ready for review")
        before = await self._known()
        self.notion.people.set_status(page, "Draft", by="Checkout Owner")
        await self._ended("review-rfc", before, 1, "ignored")
        before = await self._known()
        self.notion.people.set_status(page, "Ready for review", by="Checkout Owner")
        await self._ended("review-rfc", before, 1)
        tour.say("   Draft: nothing to do. Ready for review: read, and commented on.")
        comments = as_list(as_object(self.notion.state()[page]).get("comments"))
        for comment in comments:
            tour.say(f"   Comment: {shorten(as_text(as_object(comment).get('text')), _WIDTH)}")
        if len(comments) != 3:
            raise TourFailed(f"expected two comments on paragraphs and one on the page, found {len(comments)}")

    async def answered_in_jira(self) -> None:
        """Let a person ask in a comment on an issue. Gofer answers there."""
        self.tour.title("4. A question in a comment on a Jira issue")
        issue = self.jira.site.find("PAY-17")
        if issue is None:
            raise TourFailed("the world has no issue PAY-17")
        before = await self._known()
        self.jira.people.comment("712020:support", issue, "@gofer may this go out today?")
        await self._ended("answer-in-jira", before, 1)
        self._show_comments("PAY-17")

    async def digest_at_its_time(self) -> None:
        """Let a schedule become due: Gofer posts a digest of the week."""
        tour = self.tour
        tour.title("5. The time of a schedule has come")
        general = tour.slack.workspace.channel_named("general")
        said = len(tour.slack.workspace.timeline(general.id)) if general else 0
        before = await self._known()
        await self.fire("weekly-digest")
        await self._ended("weekly-digest", before, 1)
        new = tour.slack.workspace.timeline(general.id)[said:] if general else []
        if len(new) != 1:
            raise TourFailed(f"expected one message in #general, found {len(new)}")
        tour.show_thread(new[0])

    async def marked_when_merged(self) -> None:
        """Merge a pull request: a script marks its message with an emoji, without a model."""
        tour = self.tour
        workspace = tour.slack.workspace
        tour.title("6. A pull request is merged; plain code marks the message that posted it")
        channel = workspace.channel_named("pull-requests")
        posted = _last(workspace.timeline(channel.id) if channel else [], "pull/41")
        before = await self._known()
        self.github.people.merge(self.github.issue("acme/shop", 41), "checkout-owner")
        (head,) = await self._ended("mark-merged", before, 1)
        now = workspace.message(posted.channel, posted.ts)
        reactions = ", ".join(f":{name}:" for name in now.reactions) or "none"
        tour.say(f"   #pull-requests: {shorten(now.text, _WIDTH)}")
        tour.say(f"   Reactions: {reactions}. Run {head.run[:8]} asked no model.")
        if "merged" not in now.reactions:
            raise TourFailed("the message was not marked")

    async def checklist_by_webhook(self) -> None:
        """Let another system call a webhook: Gofer creates tickets and notifies people."""
        self.tour.title("7. The HR system calls a webhook")
        issues = set(self.jira.state())
        before = await self._known()
        hire = {"id": f"hire-{len(before)}-{self.tour.slack.workspace.next_ts()}", "name": "Payments Engineer"}
        body = json.dumps({**hire, "role": "engineer", "team": "Payments", "start": "2026-12-01"}).encode()
        status = await self.call("new-hire", body)
        again = await self.call("new-hire", body)
        await self._ended("new-hire-checklist", before, 1)
        new = sorted(set(self.jira.state()) - issues)
        self.tour.say(f"   Called twice with the same id, answered with HTTP {status} and {again}; one run.")
        self._show_issues(new)
        if len(new) != 2:
            raise TourFailed(f"expected two issues, found {len(new)}")

    async def posted_after_approval(self) -> None:
        """Ask for a post in another channel: Gofer posts it only after a lead pressed the button."""
        tour = self.tour
        slack = tour.slack
        tour.title("8. A message to all waits until a lead approves it")
        deploys = slack.workspace.channel_named("deploys")
        general = slack.workspace.channel_named("general")
        if deploys is None or general is None:
            raise TourFailed("the world has no channels #deploys and #general")
        said = len(slack.workspace.timeline(general.id))
        before = await self._known()
        words = f"@{slack.workspace.bot.name} announce in #general: The search filters go out at 15:00"
        asked = await slack.say("U0NEWCO0", deploys.id, slack.typed(words))
        question = await self._question(asked)
        tour.show_thread(asked)
        lead = "U0CAPTN0"
        await slack.press(question, "approve", lead)
        await self._ended(WORKFLOW, before, 1)
        tour.say(f"   {slack.workspace.name_of(lead)}, one of @leads, presses Approve:")
        tour.show_thread(asked)
        new = slack.workspace.timeline(general.id)[said:]
        if len(new) != 1:
            raise TourFailed(f"expected one message in #general after the approval, found {len(new)}")
        tour.show_thread(new[0])

    async def _question(self, asked: Message) -> Message:
        """Wait until a run asks for an approval in the thread of a message, and return its question."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    for message in self.tour.slack.workspace.replies(asked):
                        if any(block.get("type") == "actions" for block in message.blocks):
                            return message
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise TourFailed(f"no approval was asked for within {PATIENCE:.0f} seconds") from None

    async def _known(self) -> set[str]:
        return {head.run for head in await self.tour.store.heads(1_000, private=True)}

    async def _ended(self, workflow: str, before: set[str], runs: int, status: str = "done") -> Sequence[Head]:
        """Wait for new runs of a workflow to end, and return them.

        Raises TourFailed unless exactly `runs` of them end in `status`.
        """
        fresh: list[Head] = []
        try:
            async with asyncio.timeout(PATIENCE):
                while len(fresh) < runs or any(head.status in UNFINISHED for head in fresh):
                    await asyncio.sleep(0.02)
                    heads = await self.tour.store.heads(1_000, private=True)
                    fresh = [head for head in heads if head.run not in before and head.workflow == workflow]
        except TimeoutError:
            raise TourFailed(f"{workflow} did not end within {PATIENCE:.0f} seconds") from None
        if bad := [head for head in fresh if head.status != status]:
            raise TourFailed(f"a run of {workflow} is {bad[0].status}: {bad[0].reason.rstrip('.')}")
        if len(fresh) != runs:
            raise TourFailed(f"expected {runs} runs of {workflow}, found {len(fresh)}")
        return fresh

    def _show_issues(self, keys: Sequence[str]) -> None:
        for key in keys:
            issue = as_object(self.jira.state()[key])
            self.tour.say(f"   Jira  {key}  {issue.get('type')}: {issue.get('summary')}")

    def _show_comments(self, key: str) -> None:
        comments = as_list(as_object(self.jira.state().get(key)).get("comments"))
        for comment in map(as_object, comments[-2:]):
            name = self.jira.site.users[as_text(comment.get("author"))].name
            self.tour.say(f"   {key}  {name}: {shorten(as_text(comment.get('body')), _WIDTH)}")


def _last(messages: Sequence[Message], words: str) -> Message:
    for message in reversed(messages):
        if words in message.text:
            return message
    raise TourFailed(f"the world has no message about {words!r}")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another Gofer on this machine, with its own state and the same Slack and model."""

    environment: Mapping[str, str]
    data: Path
    root: Path
    """The folder with `agents/`."""

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Start a `gofer` process and return it."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gofer", *words),
            cwd=self.root,
            env={**self.environment, "GOFER_DATA": str(self.data)},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    async def finish(self, *words: str) -> None:
        """Run a `gofer` process to its end. Raises TourFailed with its output if the exit code is not 0."""
        process = await self.start(*words)
        async with asyncio.timeout(PATIENCE):
            _, errors = await process.communicate()
        if process.returncode:
            raise TourFailed(f"`gofer {words[0]}` failed: {errors.decode(errors='replace').strip()}")


async def killed_between_a_call_and_its_outcome(
    tour: Tour, environment: Mapping[str, str], root: Path, state: State
) -> None:
    """Kill a process after Slack got its message and before Slack's answer; the next process leaves one answer.

    `root` is the folder with `agents/`. `state` is this process's own state, into which the run is copied in the end.
    """
    tour.title("9. Killed between a tool call and its outcome")
    asked = tour.question()
    held = tour.slack.hold_next("chat.postMessage")
    with TemporaryDirectory(prefix="gofer-") as folder:
        elsewhere = Elsewhere(environment, Path(folder) / "state", root)
        event = Path(folder) / "event.json"
        event.write_text(json.dumps(tour.slack.envelopes(asked)[0]))
        process = await elsewhere.start("run", WORKFLOW, "--event", str(event), "--live-tools")
        async with asyncio.timeout(PATIENCE):
            await held.wait()
        process.kill()
        await process.wait()
        tour.say("Another Gofer process posted to Slack and was killed (SIGKILL) before Slack's answer reached it:")
        tour.show_thread(asked)
        tour.say("A new process finds the call without an outcome in the journal. It waits until a late message would")
        tour.say("be there, looks for its own mark in the thread, finds it, and goes on from there:")
        await elsewhere.finish("sweep")
        await adopt_runs(elsewhere.data, state)
    _one_answer(tour, asked)


def _one_answer(tour: Tour, asked: Message) -> None:
    tour.show_thread(asked)
    answers = tour.answers(asked)
    tour.say(f"Answers in the thread: {len(answers)}.")
    if len(answers) != 1 or answers[0].edited_ts is None:
        raise TourFailed(f"expected one finished answer, found {len(answers)}")


@dataclass(frozen=True, slots=True)
class Outsiders:
    """The triggers of the demo that are neither people nor simulated systems: schedules and webhooks."""

    embedded: EmbeddedStack

    async def fire(self, workflow: str, nominal: datetime | None = None) -> str:
        """Start the run of a workflow's schedule for `nominal`, an aware time, or for now.

        Raises ConfigError if the workflow has no schedule.
        """
        nominal = nominal or datetime.fromtimestamp(self.embedded.worker.services.outside.clock.now(), UTC)
        for plan in self.embedded.scheduler.plans:
            if plan.workflow == workflow:
                return await self.embedded.ingress.start(scheduled(workflow, plan.schedule, nominal), workflow)
        raise ConfigError(f"agents/{workflow}.yaml has no schedule, or is missing.")

    async def call(self, hook: str, body: bytes) -> int:
        """Call a webhook over HTTP with a signature of Standard Webhooks, and return the status.

        Raises TemporaryError.
        """
        services = self.embedded.worker.services
        settings = self.embedded.settings
        (secret, *_) = settings.webhook_secrets[""]
        delivery = services.outside.new_id()
        at = str(int(services.outside.clock.now()))
        signature = standard_signature(standard_key(secret), delivery, at, body)
        headers = {"webhook-id": delivery, "webhook-timestamp": at, "webhook-signature": signature}
        request = HttpRequest("POST", f"{self.embedded.url}/hooks/{hook}", headers, body)
        return (await services.outside.http.send(request)).status
