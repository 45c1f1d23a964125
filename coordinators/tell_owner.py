"""A script that tells the owner of a workflow about bad feedback on a run and about runs that were not effective."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gofer.coordinator import Event, Run

FEEDBACK = "Bad feedback on"
REVIEW = "Not effective, says the reviewer:"
MORE = {FEEDBACK: "More bad feedback on", REVIEW: "More runs that the reviewer found not effective:"}
LISTING = {FEEDBACK: "gofer feedback", REVIEW: "gofer runs --not-effective"}
AN_HOUR = 3600
MOST_AN_HOUR = 5
"""The most messages of one kind about one workflow in an hour."""
MESSAGES = 200
"""How many of the newest messages of the channel the script searches for its earlier messages."""
LONGEST = 600
"""The most characters of the words of a person or of the reviewer."""


async def coordinate(run: Run) -> str | None:
    """Post one message to the channel of the owner, unless it has one about the run or enough of this hour."""
    event = run.event
    channel = event.place["channel"]
    if not channel:
        return f"The owner {event.place['owner']} has no channel."
    kind = FEEDBACK if event.kind == "runs.feedback" else REVIEW
    title = f"{kind} {event.place['workflow']}"
    # Runs about one workflow work one after the other, so this run sees what the runs before it posted.
    recent = await run.call("slack_read_channel", channel=channel, limit=MESSAGES)
    earlier = [message for message in recent["messages"] if message["text"].startswith(title)]
    if any(event.place["run"] in message["text"] for message in earlier):
        return None
    if len(_of_this_hour(earlier, run.now())) < MOST_AN_HOUR:
        await run.call("slack_post_message", channel=channel, text=_message(event, kind, title))
        return None
    more = f"{MORE[kind]} {event.place['workflow']}"
    told = [message for message in recent["messages"] if message["text"].startswith(more)]
    if not _of_this_hour(told, run.now()):
        text = f"{more}. I post no more of it within the hour: `{LISTING[kind]}` lists all."
        await run.call("slack_post_message", channel=channel, text=text)
    return None


def _of_this_hour(messages: Sequence[Mapping[str, Any]], now: datetime) -> Sequence[Mapping[str, Any]]:
    return [message for message in messages if now.timestamp() - float(message["ts"]) < AN_HOUR]


def _message(event: Event, kind: str, title: str) -> str:
    run = event.place["run"]
    words = _quoted(event.text)
    if kind == FEEDBACK:
        by = str(event.facts.get("by") or "A colleague")
        said = f"{_inline(by)} was not content with an answer" + (f" and wrote:\n\n{words}" if words else ".")
    else:
        said = f"A model reviewed the run. Its opinion:\n\n{words}"
        if next_step := str(event.facts.get("next_step", "")):
            said += f"\n\nNext step, as the reviewer sees it:\n\n{_quoted(next_step)}"
    link = event.place["link"]
    shown = f"[run {run[:8]}]({link})" if link else f"run {run[:8]}"
    commands = f"`gofer trace {run}` shows {shown}, `gofer golden {run} --regression` makes a test of it."
    return f"{title}\n\n{said}\n\n{commands}"


def _quoted(text: str) -> str:
    """Return words of people and models as a block that is shown literally, whatever markup they contain."""
    text = text.strip().replace("```", "'''")
    if not text:
        return ""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    return f"```\n{text}\n```"


def _inline(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
