"""What a raw payload would start, by the receivers and routes of a request; nothing happens.

Every payload gets one answer: what it starts, why it is ignored, or what is wrong with it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from gofer.sources.near_miss import near_miss
from gofer.sources.precedence import Facts, Standing, keep_best, standing, winners
from gofer.sources.receiver import (
    BODY_LIMIT,
    FORM,
    Click,
    Handshake,
    Ignored,
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
    """What is known of an event before a run reads more."""

    workflows: tuple[str, ...]
    """The workflows that win, or may still win, in the order of their names."""
    decided: str = ""
    """Which workflow wins and why, or what decides that; empty where one workflow starts in any case."""


def foresee(kind: str, matched: Sequence[Route], facts: Facts) -> Foresight:
    """Return which of the workflows that an event matched wins it."""
    possible: dict[str, Standing] = {}
    certain: dict[str, Standing] = {}
    for route in matched:
        keep_best(possible, standing(kind, route, facts, whole=False))
        if passes(route.where, facts, whole=True):
            keep_best(certain, standing(kind, route, facts, whole=True))
    least = max((one.precedence for one in certain.values()), default=0)
    open_ = [one for one in possible.values() if one.precedence >= least]
    beaten = [one for one in possible.values() if one.precedence < least]
    names = tuple(sorted(one.workflow for one in open_))
    words = events_of(kind).read_later
    unknown = sorted(
        {
            words.get(fact, f"`{fact}`")
            for route in matched
            if route.workflow in names
            for fact in _missing(route, facts)
        }
    )
    if all(certain.get(name) == possible[name] for name in names) and len(winners(open_)) == len(open_):
        return Foresight(names, _verdict(open_, beaten))
    return Foresight(names, f"decided when {' and '.join(unknown)} can be read: {_ranking(open_)}")


def _verdict(winning: Sequence[Standing], beaten: Sequence[Standing]) -> str:
    if not beaten:
        return ""
    return f"{_listed(winning)} wins over {_listed(beaten)}, because it names the place more specifically"


def _ranking(standings: Sequence[Standing]) -> str:
    """Return the workflows that may win, most specific first."""
    groups: list[str] = []
    left = list(standings)
    while left:
        first = winners(left)
        groups.append(_listed(first))
        left = [one for one in left if one not in first]
    return ", else ".join(groups)


def _listed(standings: Sequence[Standing]) -> str:
    return " and ".join(one.described() for one in sorted(standings, key=_name))


def _name(one: Standing) -> str:
    return one.workflow


def _missing(route: Route, facts: Facts) -> Sequence[str]:
    return [fact for fact in route.where if fact not in facts]


_TOO_LARGE = f"The payload is larger than {BODY_LIMIT} bytes."


@dataclass(frozen=True, slots=True)
class Explanation:
    """One payload, as `gofer explain` prints it; None is what cannot be told."""

    file: str
    kind: str | None = None
    """What happened, as workflow files name it."""
    dedupe_key: str | None = None
    """The same for every delivery of one happening."""
    actor: str | None = None
    bot: bool | None = None
    private: bool | None = None
    """None also when the payload does not say; a run then counts as private until it knows."""
    workflows: tuple[str, ...] = ()
    """The workflows that it starts; where a run has to read more to decide, all that may win."""
    decided: str | None = None
    """Which of several workflows wins and why, or what has to be known before that is decided."""
    ignored_because: str | None = None
    error: str | None = None

    def to_json(self) -> str:
        """The explanation as one line of JSON."""
        return one_line(clean(json.dumps(asdict(self), ensure_ascii=False)))


@dataclass(frozen=True, slots=True)
class Way:
    """How the payloads would come in, and what they could start."""

    receiver: Receiver
    routes: Routes
    path: str = ""
    headers: Sequence[tuple[str, str]] = ()
    whole: bool = False
    """Whether a file is one body, whatever stands in it."""

    def request(self, body: bytes) -> RawRequest:
        """A body as the request that would bring it."""
        named = any(name.lower() == "content-type" for name, _ in self.headers)
        form = [("Content-Type", FORM)] if is_form(body) and not self.whole and not named else []
        return RawRequest("POST", self.path, [*self.headers, *form], body)


def explain(file: str, raw: bytes, way: Way) -> Iterator[Explanation]:
    """An answer for each payload of a file: one JSON object, a list of them, or one on each line. Never raises.

    A form, and the body of a webhook, is one payload as it is.
    """
    if way.whole or is_form(raw):
        yield _explained(file, raw, way)
        return
    try:
        payloads = _payloads(raw)
    except BadRequest as error:
        lines = [line for line in raw.splitlines() if line.strip()]
        if 2 * sum(line.startswith(b"{") for line in lines) <= max(2, len(lines)):
            # Lines of one broken payload are indented; payloads on lines of their own begin with a brace.
            yield Explanation(file, error=str(error))
            return
        for line in lines:
            yield _line(file, line, way)
        return
    for payload in payloads:
        yield _payload(file, payload, way)


def _payloads(raw: bytes) -> list[object]:
    """The payloads of a file that is one JSON value. Raises BadRequest."""
    if not raw.strip():
        raise BadRequest(400, "There is no payload.")
    value = decode(raw)
    return as_list(value) or [value]


def _line(file: str, line: bytes, way: Way) -> Explanation:
    try:
        return _payload(file, decode(line), way)
    except BadRequest as error:
        return Explanation(file, error=str(error))


def _payload(file: str, payload: object, way: Way) -> Explanation:
    if not isinstance(payload, dict):
        return Explanation(file, error="The payload is not a JSON object.")
    # As the sender would write it: a file may be indented, and hold more than one.
    if len(json.dumps(payload, ensure_ascii=False).encode(errors="surrogatepass")) > BODY_LIMIT:
        return Explanation(file, error=_TOO_LARGE)
    return _told(file, json.dumps(payload).encode(), way)


def _explained(file: str, body: bytes, way: Way) -> Explanation:
    return Explanation(file, error=_TOO_LARGE) if len(body) > BODY_LIMIT else _told(file, body, way)


def _told(file: str, body: bytes, way: Way) -> Explanation:
    try:
        arrival = way.receiver.translate(way.request(body))
    except BadRequest as error:
        return Explanation(file, error=str(error))
    match arrival:
        case Handshake():
            return Explanation(file, ignored_because="it is the sender's test of the URL, which is answered at once")
        case Registration():
            return Explanation(file, ignored_because="it offers the secret that its sender will sign with")
        case Ignored(reason=reason, actor=actor):
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case Stop(by=by, actor=actor):
            reason = f"it starts nothing: it stops what is under way there, by {by}"
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case Click(actor=actor):
            reason = "it is the press of a button, which starts nothing and is kept for the run that asked"
            return Explanation(file, actor=_id(actor), bot=_bot(actor), ignored_because=reason)
        case Event() as event:
            return _event(file, event, way.routes)


def _event(file: str, event: Event, routes: Routes) -> Explanation:
    # A run looks up who acted; here the payload's word for it counts.
    facts = {"bot": event.actor.kind == "bot", **known(event)}
    foreseen = foresee(event.kind, routes.matching(event.kind, known(event)), facts)
    ignored = None
    if not foreseen.workflows:
        # The reader of an explanation holds the payload, so the values found in it are shown.
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
    return actor.id if actor else None


def _bot(actor: Actor | None) -> bool | None:
    return actor.kind == "bot" if actor else None
