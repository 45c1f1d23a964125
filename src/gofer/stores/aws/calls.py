"""A bounded thread pool for calls of AWS, and the classification of refusals.

botocore's clients block, so each request runs on one of a bounded number of threads. A refusal that the caller expects
(a condition did not hold, an object is missing) comes back as a value. Every other failure raises an error that names
who must act. A request without a response may have been carried out, so every write is safe to send again.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    ClientError,
    LoginError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from gofer.values.errors import ConfigError, TemporaryError

THREADS = 32
"""The most concurrent requests of one process; clients keep as many connections."""

Operation: TypeAlias = Callable[..., Any]
"""A method of a botocore client, such as `client.put_item`: keyword arguments in, a JSON object out."""

_SIGN_IN = (NoCredentialsError, PartialCredentialsError, ProfileNotFound, SSOError, LoginError, TokenRetrievalError)
_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "AuthorizationError", "403"})
_INVALID_CREDENTIALS = frozenset(
    {
        *("ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId", "AuthFailure"),
        *("MissingAuthenticationToken", "SignatureDoesNotMatch", "UnrecognizedClientException"),
    }
)
_QUEUES = "the queue of GOFER_QUEUE_URL, GOFER_DEAD_LETTER_URL or GOFER_OFFERS_URL"
_MISSING: Mapping[str, str] = {
    "ResourceNotFoundException": "the table of GOFER_TABLE",
    "NoSuchBucket": "the bucket of GOFER_BUCKET",
    "AWS.SimpleQueueService.NonExistentQueue": _QUEUES,
    "QueueDoesNotExist": _QUEUES,
    "ParameterNotFound": "the parameter",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal of AWS that the caller expected."""

    code: str
    response: Mapping[str, Any]
    """The whole response, as botocore parses it."""


class _Expected(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class Aws:
    """The requests of one process to AWS; `requests` counts them by the name of their operation."""

    def __init__(self, threads: int = THREADS) -> None:
        self.requests: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gofer-aws")

    async def ask(
        self, operation: Operation, *, refusals: Collection[str] = (), **arguments: object
    ) -> Mapping[str, Any] | Refusal:
        """Return the response to one request, or the refusal if its code is one of `refusals`.

        Raises TemporaryError when AWS was busy or did not answer, and ConfigError when the operator must act.
        """
        try:
            return await self._send(operation, refusals, arguments)
        except _Expected as expected:
            return expected.refusal

    async def _send(
        self, operation: Operation, refusals: Collection[str], arguments: Mapping[str, object]
    ) -> Mapping[str, Any]:
        name = operation.__name__
        self.requests[name] += 1
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, partial(operation, **arguments))
        except ClientError as error:
            if (code := _code(error)) in refusals:
                response: Mapping[str, Any] = error.response
                raise _Expected(Refusal(code, response)) from error
            raise trouble(name, error) from error
        except BotoCoreError as error:
            raise trouble(name, error) from error

    async def answer(self, operation: Operation, **arguments: object) -> Mapping[str, Any]:
        """Return the response to a request for which every refusal is an error. Raises as `ask` does."""
        return await self._send(operation, (), arguments)

    def close(self) -> None:
        """Wait for running requests and end the threads."""
        self._pool.shutdown()


def trouble(name: str, error: ClientError | BotoCoreError) -> ConfigError | TemporaryError:
    """Return the error for an unexpected failure of the request `name`, by who must act.

    The text of a refusal comes from AWS and may name keys, so the error holds only its code.
    """
    match error:
        case ClientError():
            return _refused(name, _code(error))
        case BotoCoreError() if isinstance(error, _SIGN_IN):
            return ConfigError("AWS has no valid credentials here; sign in, or name a profile in AWS_PROFILE.")
        case _:
            reason = f"AWS did not answer {name} ({type(error).__name__})"
            return TemporaryError(f"{reason}; try again later, or check the network.")


def _refused(name: str, code: str) -> ConfigError | TemporaryError:
    if code in _INVALID_CREDENTIALS:
        return ConfigError(
            f"AWS does not accept these credentials for {name} ({code}); sign in again, or name another profile."
        )
    if code in _DENIED:
        return ConfigError(f"AWS does not allow {name} here ({code}); add it to the policy of the role that calls it.")
    if missing := _MISSING.get(code):
        return ConfigError(f"AWS does not know {missing}; deploy the stack, or correct the setting and the Region.")
    return TemporaryError(f"AWS could not carry out {name} now ({code or 'no reason given'}).")


def _code(error: ClientError) -> str:
    response: Mapping[str, Any] = error.response
    return str(response.get("Error", {}).get("Code", ""))
