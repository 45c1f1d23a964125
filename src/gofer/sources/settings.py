"""Settings of sources. Each setting names its environment variable and can read and write its text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One setting of a source."""

    name: str
    """The environment variable, and the parameter on AWS."""
    read: Callable[[str, str], T]
    """Returns the value for a name and a text. An empty text means that the setting is not set. Raises ConfigError."""
    write: Callable[[T], str]
    """Returns the text for a value, the inverse of `read`."""

    def to(self, value: T) -> tuple[str, object]:
        """Return the setting with a value, for `SourceSettings.but`."""
        return self.name, value


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The values of the sources' settings. A setting that is not set has the value for the empty text."""

    values: Mapping[str, object] = field(default_factory=dict[str, object])

    def __getitem__(self, setting: Setting[T]) -> T:
        """Return the value of a setting."""
        if setting.name not in self.values:
            return setting.read(setting.name, "")
        # Only `to` and `read_source_settings` create values, and both use the setting's own type.
        return cast(T, self.values[setting.name])

    def but(self, *changed: tuple[str, object]) -> "SourceSettings":
        """Return a copy of these settings with some of them changed."""
        return SourceSettings({**self.values, **dict(changed)})

    def texts(self, settings: Sequence[Setting[Any]]) -> Mapping[str, str]:
        """Return settings as environment variables for another process."""
        return {setting.name: setting.write(self[setting]) for setting in settings}


def read_source_settings(settings: Sequence[Setting[Any]], environment: Mapping[str, str]) -> SourceSettings:
    """Return the values of settings in an environment. Raises ConfigError, which names the wrong setting."""
    return SourceSettings({one.name: one.read(one.name, environment.get(one.name, "")) for one in settings})


def text_setting(name: str) -> Setting[str]:
    """Return a setting with plain text."""
    return Setting(name, lambda _, text: text.strip(), str)


def credential_setting(name: str) -> Setting[Secret]:
    """Return a setting with a credential, which is sent in a header."""
    return Setting(name, lambda own, text: read_credential(own, text.strip()), Secret.reveal)


def secrets_setting(name: str) -> Setting[Sequence[Secret]]:
    """Return a setting with a secret, or with two separated by a comma during a rotation."""
    return Setting(name, lambda _, text: read_secrets(text), _joined)


def url_setting(name: str, default: str = "") -> Setting[str]:
    """Return a setting with a base URL, without a slash at its end."""
    return Setting(name, lambda own, text: read_url(own, text or default), str)


def read_secrets(text: str) -> Sequence[Secret]:
    """Return the secrets in a comma-separated text: the current secret and, during a rotation, the previous one."""
    return tuple(Secret(secret.strip()) for secret in text.split(",") if secret.strip())


def read_credential(name: str, text: str) -> Secret:
    """Return the value of a variable as a credential. Raises ConfigError if a header cannot hold it."""
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(f"{name} contains characters that a key cannot have; copy it again.")
    return Secret(text)


def read_url(name: str, text: str) -> str:
    """Return a base URL without a slash at its end, or the empty string. Raises ConfigError."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for an invalid port
    except ValueError:
        parts = urlsplit("")
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{name} is not a URL; write one such as https://api.example.com/v1.")
    return text.rstrip("/")


def _joined(secrets: Sequence[Secret]) -> str:
    return ",".join(secret.reveal() for secret in secrets)
