"""The tools by which a run asks people in Slack for a decision; Gofer calls them by itself, never a model."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from gofer.sources.slack import question
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.fallback_text import escaped
from gofer.sources.slack.names import one_line
from gofer.sources.slack.own_messages import find_by_key
from gofer.sources.slack.question import Question
from gofer.sources.slack.read_thread import channel_id, channel_name
from gofer.sources.slack.refusals import NOT_THERE
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import origin
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.tools.mock_ids import NAME, SECONDS, code, digits
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

CLOSED = ToolResult("Closed.", "showed a decision")
SHOWN = ToolResult("Shown.", "told one person")


class CloseQuestion(Arguments):
    """Which question is over, and how."""

    channel: str
    ts: str
    ending: str
    """What is said instead of the buttons."""
    asked: Question | None = None
    """The question, to be shown further; None leaves only the ending."""


class TellOne(Arguments):
    """What only one person sees."""

    user: str
    text: str
    channel: str = ""
    thread_ts: str = ""


class MayDecide(Arguments):
    """Who pressed a button, and who may decide."""

    user: str
    by: list[str]
    requester: str = ""


class FindGroups(Arguments):
    """User groups as workflow files name them."""

    names: list[str] = Field(min_length=1)


def approval_tools(api: SlackApi) -> tuple[Tool[Any], ...]:
    """Return what asking for a decision takes; none of it can be listed in a workflow."""
    return (*_questions(api), *_words(api), *_lookups(api))


def _questions(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_ask_approval",
            description="Ask in the thread whether a call may be made.",
            effect="lookup",
            arguments=Question,
            act=partial(ask, api),
            mock=_mock_ask,
            look=partial(find_question, api),
            settle=5.0,
            internal=True,
            scopes=scopes("conversations.list", "chat.postMessage", "conversations.replies", "conversations.history"),
        ),
        Tool(
            name="slack_ask_requester",
            description="Ask one person, where only they see it, whether a call may be made.",
            effect="blind",
            arguments=Question,
            act=partial(ask_one, api),
            mock=_mock_show,
            internal=True,
            scopes=scopes("conversations.list", "chat.postEphemeral"),
        ),
        Tool(
            name="slack_close_question",
            description="Show what was decided in place of the buttons.",
            effect="keyed",
            arguments=CloseQuestion,
            act=partial(close, api),
            mock=_mock_close,
            gone=NOT_THERE,
            internal=True,
            scopes=scopes("conversations.list", "chat.update"),
        ),
    )


def _words(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_tell_one",
            description="Tell one person something that only they see.",
            effect="blind",
            arguments=TellOne,
            act=partial(tell_one, api),
            mock=_mock_tell,
            internal=True,
            scopes=scopes("conversations.list", "chat.postEphemeral"),
        ),
    )


def _lookups(api: SlackApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="slack_may_decide",
            description="Look up whether somebody is one of those who may decide.",
            effect="read",
            arguments=MayDecide,
            act=partial(may_decide, api),
            mock=_mock_decider,
            internal=True,
            # What groups need is declared by the tool below, which is called before whenever there are some.
            scopes=scopes("users.info"),
        ),
        Tool(
            name="slack_find_groups",
            description="Find user groups by their handles.",
            effect="read",
            arguments=FindGroups,
            act=partial(find_groups, api),
            mock=_mock_groups,
            internal=True,
            scopes=scopes("usergroups.list"),
        ),
    )


async def ask(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Post the question with its buttons; details: channel id and ts."""
    channel = await channel_id(api, call, asked.channel)
    reply = await api.write(
        call,
        "chat.postMessage",
        channel=channel,
        **_content(call, question.fallback(asked), question.blocks(asked)),
        metadata={"event_type": "gofer_call", "event_payload": {"key": call.key}},
        unfurl_links=False,
        unfurl_media=False,
        **_thread(asked.thread_ts),
    )
    return asked_result(channel, as_text(reply.get("ts")))


async def find_question(api: SlackApi, call: Call, asked: Question) -> ToolResult | None:
    """Return the question that an earlier attempt posted; None when it is certain that there is none."""
    channel = await channel_id(api, call, asked.channel)
    ts = await find_by_key(api, call, channel, asked.thread_ts)
    return asked_result(channel, ts) if ts else None


async def ask_one(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Show the question to one person only."""
    content = _content(call, question.fallback(asked), question.blocks(asked))
    return await _show_one(api, call, asked.to, asked.channel, asked.thread_ts, content)


async def close(api: SlackApi, call: Call, arguments: CloseQuestion) -> ToolResult:
    """Replace the buttons of a question by what was decided; doing it twice is doing it once."""
    shown = question.blocks(arguments.asked, arguments.ending) if arguments.asked else question.closed(arguments.ending)
    content = _content(call, escaped(arguments.ending), shown)
    await api.write(call, "chat.update", channel=arguments.channel, ts=arguments.ts, **content)
    return CLOSED


async def tell_one(api: SlackApi, call: Call, arguments: TellOne) -> ToolResult:
    """Show one person a sentence of Gofer's own."""
    content: Mapping[str, object] = {"text": escaped(arguments.text), "blocks": question.closed(arguments.text)}
    return await _show_one(api, call, arguments.user, arguments.channel, arguments.thread_ts, content)


async def may_decide(api: SlackApi, call: Call, arguments: MayDecide) -> ToolResult:
    """Return whether a person may decide; details: `allowed` and their `name`."""
    user = as_object((await api.read(call, "users.info", user=arguments.user)).get("user"))
    profile = as_object(user.get("profile"))
    name = one_line(as_text(profile.get("display_name")) or as_text(user.get("real_name")) or as_text(user.get("name")))
    present = not (user.get("deleted") or user.get("is_bot"))
    allowed = present and (_named(arguments) or await _in_a_group(api, call, arguments))
    return decider(name, allowed=allowed)


async def find_groups(api: SlackApi, call: Call, arguments: FindGroups) -> ToolResult:
    """Return the ids of user groups; details: `ids` by name. Raises ToolError when one does not exist."""
    groups = await _groups(api, call)
    ids = {name: as_text(group.get("id")) for name in arguments.names for group in groups if _is(group, name)}
    if missing := [name for name in arguments.names if name not in ids]:
        raise ToolError(f"there is no user group {missing[0]} in Slack")
    return groups_result(ids)


def decider(name: str, *, allowed: bool) -> ToolResult:
    """Return whether a person may decide."""
    return ToolResult("Yes." if allowed else "No.", "looked up who decided", {"allowed": allowed, "name": name})


def groups_result(ids: Mapping[str, str]) -> ToolResult:
    """Return the ids of user groups by name."""
    return ToolResult("Found.", "looked up who may decide", {"ids": dict(ids)})


def _named(arguments: MayDecide) -> bool:
    requester = arguments.requester if "requester" in arguments.by else ""
    return arguments.user in arguments.by or bool(requester and requester == arguments.user)


async def _in_a_group(api: SlackApi, call: Call, arguments: MayDecide) -> bool:
    wanted = [name for name in arguments.by if name.startswith(("@", "S"))]
    groups = [group for group in await _groups(api, call) if any(_is(group, name) for name in wanted)] if wanted else []
    return any(arguments.user in as_list(group.get("users")) for group in groups)


async def _groups(api: SlackApi, call: Call) -> Sequence[Mapping[str, object]]:
    """Return the groups that are in use, with their members."""
    reply = await api.read(call, "usergroups.list", include_users="true")
    return [group for group in map(as_object, as_list(reply.get("usergroups"))) if not group.get("date_delete")]


def _is(group: Mapping[str, object], name: str) -> bool:
    return name == f"@{as_text(group.get('handle'))}" or name == group.get("id")


async def _show_one(
    api: SlackApi, call: Call, user: str, channel: str, thread_ts: str, content: Mapping[str, object]
) -> ToolResult:
    target = await channel_id(api, call, channel)
    await api.write(call, "chat.postEphemeral", channel=target, user=user, **content, **_thread(thread_ts))
    return SHOWN


def _content(call: Call, text: str, blocks: Sequence[question.Block]) -> dict[str, object]:
    return {"text": text, "blocks": [*blocks, *origin(call.provenance)], "parse": "none", "link_names": False}


def _thread(thread_ts: str) -> dict[str, object]:
    return {"thread_ts": thread_ts} if thread_ts else {}


def asked_result(channel: str, ts: str) -> ToolResult:
    """Return a question that was put."""
    return ToolResult("Asked.", "asked for approval", {"channel": channel, "ts": ts})


def _mock_ask(call: Call, asked: Question) -> ToolResult:
    return asked_result(channel_name(call, asked.channel), f"{SECONDS}.{digits(asked, 6)}")


def _mock_show(call: Call, asked: Question) -> ToolResult:
    channel_name(call, asked.channel)
    return SHOWN


def _mock_close(call: Call, arguments: CloseQuestion) -> ToolResult:
    return CLOSED


def _mock_tell(call: Call, arguments: TellOne) -> ToolResult:
    channel_name(call, arguments.channel)
    return SHOWN


def _mock_decider(call: Call, arguments: MayDecide) -> ToolResult:
    return decider(NAME, allowed=_named(arguments) or any(name.startswith(("@", "S")) for name in arguments.by))


def _mock_groups(call: Call, arguments: FindGroups) -> ToolResult:
    return groups_result({name: f"S{code(name)}" for name in arguments.names})
