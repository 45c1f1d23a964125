"""Settings of sources: each names its environment variable and says how the text there is read and written."""

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
    """Its environment variable, and its parameter on AWS."""
    read: Callable[[str, str], T]
    """Returns the value of a name and a text; an empty text is a setting that is not set. Raises ConfigError."""
    write: Callable[[T], str]
    """Returns the text that is read as a value."""

    def to(self, value: T) -> tuple[str, object]:
        """Return the setting with a value, for `SourceSettings.but`."""
        return self.name, value


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The values of the sources' settings. One that is not set has the value that its empty text is read as."""

    values: Mapping[str, object] = field(default_factory=dict[str, object])

    def __getitem__(self, setting: Setting[T]) -> T:
        """Return the value of a setting."""
        if setting.name not in self.values:
            return setting.read(setting.name, "")
        # Only `to` and `read_source_settings` make values, both by the setting's own type.
        return cast(T, self.values[setting.name])

    def but(self, *changed: tuple[str, object]) -> "SourceSettings":
        """Return these settings with some of them changed."""
        return SourceSettings({**self.values, **dict(changed)})

    def texts(self, settings: Sequence[Setting[Any]]) -> Mapping[str, str]:
        """Return settings as the environment of another process has them."""
        return {setting.name: setting.write(self[setting]) for setting in settings}


def read_source_settings(settings: Sequence[Setting[Any]], environment: Mapping[str, str]) -> SourceSettings:
    """Return the values of settings in an environment. Raises ConfigError that names the one that is wrong."""
    return SourceSettings({one.name: one.read(one.name, environment.get(one.name, "")) for one in settings})


def text_setting(name: str) -> Setting[str]:
    """Return a setting that is plain text."""
    return Setting(name, lambda _, text: text.strip(), str)


def credential_setting(name: str) -> Setting[Secret]:
    """Return a setting that is a credential, which goes into a header."""
    return Setting(name, lambda own, text: read_credential(own, text.strip()), Secret.reveal)


def secrets_setting(name: str) -> Setting[Sequence[Secret]]:
    """Return a setting that is a secret, or two with a comma between them while it is being rotated."""
    return Setting(name, lambda _, text: read_secrets(text), _joined)


def url_setting(name: str, default: str = "") -> Setting[str]:
    """Return a setting that is a base URL, which has no slash at its end."""
    return Setting(name, lambda own, text: read_url(own, text or default), str)


def read_secrets(text: str) -> Sequence[Secret]:
    """Return the secrets between commas: the current one, and the previous one while it is being rotated."""
    return tuple(Secret(secret.strip()) for secret in text.split(",") if secret.strip())


def read_credential(name: str, text: str) -> Secret:
    """Return the value of a variable as a credential. Raises ConfigError where no header can hold it."""
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(f"{name} holds characters that no key has; copy it again.")
    return Secret(text)


def read_url(name: str, text: str) -> str:
    """Return a base URL without a slash at its end, or the empty string. Raises ConfigError."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        parts = urlsplit("")
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{name} is not a URL; write one such as https://api.example.com/v1.")
    return text.rstrip("/")


def _joined(secrets: Sequence[Secret]) -> str:
    return ",".join(secret.reveal() for secret in secrets)
