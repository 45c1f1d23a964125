"""The interface of a language model, its answer, and the errors of a request without an answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import ProviderError, ToolAsk, Usage
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The settings of one endpoint that errors name."""

    key: Secret = field(default_factory=lambda: Secret(""))
    """The credential that no error may repeat."""
    key_setting: str = "OPENAI_API_KEY"
    url_setting: str = "OPENAI_BASE_URL"


DEPLOYED = Access()
"""The endpoint that the deployment configures."""


class Unavailable(TemporaryError):
    """No answer came; the provider may answer the same request later."""

    def __init__(self, message: str, provider_error: ProviderError, *, retry_after: float = 0.0) -> None:
        super().__init__(message, retry_after=retry_after)
        self.provider_error = provider_error


class Unusable(TemporaryError):
    """The response was no usable answer; asking again at once may help, and waiting does not."""

    def __init__(self, message: str, provider_error: ProviderError | None = None) -> None:
        super().__init__(message)
        self.provider_error = provider_error or ProviderError("no_endpoint")


class Refused(RunStopped):
    """The provider refused the request, and will refuse the same request again.

    `final` forbids to ask any other model of the role. `elsewhere` permits only models of other endpoints.
    """

    def __init__(
        self, message: str, provider_error: ProviderError, *, final: bool = False, elsewhere: bool = False
    ) -> None:
        super().__init__(message)
        self.provider_error = provider_error
        self.final = final
        self.elsewhere = elsewhere


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a model to one request."""

    text: str
    asks: tuple[ToolAsk, ...]
    finish: str
    """Why the model stopped: stop, tool_calls, length or content_filter. Also refusal, if the model declines, and
    function_call, if it called a tool in the field that `tool_calls` replaced."""
    model: str
    """The model that answered, by its provider's name."""
    usage: Usage
    extra: str = ""
    """Fields that the provider needs back with this answer, as a JSON object; empty if there are none."""
    thoughts: str = ""
    """The model's thoughts unless `extra` holds them; with their tags if they were part of the text."""
    fingerprint: str = ""
    """The provider's `system_fingerprint`, which changes with its configuration of the model; empty if it sent none."""
    api: str = ""
    """The format in which the model was asked; empty for a stand-in."""
    sent_sha256: str = ""
    """The hash of the bytes that were sent; empty for a stand-in."""
    cache_miss: str = ""
    """The provider's reason why it did not read the request's beginning from its cache; empty if it gave none."""
    ignored: str = ""
    """What the provider ignored of earlier thoughts, and why, in its words; empty if it ignored nothing."""
    response_id: str = ""
    """The provider's id of the answer in a format that compares requests by it; empty in the others."""


class Model(Protocol):
    """A model, asked with neutral requests: `{params, tools, "messages": […]}` in the shape of Chat Completions."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Send a request once, and return the answer within `timeout` seconds.

        Raises TemporaryError when no answer came but one may come later, and RunStopped when the request was refused.
        Errors of a provider are Unavailable and Unusable, which are temporary, and Refused.
        """
        ...


class RemoteModel(Model, ABC):
    """A model behind HTTP, whose requests can name the span that they belong to."""

    @abstractmethod
    def within(self, traceparent: str) -> Model:
        """Return this model, which sends the W3C header `traceparent` with each request."""
        ...

    @abstractmethod
    def using(self, api: str) -> Model:
        """Return this model, asked in another format."""
        ...

    @abstractmethod
    def adding(self, fields: Mapping[str, object]) -> Model:
        """Return this model, which adds neutral parameters to each request if its endpoint is known to take them.

        The journal and recorded answers know a request without them, because they follow from the run.
        """
        ...
