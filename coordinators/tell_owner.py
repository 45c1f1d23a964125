"""A script that tells the owner of a workflow about bad feedback on a run and about runs that were not effective."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gofer.coordinator import Event, Run

FEEDBACK = "Bad feedback on"
REVIEW = "Not effective, says the reviewer:"
AN_HOUR = 3600
MOST_AN_HOUR = 5
"""The most messages of one kind about one workflow in an hour."""
MESSAGES = 200
"""How many of the newest messages of the channel the script searches for earlier messages of its own."""
DAYS = 30
"""The days over which the agreement of the reviewer and the waiting runs are counted."""
LONGEST = 600
"""The most characters of the words of a person or of the reviewer."""

Messages = Sequence[Mapping[str, Any]]


async def coordinate(run: Run) -> str | None:
    """Post one message to the channel of the owner, unless it has one about the run or enough of this hour."""
    event = run.event
    channel = event.place["channel"]
    if not channel:
        return f"The owner {event.place['owner'] or 'of a removed workflow'} has no channel."
    title = f"{REVIEW if event.kind == 'runs.review' else FEEDBACK} {event.place['workflow']}."
    # Runs about one workflow work one after the other, so this run sees what the runs before it posted.
    recent = await run.call("slack_read_channel", channel=channel, limit=MESSAGES)
    earlier = [message for message in recent["messages"] if message["text"].startswith(title)]
    if any(event.place["run"] in message["text"] for message in earlier):
        return None
    if len(_of_this_hour(earlier, run.now())) < MOST_AN_HOUR:
        text = await _review(run) if event.kind == "runs.review" else _feedback(event)
        await run.call("slack_post_message", channel=channel, text=f"{title}\n\n{text}\n\n{_commands(event)}")
        return None
    title = f"More: {title}"
    told = [message for message in recent["messages"] if message["text"].startswith(title)]
    if not _of_this_hour(told, run.now()):
        await run.call("slack_post_message", channel=channel, text=f"{title}\n\n{await _rest(run)}")
    return None


def _of_this_hour(messages: Messages, now: datetime) -> Messages:
    return [message for message in messages if now.timestamp() - float(message["ts"]) < AN_HOUR]


def _feedback(event: Event) -> str:
    said = f"{_person(event)} was not content with an answer"
    if not event.text.strip():
        return f"{said}."
    return f"{said} and wrote:\n\n{_quoted(event.text)}"


async def _review(run: Run) -> str:
    agreement = (await _counted(run))["reviewer"]["agreement"]
    text = f"The opinion of the reviewer (a model, {agreement}):\n\n{_quoted(run.event.text)}"
    next_step = str(run.event.facts.get("next_step", ""))
    if not next_step:
        return text
    return f"{text}\n\nThe next step, says the reviewer:\n\n{_quoted(next_step)}"


async def _rest(run: Run) -> str:
    if run.event.kind == "runs.review":
        return "I post no more of them within the hour. `gofer runs --not-effective` lists all."
    waiting = [row["waiting_for_the_owner"] for row in (await _counted(run))["workflows"]]
    return f"I post no more of it within the hour. {sum(waiting)} runs wait for you: `gofer feedback`"


async def _counted(run: Run) -> Any:
    return await run.call("run_statistics", days=DAYS, workflow=run.event.place["workflow"])


def _commands(event: Event) -> str:
    run = event.place["run"]
    shown = f"run {run[:8]}"
    if link := event.place["link"]:
        shown = f"[{shown}]({link})"
    return (
        f'Look at {shown}: `gofer trace {run}`\nMake a test of it: `gofer golden {run} --regression --not-contains "…"`'
    )


def _quoted(text: str) -> str:
    """Return words of people and models as a block that is shown literally."""
    text = text.strip().replace("```", "'''")
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    return f"```\n{text}\n```"


def _person(event: Event) -> str:
    name = " ".join(str(event.facts.get("by", "")).replace("`", " ").split())
    if not name:
        return "A colleague"
    return f"`{name}`"
