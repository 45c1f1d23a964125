"""An approval question: asking it, checking who pressed its buttons, and showing the decision."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.entries import ToolResult as Result
from gofer.journal.purposes import APPROVER, APPROVER_GROUPS, DECISION, OBJECTION, QUESTION
from gofer.sources.registry import WORKPLACE, source_of
from gofer.sources.signed_decision import Stamp, token
from gofer.sources.source import Approvals
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.events import Event

ASKS = 3
"""Attempts to ask a question while it is unknown whether people see it. A question that appears twice does no harm."""


class Question:
    """One approval request, as people see it."""

    def __init__(
        self, step: OwnStep, item: Permitted, requested: ApprovalRequested, owner: str, where: str = ""
    ) -> None:
        self.requested = requested
        self._where = where
        self._step = step
        self._item = item
        self._owner = owner
        self._event = step.progress.event
        self._asking = asking_of(self._event)
        self._alone = requested.about != "call"

    async def ask(self, provenance: Provenance) -> str:
        """Ask the question; return the reason when it could not be asked, else an empty string."""
        if (place := self._place()) is None:
            return f"there is no place in {WORKPLACE.system} to ask at"
        page, failure = await self._people(provenance)
        if failure:
            return failure
        for call in ask_calls(self.requested):
            match await self._step.call(self._put(call, place, page), provenance):
                case Result(status="ok"):
                    return ""
                case Result(text=why):
                    return f"nobody could be asked: {why.rstrip('.')}"
                case _:
                    pass  # It is unknown whether people see the question, so it is asked again.
        return ""

    async def objection(self, click: ApprovalClicked, provenance: Provenance) -> str:
        """Return why a click does not count, for the person who clicked; empty when the click counts."""
        if click.arguments_sha256 != self.requested.arguments_sha256:
            return "This button belongs to other arguments than those that are asked for now."
        if click.at > self.requested.until:
            return "The time for this decision was over."
        asked = self._asking.may_decide(click.actor, self.requested.by, self._requester())
        match await self._step.call(PurposeCall(_who(click), asked), provenance):
            case Result(status="ok", details=details):
                allowed = self._asking.allowed(as_object(details))
                return "" if allowed else f"Only {' or '.join(self._who_may())} may decide this."
            case _:
                return "I could not look up whether you may decide this. Press the button again."

    def name_of(self, click: ApprovalClicked) -> str:
        """Return the name of the person who clicked, as `objection` looked it up."""
        outcome = self._step.progress.outcomes.get(_who(click))
        if not isinstance(outcome, Result):
            return ""
        return self._asking.decider(as_object(outcome.details))

    async def say(self, call: str, user: str, text: str, provenance: Provenance) -> None:
        """Send a text to one person; a failure is recorded and changes nothing."""
        asked = self._asking.tell(user, text, self._place() or {})
        await self._step.call(PurposeCall(call, asked), provenance)

    async def show(self, provenance: Provenance) -> None:
        """Replace the buttons with the decision, once."""
        decided = self._step.progress.approvals[self.requested.about, self.requested.call].decided
        if decided is None:
            return
        clicked = [click.at for click in self._step.progress.clicks if click.item == decided.item]
        ending = self._ending(decided, clicked)
        if self._alone and decided.item:
            # A message that only one person sees cannot be changed, so the decision is a message of its own.
            await self.say(_told(self.requested), self._requester(), ending, provenance)
        elif not self._alone:
            asked = {**self._fields({}, [], ""), "approve": "", "deny": ""}
            await close_shown(self._step, self.requested, ending, asked, provenance)

    async def _people(self, provenance: Provenance) -> tuple[list[str], str]:
        """Return the ids of the people to ask; when there are none, also the reason."""
        by = self.requested.by
        ids = dict[str, object]()
        if handles := [name for name in by if name.startswith("@")]:
            asked = self._asking.groups(handles)
            call = PurposeCall(APPROVER_GROUPS.format(self.requested.call), asked)
            match await self._step.call(call, provenance):
                case Result(status="ok", details=details):
                    ids = dict(self._asking.group_ids(as_object(details)))
                case Result(text=why):
                    return [], why.rstrip(".")
                case _:
                    return [], "the user groups could not be looked up"
        found = [self._requester() if name == "requester" else as_text(ids.get(name, name)) for name in by]
        found = list(dict.fromkeys(filter(None, found)))
        return found, "" if found else "nobody started this run who could be asked"

    def _put(self, call: str, place: Mapping[str, object], page: Sequence[str]) -> PurposeCall:
        if self._alone:
            asked = self._asking.ask_one(self._fields(place, page, self._requester()))
        else:
            asked = self._asking.ask(self._fields(place, page, ""))
        return PurposeCall(call, asked)

    def _fields(self, place: Mapping[str, object], page: Sequence[str], to: str) -> dict[str, object]:
        requested = self.requested
        shown: dict[str, object] = {
            "tool": requested.tool,
            "arguments": dict(_plain(self._item)),
            "arguments_sha256": requested.arguments_sha256,
            "about": requested.about,
            "where": self._where or self._destination(),
            "direct": self._direct,
            "by": list(requested.by),
            "until": requested.until,
        }
        buttons = {"approve": self._stamp("approved"), "deny": self._stamp("denied")}
        return {**shown, **buttons, "page": list(page), "to": to, **place}

    def _destination(self) -> str:
        """Return the destination of a call that takes data out of a private channel; empty if it declares none."""
        if self.requested.about != "leaving" or self._event is None:
            return ""
        return str(self._item.place(self._event) or "")

    @property
    def _direct(self) -> bool:
        """Whether the run was started in a direct message."""
        if self._event is None or (own := source_of(self._event).approvals) is None:
            return False
        return own.is_direct(self._event)

    def _stamp(self, decision: Literal["approved", "denied"]) -> str:
        requested = self.requested
        stamp = Stamp(self._step.run, requested.call, requested.about, requested.arguments_sha256, decision)
        return token(self._step.services.installation_key, stamp)

    def _place(self) -> Mapping[str, object] | None:
        """Return where to ask: where the run began, else in the channel of the workflow's owner; None if neither."""
        event = self._event
        if event is not None and (approvals := source_of(event).approvals):
            return approvals.here(event)
        if self._step.progress.private or self._alone:
            return None
        return self._asking.channel(self._owner)

    def _requester(self) -> str:
        return _person(self._event)

    def _who_may(self) -> Sequence[str]:
        return ["the person who started this" if name == "requester" else name for name in self.requested.by]

    def _ending(self, decided: ApprovalDecided, clicked: Sequence[int]) -> str:
        when = f" on {self._asking.moment(clicked[0])}" if clicked and clicked[0] else ""
        match decided.decision:
            case "approved":
                return f"Approved by {decided.by}{when}."
            case "denied":
                return f"Denied by {decided.by}{when}."
            case "expired":
                return "Nobody decided in time: denied."


async def close_shown(
    step: OwnStep,
    requested: ApprovalRequested,
    ending: str,
    asked: Mapping[str, object] | None,
    provenance: Provenance,
) -> None:
    """Replace the buttons of every message of a question with its ending.

    `asked` holds the fields of the question, which stay visible; None removes them.
    """
    approvals = asking_of(step.progress.event)
    for number, call in enumerate(ask_calls(requested), 1):
        match step.progress.outcomes.get(call):
            case Result(status="ok", details=details):
                if closing := approvals.close(as_object(details), ending, asked):
                    await step.call(PurposeCall(f"{_told(requested)}/{number}", closing), provenance)
            case _:
                pass


def arguments_sha256(item: Permitted) -> str:
    """Return the hash that binds an approval to one call: its tool, all arguments with defaults, and its place ids."""
    asked: list[object] = [item.tool.name, _plain(item)]
    if item.ids:
        asked.append(dict(item.ids))
    return hashlib.sha256(encode(asked)).hexdigest()


def _plain(item: Permitted) -> Mapping[str, object]:
    return item.arguments.model_dump(mode="json")


def asking_of(event: Event | None) -> Approvals:
    """Return the approvals of the event's source, or of the workplace if that source asks no people."""
    if event is None:
        return WORKPLACE.approvals
    return source_of(event).approvals or WORKPLACE.approvals


def _person(event: Event | None) -> str:
    """Return the id of the person who started the run and can be asked; empty without such a person."""
    if event is None or source_of(event).approvals is None or event.actor.kind != "person":
        return ""
    return event.actor.id


def ask_calls(requested: ApprovalRequested) -> Sequence[str]:
    """Return the call ids of all attempts to ask the question."""
    return [QUESTION.format(requested.about, requested.call, number) for number in range(1, ASKS + 1)]


def _told(requested: ApprovalRequested) -> str:
    return DECISION.format(requested.about, requested.call)


def _who(click: ApprovalClicked) -> str:
    return APPROVER.format(click.item)


def word_call(click: ApprovalClicked) -> str:
    """Return the id of the call that tells a person why their click does not count."""
    return OBJECTION.format(click.item)
