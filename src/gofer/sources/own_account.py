"""The account as which Gofer acts in a system: which setting names it, and which request finds it out."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from gofer.sources.settings import Setting, SourceSettings
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.outside import Http, HttpRequest

SECONDS = 5.0
"""How long a start waits for each answer at most."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnAccount(Generic[T]):
    """How one system says as whom Gofer acts there."""

    system: str
    setting: Setting[T]
    """What names the account instead."""
    request: Callable[[SourceSettings], HttpRequest | None]
    """Returns the request that asks for the account; None without a token."""
    found: Callable[[Mapping[str, object]], T]
    """Returns the account of an answer; empty where the answer does not say it."""
    is_needed: bool = True
    """Whether what Gofer writes would start it again without it; the start then warns, and receivers on AWS refuse."""


async def look_up(account: OwnAccount[T], settings: SourceSettings, http: Http) -> T:
    """Return the account of a token, or what the setting says; what cannot be found out is a warning and empty."""
    named = settings[account.setting]
    request = account.request(settings)
    if named or request is None:
        return named
    try:
        response = await http.send(request)
        if response.status == 200 and (found := account.found(as_object(decode(response.body)))):
            return found
        why = f"HTTP {response.status}"
    except BadRequest:
        why = "the answer is no JSON"
    except TemporaryError as error:
        why = str(error)
    if account.is_needed:
        _warn(account, why)
    return named


def _warn(account: OwnAccount[T], why: str) -> None:
    _log.warning(
        "%s does not say whom Gofer's token belongs to (%s), so that what Gofer writes there may start it again; "
        "correct the token, or set %s.",
        account.system,
        why,
        account.setting.name,
    )
