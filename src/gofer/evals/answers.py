"""Recorded answers of models: `evals/answers/<eval>.json`, found by the hash of a request.

The hash is SHA-256 over the whole request body, except the parameters in `WITHOUT_EFFECT`, which cannot change an
answer. Headers such as `traceparent` are no part of the body. Beside the hash the file keeps hashes of the parts of a
request, so that a request without an answer can say which part changed. A case may have several recorded plays. Equal
answers are in the file once.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from itertools import takewhile
from typing import Annotated, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gofer.models.failures import failed
from gofer.models.language_model import Answer, Refused, Unavailable, Unusable
from gofer.values.canonical_json import as_list, as_object, encode
from gofer.values.errors import ConfigError
from gofer.values.messages import FailureClass, ProviderError, ToolAsk, Usage

FOLDER = "answers"
"""The subfolder of `evals/` with the recorded answers."""
VERSION = 2
WITHOUT_EFFECT = frozenset(
    {"metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "user"}
)
"""Parameters for the bookkeeping of a provider."""
_DIGITS = 12

Part = Literal["prompt", "tools", "parameters", "messages"]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RequestParts(_Stored):
    """The hashes of the parts of a request."""

    prompt: str
    tools: str
    parameters: str
    messages: tuple[str, ...]
    """One hash for each message after the prompt."""

    def changed(self, before: "RequestParts") -> Sequence[Part]:
        """Return the parts that differ from those of an earlier request."""
        parts: Sequence[Part] = ("prompt", "tools", "parameters", "messages")
        return [part for part in parts if getattr(self, part) != getattr(before, part)]

    def alike(self, other: "RequestParts") -> tuple[int, int]:
        """Return how near another request is: its equal parts, and its equal messages from the first on."""
        return -len(self.changed(other)), self.first_different(other)

    def first_different(self, other: "RequestParts") -> int:
        """Return the number of equal messages from the first on."""
        pairs = zip(self.messages, other.messages, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


class RecordedCall(_Stored):
    """One call that a model asked for."""

    id: str
    tool: str
    arguments: str
    extra: str = ""


class Source(_Stored):
    """Where an answer came from."""

    kind: Literal["model", "scripted"]
    model: str
    """The provider's name of the model that answered; `scripted` for a script."""
    on: date | None = None
    """The day of the answer; None for a script."""


class RecordedAnswer(_Stored):
    """One answer, with its request as hashes."""

    request: str
    """The hash of the request."""
    parts: RequestParts
    source: Source
    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    finish: str = ""
    failure: FailureClass | None = None
    """The failure that the request itself caused, in place of an answer."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    written_long_tokens: int = 0
    reasoning_tokens: int = 0
    extra: str = ""
    """Fields that the provider needs back, as JSON."""
    api: str = ""
    """The format in which the model was asked; it decides to which model `extra` goes back."""
    ms: Annotated[int, Field(ge=0)] = 0
    """The duration of the answer, in milliseconds."""

    def given(self) -> Answer | Unavailable | Unusable | Refused:
        """Return the answer as the model gave it, without its thoughts, or the error in its place."""
        if self.failure is not None:
            return failed(ProviderError(self.failure))
        asks = tuple(
            ToolAsk(id=call.id, tool=call.tool, arguments=call.arguments, extra=call.extra) for call in self.calls
        )
        return Answer(self.text, asks, self.finish, self.source.model, self.usage, self.extra, api=self.api)

    @property
    def usage(self) -> Usage:
        """The tokens of the answer."""
        return Usage(**{name: getattr(self, name) for name in _TOKENS})


_TOKENS = tuple(one.name for one in fields(Usage))
RecordedPlay = tuple[RecordedAnswer, ...]
"""The answers of one play of a case, in the order of its requests."""


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The recorded plays of one eval file, by case."""

    cases: Mapping[str, Sequence[RecordedPlay]] = field(default_factory=dict[str, Sequence[RecordedPlay]])

    def plays(self, case: str) -> Sequence[RecordedPlay]:
        """Return the recorded plays of a case; none for a case without answers."""
        return self.cases.get(case, ())

    def by_request(self, cases: Collection[str]) -> Mapping[str, RecordedAnswer]:
        """Return the answers of some cases by the hash of their request; those of a model before those of a script."""
        every = [one for case, plays in self.cases.items() if case in cases for play in plays for one in play]
        by_model = [one for one in every if one.source.kind == "model"]
        return {one.request: one for one in (*every, *by_model)}

    def to_text(self) -> str:
        """Return the text of the file: each answer once, and the plays of each case as keys of their answers."""
        answers: dict[str, object] = {}
        cases: dict[str, list[list[str]]] = {}
        for name in sorted(self.cases):
            plays = [[_key(one) for one in play] for play in self.cases[name] if play]
            if plays:
                cases[name] = plays
            for one in (one for play in self.cases[name] for one in play):
                answers.setdefault(_key(one), one.model_dump(mode="json", exclude_defaults=True))
        stored = {"version": VERSION, "cases": cases, "answers": dict(sorted(answers.items()))}
        return json.dumps(stored, indent=1, ensure_ascii=False) + "\n"


class _OnePlayFile(_Stored):
    """The first form of the file, with one play of each case."""

    version: Literal[1]
    cases: Mapping[str, RecordedPlay] = Field(default_factory=dict[str, RecordedPlay])


class _File(_Stored):
    version: Literal[2]
    cases: Mapping[str, tuple[tuple[str, ...], ...]]
    answers: Mapping[str, RecordedAnswer]


_FILES: TypeAdapter[_OnePlayFile | _File] = TypeAdapter(Annotated[_OnePlayFile | _File, Field(discriminator="version")])


def read_answers(text: str, where: str) -> AnswerFile:
    """Return the recorded plays in the text of a file; `where` names it in errors. Raises ConfigError."""
    try:
        stored = _FILES.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{where} holds no recorded answers ({place}: {first['msg']}); record it anew.") from error
    match stored:
        case _OnePlayFile():
            return AnswerFile({case: (play,) for case, play in stored.cases.items() if play})
        case _File():
            return _file_of(stored, where)
        case _:
            assert_never(stored)


def _file_of(stored: _File, where: str) -> AnswerFile:
    cases: dict[str, Sequence[RecordedPlay]] = {}
    for case, plays in stored.cases.items():
        lost = [key for play in plays for key in play if key not in stored.answers]
        if lost:
            raise ConfigError(f"{where} lacks the answer {lost[0]} of the case {case}; record it anew.")
        cases[case] = [tuple(stored.answers[key] for key in play) for play in plays]
    return AnswerFile(cases)


def _key(answer: RecordedAnswer) -> str:
    """Return the key of an answer in its file. Equal answers have the same, whatever day and duration they had."""
    return _digest(answer.model_dump(mode="json", exclude_defaults=True, exclude={"ms": True, "source": {"on"}}))


def recorded(body: bytes, answer: Answer, source: Source, ms: int) -> RecordedAnswer:
    """Return the answer to a request as the file keeps it."""
    return RecordedAnswer(
        request=request_hash(body),
        parts=parts_of(body),
        source=source,
        text=answer.text,
        calls=tuple(
            RecordedCall(id=ask.id, tool=ask.tool, arguments=ask.arguments, extra=ask.extra) for ask in answer.asks
        ),
        finish=answer.finish,
        **asdict(answer.usage),
        extra=answer.extra,
        api=answer.api,
        ms=ms,
    )


def recorded_failure(body: bytes, failure: FailureClass, source: Source, ms: int) -> RecordedAnswer:
    """Return a failure that a request caused as the file keeps it."""
    return RecordedAnswer(request=request_hash(body), parts=parts_of(body), source=source, failure=failure, ms=ms)


def request_hash(body: bytes) -> str:
    """Return the hash by which the answer to a request is found: SHA-256 in hexadecimal."""
    return hashlib.sha256(encode(_with_effect(body))).hexdigest()


def parts_of(body: bytes) -> RequestParts:
    """Return the hashes of the parts of a request."""
    fields = dict(_with_effect(body))
    messages = as_list(fields.pop("messages", None))
    tools = fields.pop("tools", None)
    prompt = [message for message in messages if as_object(message).get("role") == "system"]
    others = [message for message in messages if as_object(message).get("role") != "system"]
    return RequestParts(
        prompt=_digest(prompt), tools=_digest(tools), parameters=_digest(fields), messages=tuple(map(_digest, others))
    )


def difference_of(body: bytes, known: Iterable[RecordedAnswer]) -> str:
    """Return how a request differs from the recorded request that is most alike, as a sentence."""
    parts = parts_of(body)
    nearest = max((one.parts for one in known), key=parts.alike, default=None)
    if nearest is None:
        return "No answer is recorded for this case."
    changed = parts.changed(nearest)
    words = [_PLAIN[part] for part in changed if part != "messages"]
    place = parts.first_different(nearest) + 1
    # Code writes the last message from the rest of the request, so it follows a change elsewhere.
    if "messages" in changed and not (words and place == len(parts.messages)):
        words.append(f"message {place} of {len(parts.messages)}")
    verb = "differs"
    if len(words) > 1:
        verb = "differ"
    return f"From the most similar recorded request, {' and '.join(words)} {verb}."


_PLAIN: Mapping[Part, str] = {"prompt": "the prompt", "tools": "the tools", "parameters": "the parameters"}


def _with_effect(body: bytes) -> Mapping[str, object]:
    fields = as_object(json.loads(body))
    return {name: value for name, value in fields.items() if name not in WITHOUT_EFFECT}


def _digest(value: object) -> str:
    return hashlib.sha256(encode(value)).hexdigest()[:_DIGITS]
