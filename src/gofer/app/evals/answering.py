"""The models of a play: recorded answers, a script, or a live model, and what the play learns about each request."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from typing_extensions import override

from gofer.app.evals.repeatable import VirtualClock
from gofer.app.model_endpoints import ModelAccess
from gofer.evals.answers import (
    RecordedAnswer,
    RecordedPlay,
    Source,
    difference_of,
    recorded,
    recorded_failure,
    request_hash,
)
from gofer.evals.case_begin import EarlierTurn
from gofer.evals.plays import Evidence
from gofer.models.failures import provider_error_of
from gofer.models.language_model import Answer, Model, Refused, RemoteModel
from gofer.models.scripted import NAME, ScriptedModel
from gofer.models.served_model import Endpoint
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import FailureClass, ProviderError, ToolAsk, Usage
from gofer.values.outside import Clock

OF_THE_PROMPT: frozenset[FailureClass] = frozenset({"bad_sample", "filtered", "too_large", "refused"})
"""Failures that the request itself causes; every other failure is one of infrastructure."""


@dataclass(slots=True)
class Asked:
    """The requests of one play, and where their answers came from."""

    turn: int = 1
    number: int = 0
    """The number of the last request in this turn."""
    sources: set[str] = field(default_factory=set[str])
    answers: list[RecordedAnswer] = field(default_factory=list[RecordedAnswer])
    """The answers of a live model or of a script, to be recorded."""
    missing: list[str] = field(default_factory=list[str])
    """The requests without a recorded answer, as `<turn>.<request>`."""
    why_missing: str = ""
    """How the first of them differs."""
    failure: str = ""
    """The failure of infrastructure after which no request was answered."""
    seconds: float = 0.0
    """The duration of all answers."""

    def next_turn(self) -> None:
        """Count the requests of the next turn from 1."""
        self.turn += 1
        self.number = 0

    def evidence(self, default: Evidence) -> Evidence:
        """Return where the answers came from; `default` for a play that asked no model."""
        if "scripted" in self.sources:
            return "scripted"
        return default

    def note_missing(self, why: str) -> None:
        """Note that the present request has no recorded answer."""
        self.missing.append(f"{self.turn}.{self.number}")
        self.why_missing = self.why_missing or why

    def spend(self, clock: VirtualClock, seconds: float) -> None:
        """Count the duration of an answer."""
        self.seconds += seconds
        clock.spend(seconds)


@dataclass(frozen=True, slots=True)
class RecordedModel(Model):
    """A model that answers each request as it was answered when the answers were recorded."""

    answers: Mapping[str, RecordedAnswer]
    """The answers of the eval file by the hash of their request."""
    play: RecordedPlay
    """The recorded play that is played again."""
    asked: Asked
    clock: VirtualClock
    _given: Counter[str] = field(default_factory=Counter[str])
    """How often each request was answered in this play."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.number += 1
        found = self._found(request_hash(body))
        if found is None:
            why = difference_of(body, self.play or self.answers.values())
            self.asked.note_missing(why)
            raise Refused("This request has no recorded answer.", ProviderError("refused"), final=True)
        self.asked.sources.add(found.source.kind)
        self.asked.spend(self.clock, found.ms / 1000)
        given = found.given()
        if isinstance(given, Answer):
            return given
        raise given

    def _found(self, request: str) -> RecordedAnswer | None:
        """Return the next answer of the play to a request, else that of another play or case; None without one."""
        own = [answer for answer in self.play if answer.request == request]
        if not own:
            return self.answers.get(request)
        self._given[request] += 1
        return own[min(self._given[request], len(own)) - 1]


@dataclass(frozen=True, slots=True)
class PlayedScript(Model):
    """The script of a case. Its answers are recorded as those of a script."""

    script: ScriptedModel
    asked: Asked
    file: str
    """The file of the script, for the person who must write it."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.number += 1
        self.asked.sources.add("scripted")
        try:
            answer = await self.script.ask(body, timeout)
        except RunStopped as error:
            self.asked.note_missing(f"{error} Write the answer into {self.file}; docs/evals.md says how.")
            raise
        self.asked.answers.append(recorded(body, answer, Source(kind="scripted", model=NAME), 0))
        return answer


@dataclass(frozen=True, slots=True)
class LiveModel(RemoteModel):
    """A live model. Its answers are kept to be recorded."""

    model: Model
    asked: Asked
    clock: VirtualClock
    real: Clock

    @override
    def within(self, traceparent: str) -> Model:
        if not isinstance(self.model, RemoteModel):
            return self
        return replace(self, model=self.model.within(traceparent))

    @override
    def using(self, api: str) -> Model:
        if not isinstance(self.model, RemoteModel):
            return self
        return replace(self, model=self.model.using(api))

    @override
    def adding(self, fields: Mapping[str, object]) -> Model:
        if not isinstance(self.model, RemoteModel):
            return self
        return replace(self, model=self.model.adding(fields))

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked.number += 1
        began = self.real.monotonic()
        try:
            answer = await self.model.ask(body, timeout)
        except (TemporaryError, RunStopped) as error:
            self._note_failure(error, body, began)
            raise
        finally:
            self.asked.spend(self.clock, self.real.monotonic() - began)
        self.asked.failure = ""
        self.asked.sources.add("model")
        self.asked.answers.append(recorded(body, answer, self._source(answer.model), self._ms_since(began)))
        return answer

    def _note_failure(self, error: TemporaryError | RunStopped, body: bytes, began: float) -> None:
        provider_error = provider_error_of(error)
        if provider_error is None or provider_error.failure not in OF_THE_PROMPT:
            self.asked.failure = str(error)
            return
        source = self._source(as_text(as_object(json.loads(body)).get("model")))
        self.asked.answers.append(recorded_failure(body, provider_error.failure, source, self._ms_since(began)))

    def _source(self, model: str) -> Source:
        return Source(kind="model", model=model, on=datetime.fromtimestamp(self.real.now(), UTC).date())

    def _ms_since(self, began: float) -> int:
        return round((self.real.monotonic() - began) * 1000)


@dataclass(frozen=True, slots=True)
class _DecidingModel(Model):
    """A model of a decision point: gives the answers of the history, then asks for one more and ends the play."""

    given: Iterator[Answer]
    """The answers of the history that are left, for all models of the play."""
    model: Model
    end: Callable[[], None]

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        earlier = next(self.given, None)
        if earlier is not None:
            return earlier
        answer = await self.model.ask(body, timeout)
        self.end()
        return answer


def deciding(access: ModelAccess, history: Sequence[EarlierTurn], end: Callable[[], None]) -> ModelAccess:
    """Return the models of a decision point. They call `end` after the answer that the case asks for."""
    given = iter([_given_answer(turn, number) for number, turn in enumerate(history, start=1)])

    def reach(endpoint: Endpoint) -> Model:
        return _DecidingModel(given, access.reach(endpoint), end)

    return ModelAccess(_DecidingModel(given, access.default, end), reach)


def _given_answer(turn: EarlierTurn, number: int) -> Answer:
    asks = tuple(
        ToolAsk(id=f"call_{number}_{at}", tool=call.tool, arguments=json.dumps(call.arguments, ensure_ascii=False))
        for at, call in enumerate(turn.calls)
    )
    finish = "stop"
    if asks:
        finish = "tool_calls"
    return Answer(turn.text, asks, finish, "history", Usage())


def live(access: ModelAccess, asked: Asked, clock: VirtualClock, real: Clock) -> ModelAccess:
    """Return the live models of a play."""

    def reach(endpoint: Endpoint) -> Model:
        return LiveModel(access.reach(endpoint), asked, clock, real)

    return ModelAccess(LiveModel(access.default, asked, clock, real), reach)
