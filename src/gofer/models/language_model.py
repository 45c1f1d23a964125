"""The interface of a language model, its answer, and the errors of a request that got none."""

from dataclasses import dataclass, field
from typing import Protocol

from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import ProviderError, ToolAsk, Usage
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How one endpoint is reached, as far as errors speak of it."""

    key: Secret = field(default_factory=lambda: Secret(""))
    """The credential that no error may repeat."""
    key_setting: str = "OPENAI_API_KEY"
    url_setting: str = "OPENAI_BASE_URL"


DEPLOYED = Access()
"""The endpoint that the deployment sets up."""


class Unavailable(TemporaryError):
    """No answer came, and the same request may be answered later."""

    def __init__(self, message: str, said: ProviderError, *, retry_after: float = 0.0) -> None:
        super().__init__(message, retry_after=retry_after)
        self.said = said


class Unusable(TemporaryError):
    """An answer came and is none: asking again at once may help, waiting for the provider does not."""

    def __init__(self, message: str, said: ProviderError | None = None) -> None:
        super().__init__(message)
        self.said = said or ProviderError("no_endpoint")


class Refused(RunStopped):
    """The provider refused the request, and will refuse the same request again.

    `final` is set when no other model of the role may be asked either, `elsewhere` when only those of other endpoints
    may be.
    """

    def __init__(self, message: str, said: ProviderError, *, final: bool = False, elsewhere: bool = False) -> None:
        super().__init__(message)
        self.said = said
        self.final = final
        self.elsewhere = elsewhere


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to one request."""

    text: str
    asks: tuple[ToolAsk, ...]
    finish: str
    """Why it stopped: stop, tool_calls, length, content_filter; refusal, where the model says that it will not; or
    function_call, where it called a tool in the field that `tool_calls` replaced."""
    model: str
    """The model that answered, by its provider's name."""
    usage: Usage
    extra: str = ""
    """What its provider wants to see again beside it, as a JSON object; empty for nothing."""
    thoughts: str = ""
    """What it thought before it answered, where `extra` does not hold that; with its tags if it stood in the text."""


class Model(Protocol):
    """A model behind an OpenAI-compatible Chat Completions format."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Send the exact bytes of a request once, `timeout` seconds at most.

        Raises TemporaryError when no answer came that may come later, Unusable when what came is none, RunStopped
        when the request was refused. Those of a provider are Unavailable, Unusable and Refused.
        """
        ...
