"""The explanation of a raw payload: what it would start, by the receivers and routes that real deliveries use.

Each payload gets one answer: the workflows it starts, why it is ignored, or what is wrong with it. No run is started.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from gofer.sources.near_miss import near_miss
from gofer.sources.precedence import Facts, Standing, keep_best, standing, winners
from gofer.sources.receiver import (
    BODY_LIMIT,
    FORM,
    Click,
    Handshake,
    Ignored,
    PossibleFeedback,
    RawRequest,
    Receiver,
    Registration,
    Stop,
    is_form,
)
from gofer.sources.receivers import events_of, known
from gofer.values.canonical_json import as_list, clean, decode, one_line
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.workflows.routes import Route, Routes, passes


@dataclass(frozen=True, slots=True)
class Foresight:
    """The outcome of an event as far as the payload decides it."""

    workflows: tuple[str, ...]
    """The workflows that win, or may still win, sorted by name."""
    decided: str = ""
    """Which workflow wins and why, or what decides it; empty if one workflow starts in any case."""


def foresee(kind: str, matched: Sequence[Route], facts: Facts) -> Foresight:
    """Return which of the workflows that match an event wins."""
    possible: dict[str, Standing] = {}
    certain: dict[str, Standing] = {}
    for route in matched:
        keep_best(possible, standing(kind, route, facts, whole=False))
        if passes(route.where, facts, whole=True):
            keep_best(certain, standing(kind, route, facts, whole=True))
    least = max((rank.precedence for rank in certain.values()), default=0)
    candidates = [rank for rank in possible.values() if rank.precedence >= least]
    beaten = [rank for rank in possible.values() if rank.precedence < least]
    names = tuple(sorted(rank.workflow for rank in candidates))
    words = events_of(kind).read_later
    unknown = sorted(
        {
            words.get(fact, f"`{fact}`")
            for route in matched
            if route.workflow in names
            for fact in _missing(route, facts)
        }
    )
    if all(certain.get(name) == possible[name] for name in names) and len(winners(candidates)) == len(candidates):
        return Foresight(names, _verdict(candidates, beaten))
    return Foresight(names, f"decided when {' and '.join(unknown)} can be read: {_ranking(candidates)}")


def _verdict(winning: Sequence[Standing], beaten: Sequence[Standing]) -> str:
    if not beaten:
        return ""
    return f"{_listed(winning)} wins over {_listed(beaten)}, because its trigger names the place more specifically"


def _ranking(standings: Sequence[Standing]) -> str:
    """Return a text of the workflows that may win, most specific first."""
    groups: list[str] = []
    left = list(standings)
    while left:
        first = winners(left)
        groups.append(_listed(first))
        left = [rank for rank in left if rank not in first]
    return ", else ".join(groups)


def _listed(standings: Sequence[Standing]) -> str:
    return " and ".join(rank.described() for rank in sorted(standings, key=_name))


def _name(rank: Standing) -> str:
    return rank.workflow


def _missing(route: Route, facts: Facts) -> Sequence[str]:
    return [fact for fact in route.where if fact not in facts]


_TOO_LARGE = f"The payload is larger than {BODY_LIMIT} bytes."


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one payload, as `gofer explain` prints it. None means that the value is unknown."""

    file: str
    kind: str | None = None
    """The kind of the event, by its name in workflow files."""
    dedupe_key: str | None = None
    """The key by which Gofer recognizes repeated deliveries of one event."""
    actor: str | None = None
    bot: bool | None = None
    private: bool | None = None
    """Whether the event is private; None also when the payload does not say. Such a run is private until it knows."""
    workflows: tuple[str, ...] = ()
    """The workflows that the payload starts. If a run must read more to decide, all that may win."""
    decided: str | None = None
    """Which of several workflows wins and why, or what a run must read to decide."""
    ignored_because: str | None = None
    error: str | None = None

    def to_json(self) -> str:
        """Return the explanation as one line of JSON."""
        return one_line(clean(json.dumps(asdict(self), ensure_ascii=False)))

    def lines(self) -> Iterator[str]:
        """Yield the explanation in words: what happened, and what it starts or why it starts nothing."""
        if self.error is not None:
            yield f"{self.file}: {self.error}"
            return
        by = f" by {self.actor}" if self.actor else ""
        yield f"{self.file}: {self.kind or 'a delivery'}{by}"
        if self.ignored_because is not None:
            yield f"  starts nothing: {self.ignored_because}"
        elif len(self.workflows) == 1:
            yield f"  starts {self.workflows[0]}"
        else:
            yield f"  may start {' or '.join(self.workflows)}"
        if self.decided is not None:
            yield f"  {self.decided}"
        if self.dedupe_key is not None:
            yield f"  a second delivery with this key is the same event: {self.dedupe_key}"


@dataclass(frozen=True, slots=True)
class DeliveryPath:
    """The receiver, path and headers of the deliveries to explain, and the routes they may match."""

    receiver: Receiver
    routes: Routes
    path: str = ""
    headers: Sequence[tuple[str, str]] = ()
    whole: bool = False
    """Whether a file is always one body, even if it contains a list or several lines."""

    def request(self, body: bytes) -> RawRequest:
        """Return the request that would deliver a body."""
        named = any(name.lower() == "content-type" for name, _ in self.headers)
        headers = [*self.headers]
        if is_form(body) and not self.whole and not named:
            headers.append(("Content-Type", FORM))
        return RawRequest("POST", self.path, headers, body)


def explain(file: str, raw: bytes, delivery: DeliveryPath) -> Iterator[Explanation]:
    """Yield an explanation for each payload of a file. Never raises.

    A file is one JSON object, a list of objects, or one object per line. A form, or the body of a webhook, is always
    one payload.
    """
    if delivery.whole or is_form(raw):
        yield _explained(file, raw, delivery)
        return
    try:
        payloads = _payloads(raw)
    except BadRequest as error:
        lines = [line for line in raw.splitlines() if line.strip()]
        if 2 * sum(line.startswith(b"{") for line in lines) <= max(2, len(lines)):
            # The lines of a single broken payload are indented; one payload per line begins with a brace.
            yield Explanation(file, error=str(error))
            return
        for line in lines:
            yield _line(file, line, delivery)
        return
    for payload in payloads:
        yield _payload(file, payload, delivery)


def _payloads(raw: bytes) -> list[object]:
    """Return the payloads of a file that is one JSON value. Raises BadRequest."""
    if not raw.strip():
        raise BadRequest(400, "The file contains no payload.")
    value = decode(raw)
    return as_list(value) or [value]


def _line(file: str, line: bytes, delivery: DeliveryPath) -> Explanation:
    try:
        return _payload(file, decode(line), delivery)
    except BadRequest as error:
        return Explanation(file, error=str(error))


def _payload(file: str, payload: object, delivery: DeliveryPath) -> Explanation:
    if not isinstance(payload, dict):
        return Explanation(file, error="The payload is not a JSON object.")
    # The limit applies to the payload as its sender writes it: without indentation, and alone.
    if len(json.dumps(payload, ensure_ascii=False).encode(errors="surrogatepass")) > BODY_LIMIT:
        return Explanation(file, error=_TOO_LARGE)
    return _translated(file, json.dumps(payload).encode(), delivery)


def _explained(file: str, body: bytes, delivery: DeliveryPath) -> Explanation:
    if len(body) > BODY_LIMIT:
        return Explanation(file, error=_TOO_LARGE)
    return _translated(file, body, delivery)


def _translated(file: str, body: bytes, delivery: DeliveryPath) -> Explanation:
    try:
        arrival = delivery.receiver.translate(delivery.request(body))
    except BadRequest as error:
        return Explanation(file, error=str(error))
    match arrival:
        case Handshake():
            return Explanation(file, ignored_because="it is the sender's test of the URL, which Gofer answers at once")
        case Registration():
            return Explanation(
                file, ignored_because="it offers the secret with which the sender will sign its deliveries"
            )
        case Ignored(reason=reason, actor=actor):
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case Stop(by=by, actor=actor):
            reason = f"it starts no workflow: it stops the runs that it concerns, by {by}"
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case Click(actor=actor):
            reason = "it is the click of a button, which starts no workflow and is stored for the run that asked"
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case PossibleFeedback() as possible:
            return _feedback(file, possible, delivery.routes)
        case Event() as event:
            return _event(file, event, delivery.routes)


_TAKEN_BACK = (
    "it starts no workflow: it takes a reaction on a message of Gofer's back, and with it feedback on an answer"
)


def _feedback(file: str, possible: PossibleFeedback, routes: Routes) -> Explanation:
    """Return the explanation of an event that is feedback too, or instead, if Gofer answered there."""
    if possible.event is None:
        return Explanation(file, actor=_id(possible.actor), bot=_bot(possible.actor), ignored_because=_TAKEN_BACK)
    explained = _event(file, possible.event, routes)
    verdict = routes.feedback.verdict(possible.emoji)
    if verdict is None:
        return explained
    where = "if it is on an answer, it is also"
    if possible.in_thread:
        where = "if Gofer answered in this thread, it starts no workflow and is"
    feedback = f"{where} feedback ({verdict}) on that run"
    return replace(explained, decided="; ".join(filter(None, [explained.decided, feedback])))


def _event(file: str, event: Event, routes: Routes) -> Explanation:
    # A run looks up the actor; here the actor in the payload counts.
    facts = {"bot": event.actor.kind == "bot", **known(event)}
    foreseen = foresee(event.kind, routes.matching(event.kind, known(event)), facts)
    ignored = None
    if not foreseen.workflows:
        # The person who reads the explanation already has the payload, so the explanation may show its values.
        ignored = near_miss(routes, event).tell(found=True)
    return Explanation(
        file=file,
        kind=event.kind,
        dedupe_key=":".join((event.kind, *event.identity)),
        actor=_id(event.actor),
        bot=_bot(event.actor),
        private=event.private,
        workflows=foreseen.workflows,
        decided=foreseen.decided or None,
        ignored_because=ignored,
    )


def _id(actor: Actor | None) -> str | None:
    if actor is None:
        return None
    return actor.id or None


def _bot(actor: Actor | None) -> bool | None:
    if actor is None:
        return None
    return actor.kind == "bot"
