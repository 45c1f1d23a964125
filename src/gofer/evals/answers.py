"""Recorded answers of models: `evals/answers/<eval>.json`, found by the hash of a request.

The hash is SHA-256 over the whole request body, except the parameters in `WITHOUT_EFFECT`, which cannot change an
answer. Headers such as `traceparent` are no part of the body. Beside the hash the file keeps hashes of the parts of a
request, so that a request without an answer can say which part changed.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gofer.models.language_model import Answer
from gofer.values.canonical_json import as_list, as_object, encode
from gofer.values.errors import ConfigError
from gofer.values.messages import ToolAsk, Usage

FOLDER = "answers"
"""The subfolder of `evals/` with the recorded answers."""
VERSION = 1
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
    finish: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    extra: str = ""
    """Fields that the provider needs back, as JSON."""
    ms: Annotated[int, Field(ge=0)] = 0
    """The duration of the answer, in milliseconds."""

    def answer(self) -> Answer:
        """Return the answer as the model gave it, without its thoughts."""
        asks = tuple(
            ToolAsk(id=call.id, tool=call.tool, arguments=call.arguments, extra=call.extra) for call in self.calls
        )
        usage = Usage(self.input_tokens, self.output_tokens, self.cached_tokens)
        return Answer(self.text, asks, self.finish, self.source.model, usage, self.extra)


class AnswerFile(_Stored):
    """The recorded answers of one eval file, by case."""

    version: Literal[1] = VERSION
    cases: Mapping[str, tuple[RecordedAnswer, ...]] = Field(default_factory=dict[str, tuple[RecordedAnswer, ...]])

    def by_request(self, cases: Collection[str]) -> Mapping[str, RecordedAnswer]:
        """Return the answers of some cases by the hash of their request; those of a model before those of a script."""
        every = [one for case, answers in self.cases.items() if case in cases for one in answers]
        by_model = [one for one in every if one.source.kind == "model"]
        return {one.request: one for one in (*every, *by_model)}

    def to_text(self) -> str:
        """Return the text of the file: cases by name, each with its answers in the order of its requests."""
        cases = {
            name: [one.model_dump(mode="json", exclude_defaults=True) for one in self.cases[name]]
            for name in sorted(self.cases)
            if self.cases[name]
        }
        return json.dumps({"version": VERSION, "cases": cases}, indent=1, ensure_ascii=False) + "\n"


def read_answers(text: str, where: str) -> AnswerFile:
    """Return the recorded answers in the text of a file; `where` names it in errors. Raises ConfigError."""
    try:
        return AnswerFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{where} holds no recorded answers ({place}: {first['msg']}); record it anew.") from error


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
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cached_tokens=answer.usage.cached_tokens,
        extra=answer.extra,
        ms=ms,
    )


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
