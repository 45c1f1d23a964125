"""The rule of roles in the template of Mistral's models, and the refusal of a server that applies it."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

_WORDS = "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."


def alternates(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether people and answers without calls alternate; results and answers with calls do not count."""
    inside = messages[1:] if messages[0]["role"] == "system" else messages
    counted = [one["role"] for one in inside if one["role"] != "tool" and not one.get("tool_calls")]
    wanted = ("user", "assistant")
    return all(role == wanted[number % 2] for number, role in enumerate(counted))


def refused() -> Response:
    """Return the answer of llama.cpp to messages that its template refuses."""
    words = f"\n------------\nWhile executing CallExpression at line 47, column 32 in source:\n^\nError: {_WORDS}"
    return JSONResponse({"error": {"code": 500, "message": words, "type": "server_error"}}, 500)
