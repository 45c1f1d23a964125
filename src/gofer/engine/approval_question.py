"""An approval question: asking it, checking who pressed its buttons, and showing the decision."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.entries import ToolResult as Result
from gofer.journal.purposes import (
    APPROVER,
    APPROVER_GROUPS,
    APPROVER_NAME,
    DECISION,
    OBJECTION,
    QUESTION,
    QUESTION_BUTTONS,
    QUESTION_FILE,
)
from gofer.sources.part_values import OwnCall
from gofer.sources.registry import WORKPLACE, source_of
from gofer.sources.signed_decision import Stamp, token
from gofer.sources.source import Approvals
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text, encode
from gofer.values.events import Event

_TOO_LONG = (
    "its arguments are too long for a question that only one person sees, and a file would show them to the others here"
)
_NO_BUTTONS: Mapping[str, object] = {"approve": "", "deny": ""}
ATTEMPTS = 3
"""Attempts to ask a question while it is unknown whether people see it. A question that appears twice does no harm."""


class Question:
    """One approval request, as people see it."""

    def __init__(
        self,
        step: OwnStep,
        item: Permitted,
        requested: ApprovalRequested,
        owner: str,
        where: str = "",
        *,
        whole: bool = True,
    ) -> None:
        self.requested = requested
        self._whole = whole
        self._where = where
        self._step = step
        self._item = item
        self._owner = owner
        self._event = step.progress.event
        self._approvals = approvals_of(self._event)
        self._only_for_asker = requested.about != "call"

    async def ask(self, provenance: Provenance) -> str:
        """Ask the question; return the reason when it could not be asked, else an empty string."""
        if (place := self._place()) is None:
            return f"the run has no place in {WORKPLACE.system} to ask in"
        people, failure = await self._people_to_ask(provenance)
        if failure:
            return failure
        # A message that only one person sees cannot be changed, so its file comes first.
        below = bool(self._file) and not self._only_for_asker
        if self._file and not below and (failure := await self._attach(place, provenance)):
            return failure
        for call in question_calls(self.requested):
            match await self._step.call(self._question_call(call, place, people, buttons=not below), provenance):
                case Result(status="ok", details=details):
                    return await self._complete(as_object(details), place, people, provenance) if below else ""
                case Result(text=reason):
                    return f"the question could not be sent: {reason.rstrip('.')}"
                case _:
                    pass  # It is unknown whether people see the question, so it is asked again.
        return "it is unknown whether people see the question" if below else ""

    async def _complete(
        self, asked: Mapping[str, object], place: Mapping[str, object], page: Sequence[str], provenance: Provenance
    ) -> str:
        """Attach the file below a question, then show its buttons; return the reason when that fails, else empty."""
        if failure := await self._attach(place, provenance):
            return failure
        shown = self._approvals.close(asked, "", self._fields(place, page, ""))
        call = QUESTION_BUTTONS.format(self.requested.about, self.requested.call)
        if shown is not None:
            match await self._step.call(PurposeCall(call, shown), provenance):
                case Result(status="ok"):
                    return ""
                case _:
                    pass
        return "its buttons could not be shown"

    async def objection(self, click: ApprovalClicked, provenance: Provenance) -> str:
        """Return why a click does not count, for the person who clicked; empty when the click counts."""
        if click.arguments_sha256 != self.requested.arguments_sha256:
            return "This button belongs to a request with other arguments than the current one."
        if click.at > self.requested.until:
            return "The time for this decision has run out."
        asked = self._approvals.may_decide(click.actor, self.requested.by, self._requester())
        match await self._step.call(PurposeCall(_approver_call(click), asked), provenance):
            case Result(status="ok", details=details):
                if self._approvals.allowed(as_object(details)):
                    return ""
                names = await approver_names(self._step, self.requested, provenance)
                return f"Only {' or '.join(names)} may decide this."
            case _:
                return "I could not look up whether you may decide this. Please press the button again."

    def name_of(self, click: ApprovalClicked) -> str:
        """Return the name of the person who clicked, as `objection` looked it up."""
        outcome = self._step.progress.outcomes.get(_approver_call(click))
        if not isinstance(outcome, Result):
            return ""
        return self._approvals.decider(as_object(outcome.details))

    async def notify(self, call: str, user: str, text: str, provenance: Provenance) -> None:
        """Send a text to one person; a failure is recorded and changes nothing."""
        asked = self._approvals.tell(user, text, self._place() or {})
        await self._step.call(PurposeCall(call, asked), provenance)

    async def show_decision(self, provenance: Provenance) -> None:
        """Replace the buttons with the decision, once."""
        decided = self._step.progress.approvals[self.requested.about, self.requested.call].decided
        if decided is None:
            return
        ending = decision_text(self._step, decided)
        if self._only_for_asker and decided.item:
            # A message that only one person sees cannot be changed, so the decision is a message of its own.
            await self.notify(_decision_call(self.requested), self._requester(), ending, provenance)
        elif not self._only_for_asker:
            asked = {**self._fields({}, [], ""), **_NO_BUTTONS}
            if self._file and not decided.item and decided.decision == "denied":
                asked = None  # Its file is missing, so it shows arguments that people cannot read whole.
            await close_shown(self._step, self.requested, ending, asked, provenance)

    async def _people_to_ask(self, provenance: Provenance) -> tuple[list[str], str]:
        """Return the ids of the people to ask; when there are none, also the reason."""
        by = self.requested.by
        ids = dict[str, object]()
        if handles := [name for name in by if name.startswith("@")]:
            asked = self._approvals.groups(handles)
            call = PurposeCall(APPROVER_GROUPS.format(self.requested.call), asked)
            match await self._step.call(call, provenance):
                case Result(status="ok", details=details):
                    ids = dict(self._approvals.group_ids(as_object(details)))
                case Result(text=reason):
                    return [], reason.rstrip(".")
                case _:
                    return [], "the user groups could not be looked up"
        ids["requester"] = self._requester()
        people = [as_text(ids.get(name, name)) for name in by]
        found = list(dict.fromkeys(filter(None, people)))
        if not found:
            return [], "no person who could be asked started this run"
        return found, ""

    @property
    def _file(self) -> str:
        """The name of the file with the arguments; empty for a question that shows them whole."""
        if not self._whole or self._approvals.fits({"arguments": _arguments_of(self._item)}):
            return ""
        return f"arguments-{self.requested.arguments_sha256[:12]}.txt"

    async def _attach(self, place: Mapping[str, object], provenance: Provenance) -> str:
        """Attach the file with the arguments; return the reason when it cannot be attached, else an empty string."""
        if self._only_for_asker and not self._direct:
            return _TOO_LONG
        call = QUESTION_FILE.format(self.requested.about, self.requested.call)
        asked = self._approvals.attach(self._fields(place, [], ""))
        match await self._step.call(PurposeCall(call, asked), provenance):
            case Result(status="ok"):
                return ""
            case Result(text=reason):
                return f"the file with its arguments could not be sent: {reason.rstrip('.')}"
            case _:
                return "it is unknown whether people see the file with its arguments"

    def _question_call(
        self, call: str, place: Mapping[str, object], page: Sequence[str], *, buttons: bool
    ) -> PurposeCall:
        if self._only_for_asker:
            asked = self._approvals.ask_one(self._fields(place, page, self._requester()))
        else:
            fields = self._fields(place, page, "")
            asked = self._approvals.ask(fields if buttons else {**fields, **_NO_BUTTONS})
        return PurposeCall(call, asked)

    def _fields(self, place: Mapping[str, object], page: Sequence[str], to: str) -> dict[str, object]:
        requested = self.requested
        shown: dict[str, object] = {
            "tool": requested.tool,
            "arguments": dict(_arguments_of(self._item)),
            "arguments_sha256": requested.arguments_sha256,
            "about": requested.about,
            "where": self._where or self._destination(),
            "direct": self._direct,
            "by": list(requested.by),
            "until": requested.until,
        }
        if self._file:
            shown["file"] = self._file
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
        if self._step.progress.private or self._only_for_asker:
            return None
        return self._approvals.channel(self._owner)

    def _requester(self) -> str:
        return _requester_id(self._event)


def decision_text(step: OwnStep, decided: ApprovalDecided) -> str:
    """Return the decision of a question as people read it in place of the buttons."""
    clicked = [click.at for click in step.progress.clicks if click.item == decided.item]
    when = ""
    if clicked and clicked[0]:
        when = f" on {approvals_of(step.progress.event).moment(clicked[0])}"
    match decided.decision:
        case "approved":
            return f"Approved by {decided.by}{when}."
        case "denied":
            return f"Denied by {decided.by}{when}."
        case "expired":
            return "Denied, because no person decided in time."


async def close_shown(
    step: OwnStep,
    requested: ApprovalRequested,
    ending: str,
    asked: Mapping[str, object] | None,
    provenance: Provenance,
) -> None:
    """Replace the buttons of every message of a question with its ending.

    `asked` holds the fields of the question, which stay visible; None removes them, unless an earlier owner began to
    show another ending.
    """
    approvals = approvals_of(step.progress.event)
    for number, question in enumerate(question_calls(requested), 1):
        match step.progress.outcomes.get(question):
            case Result(status="ok", details=details):
                call = f"{_decision_call(requested)}/{number}"
                closing = approvals.close(as_object(details), ending, asked)
                if asked is None:
                    closing = as_recorded(step, call) or closing
                if closing:
                    await step.call(PurposeCall(call, closing), provenance)
            case _:
                pass


def as_recorded(step: OwnStep, call: str) -> OwnCall | None:
    """Return a call in doubt with its recorded arguments; None if the call is not in doubt."""
    recorded = step.progress.in_doubt.get(call)
    if recorded is None or recorded.arguments is None:
        return None
    return OwnCall(recorded.tool, recorded.arguments)


async def approver_names(step: OwnStep, requested: ApprovalRequested, provenance: Provenance) -> Sequence[str]:
    """Return the approvers of a request in words for people; a person is looked up once, or shown by the id."""
    return [await _approver_name(step, requested, one, provenance) for one in requested.by]


async def _approver_name(step: OwnStep, requested: ApprovalRequested, one: str, provenance: Provenance) -> str:
    if one == "requester":
        return "the person who started this"
    if one.startswith("@"):
        return one
    event = step.progress.event
    approvals = approvals_of(event)
    asked = approvals.may_decide(one, requested.by, _requester_id(event))
    match await step.call(PurposeCall(APPROVER_NAME.format(one), asked, longest_wait=0.0), provenance):
        case Result(status="ok", details=details):
            return approvals.decider(as_object(details)) or one
        case _:
            return one


def arguments_sha256(item: Permitted) -> str:
    """Return the hash that binds an approval to one call: its tool, all arguments with defaults, and its place ids."""
    asked: list[object] = [item.tool.name, _arguments_of(item)]
    if item.ids:
        asked.append(dict(item.ids))
    return hashlib.sha256(encode(asked)).hexdigest()


def _arguments_of(item: Permitted) -> Mapping[str, object]:
    return item.arguments.model_dump(mode="json")


def approvals_of(event: Event | None) -> Approvals:
    """Return the approvals of the event's source, or of the workplace if that source asks no people."""
    if event is None:
        return WORKPLACE.approvals
    return source_of(event).approvals or WORKPLACE.approvals


def _requester_id(event: Event | None) -> str:
    """Return the id of the person who started the run and can be asked; empty without such a person."""
    if event is None or source_of(event).approvals is None or not event.actor.is_person:
        return ""
    return event.actor.id


def question_calls(requested: ApprovalRequested) -> Sequence[str]:
    """Return the call ids of all attempts to ask the question."""
    return [QUESTION.format(requested.about, requested.call, number) for number in range(1, ATTEMPTS + 1)]


def _decision_call(requested: ApprovalRequested) -> str:
    return DECISION.format(requested.about, requested.call)


def _approver_call(click: ApprovalClicked) -> str:
    return APPROVER.format(click.item)


def objection_call(click: ApprovalClicked) -> str:
    """Return the id of the call that tells a person why their click does not count."""
    return OBJECTION.format(click.item)
