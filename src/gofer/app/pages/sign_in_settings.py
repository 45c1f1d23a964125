"""The sign-in as the settings of a process describe it."""

from collections.abc import Callable

from gofer.app.pages.sign_in import SignIn, sign_in
from gofer.app.settings import Settings
from gofer.journal.store import Store
from gofer.sources.serving import PageRefused
from gofer.sources.sign_ins import SIGN_IN
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside


def wants_sign_in(settings: Settings) -> bool:
    """Return whether any setting is set that only a sign-in reads."""
    return any(settings.sources[setting] for setting in SIGN_IN.own)


def sign_in_of(
    settings: Settings,
    key: InstallationKey,
    outside: Outside,
    store: Store,
    *,
    how: str,
    count: Callable[[PageRefused], None] | None = None,
) -> SignIn:
    """Return the sign-in that guards the pages, with cookies signed under the installation key.

    `how` tells the operator where settings are written. `count` is called with each refusal that the operator must act
    on. Raises ConfigError, which names the missing settings.
    """
    needed: dict[str, object] = {setting.name: settings.sources[setting] for setting in SIGN_IN.needed}
    needed["GOFER_URL"] = settings.public_url
    if missing := [name for name, value in needed.items() if not value]:
        raise ConfigError(f"Sign-in needs {' and '.join(missing)}; {how}.")
    identities = SIGN_IN.make(settings.sources, outside.http, settings.public_url)
    if count is None:
        return sign_in(identities, outside, store, key.current)
    return sign_in(identities, outside, store, key.current, count)
