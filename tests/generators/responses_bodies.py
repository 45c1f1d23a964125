"""The bodies of forty answers in the format Responses, built from the types of the package `openai`.

`python tests/generators/responses_bodies.py` writes them, with what Gofer must read, beside the test that reads them.
None was fetched. LONG stands for encrypted thoughts of 200 kB.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from openai.types.responses import Response

FILE = Path(__file__).parents[1] / "unit" / "models" / "formats" / "responses_bodies.jsonl"
LONG = "@200kB@"
Item = Mapping[str, object]
USAGE = {
    "input_tokens": 1_200,
    "input_tokens_details": {"cached_tokens": 1_000, "cache_write_tokens": 0},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 1_250,
}
READ = [1_200, 50, 1_000, 0, 0, 20]


def response(*output: Item, **fields: object) -> Mapping[str, object]:
    """Return a response as the server writes it; the SDK's type fills and orders its fields."""
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_795_000_000,
        "model": "gpt-6-mini-2026-11-01",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": USAGE,
        **fields,
    }
    return Response.construct(**body).to_dict(mode="json", exclude_unset=True)


def message(text: str, number: int = 1, **fields: object) -> Item:
    """Return a message with one text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return said(part, number=number, **fields)


def said(*parts: Item, number: int = 1, **fields: object) -> Item:
    """Return a message with these parts."""
    head = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return {**head, "content": list(parts), **fields}


def call(arguments: str = '{"text":"x"}', number: int = 1, **fields: object) -> Item:
    """Return a call of the tool `look`."""
    head = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "look"}
    return {**head, "arguments": arguments, "status": "completed", **fields}


def thought(number: int = 1, encrypted: str | None = "gAAAAB", *summary: str) -> Item:
    """Return thoughts."""
    texts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": texts, "encrypted_content": encrypted}


def incomplete(reason: str, *output: Item) -> Mapping[str, object]:
    """Return a response that was cut off."""
    return response(*output, status="incomplete", incomplete_details={"reason": reason})


def failed(code: str, text: str) -> Mapping[str, object]:
    """Return a response that failed."""
    return response(status="failed", error={"code": code, "message": text}, usage=None)


def counted(**fields: object) -> Mapping[str, object]:
    """Return a plain answer with another usage."""
    return response(message("Done."), usage={**USAGE, **fields})


def stream(*events: Mapping[str, object], end: str = "") -> str:
    """Return a stream of events as the server writes it."""
    numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in numbered) + end


def ended(kind: str, body: Mapping[str, object], *before: Mapping[str, object]) -> str:
    """Return a stream that ends with a whole response."""
    begin = {"type": "response.created", "response": response(status="in_progress")}
    delta = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0}
    return stream(begin, {**delta, "delta": "Do", "logprobs": []}, *before, {"type": kind, "response": body})


def answers() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield a name, a body, and what Gofer reads: text, calls, finish, usage, and how many items are kept."""
    done = {"text": "Done."}
    asked = {"finish": "tool_calls", "calls": ['call_1 look {"text":"x"}']}
    two = {"finish": "tool_calls", "calls": [*asked["calls"], "call_2 look {}"]}
    length = {"finish": "length"}
    final = message("Done.", 2, phase="final_answer")
    yield "plain", response(message("Done.")), {**done, "usage": READ}
    yield "call", response(call()), asked
    yield "two calls", response(call(), call("{}", 2)), two
    yield "text and call", response(message("I look."), call()), {**asked, "text": "I look."}
    yield "call and text", response(call(), message("I look.")), {**asked, "text": "I look.", "kept": 2}
    broken = {"finish": "tool_calls", "calls": ['call_1 look {"text":']}
    yield "broken arguments", response(call('{"text":')), broken
    yield "empty arguments", response(call("")), {"finish": "tool_calls", "calls": ["call_1 look {}"]}
    yield "thoughts before call", response(thought(), call()), {**asked, "kept": 2}
    yield (
        "thoughts before text",
        response(thought(1, "gA", "I think."), message("Done.")),
        {**done, "kept": 2, "thoughts": "I think."},
    )
    yield "thoughts between calls", response(thought(), call(), thought(2), call("{}", 2)), {**two, "kept": 4}
    yield "long thoughts", response(thought(1, LONG), call()), {**asked, "kept": 2}
    yield (
        "thoughts in the open",
        response({**thought(1, None), "content": [{"type": "reasoning_text", "text": "Hm."}]}, call()),
        {**asked, "kept": 2, "thoughts": "Hm."},
    )
    yield "comment and final answer", response(message("I look.", phase="commentary"), final), {**done, "kept": 2}
    yield (
        "comment and call",
        response(message("I look.", phase="commentary"), call()),
        {**asked, "text": "I look.", "kept": 2},
    )
    refused = {"text": "I cannot.", "finish": "refusal"}
    yield "refusal", response(said({"type": "refusal", "refusal": "I cannot."})), refused
    yield "cut text", incomplete("max_output_tokens", message("Do", status="incomplete")), {**length, "text": "Do"}
    yield "cut thoughts", incomplete("max_output_tokens", thought()), {**length, "kept": 1}
    yield (
        "cut call",
        incomplete("max_output_tokens", call('{"te', status="incomplete")),
        {**length, "calls": ['call_1 look {"te']},
    )
    yield "filtered", incomplete("content_filter", message("Do")), {"text": "Do", "finish": "content_filter"}
    yield "too many messages", incomplete("max_messages", message("Do")), {**length, "text": "Do"}
    yield "steered", incomplete("steered", message("Do")), {**length, "text": "Do"}
    yield "cut for an unknown reason", incomplete("tired", message("Do")), {**length, "text": "Do"}
    yield "no items", response(), {}
    unknown = {"type": "crystal_ball", "id": "cb_1", "visions": [1]}
    yield "unknown item", response(unknown, message("Done.")), {**done, "kept": 2}
    custom = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c", "name": "look", "input": "x"}
    yield "call of a custom tool", response(custom), {"kept": 1}
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gA"}
    yield "compaction", response(compaction, final), {**done, "kept": 2}
    yield "call from a program", response(call(caller={"type": "program", "caller_id": "p"})), {**asked, "kept": 1}
    wrote = {"cached_tokens": 1_000, "cache_write_tokens": 150}
    long = {**wrote, "cache_write_tokens_details": {"ttl_30m_tokens": 50, "ttl_12h_tokens": 100}}
    yield "cache written", counted(input_tokens_details=wrote), {**done, "usage": [1_200, 50, 1_000, 150, 0, 20]}
    yield (
        "cache written for long",
        counted(input_tokens_details=long),
        {**done, "usage": [1_200, 50, 1_000, 150, 100, 20]},
    )
    yield "no usage", response(message("Done."), usage=None), {**done, "usage": [0, 0, 0, 0, 0, 0]}
    yield "negative usage", counted(input_tokens=-5, output_tokens=-1), {**done, "usage": [0, 0, 0, 0, 0, 0]}
    removed = {"id": "rs_0", "type": "reasoning", "action": "removed", "reason": "model_mismatch"}
    yield (
        "thoughts ignored",
        response(message("Done."), input_transformations=[removed, removed]),
        {**done, "ignored": "2 reasoning removed: model_mismatch"},
    )
    miss = {"type": "cache_miss", "reason": "tools_changed", "cache_missed_tokens": 900}
    yield (
        "cache missed",
        response(message("Done."), prompt_cache_diagnostics=miss),
        {**done, "cache_miss": "tools_changed"},
    )
    yield "stream", ended("response.completed", response(message("Done."))), {**done, "usage": READ}
    encrypted = {"type": "response.output_item.done", "output_index": 0, "item": thought()}
    bare = response(thought(1, None), call())
    yield "stream with thoughts", ended("response.completed", bare, encrypted), {**asked, "kept": 2}
    yield (
        "stream cut",
        ended("response.incomplete", incomplete("max_output_tokens", message("Do"))),
        {**length, "text": "Do"},
    )


def failures() -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield a name, a body, and the class of the failure with the provider's words."""
    busy = {"failure": "busy"}
    words = {**busy, "message": "Try later."}
    yield "failed", failed("server_error", "Try later."), words
    yield "failed by rate", failed("rate_limit_exceeded", "Try later."), words
    yield "failed by policy", failed("bio_policy", "No."), {"failure": "filtered", "message": "No."}
    yield "failed by prompt", failed("invalid_prompt", "No."), {"failure": "refused", "message": "No."}
    flagged = "Your prompt was flagged as violating our usage policy."
    yield "flagged", failed("invalid_prompt", flagged), {"failure": "filtered", "message": flagged}
    yield "failed without words", response(status="failed", error=None), {**busy, "message": "The response failed."}
    yield "cancelled", response(status="cancelled"), {**busy, "message": "The response is cancelled."}
    yield "queued", response(status="queued"), {**busy, "message": "The response is queued."}
    yield (
        "in progress",
        response(message("Do"), status="in_progress"),
        {**busy, "message": "The response is in_progress."},
    )
    yield "stream failed", ended("response.failed", failed("server_error", "Try later.")), words
    error = {"type": "error", "code": "server_error", "message": "Try later.", "param": None}
    yield "error in a stream", stream({"type": "response.created", "response": response()}, error), words
    begun = {"type": "response.output_item.done", "output_index": 0, "item": message("Do")}
    lost = {"failure": "unreachable", "message": "the stream broke off"}
    yield "stream without end", stream(begun), lost
    yield "stream broken in an event", stream(begun, end='data: {"type":"response.compl'), lost


def lines(cases: Sequence[tuple[str, object, Mapping[str, object]]]) -> str:
    """Return the cases, one in each line."""
    texts = [(name, body if isinstance(body, str) else json.dumps(body), read) for name, body, read in cases]
    return "".join(json.dumps({"name": name, "body": body, "read": read}) + "\n" for name, body, read in texts)


if __name__ == "__main__":
    FILE.write_text(lines([*answers(), *failures()]))
