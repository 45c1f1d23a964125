"""Questions to people in Slack: the internal tools with which Gofer asks for a decision. Models cannot call them."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from gofer.sources.part_values import Details, OwnCall
from gofer.sources.slack import question
from gofer.sources.slack.answers import channel_of
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.names import mock_ts, one_line
from gofer.sources.slack.places import channel_id, channel_name, is_direct
from gofer.sources.slack.question import Question, moment
from gofer.sources.slack.refusals import NOT_THERE
from gofer.sources.slack.rich_text import escaped
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import find_by_key, in_thread, origin
from gofer.sources.source import Approvals
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import NAME, code
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError
from gofer.values.events import Event

_CLOSED = ToolResult("Closed.", "showed a decision")
_SHOWN = ToolResult("Shown.", "told one person")


class CloseQuestion(Arguments):
    """The question to close, and its ending; or the question that gets its buttons."""

    channel: str
    ts: str
    ending: str
    """The text in place of the buttons; empty shows them."""
    asked: Question | None = None
    """The question, if it stays visible above the ending; None leaves only the ending."""


class TellOne(Arguments):
    """A text that only one person sees."""

    user: str
    text: str
    channel: str = ""
    thread_ts: str = ""


class MayDecide(Arguments):
    """The person who pressed a button, and the approvers."""

    user: str
    by: list[str]
    requester: str = ""


class FindGroups(Arguments):
    """User groups, by the names in workflow files."""

    names: list[str] = Field(min_length=1)


@tool(
    effect="lookup",
    shows="button",
    settle=5.0,
    internal=True,
    scopes=scopes("conversations.list", "chat.postMessage", "conversations.replies", "conversations.history"),
)
async def slack_ask_approval(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Ask in the thread whether the run may make a call."""
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
    """Return the question that an earlier attempt posted; None when it certainly posted none."""
    channel = await channel_id(api, call, asked.channel)
    ts = await find_by_key(api, call, channel, asked.thread_ts)
    if ts:
        return _asked(channel, ts)
    return None


@slack_ask_approval.mock
def _mock_ask(call: Call, asked: Question) -> ToolResult:
    """Return a question without posting it."""
    return _asked(channel_name(call, asked.channel), mock_ts(asked))


@tool(effect="blind", shows="button", internal=True, scopes=scopes("conversations.list", "chat.postEphemeral"))
async def slack_ask_requester(api: SlackApi, call: Call, asked: Question) -> ToolResult:
    """Ask one person, where only this person sees it, whether the run may make a call."""
    content = _content(call, question.fallback(asked), question.blocks(asked))
    return await _show_one(api, call, asked.to, asked.channel, asked.thread_ts, content)


@slack_ask_requester.mock
def _mock_ask_requester(call: Call, asked: Question) -> ToolResult:
    """Return a question without showing it."""
    channel_name(call, asked.channel)
    return _SHOWN


@tool(effect="keyed", shows="edit", gone=NOT_THERE, internal=True, scopes=scopes("conversations.list", "chat.update"))
async def slack_close_question(api: SlackApi, call: Call, arguments: CloseQuestion) -> ToolResult:
    """Replace the buttons of a question with its decision, or show them."""
    shown = question.closed(arguments.ending)
    text = escaped(arguments.ending)
    if arguments.asked:
        shown = question.blocks(arguments.asked, arguments.ending)
        text = text or question.fallback(arguments.asked)
    content = _content(call, text, shown)
    await api.write(call, "chat.update", channel=arguments.channel, ts=arguments.ts, **content)
    return _CLOSED


@slack_close_question.mock
def _mock_close() -> ToolResult:
    """Return a closed question without changing a message."""
    return _CLOSED


@tool(effect="blind", shows="message", internal=True, scopes=scopes("conversations.list", "chat.postEphemeral"))
async def slack_tell_one(api: SlackApi, call: Call, arguments: TellOne) -> ToolResult:
    """Show a text that only one person sees."""
    content: Mapping[str, object] = {"text": escaped(arguments.text), "blocks": question.closed(arguments.text)}
    return await _show_one(api, call, arguments.user, arguments.channel, arguments.thread_ts, content)


@slack_tell_one.mock
def _mock_tell(call: Call, arguments: TellOne) -> ToolResult:
    """Return a text without showing it."""
    channel_name(call, arguments.channel)
    return _SHOWN


@tool(
    effect="read",
    internal=True,
    # `slack_find_groups` declares the scopes for groups. The engine always calls it first when groups may decide.
    scopes=scopes("users.info"),
)
async def slack_may_decide(api: SlackApi, call: Call, arguments: MayDecide) -> ToolResult:
    """Look up whether a person is one of the approvers."""
    user = as_object((await api.read(call, "users.info", user=arguments.user)).get("user"))
    profile = as_object(user.get("profile"))
    name = one_line(as_text(profile.get("display_name")) or as_text(user.get("real_name")) or as_text(user.get("name")))
    present = not (user.get("deleted") or user.get("is_bot"))
    allowed = present and (_named(arguments) or await _in_a_group(api, call, arguments))
    return _decider(name, allowed=allowed)


@slack_may_decide.mock
def _mock_decider(arguments: MayDecide) -> ToolResult:
    """Return whether a person may decide, as if every group contained this person."""
    grouped = any(name.startswith(("@", "S")) for name in arguments.by)
    return _decider(NAME, allowed=_named(arguments) or grouped)


@tool(effect="read", internal=True, scopes=scopes("usergroups.list"))
async def slack_find_groups(api: SlackApi, call: Call, arguments: FindGroups) -> ToolResult:
    """Find user groups by their handles."""
    groups = await _all_groups(api, call)
    ids = {name: as_text(group.get("id")) for name in arguments.names for group in groups if _is(group, name)}
    if missing := [name for name in arguments.names if name not in ids]:
        raise ToolError(f"there is no user group {missing[0]} in Slack")
    return _groups_result(ids)


@slack_find_groups.mock
def _mock_groups(arguments: FindGroups) -> ToolResult:
    """Return a group for each name."""
    return _groups_result({name: f"S{code(name)}" for name in arguments.names})


def _decider(name: str, *, allowed: bool) -> ToolResult:
    """Return whether a person may decide. Details: `allowed`, and the person's `name`."""
    return ToolResult("Yes." if allowed else "No.", "looked up who decided", {"allowed": allowed, "name": name})


def _groups_result(ids: Mapping[str, str]) -> ToolResult:
    """Return the ids of user groups. Details: `ids` by name."""
    return ToolResult("Found.", "looked up who may decide", {"ids": dict(ids)})


def _named(arguments: MayDecide) -> bool:
    if arguments.requester and "requester" in arguments.by and arguments.user == arguments.requester:
        return True
    return arguments.user in arguments.by


async def _in_a_group(api: SlackApi, call: Call, arguments: MayDecide) -> bool:
    names = [name for name in arguments.by if name.startswith(("@", "S"))]
    if not names:
        return False
    groups = [group for group in await _all_groups(api, call) if any(_is(group, name) for name in names)]
    return any(arguments.user in as_list(group.get("users")) for group in groups)


async def _all_groups(api: SlackApi, call: Call) -> Sequence[Mapping[str, object]]:
    """Return the active groups with their members."""
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
    """Return a posted question. Details: channel id and ts."""
    return ToolResult("Asked.", "asked for approval", {"channel": channel, "ts": ts})


ASK = "slack_ask_approval"
ASK_ONE = "slack_ask_requester"
CLOSE = "slack_close_question"
FILE = "slack_post_file"
MAY_DECIDE = "slack_may_decide"
TELL = "slack_tell_one"
GROUPS = "slack_find_groups"


def _here(event: Event) -> Mapping[str, object]:
    return {name: event.place[name] for name in ("thread_ts",) if name in event.place}


def _channel(owner: str) -> Mapping[str, object] | None:
    channel = channel_of(owner)
    if not channel:
        return None
    return {"channel": channel}


def _attach(fields: Mapping[str, object]) -> OwnCall:
    asked = Question.model_validate(fields)
    place = {name: fields[name] for name in ("channel", "thread_ts") if fields.get(name)}
    return OwnCall(FILE, {"name": asked.file, "text": question.whole_text(asked), **place})


def _close(asked: Details, ending: str, shown: Mapping[str, object] | None) -> OwnCall | None:
    match asked:
        case {"channel": str(channel), "ts": str(ts)}:
            fields: dict[str, object] = {"channel": channel, "ts": ts, "ending": ending}
        case _:
            return None
    if shown:
        fields["asked"] = shown
    return OwnCall(CLOSE, fields)


def _may_decide(user: str, by: Sequence[str], requester: str) -> OwnCall:
    return OwnCall(MAY_DECIDE, {"user": user, "by": list(by), "requester": requester})


def _groups(handles: Sequence[str]) -> OwnCall:
    return OwnCall(GROUPS, {"names": list(handles)})


def _tell(user: str, text: str, place: Mapping[str, object]) -> OwnCall:
    return OwnCall(TELL, {"user": user, "text": text, **place})


APPROVALS = Approvals(
    here=_here,
    channel=_channel,
    is_direct=is_direct,
    ask=lambda fields: OwnCall(ASK, fields),
    ask_one=lambda fields: OwnCall(ASK_ONE, fields),
    fits=lambda fields: question.fits(as_object(fields.get("arguments"))),
    attach=_attach,
    close=_close,
    may_decide=_may_decide,
    allowed=lambda details: details.get("allowed") is True,
    decider=lambda details: as_text(details.get("name")),
    groups=_groups,
    group_ids=lambda details: as_object(details.get("ids")),
    tell=_tell,
    moment=moment,
    tools=(ASK, ASK_ONE, CLOSE, MAY_DECIDE, TELL, FILE),
    group_tools=(GROUPS,),
)
