"""The world as a list of things that people see, each with its place: messages, issues, comments, pages, files."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gofer_simulators.slack.workspace import Message, Workspace
from support.app.company import Company
from support.app.shipped_workflows import github, jira, notion
from support.policy.live_text import of_document, of_markdown, of_rich_text, of_slack

ALONE = "@alone/"
"""The place of a message in a channel that one person sees, before their name."""


@dataclass(frozen=True)
class Item:
    """A thing that people see."""

    place: str
    """Such as `#eng/1763.0001` for a thread, `@analyst`, `jira/PAY-17`, `github/acme/shop#41`, `notion/<id>`."""
    content: str
    """Everything that it holds, as JSON."""
    live: str = ""
    """What is live of its text."""


def snapshot(made: Company) -> Mapping[str, Item]:
    """Return all things by their keys."""
    return {key: item for part in (_slack(made), _jira(made), _notion(made), _github(made)) for key, item in part}


def key_of(message: Message) -> str:
    """Return the key of a message of Slack."""
    return f"slack/{message.channel}/{message.ts}"


def message_item(workspace: Workspace, message: Message) -> Item:
    """Return a message of Slack as people see it."""
    shown = {"text": message.text, "blocks": message.blocks, "reactions": message.reactions}
    content = _json({**shown, "by": message.user, "extra": message.extra})
    return Item(_thread(workspace, message), content, of_slack(message.text, message.blocks))


def _slack(made: Company) -> Iterator[tuple[str, Item]]:
    workspace = made.slack.workspace
    for message in [*workspace.all_messages(), *workspace.whispers]:
        yield key_of(message), message_item(workspace, message)
    for file in workspace.files.values():
        content = _json([file.name, (file.content or b"").decode(errors="replace")])
        yield f"slack/files/{file.id}", Item("file", content)
    for channel in (one for one in workspace.channels.values() if one.kind != "im"):
        yield f"slack/{channel.id}/members", Item(f"#{channel.name}/members", _json(sorted(channel.members)))


def _thread(workspace: Workspace, message: Message) -> str:
    """Return the place of a message: its thread, and for a whisper the person who sees it."""
    if message.only_for:
        return f"{ALONE}{workspace.name_of(message.only_for)}"
    channel = workspace.channels[message.channel]
    if channel.kind == "im":
        others = [member for member in channel.members if member != workspace.bot.user]
        return f"@{workspace.name_of(others[0])}"
    return f"#{channel.name}/{workspace.parent(message).ts}"


def _jira(made: Company) -> Iterator[tuple[str, Item]]:
    for issue in jira(made).site.all_issues():
        place = f"jira/{issue.key}"
        fields = {"priority": issue.priority, "assignee": issue.assignee, "labels": issue.labels, "own": issue.own}
        shown = {"summary": issue.summary, "description": issue.description, "status": issue.status, "type": issue.type}
        live = "\n".join([issue.summary, of_document(issue.description or {})])
        yield place, Item(place, _json({**shown, **fields, "links": issue.links}), live)
        for comment in issue.comments:
            yield f"{place}/{comment.id}", Item(place, _json(comment.body), of_document(comment.body))
        for link in issue.remote_links:
            yield f"{place}/link/{link.id}", Item(place, _json([link.url, link.title]), f"{link.url} {link.title}")


def _notion(made: Company) -> Iterator[tuple[str, Item]]:
    workspace = notion(made).workspace
    for page in workspace.pages.values():
        place = f"notion/{page.id}"
        yield place, Item(place, _json([page.values, page.trashed]), _json(page.values))
        for block in page.all_blocks():
            live = "" if block.type == "code" else f"{of_rich_text(block.rich_text)} {block.fields.get('url', '')}"
            if block.type in ("image", "embed", "video", "bookmark") and not block.file:
                live = f"![]({_json(block.fields)})"
            yield f"{place}/{block.id}", Item(place, _json([block.type, block.rich_text, block.fields]), live)
    for comment in workspace.comments.values():
        place = f"notion/{comment.page}"
        yield f"{place}/{comment.id}", Item(place, _json(comment.texts), of_rich_text(comment.texts))


def _github(made: Company) -> Iterator[tuple[str, Item]]:
    """Yield issues and pull requests without their comments, and each comment."""
    repositories = github(made).state()["repositories"]
    assert isinstance(repositories, dict)
    for name, repository in repositories.items():
        for number, issue in [*repository["issues"].items(), *repository["pulls"].items()]:
            place = f"github/{name}#{number}"
            parts = {
                key: value for key, value in issue.items() if key not in ("comments", "reviews", "review_comments")
            }
            body = str(issue.get("body") or "")
            yield place, Item(place, _json(parts), of_markdown(f"{issue.get('title', '')}\n{body}"))
            for part in ("comments", "reviews", "review_comments"):
                for index, comment in enumerate(issue.get(part) or ()):
                    text = comment.get("body", "") if isinstance(comment, dict) else str(comment)
                    yield f"{place}/{part}/{index}", Item(place, _json(comment), of_markdown(text))
        yield f"github/{name}", Item(f"github/{name}", _json(repository["files"]))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
