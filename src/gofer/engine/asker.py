"""Who did it, and may they start this workflow? Looked up before anything else of the event is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.step import Permitted, Step
from gofer.engine.unmet_needs import PERSON, stopped
from gofer.journal.coordination import DAY_MS, Usage
from gofer.journal.entries import ToolResult
from gofer.tools.definition import Provenance
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Workflow

LOOKED_UP = "who/1"
"""Call id of looking up who did it."""
GROUP = "group/{}"
"""Call id of looking up the first user group that may, the second, and so on."""
TOLD = "told/1"
"""Call id of telling somebody that they may not."""
TOOLS = ("slack_get_user", "slack_post_ephemeral")
"""Tools that every run calls by itself for this."""
GROUP_TOOL = "slack_get_group"
ASKED = frozenset({"slack.mention", "slack.direct", "slack.reaction"})
"""What people do in order to start something; whoever did something else waits for no answer."""
_OURS = frozenset({"schedule", "webhook"})
"""Sources of which somebody here said, in a file or by a secret, that they may."""
_NOT_SEEN = frozenset({"user_not_found", "user_not_visible"})
_ID = re.compile(r"[UW][A-Z0-9]{6,40}")
_NAMED = {"members": "members of this workspace", "externals": "people of other companies", "bots": "other apps"}
_STARTED_BY = {"external": "a person from outside this workspace", "guest": "a guest", "bot": "another app"}


@dataclass(frozen=True, slots=True)
class Person:
    """Who did it."""

    id: str
    kind: str = "external"
    """`member`, `guest`, `external` or `bot`; somebody unknown is external."""
    handle: str = ""
    name: str = ""
    """As people write it, for a model; empty when it is not known."""
    zone: str = ""
    """The name of their time zone; empty when it is not known."""

    @property
    def facts(self) -> Mapping[str, object]:
        """What conditions may ask for."""
        return {"bot": self.kind == "bot"}


def tools(workflow: Workflow) -> tuple[str, ...]:
    """Tools that the runs of a workflow call by themselves for this."""
    return (*TOOLS, GROUP_TOOL) if any(one.startswith("@") for one in workflow.who) else TOOLS


async def look_up(step: Step, event: Event, provenance: Provenance) -> Person:
    """Who is behind an event. Raises RunStopped when Slack does not say, Cancelled, OutOfTime."""
    if event.source in _OURS:
        return Person(event.actor.id, "member")
    if event.source != "slack" or event.actor.kind == "bot":
        return Person(event.actor.id, event.actor.kind if event.actor.kind == "bot" else "member")
    known = _ID.fullmatch(event.actor.id)
    asked = {"name": event.actor.id}
    details = await _details(step, LOOKED_UP, "slack_get_user", asked, provenance) if known else None
    if details is None:
        return Person(event.actor.id)
    return _person(event, details)


def known_person(step: Step, event: Event) -> Person:
    """Return who started a run of Slack, as it was looked up when the run began."""
    match step.progress.outcomes.get(LOOKED_UP):
        case ToolResult(status="ok", details=details):
            return _person(event, details or {})
        case _:
            return Person(event.actor.id)


def _person(event: Event, details: Mapping[str, object]) -> Person:
    kind, handle, name, team, zone = (str(details.get(key, "")) for key in ("kind", "handle", "name", "team", "zone"))
    # Who Slack does not say is of this workspace is taken for somebody from elsewhere.
    foreign = kind in ("member", "guest") and team != event.place.get("team")
    return Person(id=event.actor.id, kind="external" if foreign else kind, handle=handle, name=name, zone=zone)


async def may_start(step: Step, person: Person, loaded: Loaded, provenance: Provenance) -> bool:
    """Whether a workflow is for somebody. Raises RunStopped, Cancelled, OutOfTime."""
    who = loaded.workflow.who
    plain = {f"{person.kind}s", person.id, "everyone" if person.kind != "bot" else "bots"}
    if plain & set(who):
        return True
    handles = [one.removeprefix("@") for one in who if one.startswith("@")]
    if person.handle and person.handle.casefold() in map(str.casefold, handles):
        return True
    for number, handle in enumerate(handles, 1):
        found = await _details(step, GROUP.format(number), GROUP_TOOL, {"handle": handle}, provenance)
        if found is not None and person.id in _listed(found.get("members")):
            return True
    return False


async def turn_away(step: Step, event: Event, person: Person, loaded: Loaded, provenance: Provenance) -> DoesNotMatch:
    """Tells somebody in one line whom the workflow is for, once a day; gives the reason for lists."""
    whom = _whom(loaded.workflow)
    if event.kind in ASKED and person.kind != "bot" and await _first_of_the_day(step, event, loaded.name):
        text = f"Sorry, {loaded.name} is for {whom}. {loaded.workflow.owner} can tell you more."
        tool = step.services.tools["slack_post_ephemeral"]
        arguments: Mapping[str, object] = {"text": text, "thread_ts": event.place.get("thread_ts", "")}
        await step.call(Permitted(TOLD, tool, tool.parse(arguments), arguments), provenance)
    return DoesNotMatch(
        f"{_STARTED_BY.get(person.kind, 'a member')} started it; the workflow is for {whom}", cause="turned_away"
    )


async def _first_of_the_day(step: Step, event: Event, workflow: str) -> bool:
    scope = step.services.tokens.usage("turned away", event.source, event.actor.id, workflow)
    store, now = step.services.store, step.now_ms()
    if any(row.run != step.run for row in await store.usage(scope, now - DAY_MS)):
        return False
    await store.put_usage([Usage(scope, step.run, now, 0.0)])
    return True


async def _details(
    step: Step, call: str, name: str, arguments: Mapping[str, object], provenance: Provenance
) -> Mapping[str, object] | None:
    """What a look-up gave for code; None when there is nobody and nothing of that name."""
    tool = step.services.tools[name]
    match await step.call(Permitted(call, tool, tool.parse(arguments), arguments), provenance):
        case ToolResult(status="ok", details=details):
            return details or {}
        case ToolResult(details={"code": code}) if code in _NOT_SEEN:
            return None
        case outcome:
            raise stopped(PERSON, outcome, tool.system)


def _whom(workflow: Workflow) -> str:
    """Whom a workflow is for, without anybody's id."""
    named = dict.fromkeys(_NAMED.get(one, one if one.startswith("@") else "") or _plain(one) for one in workflow.who)
    *others, last = named
    return f"{', '.join(others)} and {last}" if others else last


def _plain(one: str) -> str:
    return one if one.islower() else "people named in its file"


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
