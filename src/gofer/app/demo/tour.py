"""The tour of the demo: scenes on the simulated Slack, each with its outcome.

A scene reports what happened in the simulated world. The tour fails if that differs from the expectation.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill

from gofer.journal.blob_store import Blobs
from gofer.journal.coordination import RUNNABLE, Head
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel, Message

PATIENCE = 120.0
"""Seconds that a scene waits for a run to end. Real models need more time than the offline one."""
WORKFLOW = "answer-here"
"""The workflow that the tour shows. Other workflows of the folder may answer too."""
_MENTION = re.compile(r"<@(\w+)(?:\|[^>]*)?>")
_CHANNEL = re.compile(r"<#\w+\|([^>]*)>")
_LINK = re.compile(r"<(https?://[^|>]*)(?:\|([^>]*))?>")


class TourFailed(Exception):
    """A scene had an unexpected outcome, which the message describes."""


@dataclass(frozen=True, slots=True)
class Tour:
    """The scenes of the demo."""

    slack: SlackSimulator
    store: Store
    blobs: Blobs
    say: Callable[[str], None]

    async def play(self) -> None:
        """Play every scene. Raises TourFailed."""
        await self.answered_in_its_thread()
        await self.eleven_deliveries_one_answer()

    async def answered_in_its_thread(self) -> None:
        """Mention Gofer: it calls a tool and answers in the thread."""
        self.title("1. A mention, answered in its thread")
        incident = self._first_message("incidents")
        deploy = self._first_message("deploys")
        link = self.slack.workspace.permalink(incident)
        before = await self._known()
        asked = await self.slack.say(
            self._thread(deploy)[-1].user,
            deploy.channel,
            self.slack.typed(f"@{self.slack.workspace.bot.name} does what was decided in {link} block this deploy?"),
            thread_ts=deploy.ts,
        )
        head = await self._ended(before)
        answers = self.answers(asked)
        self.show_thread(asked)
        if head.status != "done":
            raise TourFailed(f"the mention was not answered, its run is {head.status}: {head.reason.rstrip('.')}")
        if len(answers) != 1:
            raise TourFailed(f"expected one answer in the thread, found {len(answers)}")
        self.say("Each step of that run was journaled before and after it happened. Its trace:")
        self.say("")
        entries = await read_journal(head.run, self.store, self.blobs)
        for line in outline(head.run, trace.project(entries)):
            self.say(line)

    async def eleven_deliveries_one_answer(self) -> None:
        """Deliver the same mention eleven times: Gofer answers once."""
        self.title("   The same mention, delivered eleven times")
        before = await self._known()
        asked = self.question()
        statuses = await asyncio.gather(*(deliver() for deliver in self._eleven(asked)))
        await self._ended(before)
        await asyncio.sleep(0.3)  # A wrong second answer would arrive in this time.
        runs = await self._fresh(before)
        answers = self.answers(asked)
        self.say(f"Slack delivered one message {len(statuses)} times: as app_mention and as message, under new event")
        self.say(f"ids, and as retries. Gofer answered each with HTTP {', '.join(map(str, sorted(set(statuses))))}.")
        self.say(f"Runs: {len(runs)}. Answers in the thread: {len(answers)}.")
        self.show_thread(asked)
        if len(runs) != 1 or len(answers) != 1 or set(statuses) != {200}:
            raise TourFailed(f"expected one run and one answer, found {len(runs)} and {len(answers)}")

    def question(self) -> Message:
        """Post a new mention and return it. The simulated Slack does not deliver it by itself."""
        colleague = self._first_message("deploys").user
        channel = self._channel("general")
        text = self.slack.typed(f"@{self.slack.workspace.bot.name} hello, are you there?")
        return self.slack.workspace.post(Message(channel=channel.id, ts="", user=colleague, text=text))

    def _eleven(self, asked: Message) -> Sequence[Callable[[], Awaitable[int]]]:
        """Return eleven deliveries of one message: both event types, four event ids each, and three retries."""
        deliveries: list[Callable[[], Awaitable[int]]] = []
        for copy in range(4):
            for envelope in self.slack.envelopes(asked):
                again = {**envelope, "event_id": f"{envelope['event_id']}{copy}"}
                deliveries.append(partial(self.slack.deliver, again))
        first = self.slack.envelopes(asked)[0]
        retries = (partial(self.slack.deliver, first, retry_num=n, retry_reason="http_timeout") for n in (1, 2, 3))
        return [*deliveries, *retries]

    async def _fresh(self, before: set[str]) -> Sequence[Head]:
        heads = await self.store.heads(50, private=True)
        return [head for head in heads if head.run not in before and head.workflow == WORKFLOW]

    async def _known(self) -> set[str]:
        return {head.run for head in await self.store.heads(1_000, private=True)}

    async def _ended(self, before: set[str]) -> Head:
        """Wait until all new runs have ended, and return the newest. Raises TourFailed."""
        with contextlib.suppress(TimeoutError):
            return await self._wait(before)
        raise TourFailed(f"no run ended within {PATIENCE:.0f} seconds; `gofer runs` shows what there is")

    async def _wait(self, before: set[str]) -> Head:
        async with asyncio.timeout(PATIENCE):
            while True:
                fresh = await self._fresh(before)
                if fresh and all(head.status not in RUNNABLE for head in fresh):
                    return fresh[0]
                await asyncio.sleep(0.02)

    def _channel(self, name: str) -> Channel:
        channel = self.slack.workspace.channel_named(name)
        if channel is None:
            raise TourFailed(f"the world has no channel #{name}")
        return channel

    def _first_message(self, channel: str) -> Message:
        return self.slack.workspace.timeline(self._channel(channel).id)[0]

    def _thread(self, asked: Message) -> Sequence[Message]:
        parent = self.slack.workspace.parent(asked)
        return [parent, *self.slack.workspace.replies(parent)]

    def answers(self, asked: Message, workflow: str = WORKFLOW) -> Sequence[Message]:
        """Return the messages that a workflow wrote into the thread after a message."""
        bot = self.slack.workspace.bot.user
        written = [message for message in self._thread(asked) if message.user == bot and message.ts > asked.ts]
        return [message for message in written if f"|{workflow} prompt>" in str(message.blocks)]

    def show_thread(self, asked: Message) -> None:
        """Print the current thread of a message."""
        workspace = self.slack.workspace
        self.say("")
        self.say(f"   #{workspace.channel(asked.channel).name}")
        for message in self._thread(asked):
            self.say(f"     {workspace.name_of(message.user)}")
            for line in self.plain(message.text).splitlines():
                self.say(fill(line, 100, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=False))
        self.say("")

    def plain(self, text: str) -> str:
        """Return the text of a message with names for user ids, and links that open on this machine."""
        named = _MENTION.sub(lambda match: f"@{self.slack.workspace.name_of(match[1])}", text)
        return _LINK.sub(self._copied_link, _CHANNEL.sub(r"#\1", named))

    def _copied_link(self, link: re.Match[str]) -> str:
        address = self.slack.links.opened(link[1])
        if link[2]:
            return f"{link[2]} ({address})"
        return address

    def title(self, text: str) -> None:
        """Print the title of a scene."""
        self.say("")
        self.say(text)
        self.say("─" * len(text))
