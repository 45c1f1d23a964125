"""The format Responses of OpenAI: what it sends. Source: the types of the package `openai`, 3.57.0."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from gofer.models.answer_text import split_thoughts
from gofer.models.formats.alternation import alternating
from gofer.models.formats.format import Api, Wire, answer_form, is_own
from gofer.models.formats.responses_answer import ITEMS, read_answer
from gofer.models.language_model import Access, Answer
from gofer.values.canonical_json import as_list, as_object, as_text, decode, encode

_TRANSLATED = (
    "messages",
    "tools",
    "tool_choice",
    "max_completion_tokens",
    "max_tokens",
    "reasoning_effort",
    "alternate_roles",
    "output_schema",
    "previous_response",
    "response_format",
    "verbosity",
)
"""The neutral parameters that this format writes in other words. Any other goes unchanged, and an error names it."""
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?![\w.])")
_HAS_CACHE_OPTIONS = (5, 6)
"""The first GPT that takes `prompt_cache_options`. Source: the types of the package."""
_SYSTEM = ("system", "developer")
_KEY_LENGTH = 32
_MARK = {"mode": "explicit"}


class Responses:
    """The format Responses. Nothing is stored at the provider, and its thoughts come encrypted."""

    api: Api = "responses"
    path = "/responses"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the header with the key."""
        if not key:
            return {}
        return {"Authorization": f"Bearer {key}"}

    def encode(self, body: bytes, by: str) -> Wire:
        """Return the request with items in place of messages, and with the items that this model made unchanged."""
        request = as_object(decode(body))
        messages: Sequence[Mapping[str, object]] = [as_object(one) for one in as_list(request.get("messages"))]
        if request.get("alternate_roles"):
            # An answer without text or calls becomes no item, so what surrounds it would follow each other.
            messages = alternating([one for one in messages if any(self._items([one], by))])
        first = next((place for place, one in enumerate(messages) if one.get("role") not in _SYSTEM), len(messages))
        instructions = "\n\n".join(as_text(message.get("content")) for message in messages[:first])
        tools = [_tool(as_object(as_object(tool).get("function"))) for tool in as_list(request.get("tools"))]
        sent = _params(request)
        if as_object(sent.get("reasoning")).get("effort", "none") != "none":
            # Models that do not reason may refuse it, and those that reason without being asked return it unasked.
            sent.setdefault("include", ["reasoning.encrypted_content"])
        sent.setdefault("prompt_cache_key", _cache_key(request.get("model"), tools, instructions))
        items = list(self._items(messages[first:], by))
        if "prompt_cache_options" in request:
            items = _marked([{"type": "message", "role": "developer", "content": instructions}, *items])
        elif instructions:
            sent["instructions"] = instructions
        sent |= {"input": items, "store": False}
        if tools:
            sent["tools"] = tools
        return Wire(encode(sent), stream=sent.get("stream") is True)

    def parse(self, raw: bytes, at: Access) -> Answer:
        """Return the answer in a body."""
        return read_answer(raw, at)

    def _items(self, messages: Sequence[Mapping[str, object]], by: str) -> Iterator[Mapping[str, object]]:
        ids: dict[str, str] = {}
        for message in messages:
            match message.get("role"):
                case "assistant":
                    calls = [as_object(call) for call in as_list(message.get("tool_calls"))]
                    own = is_own(message, self.api, by) and sendable(as_list(message.get("items")), len(calls))
                    ids = _ids(calls, own or [])
                    yield from own or _neutral_items(message, calls)
                case "tool":
                    id_ = as_text(message.get("tool_call_id"))
                    output = _content(message.get("content"))
                    yield {"type": "function_call_output", "call_id": ids.get(id_, id_), "output": output}
                case role:
                    yield {"type": "message", "role": role, "content": _content(message.get("content"))}


def sendable(raw: Sequence[object], calls: int) -> Sequence[Mapping[str, object]]:
    """Return the items of an answer with so many calls as they go back; none if the provider would refuse them.

    It refuses thoughts without the item that they led to, thoughts that it neither stored nor encrypted, and calls
    without an answer.
    """
    items = [as_object(item) for item in raw]
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    ids = [as_text(item.get("call_id")) for item in items if item.get("type") == "function_call"]
    if len(ids) != calls or len(set(ids) - {""}) != calls:
        return []
    if any(ITEMS.get(as_text(item.get("type"))) == "for the client" or _is_bare(item) for item in items):
        return []
    return items


def _is_bare(item: Mapping[str, object]) -> bool:
    return item.get("type") == "reasoning" and not item.get("encrypted_content") and not item.get("content")


def _ids(calls: Sequence[Mapping[str, object]], items: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return the provider's id of each call by its id in the history, which may have been changed."""
    raw = [as_text(item.get("call_id")) for item in items if item.get("type") == "function_call"]
    return dict(zip((as_text(call.get("id")) for call in calls), raw, strict=False))


def _neutral_items(
    message: Mapping[str, object], calls: Sequence[Mapping[str, object]]
) -> Iterator[Mapping[str, object]]:
    """Yield an answer without its thoughts."""
    if text := split_thoughts(as_text(message.get("content"))).text:
        yield {"type": "message", "role": "assistant", "content": text}
    for call in calls:
        function = as_object(call.get("function"))
        named = {"name": function.get("name"), "arguments": function.get("arguments")}
        yield {"type": "function_call", "call_id": call.get("id"), **named}


def _content(content: object) -> object:
    """Return the content of a message or of a result: a text, or parts."""
    return [_part(as_object(part)) for part in as_list(content)] or as_text(content)


def _marked(items: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return items with marks for the cache: after the first, and before the last, which changes with each call.

    Only models from GPT-5.6 on take marks, so that a request has them if its author wrote `prompt_cache_options`. Every
    text is a part then, because one that changes its form when a mark moves on would change the beginning too.
    """
    marked = [_in_parts(item) for item in items]
    texts = [place for place, item in enumerate(marked[:-1]) if _field(item)]
    for place in {*texts[:1], *texts[-1:]}:
        item = marked[place]
        *before, last = as_list(item[_field(item)])
        marked[place] = {**item, _field(item): [*before, {**as_object(last), "prompt_cache_breakpoint": _MARK}]}
    return marked


def _in_parts(item: Mapping[str, object]) -> Mapping[str, object]:
    name = _field(item)
    if not name or isinstance(item[name], list):
        return item
    return {**item, name: [{"type": "input_text", "text": item[name]}]}


def _field(item: Mapping[str, object]) -> str:
    """Return the field of an item that takes marks; empty for what the model wrote."""
    if item.get("type") == "function_call_output":
        return "output"
    if item.get("role") in ("developer", "system", "user"):
        return "content"
    return ""


def _part(part: Mapping[str, object]) -> Mapping[str, object]:
    match part.get("type"):
        case "text":
            return {"type": "input_text", "text": part.get("text")}
        case "image_url":
            image = as_object(part.get("image_url"))
            return {"type": "input_image", "image_url": image.get("url"), "detail": image.get("detail", "auto")}
        case "file":
            return {"type": "input_file", **as_object(part.get("file"))}
        case _:
            return part


def _tool(function: Mapping[str, object]) -> Mapping[str, object]:
    """Return a tool; not in strict mode, in which every argument would be required."""
    return {"parameters": {"type": "object", "properties": {}}, **function, "type": "function", "strict": False}


def _cache_key(model: object, tools: object, instructions: str) -> str:
    """Return the key under which the provider caches: the same for all runs of one version of a workflow."""
    return hashlib.sha256(encode([model, tools, instructions])).hexdigest()[:_KEY_LENGTH]


def _params(request: Mapping[str, object]) -> dict[str, object]:
    sent = {name: value for name, value in request.items() if name not in _TRANSLATED}
    if limit := request.get("max_completion_tokens") or request.get("max_tokens"):
        sent["max_output_tokens"] = limit
    if effort := request.get("reasoning_effort"):
        sent["reasoning"] = {"effort": effort, **as_object(request.get("reasoning"))}
    if choice := request.get("tool_choice"):
        name = as_object(as_object(choice).get("function")).get("name")
        sent["tool_choice"] = {"type": "function", "name": name} if name else choice
    version = gpt_version(as_text(request.get("model")))
    if (before := request.get("previous_response")) and version is not None and version >= _HAS_CACHE_OPTIONS:
        options = as_object(request.get("prompt_cache_options"))
        sent["prompt_cache_options"] = {**options, "comparison_response_id": before}
    text = {**as_object(request.get("text"))}
    if verbosity := request.get("verbosity"):
        text["verbosity"] = verbosity
    if form := _form(request):
        text["format"] = form
    if text:
        sent["text"] = text
    return sent


def gpt_version(model: str) -> tuple[int, int] | None:
    """Return the version of a GPT; None for every other name."""
    found = _GPT.match(model)
    if found is None:
        return None
    return int(found[1]), int(found[2] or 0)


def _form(request: Mapping[str, object]) -> Mapping[str, object]:
    """Return the form of the answer that a request asks for; empty for any text."""
    if asked := answer_form(request):
        return {"type": "json_schema", **asked}
    form = as_object(request.get("response_format"))
    return {**as_object(form.get("json_schema")), **{name: form[name] for name in form if name != "json_schema"}}
