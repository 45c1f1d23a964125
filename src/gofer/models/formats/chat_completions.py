"""The format Chat Completions, which nearly every server speaks. Neutral requests already have its shape."""

import re
from collections.abc import Mapping, Sequence

from gofer.models.answer_text import AnswerText, split_thoughts
from gofer.models.failures import error_in, failed
from gofer.models.formats.alternation import alternating
from gofer.models.formats.completion_stream import completion_of, is_stream
from gofer.models.formats.format import (
    MOST_CALLS,
    NAME_LIMIT,
    TEXT_LIMIT,
    Wire,
    answer_form,
    count,
    is_own,
    kept,
    neutral,
)
from gofer.models.language_model import DEPLOYED, Access, Answer, Unusable
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode, encode_text
from gofer.values.errors import BadRequest
from gofer.values.messages import BY, Api, ProviderError, ToolAsk, Usage

# Some providers refuse a history in which a tool call lacks its thoughts or their signature.
_THOUGHTS = ("reasoning_content", "reasoning_details")
_SIGNATURES = ("extra_content",)
_MALFORMED = re.compile("malformed_(function|tool)_call|unexpected_tool_call", re.IGNORECASE)

_MARKS = (
    b'"by":{',
    b'"reasoning":{',
    b'"alternate_roles":',
    b'"output_schema":',
    b'"stream":true',
    b'"previous_response":',
)
"""Signs of what a neutral request may hold and this format writes in other words. A text that holds one is harmless."""


class ChatCompletions:
    """The format Chat Completions. Sources: the API reference of OpenAI, and what compatible servers send."""

    api: Api = "chat_completions"
    path = "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the header with the key."""
        if not key:
            return {}
        return {"Authorization": f"Bearer {key}"}

    def encode(self, body: bytes, by: str) -> Wire:
        """Return the neutral bytes unchanged, unless they hold something of another format or of Gofer alone."""
        if not any(mark in body for mark in _MARKS):
            return Wire(body)
        request = {**as_object(decode(body))}
        messages = [self._message(as_object(message), by) for message in as_list(request["messages"])]
        request["messages"] = alternating(messages) if request.get("alternate_roles") else messages
        return Wire(encode(_params(request)), stream=request.get("stream") is True)

    def parse(self, raw: bytes, at: Access) -> Answer:
        """Return the answer in a body."""
        return parse_answer(raw, at)

    def _message(self, message: Mapping[str, object], by: str) -> Mapping[str, object]:
        if BY not in message:
            return message
        if is_own(message, self.api, by):
            return {name: value for name, value in message.items() if name != BY}
        others = neutral(message)
        text = split_thoughts(as_text(message.get("content"))).text
        return {**others, "content": text or None}


def _params(request: Mapping[str, object]) -> Mapping[str, object]:
    """Return a request with the parameters of Chat Completions, its messages last."""
    gofers = ("reasoning", "alternate_roles", "output_schema", "previous_response", "messages")
    sent = {name: value for name, value in request.items() if name not in gofers}
    if effort := as_object(request.get("reasoning")).get("effort"):
        sent["reasoning_effort"] = effort
    if request.get("stream") is True:
        sent["stream_options"] = {"include_usage": True}
    if form := answer_form(request):
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    return {**sent, "messages": request["messages"]}


def parse_answer(raw: bytes, at: Access = DEPLOYED) -> Answer:
    """Return the answer in the body of a Chat Completions response, in one piece or streamed.

    `at` is the endpoint that sent it. Raises Unusable for a body that is no answer, and the error of `failed` for an
    error that the provider sent in place of an answer.
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
    text = _answer_text(message)
    extra = _extra(message, _THOUGHTS)
    content = as_text(message.get("content"))
    if text.thoughts and asks and content and not extra:
        # A model continues its thoughts between calls, so its provider gets them back at the same place in the text.
        extra = kept({"content": content})
    thoughts = ""
    if not extra:
        thoughts = text.thoughts or as_text(message.get("reasoning"))
    return Answer(
        text=text.text[:TEXT_LIMIT],
        asks=asks,
        finish=finish,
        model=as_text(body.get("model"))[:NAME_LIMIT],
        usage=_usage(as_object(body.get("usage"))),
        extra=extra,
        thoughts=thoughts[:TEXT_LIMIT],
        fingerprint=as_text(body.get("system_fingerprint"))[:NAME_LIMIT],
    )


def _body(raw: bytes, at: Access) -> Mapping[str, object]:
    if is_stream(raw):
        return completion_of(raw, at)
    try:
        value = decode(raw)
    except BadRequest as error:
        raise Unusable(f"The model's answer was not JSON; check {at.url_setting}.") from error
    body = as_object(value)
    if not body.get("choices") and (error := error_in(value, 200, at.key.reveal())):
        raise failed(error, at)
    return body


def _finish(choice: Mapping[str, object], message: Mapping[str, object], calls: Sequence[object]) -> str:
    if as_text(message.get("refusal")):
        return "refusal"
    if as_object(message.get("function_call")) and not calls:
        return "function_call"
    if choice.get("error"):
        return "error"
    finish = as_text(choice.get("finish_reason"))[:NAME_LIMIT] or "stop"
    if finish.startswith("content_filter"):
        # Gemini's compatible endpoint appends the reason to the name.
        return "content_filter"
    return finish


def _ask(call: Mapping[str, object], *, cut: bool) -> ToolAsk:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    text = as_text(arguments)
    if arguments is not None and not isinstance(arguments, str):
        text = encode_text(arguments)
    if not text and not cut:
        # Missing arguments mean that there are none, unless the answer was cut off before them.
        text = "{}"
    return ToolAsk(
        id=as_text(call.get("id"))[:NAME_LIMIT],
        tool=as_text(function.get("name"))[:NAME_LIMIT],
        arguments=text,
        extra=_extra(call, _SIGNATURES),
    )


def _extra(message: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the fields that the provider needs back unchanged, as a JSON object; empty if there are none."""
    return kept({name: message[name] for name in names if message.get(name)})


def _answer_text(message: Mapping[str, object]) -> AnswerText:
    """Return the text and the thoughts of an answer; some servers send both as a list of parts."""
    if refusal := as_text(message.get("refusal")):
        return AnswerText(refusal)
    content = message.get("content")
    parts = list(map(as_object, as_list(content)))
    text = split_thoughts(as_text(content) or "".join(as_text(part.get("text")) for part in parts))
    thought = [as_text(as_object(piece).get("text")) for part in parts for piece in as_list(part.get("thinking"))]
    return AnswerText(text.text, text.thoughts or "".join(thought))


def _usage(usage: Mapping[str, object]) -> Usage:
    read = count(usage.get("prompt_tokens"))
    output = count(usage.get("completion_tokens"))
    details = as_object(usage.get("prompt_tokens_details"))
    cached = min(count(details.get("cached_tokens")), read)
    thought = count(as_object(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        input_tokens=read,
        output_tokens=output,
        cached_tokens=cached,
        written_tokens=min(count(details.get("cache_write_tokens")), read - cached),
        reasoning_tokens=min(thought, output),
    )
