"""The tools by which a run asks people in Slack for a decision; Gofer calls them by itself, never a model."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from gofer.sources.slack import question
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.fallback_text import escaped
from gofer.sources.slack.mock_channel import mock_ts
from gofer.sources.slack.names import one_line
from gofer.sources.slack.own_messages import find_by_key
from gofer.sources.slack.question import Question
from gofer.sources.slack.read_thread import channel_id, channel_name
from gofer.sources.slack.refusals import NOT_THERE
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import in_thread, origin
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import NAME, code
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

_CLOSED = ToolResult("Closed.", "showed a decision")
_SHOWN = ToolResult("Shown.", "told one person")


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


@tool(
    effect="lookup",
    settle=5.0,
    internal=True,
    scopes=scopes("conversations.list", "chat.postMessage", "conversations.replies", "conversations.history"),
)
async def slack_ask_approval(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Ask in the thread whether a call may be made."""
    channel = await channel_id(api, call, asked.channel)
    reply = await api.write(
        call,
        "chat.postMessage",
        channel=channel,
        **_content(call, question.fallback(asked), question.blocks(asked)),
        metadata={"event_type": "gofer_call", "event_payload": {"key": call.key}},
        unfurl_links=False,
        unfurl_media=False,
        **in_thread(asked.thread_ts),
    )
    return _asked(channel, as_text(reply.get("ts")))


@slack_ask_approval.look
async def _find_question(api: SlackApi, call: Call, asked: Question) -> ToolResult | None:
    """Return the question that an earlier attempt posted; None when it is certain that there is none."""
    channel = await channel_id(api, call, asked.channel)
    ts = await find_by_key(api, call, channel, asked.thread_ts)
    if ts:
        return _asked(channel, ts)
    return None


@slack_ask_approval.mock
def _mock_ask(call: Call, asked: Question) -> ToolResult:
    """Return a question that Slack never got."""
    return _asked(channel_name(call, asked.channel), mock_ts(asked))


@tool(effect="blind", internal=True, scopes=scopes("conversations.list", "chat.postEphemeral"))
async def slack_ask_requester(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Ask one person, where only they see it, whether a call may be made."""
    content = _content(call, question.fallback(asked), question.blocks(asked))
    return await _show_one(api, call, asked.to, asked.channel, asked.thread_ts, content)


@slack_ask_requester.mock
def _mock_ask_requester(call: Call, asked: Question) -> ToolResult:
    """Return a question that Slack never showed."""
    channel_name(call, asked.channel)
    return _SHOWN


@tool(effect="keyed", gone=NOT_THERE, internal=True, scopes=scopes("conversations.list", "chat.update"))
async def slack_close_question(api: SlackApi, call: Call, arguments: CloseQuestion) -> ToolResult:
    """Show what was decided in place of the buttons."""
    shown = question.blocks(arguments.asked, arguments.ending) if arguments.asked else question.closed(arguments.ending)
    content = _content(call, escaped(arguments.ending), shown)
    await api.write(call, "chat.update", channel=arguments.channel, ts=arguments.ts, **content)
    return _CLOSED


@slack_close_question.mock
def _mock_close() -> ToolResult:
    """Return a question that was closed nowhere."""
    return _CLOSED


@tool(effect="blind", internal=True, scopes=scopes("conversations.list", "chat.postEphemeral"))
async def slack_tell_one(api: SlackApi, call: Call, arguments: TellOne) -> ToolResult:
    """Tell one person something that only they see."""
    content: Mapping[str, object] = {"text": escaped(arguments.text), "blocks": question.closed(arguments.text)}
    return await _show_one(api, call, arguments.user, arguments.channel, arguments.thread_ts, content)


@slack_tell_one.mock
def _mock_tell(call: Call, arguments: TellOne) -> ToolResult:
    """Return a sentence that Slack never showed."""
    channel_name(call, arguments.channel)
    return _SHOWN


@tool(
    effect="read",
    internal=True,
    # What groups need is declared by the tool below, which is called before whenever there are some.
    scopes=scopes("users.info"),
)
async def slack_may_decide(api: SlackApi, call: Call, arguments: MayDecide) -> ToolResult:
    """Look up whether somebody is one of those who may decide."""
    user = as_object((await api.read(call, "users.info", user=arguments.user)).get("user"))
    profile = as_object(user.get("profile"))
    name = one_line(as_text(profile.get("display_name")) or as_text(user.get("real_name")) or as_text(user.get("name")))
    present = not (user.get("deleted") or user.get("is_bot"))
    allowed = present and (_named(arguments) or await _in_a_group(api, call, arguments))
    return _decider(name, allowed=allowed)


@slack_may_decide.mock
def _mock_decider(arguments: MayDecide) -> ToolResult:
    """Return whether a person may decide, if every group has them."""
    grouped = any(name.startswith(("@", "S")) for name in arguments.by)
    return _decider(NAME, allowed=_named(arguments) or grouped)


@tool(effect="read", internal=True, scopes=scopes("usergroups.list"))
async def slack_find_groups(api: SlackApi, call: Call, arguments: FindGroups) -> ToolResult:
    """Find user groups by their handles."""
    groups = await _groups(api, call)
    ids = {name: as_text(group.get("id")) for name in arguments.names for group in groups if _is(group, name)}
    if missing := [name for name in arguments.names if name not in ids]:
        raise ToolError(f"there is no user group {missing[0]} in Slack")
    return _groups_result(ids)


@slack_find_groups.mock
def _mock_groups(arguments: FindGroups) -> ToolResult:
    """Return groups of all names that were asked for."""
    return _groups_result({name: f"S{code(name)}" for name in arguments.names})


def _decider(name: str, *, allowed: bool) -> ToolResult:
    """Return whether a person may decide; details: `allowed` and their `name`."""
    return ToolResult("Yes." if allowed else "No.", "looked up who decided", {"allowed": allowed, "name": name})


def _groups_result(ids: Mapping[str, str]) -> ToolResult:
    """Return the ids of user groups; details: `ids` by name."""
    return ToolResult("Found.", "looked up who may decide", {"ids": dict(ids)})


def _named(arguments: MayDecide) -> bool:
    if arguments.requester and "requester" in arguments.by and arguments.user == arguments.requester:
        return True
    return arguments.user in arguments.by


async def _in_a_group(api: SlackApi, call: Call, arguments: MayDecide) -> bool:
    wanted = [name for name in arguments.by if name.startswith(("@", "S"))]
    if not wanted:
        return False
    groups = [group for group in await _groups(api, call) if any(_is(group, name) for name in wanted)]
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
    await api.write(call, "chat.postEphemeral", channel=target, user=user, **content, **in_thread(thread_ts))
    return _SHOWN


def _content(call: Call, text: str, blocks: Sequence[question.Block]) -> dict[str, object]:
    return {"text": text, "blocks": [*blocks, *origin(call.provenance)], "parse": "none", "link_names": False}


def _asked(channel: str, ts: str) -> ToolResult:
    """Return a question that was put; details: channel id and ts."""
    return ToolResult("Asked.", "asked for approval", {"channel": channel, "ts": ts})
