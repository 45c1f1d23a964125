"""The sessions of an agent: `agents.sessions.*` and `assistant.threads.setStatus`, which share one slot for the status.

Slack shows the Stop button only while a session is `processing`, and only for an agent with the subscription to
`agent_session_stopped`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, get_args

from gofer_simulators.json_values import is_array, texts
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.workspace import AgentSession, Channel, Message, SessionStatus, SlackRefusal, Workspace

MAX_TITLE = 200
MAX_LOADING_MESSAGES = 10
PROCESSING_FADES: Final = 3_600_000_000
"""Microseconds after which Slack no longer shows `processing`; reported from a real workspace, about an hour."""
LINE_FADES: Final = 120_000_000
"""Microseconds after which Slack clears a free text."""
STOPPED = "agent_session_stopped"
_WORDS: Sequence[SessionStatus] = get_args(SessionStatus)


def set_status(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `agents.sessions.setStatus`, which creates the session if there is none."""
    place = _place(backend, arguments)
    status = session_status(arguments.text("status"))
    title = arguments.text("title")
    if len(title) > MAX_TITLE:
        raise _wrong("title")
    initiator = arguments.text("initiator_user_id")
    if initiator and initiator not in backend.workspace.channel(place[0]).members:
        raise _wrong("initiator_user_id")
    session = put_status(backend.workspace, place, status, title)
    answer: Answer = {"status": session.status, "title": session.title, "agent_status": session.status}
    if status == "processing" and not stop_delivered(backend):
        return {**answer, "warning": f"missing_{STOPPED}_event_subscription"}
    return answer


def rename(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `agents.sessions.rename`."""
    place = _place(backend, arguments)
    title = arguments.required("title")
    if len(title) > MAX_TITLE:
        raise _wrong("title")
    sessions = backend.workspace.sessions
    if place not in sessions:
        raise SlackRefusal("session_not_found")
    sessions[place] = replace(sessions[place], title=title)
    return {"title": title}


def set_line(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `assistant.threads.setStatus`: a free text, or the empty text to clear it."""
    workspace = backend.workspace
    channel = backend.joined_channel(arguments, "channel_id")
    place = (channel.id, _root(workspace, channel, arguments).ts)
    if not isinstance(arguments.values.get("status"), str):
        raise _wrong("status")
    loading = arguments.json("loading_messages", "invalid_arguments")
    if loading is not None and (not is_array(loading) or len(texts(loading)) > MAX_LOADING_MESSAGES):
        raise _wrong("loading_messages")
    session = put_status(workspace, place, "active")
    workspace.sessions[place] = replace(session, line=arguments.text("status"))
    return {}


def session_status(word: str) -> SessionStatus:
    """Return one of the four words. Raises SlackRefusal for another text, also for an empty one."""
    for known in _WORDS:
        if word == known:
            return known
    raise _wrong("status")


def put_status(workspace: Workspace, place: tuple[str, str], status: SessionStatus, title: str = "") -> AgentSession:
    """Set the status of the session in a thread; only a new session takes the title."""
    before = workspace.sessions.get(place)
    session = AgentSession(status, before.title if before else title, workspace.now())
    workspace.sessions[place] = session
    return session


def clear_line(workspace: Workspace, message: Message) -> None:
    """Clear the free text of a thread in which the app posts."""
    place = (message.channel, workspace.parent(message).ts)
    if session := workspace.sessions.get(place):
        workspace.sessions[place] = replace(session, line="")


def shown_status(workspace: Workspace, parent: Message) -> tuple[SessionStatus, str]:
    """Return the status and the free text that people see at a thread."""
    session = workspace.sessions.get((parent.channel, parent.ts))
    if session is None:
        return "active", ""
    age = workspace.now() - session.since
    if session.status == "processing" and age > PROCESSING_FADES:
        return "active", ""
    return session.status, "" if age > LINE_FADES else session.line


def stop_delivered(backend: Backend) -> bool:
    """Return whether Slack delivers the press of Stop to the app, and so shows the button."""
    events = backend.deliveries.events
    return backend.workspace.bot.agent and (events is None or STOPPED in events)


def _place(backend: Backend, arguments: Arguments) -> tuple[str, str]:
    """Return the channel and the thread of a call. Raises SlackRefusal for an app that is no agent."""
    if not backend.workspace.bot.agent:
        raise SlackRefusal("not_authorized")
    channel = backend.joined_channel(arguments, "channel_id")
    return channel.id, _root(backend.workspace, channel, arguments).ts


def _root(workspace: Workspace, channel: Channel, arguments: Arguments) -> Message:
    """Return the first message of the thread; only session channels, which are not simulated, have no thread."""
    root = workspace.find(channel.id, arguments.required("thread_ts"))
    if root is None or root.is_reply:
        raise SlackRefusal("thread_not_found")
    return root


def _wrong(name: str) -> SlackRefusal:
    return SlackRefusal("invalid_arguments", f"[ERROR] invalid value of: {name}")
