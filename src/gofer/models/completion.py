"""The answer in the body of a Chat Completions response.

Nothing that comes back is taken for what it should be: sizes are limited, and a part of another shape counts as not
there.
"""

import re
from collections.abc import Mapping, Sequence

from gofer.models.error_bodies import error_in
from gofer.models.failures import failed
from gofer.models.language_model import DEPLOYED, Access, Answer, Unusable
from gofer.models.stream import completion_of, is_stream
from gofer.models.thoughts import Spoken, apart
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import ProviderError, ToolAsk, Usage

TEXT_LIMIT = 200_000
"""Characters of an answer's text that are kept, and of its thoughts."""
MOST_CALLS = 128
"""Tool calls of an answer that are kept."""
EXTRA_LIMIT = 400_000
"""Characters that are kept of what a provider wants to see again."""
_NAME_LIMIT = 200
"""Characters of a name that are kept: of a model, a reason for stopping, an id, a tool."""
_MOST_TOKENS = 10**9
# Thoughts, and signatures of thoughts: some providers refuse a history with a tool call that comes without its own.
_THOUGHTS = ("reasoning_content", "reasoning_details")
_SIGNATURES = ("extra_content",)
_MALFORMED = re.compile("malformed_(function|tool)_call|unexpected_tool_call", re.IGNORECASE)


def parse_answer(raw: bytes, at: Access = DEPLOYED) -> Answer:
    """Return the answer in the body of a Chat Completions response, in one piece or streamed.

    `at` is the endpoint that sent it. Raises Unusable for anything else, and what stands for an error that the provider
    sent in place of an answer.
    """
    body = _body(raw, at)
    choices = as_list(body.get("choices"))
    if not choices:
        raise Unusable(f"The model's answer held no choices; check {at.url_setting} and the model's name.")
    choice = as_object(choices[0])
    message = as_object(choice.get("message"))
    calls = as_list(message.get("tool_calls"))[:MOST_CALLS]
    finish = _finish(choice, message, calls)
    if finish == "error":
        raise failed(error_in(choice, 200, at.key.reveal()) or ProviderError("busy"), at)
    if _MALFORMED.search(finish) and not calls and not message.get("content"):
        raise failed(ProviderError("bad_sample", code="malformed_function_call"), at)
    if finish == "function_call":
        calls = [{"function": message["function_call"]}]
    asks = tuple(_ask(as_object(call), cut=finish == "length") for call in calls)
    spoken = _spoken(message)
    extra = _extra(message, _THOUGHTS)
    written = as_text(message.get("content"))
    if spoken.thoughts and asks and written and not extra:
        # Between calls a model goes on from its thoughts: its provider gets them back where they stood.
        extra = _kept({"content": written})
    thoughts = spoken.thoughts or as_text(message.get("reasoning"))
    return Answer(
        text=spoken.text[:TEXT_LIMIT],
        asks=asks,
        finish=finish,
        model=as_text(body.get("model"))[:_NAME_LIMIT],
        usage=_usage(as_object(body.get("usage"))),
        extra=extra,
        thoughts=thoughts[:TEXT_LIMIT] * (not extra),
    )


def _body(raw: bytes, at: Access) -> Mapping[str, object]:
    if is_stream(raw):
        return completion_of(raw, at)
    try:
        value = decode(raw)
    except BadRequest as error:
        raise Unusable(f"The model's answer was not JSON; check {at.url_setting}.") from error
    body = as_object(value)
    if not body.get("choices") and (said := error_in(value, 200, at.key.reveal())):
        raise failed(said, at)
    return body


def _finish(choice: Mapping[str, object], message: Mapping[str, object], calls: Sequence[object]) -> str:
    if as_text(message.get("refusal")):
        return "refusal"
    if as_object(message.get("function_call")) and not calls:
        return "function_call"
    if choice.get("error"):
        return "error"
    finish = as_text(choice.get("finish_reason"))[:_NAME_LIMIT] or "stop"
    if finish.startswith("content_filter"):
        # Gemini's compatible endpoint adds what it filtered.
        return "content_filter"
    return finish


def _ask(call: Mapping[str, object], *, cut: bool) -> ToolAsk:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    text = as_text(arguments)
    if arguments is not None and not isinstance(arguments, str):
        text = encode_text(arguments)
    if not text and not cut:
        # Left out means none; but where an answer was cut, they may just not have come any more.
        text = "{}"
    return ToolAsk(
        id=as_text(call.get("id"))[:_NAME_LIMIT],
        tool=as_text(function.get("name"))[:_NAME_LIMIT],
        arguments=text,
        extra=_extra(call, _SIGNATURES),
    )


def _extra(said: Mapping[str, object], names: Sequence[str]) -> str:
    """Return what has to be sent again as it came, as a JSON object; empty for nothing."""
    return _kept({name: said[name] for name in names if said.get(name)})


def _kept(fields: Mapping[str, object]) -> str:
    """Return fields of a message as JSON; empty for none, and for more than a provider needs."""
    text = encode_text(fields)
    if fields and len(text) <= EXTRA_LIMIT:
        return text
    return ""


def _spoken(message: Mapping[str, object]) -> Spoken:
    """Return the text of an answer and its thoughts; some servers send both as a list of parts."""
    if refusal := as_text(message.get("refusal")):
        return Spoken(refusal)
    content = message.get("content")
    parts = list(map(as_object, as_list(content)))
    said = apart(as_text(content) or "".join(as_text(part.get("text")) for part in parts))
    thought = [as_text(as_object(piece).get("text")) for part in parts for piece in as_list(part.get("thinking"))]
    return Spoken(said.text, said.thoughts or "".join(thought))


def _usage(usage: Mapping[str, object]) -> Usage:
    read = _count(usage.get("prompt_tokens"))
    cached = _count(as_object(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(
        input_tokens=read, output_tokens=_count(usage.get("completion_tokens")), cached_tokens=min(cached, read)
    )


def _count(value: object) -> int:
    """Return a plausible token count; anything else a provider may send counts as nothing."""
    if type(value) is int and 0 <= value <= _MOST_TOKENS:
        return value
    return 0
