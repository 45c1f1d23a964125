"""What is said to and by a model, and which bytes say it?

The bytes are those of an OpenAI-compatible Chat Completions request. A message is encoded once, when it
enters the conversation, and never again.
"""

from dataclasses import dataclass

from gofer.canonical import encode


@dataclass(frozen=True, slots=True)
class ToolAsk:
    """One tool call as the model asked for it. `arguments` is its own JSON text, not yet trusted."""

    id: str
    """The provider's id; ours is `<turn>.<index>`."""
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as its provider counted them. `cached_tokens` are part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


def system(text: str) -> bytes:
    """A message that tells the model who it is."""
    return encode({"role": "system", "content": text})


def user(text: str) -> bytes:
    """A message to the model from outside."""
    return encode({"role": "user", "content": text})


def assistant(text: str, asks: tuple[ToolAsk, ...]) -> bytes:
    """What the model said, with the tool calls it asked for."""
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if asks:
        message["tool_calls"] = [
            {"id": ask.id, "type": "function", "function": {"name": ask.tool, "arguments": ask.arguments}}
            for ask in asks
        ]
    return encode(message)


def tool(ask_id: str, text: str) -> bytes:
    """The outcome of one tool call, as the model reads it."""
    return encode({"role": "tool", "tool_call_id": ask_id, "content": text})
