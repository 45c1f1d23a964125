"""What did the environment say? Read once, checked at once, and passed on as values."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from gofer.app.dotenv import read_dotenv
from gofer.app.otlp_settings import Otlp, read_otlp
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from gofer.workflows.base_url import is_base_url

LogLevel: TypeAlias = Literal["minimal", "summary", "full"]
"""Ids, status and duration; also names and counts; or also what libraries say, which may hold contents."""

_TEAM = re.compile(r"[TE][A-Z0-9]{1,20}", re.ASCII)
_UUID = re.compile(r"([0-9a-f]{8})" + 3 * r"-?([0-9a-f]{4})" + r"-?([0-9a-f]{12})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process. An empty secret means that the part it belongs to is not set up."""

    data: Path
    """GOFER_DATA: the folder of the embedded state."""
    openai_api_key: Secret
    openai_base_url: str
    slack_signing_secrets: Sequence[Secret]
    """SLACK_SIGNING_SECRET: one, or two with a comma between them while it is being rotated."""
    slack_bot_token: Secret
    slack_app_token: Secret
    """SLACK_APP_TOKEN: set for Socket Mode, where Gofer opens the connection and needs no address of its own."""
    slack_api_url: str
    github_token: Secret
    github_api_url: str
    """GITHUB_API_URL: without a slash at the end; another one for GitHub Enterprise Server."""
    github_webhook_secrets: Sequence[Secret]
    """GITHUB_WEBHOOK_SECRET: one, or two with a comma between them while it is being rotated."""
    notion_token: Secret
    """NOTION_TOKEN: of the connection that pages are shared with."""
    notion_base_url: str
    notion_webhook_secrets: Sequence[Secret]
    """NOTION_WEBHOOK_SECRET: the verification token, or two with a comma between them while it is being rotated."""
    jira_base_url: str
    """JIRA_BASE_URL: the site, as https://acme.atlassian.net, or the gateway that scoped tokens need."""
    jira_email: str
    """JIRA_EMAIL: whom the API token belongs to."""
    jira_api_token: Secret
    jira_webhook_secrets: Sequence[Secret]
    """JIRA_WEBHOOK_SECRET: one, or two with a comma between them while it is being rotated."""
    public_url: str
    """GOFER_URL: where colleagues open Gofer's pages; empty means the address it listens on."""
    log_level: LogLevel
    """AGENT_LOG_LEVEL: how much of a run the log lines tell."""
    webhook_secrets: Mapping[str, Sequence[Secret]] = field(default_factory=dict[str, Sequence[Secret]])
    """WEBHOOK_SECRET_<NAME> by the name of its webhook, WEBHOOK_SECRET under the empty one; one or two each."""
    jira_account_id: str = ""
    """JIRA_ACCOUNT_ID: the account that Gofer acts with in Jira, as accountId; looked up when it is empty."""
    notion_bot_id: str = ""
    """NOTION_BOT_ID: the bot user of the connection, with dashes; looked up when it is empty."""
    github_login: str = ""
    """GITHUB_LOGIN: the account that Gofer acts with on GitHub; looked up when it is empty."""
    slack_team_ids: frozenset[str] = field(default_factory=frozenset[str])
    """SLACK_TEAM_ID: the workspace that the app is installed in, and its organisation; looked up when it is empty."""
    slack_client_id: str = ""
    """SLACK_CLIENT_ID: of the app, for signing in to Gofer's pages where they are not on one's own machine."""
    slack_client_secret: Secret = field(default_factory=lambda: Secret(""))
    """SLACK_CLIENT_SECRET: likewise."""
    tokens_expire: Mapping[str, date] = field(default_factory=dict[str, date])
    """TOKENS_EXPIRE: the last day of tokens that expire, as `JIRA_API_TOKEN=2027-03-01, NOTION_TOKEN=2027-05-31`."""
    model_keys: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    """MODEL_KEY_<NAME>, by the whole name: keys of endpoints that defaults.yaml names."""
    model_base_urls: frozenset[str] = field(default_factory=frozenset[str])
    """MODEL_BASE_URLS: the base URLs, with a comma between two, that those endpoints may have."""
    otlp: Otlp = field(default_factory=Otlp)
    """OTEL_EXPORTER_OTLP_ENDPOINT and its like: where the spans of runs go."""
    openai_organization: str = ""
    """OPENAI_ORG_ID: the organization that requests to the default endpoint are for."""
    openai_project: str = ""
    """OPENAI_PROJECT_ID: likewise the project."""
    offline: bool = False
    """Whether the model is the offline one; set by the laptop, never by the environment."""

    @property
    def has_model(self) -> bool:
        """Whether a real model is set up."""
        return self.has_default_endpoint or bool(self.model_base_urls)

    @property
    def has_default_endpoint(self) -> bool:
        """Whether models without an endpoint of agents/defaults.yaml can be asked."""
        return bool(self.openai_api_key or self.openai_base_url)

    @property
    def reaches_people(self) -> bool:
        """Whether a system that people use is set up."""
        return any((self.slack_bot_token, self.jira_api_token, self.notion_token, self.github_token))


def process_settings() -> Settings:
    """The settings of this process: its environment, and below it the `.env` file of the current folder."""
    return read_settings(process_variables())


def process_variables() -> Mapping[str, str]:
    """What is set for this process: its environment, and below it the `.env` file of the current folder."""
    return {**read_dotenv(Path(".env")), **os.environ}


def child_environment(settings: Settings) -> dict[str, str]:
    """The environment of another process on this machine that has the same Slack and the same model."""
    return {
        **os.environ,
        "SLACK_API_URL": settings.slack_api_url,
        "SLACK_BOT_TOKEN": settings.slack_bot_token.reveal(),
        "GITHUB_API_URL": settings.github_api_url,
        "GITHUB_TOKEN": settings.github_token.reveal(),
        "NOTION_BASE_URL": settings.notion_base_url,
        "NOTION_TOKEN": settings.notion_token.reveal(),
        "JIRA_BASE_URL": settings.jira_base_url,
        "JIRA_EMAIL": settings.jira_email,
        "JIRA_API_TOKEN": settings.jira_api_token.reveal(),
        "JIRA_ACCOUNT_ID": settings.jira_account_id,
        "NOTION_BOT_ID": settings.notion_bot_id,
        "GITHUB_LOGIN": settings.github_login,
        "OPENAI_API_KEY": settings.openai_api_key.reveal(),
        "OPENAI_BASE_URL": settings.openai_base_url,
        "MODEL_BASE_URLS": ",".join(sorted(settings.model_base_urls)),
        **{name: key.reveal() for name, key in settings.model_keys.items()},
        "OTEL_EXPORTER_OTLP_ENDPOINT": "",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": settings.otlp.url,
    }


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Raises ConfigError naming the one that is wrong."""
    return Settings(
        data=Path(environment.get("GOFER_DATA") or ".gofer"),
        openai_api_key=_credential("OPENAI_API_KEY", environment),
        openai_base_url=_url("OPENAI_BASE_URL", environment.get("OPENAI_BASE_URL", "")),
        slack_signing_secrets=_rotating("SLACK_SIGNING_SECRET", environment),
        slack_bot_token=_credential("SLACK_BOT_TOKEN", environment),
        slack_app_token=_credential("SLACK_APP_TOKEN", environment),
        slack_api_url=_url("SLACK_API_URL", environment.get("SLACK_API_URL") or "https://slack.com/api") + "/",
        github_token=_credential("GITHUB_TOKEN", environment),
        github_api_url=_url("GITHUB_API_URL", environment.get("GITHUB_API_URL") or "https://api.github.com"),
        github_webhook_secrets=_rotating("GITHUB_WEBHOOK_SECRET", environment),
        notion_token=_credential("NOTION_TOKEN", environment),
        notion_base_url=_url("NOTION_BASE_URL", environment.get("NOTION_BASE_URL") or "https://api.notion.com"),
        notion_webhook_secrets=_rotating("NOTION_WEBHOOK_SECRET", environment),
        jira_base_url=_url("JIRA_BASE_URL", environment.get("JIRA_BASE_URL", "")),
        jira_email=environment.get("JIRA_EMAIL", "").strip(),
        jira_api_token=_credential("JIRA_API_TOKEN", environment),
        jira_webhook_secrets=_rotating("JIRA_WEBHOOK_SECRET", environment),
        jira_account_id=environment.get("JIRA_ACCOUNT_ID", "").strip(),
        notion_bot_id=_dashed("NOTION_BOT_ID", environment),
        github_login=environment.get("GITHUB_LOGIN", "").strip().removeprefix("@"),
        public_url=_url("GOFER_URL", environment.get("GOFER_URL", "")),
        webhook_secrets=_webhook_secrets(environment),
        log_level=read_log_level(environment),
        slack_team_ids=_teams(environment.get("SLACK_TEAM_ID", "")),
        slack_client_id=environment.get("SLACK_CLIENT_ID", "").strip(),
        slack_client_secret=_credential("SLACK_CLIENT_SECRET", environment),
        tokens_expire=_expiries(environment.get("TOKENS_EXPIRE", "")),
        model_keys=_model_keys(environment),
        model_base_urls=_model_base_urls(environment),
        otlp=read_otlp(environment),
        openai_organization=_credential("OPENAI_ORG_ID", environment).reveal(),
        openai_project=_credential("OPENAI_PROJECT_ID", environment).reveal(),
    )


def _teams(text: str) -> frozenset[str]:
    """Return the ids of a workspace and its organisation. Raises ConfigError for what is no such id."""
    found = frozenset(team.strip() for team in text.split(",") if team.strip())
    if not all(map(_TEAM.fullmatch, found)):
        raise ConfigError("SLACK_TEAM_ID is no id of a workspace; write one such as T0123ABCD, or T0123ABCD,E0123ABCD.")
    return found


def _expiries(text: str) -> Mapping[str, date]:
    found: dict[str, date] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, day = map(str.strip, part.partition("="))
        try:
            found[name] = date.fromisoformat(day)
        except ValueError as error:
            told = "a name and a day each, as JIRA_API_TOKEN=2027-03-01, with a comma between two"
            raise ConfigError(f"TOKENS_EXPIRE is not clear at {part[:40]!r}; write {told}.") from error
    return found


def _model_keys(environment: Mapping[str, str]) -> Mapping[str, Secret]:
    names = [name for name in environment if name.startswith("MODEL_KEY_")]
    return {name: key for name in names if (key := _credential(name, environment))}


def _model_base_urls(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the base URLs that a comma separates, without slashes at their ends. Raises ConfigError."""
    listed = [url.strip() for url in environment.get("MODEL_BASE_URLS", "").split(",") if url.strip()]
    if not all(map(is_base_url, listed)):
        raise ConfigError(
            "MODEL_BASE_URLS lists a text that is no base URL; write URLs such as https://api.example.com/v1 with a "
            "comma between two, and without a query, a user or a pattern."
        )
    return frozenset(url.rstrip("/") for url in listed)


def _webhook_secrets(environment: Mapping[str, str]) -> Mapping[str, Sequence[Secret]]:
    found: dict[str, Sequence[Secret]] = {}
    for variable in environment:
        head, between, name = variable.partition("WEBHOOK_SECRET")
        if not head and between and (not name or name.startswith("_")):
            found[name.removeprefix("_").lower().replace("_", "-")] = _rotating(variable, environment)
    return found


def read_log_level(environment: Mapping[str, str]) -> LogLevel:
    """How much log lines tell, known before everything else is. Raises ConfigError."""
    value = environment.get("AGENT_LOG_LEVEL") or "summary"
    for level in get_args(LogLevel):
        if value == level:
            return level
    raise ConfigError(f"AGENT_LOG_LEVEL is {value[:40]!r}; write minimal, summary or full.")


def _rotating(name: str, environment: Mapping[str, str]) -> Sequence[Secret]:
    """The secrets between commas: the current one, and the previous one while it is being rotated."""
    return tuple(Secret(secret.strip()) for secret in environment.get(name, "").split(",") if secret.strip())


def _credential(name: str, environment: Mapping[str, str]) -> Secret:
    """A credential that goes into a header."""
    return checked_credential(name, environment.get(name, "").strip())


def checked_credential(name: str, value: str) -> Secret:
    """Return the value of a variable as a credential. Raises ConfigError where no header can hold it."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(f"{name} holds characters that no key has; copy it again.")
    return Secret(value)


def _dashed(name: str, environment: Mapping[str, str]) -> str:
    """An id of Notion as its events write it, or the empty string."""
    value = environment.get(name, "").strip()
    found = _UUID.fullmatch(value)
    if value and not found:
        raise ConfigError(f"{name} is no id of Notion; write 32 hexadecimal digits, with or without dashes.")
    return "-".join(found.groups()).lower() if found else ""


def _url(name: str, value: str) -> str:
    """A base URL without a slash at its end, or the empty string."""
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        parts = urlsplit("")
    if value and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{name} is not a URL; write one such as https://api.example.com/v1.")
    return value.rstrip("/")
