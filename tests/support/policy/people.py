"""The people and systems of the benchmark: what they write before a run, and the event that starts it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gofer.app.demo.scenes import Outsiders
from gofer.values.outside import HttpRequest
from gofer_simulators.notion.blocks import Block
from gofer_simulators.notion.rich_text import cut
from gofer_simulators.slack.workspace import Message
from support.app.company import Company
from support.app.shipped_workflows import github, jira, notion
from support.policy.internet import Internet
from support.policy.scenario import Act

PAGES: Mapping[str, str] = {
    "HANDBOOK": "5f1c7d2e-0a3b-4c4d-8e9f-0000000000a1",
    "INBOX": "5f1c7d2e-0a3b-4c4d-8e9f-0000000000a2",
    "SALARIES": "5f1c7d2e-0a3b-4c4d-8e9f-0000000000e1",
    "RFC": "5f1c7d2e-0a3b-4c4d-8e9f-000000000012",
}
_MONDAY = datetime(2026, 11, 16, 8, tzinfo=UTC)


@dataclass
class People:
    """People who act in a company. The place of the last act is the place of the request."""

    made: Company
    internet: Internet
    ended: Callable[[], Awaitable[None]]
    """Waits until all runs ended."""
    place: str = ""
    person: str = "U0CAPTN0"
    """The id of the person in Slack who acted last."""
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    """Messages by the name that their act gave them."""

    async def act(self, act: Act, order: str) -> None:
        """Let a person or a system act; `{do}` in a text becomes the order."""
        for name, arguments in act.items():
            # "replace" instead of "format", because texts have other braces.
            written = json.loads(json.dumps(dict(arguments)).replace("{do}", order))
            await getattr(self, name)(**self._named(written))

    def facts(self) -> dict[str, str]:
        """Return facts that an attacker knows: ids of pages, and `ts` and link of messages."""
        workspace = self.made.slack.workspace
        found = {**PAGES, "WORDS": "Nothing new in the build. " * 120}
        for name, message in self.messages.items():
            found |= {f"TS_{name.upper()}": message.ts, f"LINK_{name.upper()}": workspace.permalink(message)}
        ours = [one for one in workspace.all_messages() if one.user == workspace.bot.user]
        for one in [*ours, *workspace.whispers]:
            kind = "CARD" if any(block.get("type") == "actions" for block in one.blocks) else "OURS"
            found |= {kind: one.ts, f"{kind}_CHANNEL": one.channel}
        return found

    def _named(self, value: Any) -> Any:
        """Return arguments with facts for their names."""
        text = json.dumps(value)
        for name, fact in self.facts().items():
            text = text.replace(f"{{{name}}}", fact)
        return json.loads(text)

    def _user(self, name: str) -> str:
        self.person = next(key for key, user in self.made.slack.workspace.users.items() if user.name == name)
        return self.person

    def _channel(self, name: str) -> str:
        found = self.made.slack.workspace.channel_named(name)
        assert found is not None
        return found.id

    def _keep(self, message: Message, name: str) -> None:
        self.messages[name] = message
        workspace = self.made.slack.workspace
        self.place = f"#{workspace.channels[message.channel].name}/{workspace.parent(message).ts}"

    async def say(self, by: str, at: str, text: str, *, under: str = "", name: str = "request") -> None:
        """Write a message in a channel, `under` an earlier one to reply."""
        thread = self.messages[under].ts if under else None
        slack = self.made.slack
        self._keep(await slack.say(self._user(by), self._channel(at), slack.typed(text), thread_ts=thread), name)

    async def post(self, at: str, text: str, *, name: str = "post") -> None:
        """Write a message as Gofer's own user, as an earlier run did."""
        slack = self.made.slack
        bot = slack.workspace.bot
        self._keep(slack.workspace.post(Message(self._channel(at), "", bot.user, text, bot_id=bot.bot_id)), name)

    async def direct(self, by: str, text: str) -> None:
        """Write to Gofer directly."""
        slack = self.made.slack
        user = self._user(by)
        self.messages["request"] = await slack.say(user, slack.direct(user).id, slack.typed(text))
        self.place = f"@{by}"

    async def forward(self, by: str, at: str, message: str, text: str) -> None:
        """Forward a message with words of one's own."""
        slack = self.made.slack
        sent = await slack.forward(self._user(by), self._channel(at), self.messages[message], slack.typed(text))
        self._keep(sent, "request")

    async def upload(self, by: str, at: str, text: str, file: str, content: str) -> None:
        """Share a file with words of one's own."""
        slack = self.made.slack
        words = slack.typed(text)
        self._keep(await slack.upload(self._user(by), self._channel(at), file, content.encode(), words), "request")

    async def react(self, by: str, message: str, emoji: str) -> None:
        """Add an emoji to a message."""
        about = self.messages[message]
        self._keep(about, "request")
        await self.made.slack.react(self._user(by), about.channel, about.ts, emoji)

    async def write_page(self, page: str, text: str, *, by: str = "Checkout Owner") -> None:
        """Add a paragraph to a page."""
        workspace = notion(self.made).workspace
        workspace.pages[page].blocks.append(Block(workspace.new_id(), "paragraph", cut(text)))

    async def set_status(self, page: str, status: str) -> None:
        """Set the status of a page."""
        self.place = f"notion/{page}"
        notion(self.made).people.set_status(page, status, by="Checkout Owner")

    async def comment_in_jira(self, by: str, issue: str, text: str) -> None:
        """Comment on an issue of Jira."""
        self.place = f"jira/{issue}"
        jira(self.made).people.comment(by, jira(self.made).site.issue(issue), text)

    async def describe(self, by: str, issue: str, text: str) -> None:
        """Write the description of an issue of Jira."""
        from_text = {"type": "doc", "version": 1}
        paragraph = {"type": "paragraph", "content": [{"type": "text", "text": text}]}
        site = jira(self.made)
        site.people.edit(by, site.site.issue(issue), description={**from_text, "content": [paragraph]})

    async def comment_in_github(self, by: str, repository: str, number: int, text: str) -> None:
        """Comment on an issue or a pull request of GitHub."""
        self.place = f"github/{repository}#{number}"
        system = github(self.made)
        system.people.comment(system.issue(repository, number), by, text)

    async def open_issue(self, by: str, repository: str, title: str, text: str) -> None:
        """Open an issue in GitHub."""
        opened = github(self.made).people.open_issue(repository, by, title, text)
        self.place = f"github/{repository}#{opened.number}"

    async def open_pull(self, by: str, repository: str, title: str, text: str, file: str = "README.md") -> None:
        """Open a pull request."""
        people = github(self.made).people
        opened = people.open_pull(repository, by, title, {file: "changed\n"}, body=text, head=f"{by}-change")
        self.place = f"github/{repository}#{opened.number}"

    async def call(self, hook: str, body: Mapping[str, object], *, signed: bool = True) -> None:
        """Call a webhook."""
        content = json.dumps(body).encode()
        if signed:
            assert await Outsiders(self.made.embedded).call(hook, content) < 300
            return
        http = self.made.embedded.worker.services.outside.http
        answer = await http.send(HttpRequest("POST", f"{self.made.embedded.url}/hooks/{hook}", {}, content))
        assert answer.status == 401

    async def fire(self, workflow: str) -> None:
        """Let the time of a schedule come."""
        await Outsiders(self.made.embedded).fire(workflow, _MONDAY)

    async def wait(self) -> None:
        """Wait until all runs ended."""
        await self.ended()

    async def wait_for_a_question(self) -> None:
        """Wait until a run asks a person."""
        async with asyncio.timeout(60):
            while "CARD" not in self.facts():
                await asyncio.sleep(0.01)

    async def publish(self, path: str, text: str) -> None:
        """Put a page on the web."""
        self.internet.pages = {**self.internet.pages, path: text}
