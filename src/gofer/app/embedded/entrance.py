"""The people who may open the pages of one process: those who sign in, or those on this machine."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from gofer.app.embedded.eval_state import eval_stores
from gofer.app.front import Guard
from gofer.app.pages.readers import LocalReaders, Readers
from gofer.app.pages.sign_in_settings import sign_in_of, wants_sign_in
from gofer.app.settings import Settings
from gofer.app.visitors import visitors
from gofer.journal.store import Store
from gofer.sources.sign_ins import SIGN_IN
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside


@dataclass(frozen=True, slots=True)
class Entrance:
    """The guard of the pages, and the readers behind it."""

    guard: Guard
    readers: Readers
    evals: Callable[[], AbstractContextManager[Stores | None]]
    """Opens the state of the runs of evals; None where the pages do not show them."""
    signs_in: bool
    """Whether people sign in. Without a sign-in only browsers on this machine open the pages."""


def entrance(settings: Settings, key: InstallationKey, outside: Outside, store: Store, host: str) -> Entrance:
    """Return the entrance that the settings describe, for a server that listens on `host`.

    With the settings of a sign-in, members of the workspace open the pages from any machine. Without them, only
    browsers on this machine open the pages. Simulators have no sign-in. Raises ConfigError if a setting is missing.
    """
    if wants_sign_in(settings) and not settings.simulated:
        how = "write them into .env or the environment, or remove the settings of the sign-in"
        guard = sign_in_of(settings, key, outside, store, how=how)
        _check_tls(settings.public_url)
        return Entrance(guard, guard.readers, nullcontext, signs_in=True)
    readers = LocalReaders(SIGN_IN.members(settings.sources, outside.http))
    evals = partial(eval_stores, settings.data, outside.clock)
    return Entrance(visitors(settings.public_url, host), readers, evals, signs_in=False)


def _check_tls(public_url: str) -> None:
    """Raise ConfigError for an address without TLS. On AWS all addresses have it."""
    if urlsplit(public_url).scheme != "https":
        raise ConfigError(
            "Sign-in needs an https address in GOFER_URL, because browsers keep its cookies only over TLS; put a proxy "
            "with a certificate in front of Gofer, and write its address."
        )
