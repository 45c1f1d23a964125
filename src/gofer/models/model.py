"""What does a run need of a language model?"""

from dataclasses import dataclass
from typing import Protocol

from gofer.errors import TemporaryError
from gofer.messages import ToolAsk, Usage


class Unusable(TemporaryError):
    """An answer came and is none: asking again at once may help, waiting for the provider does not."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to one request."""

    text: str
    asks: tuple[ToolAsk, ...]
    finish: str
    """Why it stopped: stop, tool_calls, length, content_filter; or refusal, where the model says that it will not."""
    model: str
    """The model that answered, by its provider's name."""
    usage: Usage
    extra: str = ""
    """What its provider wants to see again beside it, as a JSON object; empty for nothing."""


class Model(Protocol):
    """A model behind an OpenAI-compatible Chat Completions format."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Sends the exact bytes of a request once, `timeout` seconds at most.

        Raises TemporaryError when no answer came that may come later, Unusable when what came is none, RunStopped
        when the request was refused.
        """
        ...
