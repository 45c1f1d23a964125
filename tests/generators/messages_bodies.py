"""The bodies of forty answers in the format Messages, built from the types of the package `anthropic`.

`python tests/generators/messages_bodies.py` writes them, with what Gofer must read, beside the test that reads them.
None was fetched. LONG stands for a signature of 200 kB.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anthropic.types import Message

FILE = Path(__file__).parents[1] / "unit" / "models" / "formats" / "messages_bodies.jsonl"
LONG = "@200kB@"
Block = Mapping[str, object]
USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 30,
    "cache_read_input_tokens": 1_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
    "output_tokens": 50,
    "output_tokens_details": {"thinking_tokens": 20},
}
READ = [1_130, 50, 1_000, 30, 10, 20]


def message(*content: Block, reason: str | None = "end_turn", **fields: object) -> Mapping[str, object]:
    """Return a message as the server writes it; the SDK's type fills and orders its fields."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-6-2026-10-21",
        "content": list(content),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": USAGE,
        **fields,
    }
    return Message.construct(**body).to_dict(mode="json", exclude_unset=True)


def text(words: str = "Done.") -> Block:
    """Return a text."""
    return {"type": "text", "text": words, "citations": None}


def call(number: int = 1, given: object = None) -> Block:
    """Return a call of the tool `look`."""
    return {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "look",
        "input": {"text": "x"} if given is None else given,
    }


def thought(words: str = "I think.", signature: str = "c2ln") -> Block:
    """Return thoughts."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def counted(**fields: object) -> Mapping[str, object]:
    """Return a plain answer with another usage."""
    return message(text(), usage={**USAGE, **fields})


def failed(kind: str, words: str = "So it is.") -> Mapping[str, object]:
    """Return an error in place of an answer."""
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


def stream(*events: Mapping[str, object], end: str = "") -> str:
    """Return a stream of events as the server writes it."""
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events) + end


def begun(**usage: object) -> Mapping[str, object]:
    """Return the first event."""
    return {"type": "message_start", "message": message(reason=None, usage={**USAGE, "output_tokens": 1, **usage})}


def block(index: int, empty: Block, *deltas: Block) -> Sequence[Mapping[str, object]]:
    """Return the events of a block."""
    pieces = ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    start = {"type": "content_block_start", "index": index, "content_block": empty}
    return [start, *pieces, {"type": "content_block_stop", "index": index}]


def ended(reason: str, **usage: object) -> Sequence[Mapping[str, object]]:
    """Return the last events; their counts include those before."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50, **usage}},
        {"type": "message_stop"},
    ]


SAID = block(0, text(""), {"type": "text_delta", "text": "Do"}, {"type": "text_delta", "text": "ne."})
THOUGHT = block(
    0,
    thought("", ""),
    {"type": "thinking_delta", "thinking": "I "},
    {"type": "thinking_delta", "thinking": "think."},
    {"type": "signature_delta", "signature": "c2ln"},
)


def asking(*pieces: str) -> Sequence[Mapping[str, object]]:
    """Return the events of a call as the second block."""
    return block(1, call(1, {}), *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def answers() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield a name, a body, and what Gofer reads: text, calls, finish, usage, and how many blocks are kept."""
    yield from plain_answers()
    yield from early_ends()
    yield from usages()
    yield from streams()


def plain_answers() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield answers that end by themselves."""
    done = {"text": "Done."}
    asked = {"finish": "tool_calls", "calls": ['toolu_1 look {"text":"x"}']}
    two = {"finish": "tool_calls", "calls": [*asked["calls"], "toolu_2 look {}"]}
    thinking = {"kept": 2, "thoughts": "I think."}
    yield "plain", message(text()), {**done, "usage": READ}
    yield "two texts", message(text("Do"), text("ne.")), done
    yield "call", message(call(), reason="tool_use"), asked
    yield "two calls", message(call(), call(2, {}), reason="tool_use"), two
    yield "text and call", message(text("I look."), call(), reason="tool_use"), {**asked, "text": "I look."}
    listed = {"finish": "tool_calls", "calls": ["toolu_1 look [1]"]}
    yield "arguments that are no object", message(call(1, [1]), reason="tool_use"), listed
    yield "thoughts before text", message(thought(), text()), {**done, **thinking}
    yield "thoughts before call", message(thought(), call(), reason="tool_use"), {**asked, **thinking}
    between = message(thought(), call(), thought(" More."), call(2, {}), reason="tool_use")
    yield "thoughts between calls", between, {**two, "kept": 4, "thoughts": "I think. More."}
    yield "omitted thoughts", message(thought(""), call(), reason="tool_use"), {**asked, "kept": 2}
    yield "long signature", message(thought("", LONG), call(), reason="tool_use"), {**asked, "kept": 2}
    redacted = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    yield "redacted thoughts", message(redacted, call(), reason="tool_use"), {**asked, "kept": 2}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    yield "tool of the server", message(search, text()), {**done, "kept": 2}
    yield "unknown block", message({"type": "crystal_ball", "visions": [1]}, text()), {**done, "kept": 2}
    missed = {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 900}}
    yield "cache missed", message(text(), diagnostics=missed), {**done, "cache_miss": "tools_changed"}
    yield "cache not yet diagnosed", message(text(), diagnostics={"cache_miss_reason": None}), done


def early_ends() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield answers that end early, or for a reason of their own."""
    cut = {"text": "Do", "finish": "length"}
    yield "cut text", message(text("Do"), reason="max_tokens"), cut
    yield (
        "cut thoughts",
        message(thought(), reason="max_tokens"),
        {**cut, "text": "", "kept": 1, "thoughts": "I think."},
    )
    yield "cut call", message(call(1, {}), reason="max_tokens"), {"finish": "length", "calls": ["toolu_1 look {}"]}
    yield "stop sequence", message(text("Do"), reason="stop_sequence", stop_sequence="ne"), {"text": "Do"}
    yield "paused", message(text("Do"), reason="pause_turn"), cut
    yield "refusal", message(text("I cannot."), reason="refusal"), {"text": "I cannot.", "finish": "refusal"}
    details = {"type": "refusal", "category": "cyber", "explanation": "This may harm."}
    explained = {"text": "This may harm.", "finish": "refusal"}
    yield "refusal with its explanation", message(reason="refusal", stop_details=details), explained
    bare = {**details, "explanation": None}
    yield "refusal without words", message(reason="refusal", stop_details=bare), {"finish": "refusal"}
    yield "unknown reason", message(text("Do"), reason="tired"), {"text": "Do", "finish": "tired"}
    yield "no reason", message(text(), reason=None), {"text": "Done."}
    yield "no blocks", message(), {}


def usages() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield answers with other counts."""
    done = {"text": "Done."}
    yield "no usage", message(text(), usage=None), {**done, "usage": [0, 0, 0, 0, 0, 0]}
    negative = counted(input_tokens=-5, output_tokens=-1)
    yield "negative usage", negative, {**done, "usage": [1_030, 0, 1_000, 30, 10, 20]}
    short = counted(cache_creation=None, output_tokens_details=None)
    yield "usage without details", short, {**done, "usage": [1_130, 50, 1_000, 30, 0, 0]}
    fresh = counted(cache_creation_input_tokens=None, cache_read_input_tokens=None, cache_creation=None)
    yield "usage without cache", fresh, {**done, "usage": [100, 50, 0, 0, 0, 20]}


def streams() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield streamed answers."""
    done = {"text": "Done."}
    asked = {"finish": "tool_calls", "calls": ['toolu_1 look {"text":"x"}'], "kept": 2, "thoughts": "I think."}
    whole = stream(begun(), {"type": "ping"}, *SAID, *ended("end_turn"))
    yield "stream", whole, {**done, "usage": READ}
    yield "stream with thoughts", stream(begun(), *THOUGHT, *asking("", '{"te', 'xt":"x"}'), *ended("tool_use")), asked
    again = ended("end_turn", input_tokens=200, cache_read_input_tokens=2_000, cache_creation_input_tokens=30)
    yield "cumulative usage", stream(begun(), *SAID, *again), {**done, "usage": [2_230, 50, 2_000, 30, 10, 20]}
    citation = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None}
    cited = {"type": "citations_delta", "citation": {**citation, "start_char_index": 0, "end_char_index": 1}}
    quoted = block(0, text(""), {"type": "text_delta", "text": "Done."}, cited)
    yield "stream with a citation", stream(begun(), *quoted, *ended("end_turn")), done
    unknown = {"type": "event_of_tomorrow", "index": 0}
    yield "unknown event", stream(begun(), unknown, *SAID, *ended("end_turn")), done
    broken = {**asked, "finish": "length", "calls": ['toolu_1 look {"te']}
    yield "stream cut in a call", stream(begun(), *THOUGHT, *asking('{"te'), *ended("max_tokens")), broken
    endless = {**asked, "calls": ['toolu_1 look {"n":1e999}']}
    yield "number without bound", stream(begun(), *THOUGHT, *asking('{"n":1e999}'), *ended("tool_use")), endless


def failures() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield a name, a body, and the class of the failure with the provider's words."""
    so = "So it is."
    full = {"failure": "too_large", "message": ""}
    yield "window full", message(text("Do"), reason="model_context_window_exceeded"), full
    for kind, failure in FAILURES.items():
        yield kind, failed(kind), {"failure": failure, "message": so}
    long = "prompt is too long: 210000 tokens > 200000 maximum"
    yield "prompt too long", failed("invalid_request_error", long), {"failure": "too_large", "message": long}
    changed = "messages.1.content.0: Invalid `signature` in `thinking` block"
    yield "signature changed", failed("invalid_request_error", changed), {"failure": "refused", "message": changed}
    busy = {"failure": "busy", "message": so}
    yield "error in a stream", stream(begun(), *SAID, failed("overloaded_error")), busy
    lost = {"failure": "unreachable", "message": "the stream broke off"}
    yield "stream without end", stream(begun(), *SAID), lost
    yield "stream broken in an event", stream(begun(), *SAID, end='data: {"type":"message_st'), lost


FAILURES = {
    "invalid_request_error": "refused",
    "authentication_error": "wrong_key",
    "billing_error": "no_credit",
    "permission_error": "wrong_key",
    "not_found_error": "unknown_model",
    "request_too_large": "too_large",
    "rate_limit_error": "busy",
    "timeout_error": "busy",
    "api_error": "busy",
    "overloaded_error": "busy",
}
"""The class of each type of error in a body of status 200."""


def lines(cases: Sequence[tuple[str, object, Mapping[str, object]]]) -> str:
    """Return the cases, one in each line."""
    texts = [(name, body if isinstance(body, str) else json.dumps(body), read) for name, body, read in cases]
    return "".join(json.dumps({"name": name, "body": body, "read": read}) + "\n" for name, body, read in texts)


if __name__ == "__main__":
    FILE.write_text(lines([*answers(), *failures()]))
