"""The rules of a strict provider for Chat Completions requests, and the rules that a request breaks."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
_ID = re.compile("[!-~]{1,64}")


def complaints(body: bytes) -> list[str]:
    """Return every broken rule of a request body; empty for a valid one."""
    try:
        request = _strict(body.decode())
    except ValueError as error:
        return [f"the body is not JSON in UTF-8: {error}"]
    if not isinstance(request.get("model"), str) or not request["model"]:
        return ["no model is named"]
    messages: list[Mapping[str, Any]] = request["messages"]
    found = [complaint for message in messages for complaint in _shape(message)]
    return found + _pairs(messages) + _twins(messages)


def _shape(message: Mapping[str, Any]) -> list[str]:
    match message:
        case {"role": "system" | "user", "content": str() as text} if text and len(message) == 2:
            return []
        case {"role": "user", "content": list() as parts} if parts and len(message) == 2:
            return []
        case {"role": "tool", "content": str(), "tool_call_id": str()} if len(message) == 3:
            return []
        case {"role": "assistant", "content": content, **rest} if rest.keys() <= {"tool_calls"}:
            calls = rest.get("tool_calls", [])
            if "tool_calls" in rest and not calls:
                return ["an empty list of tool calls"]
            if not calls and not (isinstance(content, str) and content.strip()):
                return ["an assistant message with neither content nor calls"]
            return [complaint for call in calls for complaint in _call(call)]
        case _:
            return [f"no message: {message}"]


def _call(call: Mapping[str, Any]) -> list[str]:
    match call:
        case {"id": str() as id_, "type": "function", "function": {"name": str() as name, "arguments": str() as text}}:
            found = [] if _ID.fullmatch(id_) else [f"the id {id_!r}"]
            found += [] if _NAME.fullmatch(name) else [f"the name {name!r}"]
            try:
                return found + ([] if isinstance(_strict(text), dict) else ["arguments that are no object"])
            except ValueError:
                return [*found, f"arguments that are not JSON: {text[:80]!r}"]
        case _:
            return [f"no call: {call}"]


def _pairs(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Require exactly one tool message for each call, directly after its assistant message."""
    found: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                found.append(f"an outcome of nothing: {message['tool_call_id']}")
            continue
        found += [f"a call without an outcome: {id_}" for id_ in waiting]
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    return found + [f"a call without an outcome: {id_}" for id_ in waiting]


def _twins(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    return [f"an id that stands twice: {id_}" for id_ in set(ids) if ids.count(id_) > 1]


def _strict(text: str) -> Any:
    """Parse JSON strictly: no NaN, no infinity, no lone surrogates, no duplicate keys."""
    value = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_distinct)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    if abs(value := float(text)) == float("inf"):
        raise ValueError(text)
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(value := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return value
