"""A stand-in for a model that babbles: random answers and errors of the kinds that real models and servers send.

It builds the raw body of a vendor, and the product reads it. So no answer is one that only a test could make.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from typing_extensions import override

from gofer.models.failures import failed, provider_error
from gofer.models.language_model import DEPLOYED, Answer, Model, RemoteModel
from gofer.models.remote import FORMATS
from gofer.values.messages import APIS, Api, ToolAsk, Usage
from support.models.answer_bodies import body_of, stream_of
from support.models.refusing_vendor import Issued, refusals

WORDS = ("deploy", "checkout", "refund", "page", "on", "the", "fix", "waits", "for", "Tuesday", "é", "日本", "*", "<b>")
FORMS = (
    "<tool_call>{call}</tool_call>",
    "<tool_call>\n{call}",
    "I look that up.\n<tool_call>{call}</tool_call>",
    "<function={tool}>{arguments}</function>",
    '<function_calls>\n<invoke name="{tool}">\n<parameter name="x">1</parameter></invoke></function_calls>',
    "[TOOL_CALLS][{call}]",
    "[TOOL_CALLS]{tool}{arguments}",
    "<|python_tag|>{call}",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.{tool}:0",
    "<|channel|>commentary to=functions.{tool} <|message|>{arguments}",
    "{call}",
    "[{call}, {call}]",
    "```json\n{call}\n```",
    '{{"tool_calls": [{{"function": {call}}}]}}',
    "Thought: I look.\nAction: {tool}\nAction Input: {arguments}",
    "```tool_code\nprint({tool}({arguments}))\n```",
    "I call `await functions.{tool}({arguments})` now.",
    "Tool: {tool}\nArguments: {arguments}\n\nThen I answer.",
    "assistantcommentary to=functions.{tool} json{arguments}",
)
"""The forms in which models write a call into their text."""
OTHER_JSON = ('{"answer": "Done."}', "[1, 2]", "null", "7", '{"status": "ok", "result": {"text": "Done."}}', "{")
ARGUMENTS = ("", "null", "[]", '"x"', "{", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 200, '{"a": "\\ud83d"}', "{'a': 1}")
TOOLS = ("fly", "slack post", "", "multi_tool_use.parallel", "functions.jira_search", "x" * 300, "búsqueda", "None")
FINISHES = ("", "eos", "abort", "malformed_function_call", "pause_turn", "steered", "model_context_window_exceeded")
USAGES: Sequence[object] = (None, {}, [], -1, {"prompt_tokens": -5}, {"input_tokens": "9", "output_tokens": 10**30})
ERRORS: Sequence[tuple[int, object]] = (
    (429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}),
    (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
    (500, {"error": {"message": "The server had an error", "type": "server_error"}}),
    (502, "<html><body>Bad Gateway</body></html>"),
    (503, ""),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    (400, {"error": {"message": "This model's maximum context length is 8192", "code": "context_length_exceeded"}}),
    (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000"}}),
    (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    (400, {"error": {"message": "filtered", "code": "content_filter"}}),
    (400, {"error": {"message": "Failed to call a function", "code": "tool_use_failed"}}),
    (400, {"error": {"message": "Unsupported value", "code": "unsupported_value", "param": "temperature"}}),
    (400, "no JSON"),
    (401, {"error": {"message": "Incorrect API key provided: sk-abcdef", "code": "invalid_api_key"}}),
    (404, {"error": {"message": "The model does not exist", "code": "model_not_found"}}),
    (404, "<html>nothing here</html>"),
    (200, {"error": {"message": "Provider returned error", "code": 502}}),
    (200, "<html>Sign in</html>"),
    (200, ""),
    (200, []),
    (200, {"choices": [], "output": None, "content": "x"}),
    (200, 'data: {"choices": [{"delta": {"content": "half'),
    (200, "event: error\ndata: " + json.dumps({"type": "error", "error": {"type": "api_error", "message": "x"}})),
)
"""Statuses and bodies in place of an answer: a text is sent as it is, any other value as JSON."""


UNKNOWN: Mapping[str, object] = {"type": "crystal_ball", "id": "x"}
"""An item of tomorrow."""
WHOLE: Mapping[Api, frozenset[str]] = {
    "chat_completions": frozenset({"id", "choices"}),
    "responses": frozenset({"output", "status"}),
    "messages": frozenset({"content", "stop_reason"}),
}
"""The keys of a body that can be sent as a stream."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response."""

    status: int
    body: bytes


Known = Mapping[str, Sequence[str]]
"""Arguments that were recorded for a case, as JSON, by tool."""


@dataclass(slots=True)
class Babble:
    """The random choices of one play, which follow from its seed."""

    chance: random.Random
    known: Known
    offered: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The parameters of each tool that any request offered, by its name."""
    said: list[str] = field(default_factory=list[str])
    """The kind of each reply, in order."""
    refused: list[str] = field(default_factory=list[str])
    """What a vendor would refuse of the requests."""
    issued: Issued = field(default_factory=Issued)
    last: Answer | None = None

    def reply(self, request: Mapping[str, Any], api: Api) -> Reply:
        """Return a reply to a neutral request, in the format in which it is asked."""
        tools = {tool["function"]["name"]: tool["function"] for tool in request.get("tools", ())}
        self.offered |= tools
        turn = Turn(self.chance, self.known, tools, str(request["model"]), len(self.said) + 1)
        kinds = [kind for kind, _ in KINDS]
        [kind] = self.chance.choices(kinds, [weight for _, weight in KINDS])
        self.said.append(kind.__name__)
        made = kind(turn)
        if isinstance(made, Reply):
            return made
        if isinstance(made, Answer):
            if self.last and not self.last.thoughts and self.chance.random() < 0.1:
                # The same calls again, with the same ids, by the model that is asked now.
                made = replace(self.last, model=turn.model)
            self.last = made
            made = body_of(made, api, turn.number)
        return self._sent(made, api)

    def _sent(self, body: dict[str, Any], api: Api) -> Reply:
        """Return the bytes of a body, in which a detail may be wrong."""
        self.issued.note(body, api)
        match self.chance.randrange(40):
            case 0:
                body["usage"] = self.chance.choice(USAGES)
            case 1:
                del body["usage"]
            case 2 if api != "chat_completions":
                parts = "output" if api == "responses" else "content"
                body[parts] = [*body.get(parts, ()), UNKNOWN]
            case 3:
                return Reply(200, json.dumps(body).encode()[: self.chance.randrange(1, 200)])
            case 4:
                return Reply(200, json.dumps(body).encode().replace(b"e", b"\xff", 1))
            case 5 | 6 | 7 if body.keys() >= WHOLE[api]:
                return Reply(200, stream_of(body, api))
            case 8 if body.keys() >= WHOLE[api]:
                stream = stream_of(body, api)
                return Reply(200, stream[: self.chance.randrange(len(stream))])
            case _:
                pass
        return Reply(200, json.dumps(body).encode())


@dataclass(frozen=True, slots=True)
class Turn:
    """What a kind of reply knows of the request."""

    chance: random.Random
    known: Known
    tools: Mapping[str, Mapping[str, Any]]
    model: str
    number: int

    def words(self, most: int = 12) -> str:
        """Return random words with the number of the turn."""
        return " ".join([f"§{self.number}", *self.chance.choices(WORDS, k=self.chance.randint(1, most))])

    def answer(self, text: str = "", asks: Sequence[ToolAsk] = (), finish: str = "", thoughts: str = "") -> Answer:
        """Return an answer with a usual finish."""
        usage = Usage(self.chance.randrange(200, 9_000), self.chance.randrange(900), self.chance.randrange(100))
        if not finish:
            finish = "tool_calls" if asks else "stop"
        return Answer(text, tuple(asks), finish, self.model, usage, thoughts=thoughts)

    def call(self) -> ToolAsk:
        """Return a call of an offered tool: one that was recorded, or one whose arguments fit the schema."""
        name = self.chance.choice([*self.tools] or ["fly"])
        recorded = [tool for tool in self.known if tool in self.tools]
        if recorded and self.chance.random() < 0.6:
            name = self.chance.choice(recorded)
            return self.ask(name, self.chance.choice(self.known[name]))
        schema = self.tools.get(name, {}).get("parameters", {})
        return self.ask(name, json.dumps(self.value(schema)))

    def ask(self, tool: str, arguments: str) -> ToolAsk:
        """Return a call with an id, which some models repeat or forget."""
        id_ = self.chance.choice([f"call_{self.chance.randrange(10**6)}"] * 8 + ["call_1", "", "a.b:1"])
        return ToolAsk(id_, tool, arguments)

    def value(self, schema: Mapping[str, Any], depth: int = 0) -> object:
        """Return a random value that fits a JSON Schema, as far as tools use it."""
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        if options := schema.get("anyOf"):
            return self.value(self.chance.choice(options), depth)
        match schema.get("type"):
            case "object" if depth < 4:
                required = schema.get("required", ())
                names = [one for one in schema.get("properties", {}) if one in required or self.chance.random() < 0.4]
                return {name: self.value(schema["properties"][name], depth + 1) for name in names}
            case "array" if depth < 4:
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.chance.randrange(1, 3))]
            case "integer" | "number":
                return self.chance.randint(schema.get("minimum", 0), schema.get("maximum", 9))
            case "boolean":
                return self.chance.random() < 0.5
            case _:
                return self.words(4)


def words(turn: Turn) -> Answer:
    return turn.answer(turn.words(60))


def call(turn: Turn) -> Answer:
    return turn.answer(turn.words() if turn.chance.random() < 0.3 else "", [turn.call()])


def several_calls(turn: Turn) -> Answer:
    return turn.answer("", [turn.call() for _ in range(turn.chance.randrange(2, 5))])


def many_calls(turn: Turn) -> Answer:
    return turn.answer("", [turn.ask("fly", "{}")] * turn.chance.choice([70, 140]))


def same_calls(turn: Turn) -> Answer:
    return turn.answer("", [turn.call()] * 2)


def thoughtful_call(turn: Turn) -> Answer:
    # An id of its own, by which a vendor knows the thoughts that belong to a call.
    return turn.answer("", [replace(turn.call(), id=f"thought_{turn.number}")], thoughts=turn.words())


def wrong_arguments(turn: Turn) -> Answer:
    given = turn.chance.choice([{}, {"x": 1}, {"text": 7, "channel": []}])
    return turn.answer("", [turn.ask(turn.call().tool, json.dumps(given))])


def broken_arguments(turn: Turn) -> Answer:
    return turn.answer("", [turn.ask(turn.call().tool, turn.chance.choice(ARGUMENTS))])


def unknown_tool(turn: Turn) -> Answer:
    return turn.answer("", [turn.ask(turn.chance.choice(TOOLS), "{}"), turn.call()][: turn.chance.randrange(1, 3)])


def call_as_text(turn: Turn) -> Answer:
    calls = [turn.call()] if turn.chance.random() < 0.2 else []
    before = turn.chance.choice(["", "", "<think>I call it.</think>", f"{turn.words()}\n\n"])
    text = written(turn)
    if before and not text.startswith(("{", "[{", "`")):
        text = before + text
    return turn.answer(text, calls, finish=turn.chance.choice(["", "", "length"]))


def written(turn: Turn) -> str:
    """Return a call as a text in one of the forms."""
    asked = turn.call()
    one = json.dumps({"name": asked.tool, turn.chance.choice(["arguments", "parameters"]): json.loads(asked.arguments)})
    return turn.chance.choice(FORMS).format(call=one, tool=asked.tool, arguments=asked.arguments)


def other_json(turn: Turn) -> Answer:
    return turn.answer(turn.chance.choice(OTHER_JSON))


def empty(turn: Turn) -> Answer:
    return turn.answer(turn.chance.choice(["", " ", "\n\n"]))


def refusal(turn: Turn) -> Answer:
    return turn.answer(turn.chance.choice(["I cannot {help} with that.", "", written(turn)]), finish="refusal")


def cut(turn: Turn) -> Answer:
    asks = [turn.ask(turn.call().tool, '{"text": "half of')] if turn.chance.random() < 0.5 else []
    return turn.answer(turn.chance.choice(["", turn.words(40)]), asks, finish="length")


def filtered(turn: Turn) -> Answer:
    return turn.answer("half of", finish="content_filter")


def other_finish(turn: Turn) -> Answer:
    return turn.answer(turn.words(), finish=turn.chance.choice(FINISHES))


def huge(turn: Turn) -> Answer:
    asks = [turn.ask(turn.call().tool, json.dumps({"text": "x" * 300_000}))] if turn.chance.random() < 0.3 else []
    return turn.answer(turn.words() * turn.chance.choice([200, 9_000]), asks)


def thoughts_only(turn: Turn) -> Answer:
    tags = turn.chance.choice(["<think>{}</think>", "<think>{}", "{}</think>", "[THINK]{}[/THINK]\n"])
    if turn.chance.random() < 0.5:
        return turn.answer("", thoughts=turn.words())
    return turn.answer(tags.format(turn.words()))


def thoughts_and_words(turn: Turn) -> Answer:
    return turn.answer(f"<think>{turn.words()}</think>\n{turn.words()}")


def half_characters(turn: Turn) -> Answer:
    return turn.answer(f"half \ud83d of {turn.words()} \u202e \x00 \x1b[31m")


def deprecated(turn: Turn) -> dict[str, Any]:
    asked = turn.call()
    said = {"content": None, "function_call": {"name": asked.tool, "arguments": asked.arguments}}
    return {"model": "m", "choices": [{"finish_reason": "function_call", "message": said}], "usage": {}}


def error(turn: Turn) -> Reply:
    status, body = turn.chance.choice(ERRORS)
    return Reply(status, body.encode() if isinstance(body, str) else json.dumps(body).encode())


Kind = Callable[[Turn], Answer | Reply | dict[str, Any]]
KINDS: Sequence[tuple[Kind, int]] = (
    (words, 6),
    (call, 36),
    (several_calls, 14),
    (many_calls, 1),
    (same_calls, 3),
    (thoughtful_call, 6),
    (wrong_arguments, 4),
    (broken_arguments, 3),
    (unknown_tool, 3),
    (call_as_text, 8),
    (other_json, 2),
    (empty, 2),
    (refusal, 1),
    (cut, 3),
    (filtered, 1),
    (other_finish, 2),
    (huge, 1),
    (thoughts_only, 2),
    (thoughts_and_words, 2),
    (half_characters, 2),
    (deprecated, 1),
    (error, 6),
)
"""Each kind of reply, with its weight."""


def without_babble(value: Any) -> Any:
    """Return a request without what only this stand-in says, and no type of a vendor knows."""
    match value:
        case list():
            return [without_babble(one) for one in value if one != UNKNOWN]
        case dict():
            return {name: without_babble(one) for name, one in value.items() if name != "reasoning_content"}
        case _:
            return value


@dataclass(frozen=True, slots=True)
class BabblingModel(RemoteModel):
    """A model that babbles in one format. Requests and replies pass through the product's own format."""

    babble: Babble
    api: Api

    @override
    def within(self, traceparent: str) -> Model:
        return self

    @override
    def adding(self, fields: Mapping[str, object]) -> Model:
        return self

    @override
    def using(self, api: str) -> Model:
        return replace(self, api=next(one for one in APIS if one == api))

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        request = json.loads(body)
        asked = FORMATS[self.api]
        sent = asked.encode(body, request["model"]).body
        known = json.dumps(without_babble(json.loads(sent))).encode()
        self.babble.refused += refusals(known, self.api, asked.headers(""), self.babble.issued)
        reply = self.babble.reply(request, self.api)
        if reply.status != 200:
            raise failed(provider_error(reply.status, reply.body), DEPLOYED)
        return replace(asked.parse(reply.body, DEPLOYED), api=self.api)
