"""The settings of one process, read from its environment and checked once, then passed on as values."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from gofer.app.otlp_settings import Otlp, read_otlp
from gofer.app.proxy_settings import read_proxies
from gofer.sources.receiver_spec import ReceiverSpec
from gofer.sources.receivers import RECEIVERS, SETTINGS
from gofer.sources.settings import SourceSettings, read_credential, read_secrets, read_source_settings, read_url
from gofer.values.errors import ConfigError
from gofer.values.messages import APIS
from gofer.values.outside import is_base_url
from gofer.values.proxies import DIRECT, Proxies
from gofer.values.secret import Secret

_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)
_VALUE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^"'\s#][^"'\s]*)?)(?:\s+\#.*)?""", re.DOTALL)

_ALARM_CHANNEL = re.compile(r"#[^\s#]{1,80}|[CG][A-Z0-9]{6,20}")
_ALARM_URL = re.compile(r"https://|http://(127\.0\.0\.1|localhost)[:/]")
_CONCURRENCY = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)


def read_dotenv(path: Path) -> Mapping[str, str]:
    """Return the variables that a `.env` file sets, or an empty mapping if there is no file.

    Raises ConfigError, which names the line and never the value. The syntax is a small part of what shells read, and
    nothing is expanded:

    # a comment                       a line of its own, or after a space
    NAME=value                        `export` before it is allowed
    NAME="two words"  NAME='a # b'    quotes keep spaces and #; there are no escapes
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as text; correct it or remove it.") from error
    found: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if line and not line.startswith("#"):
            name, value = _read_line(f"{path}:{number}", line)
            if name in found:
                raise ConfigError(f"{path}:{number}: {name} is set a second time; keep one of the lines.")
            found[name] = value
    return found


def _read_line(place: str, line: str) -> tuple[str, str]:
    assignment = _ASSIGNMENT.fullmatch(line)
    if not assignment:
        raise ConfigError(f"{place}: this line is not a setting; write NAME=value, or # before a comment.")
    name, written = assignment.groups()
    value = _VALUE.fullmatch(written)
    if not value:
        raise ConfigError(f'{place}: the value of {name} cannot be read; put it in quotes, as {name}="…".')
    return name, next((part for part in value.groups() if part is not None), "")


LogLevel: TypeAlias = Literal["minimal", "summary", "full"]
"""The detail of log lines. `app/logs.py` says what each level lets through."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one process. An empty secret means that its system is not set up."""

    data: Path
    """GOFER_DATA: the folder of the embedded state."""
    openai_api_key: Secret
    openai_base_url: str
    sources: SourceSettings
    """The settings that each source declares in its `settings` module."""
    public_url: str
    """GOFER_URL: the address at which colleagues open Gofer's pages. Empty means the address that Gofer listens on."""
    log_level: LogLevel
    """AGENT_LOG_LEVEL: the detail of log lines."""
    webhook_secrets: Mapping[str, Sequence[Secret]] = field(default_factory=dict[str, Sequence[Secret]])
    """WEBHOOK_SECRET_<NAME> by the name of its webhook, and WEBHOOK_SECRET by the empty name. Each has one or two."""
    tokens_expire: Mapping[str, date] = field(default_factory=dict[str, date])
    """TOKENS_EXPIRE: the last day of tokens that expire, as `FIRST_TOKEN=2027-03-01, SECOND_TOKEN=2027-05-31`."""
    model_keys: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    """MODEL_KEY_<NAME>, by the whole name: the keys of endpoints that defaults.yaml names."""
    model_base_urls: frozenset[str] = field(default_factory=frozenset[str])
    """MODEL_BASE_URLS: the base URLs that those endpoints may have, separated by commas."""
    otlp: Otlp = field(default_factory=Otlp)
    """OTEL_EXPORTER_OTLP_ENDPOINT and related variables: the collector that gets the spans of runs."""
    proxies: Proxies = DIRECT
    """HTTPS_PROXY, HTTP_PROXY and NO_PROXY: the proxies of all outgoing requests."""
    alarms: Secret = field(default_factory=lambda: Secret(""))
    """GOFER_ALARMS: the channel or the https URL that hears when a system is away. A URL may hold a credential."""
    concurrency: int = 0
    """GOFER_CONCURRENCY: the most conversations that one worker works on at once. 0 means the default of its place."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Every variable that is set. Only the company's tools read it: each one gets the variables that it names."""
    openai_organization: str = ""
    """OPENAI_ORG_ID: the organization that requests to the default endpoint belong to."""
    openai_project: str = ""
    """OPENAI_PROJECT_ID: the project that requests to the default endpoint belong to."""
    openai_api_format: str = ""
    """OPENAI_API_FORMAT: the format of the default endpoint; empty means the native one of its base URL."""
    simulated: bool = False
    """Whether simulators replace the outside systems. The code that starts them sets it, never the environment."""
    offline: bool = False
    """Whether the offline model answers. The code that starts that model sets it, never the environment."""

    @property
    def has_model(self) -> bool:
        """Return whether any model endpoint is set up."""
        return self.has_default_endpoint or bool(self.model_base_urls)

    @property
    def has_default_endpoint(self) -> bool:
        """Return whether the default endpoint, which models without an endpoint of their own use, is set up."""
        return bool(self.openai_api_key or self.openai_base_url)

    @property
    def alarm_channel(self) -> str:
        """Return the channel that hears alarms; empty if they go to a URL or are off."""
        text = self.alarms.reveal()
        if _ALARM_CHANNEL.fullmatch(text):
            return text
        return ""

    @property
    def reaches_people(self) -> bool:
        """Return whether Gofer can act in at least one system that people use."""
        return any(self.sources[spec.token] for spec in RECEIVERS)

    def receives(self, spec: ReceiverSpec) -> bool:
        """Return whether Gofer can receive the events of a source."""
        if self.sources[spec.secret]:
            return True
        return spec.listens_with is not None and bool(self.sources[spec.listens_with])


def process_settings() -> Settings:
    """Return the settings in `process_variables`. Raises ConfigError."""
    return read_settings(process_variables())


def process_variables() -> Mapping[str, str]:
    """Return the variables of the `.env` file of the current folder, overridden by the environment of this process."""
    return {**read_dotenv(Path(".env")), **os.environ}


def child_environment(settings: Settings) -> dict[str, str]:
    """Return the environment for a child process that uses the same systems and the same model."""
    return {
        **os.environ,
        **{name: text for spec in RECEIVERS for name, text in settings.sources.texts(spec.acts_with).items()},
        "OPENAI_API_KEY": settings.openai_api_key.reveal(),
        "OPENAI_BASE_URL": settings.openai_base_url,
        "OPENAI_API_FORMAT": settings.openai_api_format,
        "MODEL_BASE_URLS": ",".join(sorted(settings.model_base_urls)),
        **{name: key.reveal() for name, key in settings.model_keys.items()},
        "OTEL_EXPORTER_OTLP_ENDPOINT": "",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": settings.otlp.url,
    }


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in an environment. Raises ConfigError, which names the wrong setting."""
    return Settings(
        data=Path(environment.get("GOFER_DATA") or ".gofer"),
        openai_api_key=_credential("OPENAI_API_KEY", environment),
        openai_base_url=read_url("OPENAI_BASE_URL", environment.get("OPENAI_BASE_URL", "")),
        sources=read_source_settings(SETTINGS, environment),
        public_url=read_url("GOFER_URL", environment.get("GOFER_URL", "")),
        webhook_secrets=_webhook_secrets(environment),
        log_level=read_log_level(environment),
        tokens_expire=_expiries(environment.get("TOKENS_EXPIRE", "")),
        model_keys=_model_keys(environment),
        model_base_urls=_model_base_urls(environment),
        otlp=read_otlp(environment),
        proxies=read_proxies(environment),
        alarms=_alarms(environment.get("GOFER_ALARMS", "").strip()),
        concurrency=_concurrency(environment.get("GOFER_CONCURRENCY", "").strip()),
        environment=environment,
        openai_organization=_credential("OPENAI_ORG_ID", environment).reveal(),
        openai_project=_credential("OPENAI_PROJECT_ID", environment).reveal(),
        openai_api_format=_api_format(environment.get("OPENAI_API_FORMAT", "").strip()),
    )


def _api_format(text: str) -> str:
    """Return the name of a format, or an empty text. Raises ConfigError."""
    if text and text not in APIS:
        raise ConfigError(f"OPENAI_API_FORMAT is {text[:40]!r}; write one of {', '.join(APIS)}, or leave it out.")
    return text


def _alarms(text: str) -> Secret:
    """Return a channel, or a URL to which HTTPS leads. Raises ConfigError, without the text."""
    if not text or _ALARM_CHANNEL.fullmatch(text):
        return Secret(text)
    if _ALARM_URL.match(text) and read_url("GOFER_ALARMS", text):
        return Secret(text)
    raise ConfigError('GOFER_ALARMS is neither a channel nor an https URL; write one such as "#ops" in quotes.')


def _concurrency(text: str) -> int:
    """Return a number of conversations, or 0 for an empty text. Raises ConfigError."""
    if not text:
        return 0
    if _CONCURRENCY.fullmatch(text):
        return int(text)
    raise ConfigError(f"GOFER_CONCURRENCY is {text[:40]!r}; write the number of conversations at once, from 1 to 999.")


def _expiries(text: str) -> Mapping[str, date]:
    found: dict[str, date] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, day = map(str.strip, part.partition("="))
        try:
            found[name] = date.fromisoformat(day)
        except ValueError as error:
            example = f"names and days such as {RECEIVERS[-1].token.name}=2027-03-01, separated by commas"
            raise ConfigError(f"TOKENS_EXPIRE cannot be read at {part[:40]!r}; write {example}.") from error
    return found


def _model_keys(environment: Mapping[str, str]) -> Mapping[str, Secret]:
    names = [name for name in environment if name.startswith("MODEL_KEY_")]
    return {name: key for name in names if (key := _credential(name, environment))}


def _model_base_urls(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the base URLs of the comma-separated list, without slashes at their ends. Raises ConfigError."""
    listed = [url.strip() for url in environment.get("MODEL_BASE_URLS", "").split(",") if url.strip()]
    if not all(map(is_base_url, listed)):
        raise ConfigError(
            "MODEL_BASE_URLS has an entry that is not a base URL; write URLs such as https://api.example.com/v1, "
            "separated by commas, and without a query, a user name or a pattern."
        )
    return frozenset(url.rstrip("/") for url in listed)


def _webhook_secrets(environment: Mapping[str, str]) -> Mapping[str, Sequence[Secret]]:
    found: dict[str, Sequence[Secret]] = {}
    for variable in environment:
        head, between, name = variable.partition("WEBHOOK_SECRET")
        if not head and between and (not name or name.startswith("_")):
            found[name.removeprefix("_").lower().replace("_", "-")] = read_secrets(environment.get(variable, ""))
    return found


def read_log_level(environment: Mapping[str, str]) -> LogLevel:
    """Return the level of log lines, which a process needs before its other settings. Raises ConfigError."""
    value = environment.get("AGENT_LOG_LEVEL") or "summary"
    for level in get_args(LogLevel):
        if value == level:
            return level
    raise ConfigError(f"AGENT_LOG_LEVEL is {value[:40]!r}; write minimal, summary or full.")


def _credential(name: str, environment: Mapping[str, str]) -> Secret:
    """Return a credential that is sent in a header. Raises ConfigError for characters that a header cannot have."""
    return read_credential(name, environment.get(name, "").strip())
