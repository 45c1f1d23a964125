"""The rule for places: where a run may write, and which places it may read.

A run writes where it was asked, to places that its workflow file lists, and to places that its asker names in their own
words. For any other place the run asks its asker; a run without an asker is refused. The run looks the place up in a
step of its own and sends the call to the id that it found, so renaming a channel between look-up and call changes
nothing.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from gofer.engine.known_asker import asker_of, read_by_outsiders, words_of_asker
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import Permitted
from gofer.engine.source_context import thread_of
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import READ_PLACE, WRITE_PLACE
from gofer.sources.part_values import Known, OwnCall, Person, Standpoint
from gofer.sources.registry import SOURCES, WORKPLACE, source_of
from gofer.sources.source import Places
from gofer.tools.definition import Provenance
from gofer.tools.places import Place
from gofer.tools.readable import Readable
from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.errors import ToolError
from gofer.values.events import Event
from gofer.workflows.schema import Workflow
from gofer.workflows.writes import Destinations


def leaves_private_channel(item: Permitted, event: Event, *, private: bool) -> bool:
    """Return whether a call of a private run writes to a place other than the one where the run began."""
    if not private or item.tool.effect == "read":
        return False
    writes = item.tool.target.writes
    if writes is None or item.tool.name.partition("_")[0] != event.source:
        return True
    return not writes.here(_given_arguments(item), event.place)


def at_origin(item: Permitted, event: Event) -> bool:
    """Return whether a call writes only to the place where the run was started."""
    writes = item.tool.target.writes
    if writes is None or item.tool.name.partition("_")[0] != event.source:
        return False
    return writes.at(_given_arguments(item), event.place)


def _given_arguments(item: Permitted) -> dict[str, object]:
    return item.arguments.model_dump(mode="json", exclude_defaults=True)


FRESH_MS = 300_000
"""How long a look-up of a place stays valid, in milliseconds."""

_NO_PERSON = f"no person in {WORKPLACE.system}"
_ANSWER_REVEALS = (
    f"Not called: the channel is private, and {_NO_PERSON} started this run, so there is no asker to permit that its "
    "contents leave it. The owner of the workflow can permit it with `private_channels: allow`, or with `reply: none`."
)
_WRITE_REVEALS = (
    f"Not called: this run read a private channel, and {_NO_PERSON} started it, so there is no asker to permit that "
    "its contents leave it. Write into that channel, or continue without this call. The owner of the workflow can "
    "permit it with `private_channels: allow`."
)

Verdict = Literal["yes", "ask", "no"]
"""The judgement of a call: it may be made, the asker decides, or it may not be made."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A call with the ids of its place, and whether it may be made."""

    item: Permitted
    verdict: Verdict
    where: str = ""
    """The name of the place for people."""
    refusal: str = ""
    """The text for the model when the call may not be made."""


def may_write(known: Known, asker: Person | None) -> Verdict:
    """Return whether a run may write to a place."""
    if known.home or known.listed or known.own:
        return "yes"
    if asker is None:
        return "no"
    if known.named and asker.kind == "member":
        return "yes"
    return "ask"


def may_read(known: Known, asker: Person | None, *, alone: bool) -> bool:
    """Return whether a run may read a channel; `alone` when only the asker reads its answer.

    From elsewhere, a private channel may be read only in a direct message with one of its members, because any other
    answer would reveal its messages. A run without an asker may read the channels that its workflow file lists.
    """
    if known.home:
        return True
    if asker is None:
        return known.public or known.listed
    if known.public:
        return asker.kind == "member" or known.member
    return known.member and alone


@dataclass(frozen=True, slots=True)
class Judge:
    """The rule for places, applied to the calls of one run."""

    step: OwnStep
    event: Event
    workflow: Workflow
    provenance: Provenance
    looking: asyncio.Lock
    """The lock held during a look-up, so that branches of a script share the look-up of the same place."""

    async def judge(self, item: Permitted) -> Judged | ToolResult:
        """Look up the place of a call and judge the call. If the place cannot be determined, return a refusal.

        Raises Cancelled, OutOfTime, Parked.
        """
        if item.tool.effect == "read":
            item = replace(item, readable=self._readable(item))
        if item.tool.effect == "read" and not self._may_read_private:
            # The tool itself refuses every channel except public ones and the channel of the run.
            return Judged(item, "yes")
        try:
            place = item.place(self.event)
            # A workflow that lists the tool may read any place of kind `other`.
            if place is None or (place.kind == "other" and item.tool.effect == "read"):
                return Judged(item, "yes")
            known = await self._known_place(item, place)
            if known.id and place.argument:
                item = replace(item, ids={place.argument: known.id})
            if item.tool.effect == "read":
                return self._read(item, place, known)
        except ToolError as error:
            return ToolResult(item.call, "refused", error.message_to_model, details={"code": error.code})
        verdict = may_write(known, asker_of(self.step))
        if verdict == "yes" and self._reveals_private(known.id or place.name):
            return Judged(item, "no", refusal=_WRITE_REVEALS)
        return Judged(item, verdict, known.name or str(place), refusal(place))

    def _readable(self, item: Permitted) -> Readable:
        """Return what a read may read in the system of its tool."""
        system = item.tool.name.partition("_")[0]
        listed = frozenset(map(str.casefold, self.workflow.reads.entries(system)))
        # What everyone can see in the place of the request, outsiders can see in its system too.
        is_open = system == self.event.source and source_of(self.event).open_to_outsiders(self.event)
        return Readable(listed, outsiders=read_by_outsiders(self.step, self.event) and not is_open)

    @property
    def writes(self) -> Destinations:
        """The places that the workflow file lets runs write to."""
        return self.workflow.writes

    def _reveals_private(self, place: str) -> bool:
        """Return whether a run without an asker would write data of a private channel to another place.

        There is no person to ask, so `private_channels` alone decides.
        """
        if asker_of(self.step) is not None or self.workflow.private_channels == "allow":
            return False
        read = _private_channels_read(self.step)
        return bool(read - {place})

    @property
    def _may_read_private(self) -> bool:
        """Whether each read needs a look-up of its channel, because its being public does not decide alone."""
        asker = asker_of(self.step)
        if asker is None:
            return self.writes.may_be_private or read_by_outsiders(self.step, self.event)
        return asker.kind != "member" or self._alone

    @property
    def _alone(self) -> bool:
        """Whether only the asker reads the answer of the run."""
        own = source_of(self.event).places
        return own is not None and own.is_own(self.event)

    def _read(self, item: Permitted, place: Place, known: Known) -> Judged:
        """Return the judgement of a permitted read. Raises ToolError for a read that is not permitted."""
        asker = asker_of(self.step)
        foreign = place.system != self.event.source and read_by_outsiders(self.step, self.event)
        if not may_read(known, asker, alone=self._alone) or (foreign and not known.listed):
            raise _hidden_error(place)
        if asker is None and not (known.home or known.public or self._keeps_to_itself):
            raise ToolError(_ANSWER_REVEALS, code="private")
        return Judged(replace(item, cleared=not (known.home or known.public)), "yes")

    @property
    def _keeps_to_itself(self) -> bool:
        """Whether a run without an asker passes on its data only in calls, which this class judges."""
        source = source_of(self.event)
        # A caller in this process reads the answer even if the workflow writes no reply.
        silent = (self.workflow.reply == "none" or source.trusted) and not source.returns_to_caller
        return self.workflow.private_channels == "allow" or (self.step.above is None and silent)

    @property
    def _home(self) -> str:
        """The id of the place where the run was started; empty if its source has no places."""
        own = source_of(self.event).places
        if own is None:
            return ""
        return own.home(self.event)

    @property
    def _standpoint(self) -> Standpoint:
        root = self.step.root
        asker = asker_of(self.step)
        thread = thread_of(root, self.event)
        return Standpoint(self._home, asker.id if asker else "", self.writes, thread, words_of_asker(root))

    async def _known_place(self, item: Permitted, place: Place) -> Known:
        """Return the facts about a place, looked up if they decide. Raises ToolError, and what `judge` raises."""
        if item.tool.effect != "read" and place.thread is None and at_origin(item, self.event):
            return Known(home=True)
        if place.kind == "other":
            # No entry of `writes` can name such a place, so the listed tool is the permission.
            return Known(listed=True)
        places = _places_of(place)
        if places is None:
            return Known()
        seen_from = self._standpoint
        looked = places.look(place, seen_from)
        match looked:
            case Known() as known:
                return known
            case OwnCall() as asked:
                details = await self._look_up(asked, _purpose(item, place))
                return places.found(place, seen_from, details)
            case _:
                assert_never(looked)

    async def _look_up(self, asked: OwnCall, purpose: str) -> Mapping[str, object]:
        """Return the details of a look-up, which stay the same for FRESH_MS. Raises ToolError when it fails."""
        digest = hashlib.sha256(encode([asked.tool, asked.arguments])).hexdigest()[:16]
        # The call id holds the time, so that any owner of the run repeats a look-up that is too old. It is the time of
        # the last entry, so that a replay makes the same call.
        call = f"{purpose}/{digest}/{self.step.progress.last_at // FRESH_MS}"
        async with self.looking:
            outcome = await self.step.call(PurposeCall(call, asked), self.provenance)
        match outcome:
            case ToolResult(status="ok", details=details):
                return as_object(details)
            case ToolResult(text=reason, details=details):
                raise ToolError(f"Not called: {reason}", code=as_text(as_object(details).get("code")))
            case _:
                raise ToolError(f"Not called: {outcome.text}")


def _purpose(item: Permitted, place: Place) -> str:
    # Only reads of channels count for `_private_channels_read`; reads of issues and pages do not.
    if item.tool.effect == "read" and place.kind == "channel":
        return READ_PLACE
    return WRITE_PLACE


def _private_channels_read(step: OwnStep) -> set[str]:
    """Return the ids of the channels, other than public ones, that a run or its root run looked up in order to read."""
    found: set[str] = set()
    for call, outcome in step.root.progress.outcomes.items():
        match outcome:
            case ToolResult(status="ok", details=dict() as details) if call.startswith(f"{READ_PLACE}/"):
                if details.get("public") is not True:
                    found.add(as_text(details.get("id")))
            case _:
                pass
    return found - {""}


def refusal(place: Place) -> str:
    """Return the refusal of a write to a place that a run without an asker may not write to."""
    if place.kind == "person":
        return (
            f"Not called: a run that {_NO_PERSON} started may not write to a person, and no entry of"
            " `writes` can permit it. Continue without it."
        )
    return (
        f"Not called: a run that {_NO_PERSON} started may write only where it began and where its workflow file permits"
        f" it. That file does not list {place}; the owner of the workflow can permit it with"
        f" `writes: {{{entry_of(place)}}}`. Continue without it."
    )


def entry_of(place: Place) -> str:
    """Return the entry of the key `writes` that permits a place."""
    places = _places_of(place)
    if places is None:
        return f"{place.system}: [{place}]"
    return places.entry(place)


def _hidden_error(place: Place) -> ToolError:
    """Return the error for a place that the run may not see; it looks like the error for a missing place."""
    places = _places_of(place)
    if places is None:
        return ToolError("Not found.", code="not_found")
    return places.hidden


def _places_of(place: Place) -> Places | None:
    source = SOURCES.get(place.system)
    if source is None:
        return None
    return source.places
