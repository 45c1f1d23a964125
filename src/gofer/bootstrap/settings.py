"""What did the environment say? Read once, checked at once, and passed on as values."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from gofer.bootstrap.dotenv import read_dotenv
from gofer.errors import ConfigError
from gofer.secret import Secret

LogLevel: TypeAlias = Literal["minimal", "summary", "full"]
"""Ids, status and duration; also names and counts; or also what libraries say, which may hold contents."""


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
    offline: bool = False
    """Whether the model is the offline one; set by the laptop, never by the environment."""

    @property
    def has_model(self) -> bool:
        """Whether a real model is set up."""
        return bool(self.openai_api_key) or bool(self.openai_base_url)


def process_settings() -> Settings:
    """The settings of this process: its environment, and below it the `.env` file of the current folder."""
    return read_settings({**read_dotenv(Path(".env")), **os.environ})


def child_environment(settings: Settings) -> dict[str, str]:
    """The environment of another process on this machine that has the same Slack and the same model."""
    return {
        **os.environ,
        "SLACK_API_URL": settings.slack_api_url,
        "SLACK_BOT_TOKEN": settings.slack_bot_token.reveal(),
        "OPENAI_API_KEY": settings.openai_api_key.reveal(),
        "OPENAI_BASE_URL": settings.openai_base_url,
    }


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Raises ConfigError naming the one that is wrong."""
    return Settings(
        data=Path(environment.get("GOFER_DATA") or ".gofer"),
        openai_api_key=_credential("OPENAI_API_KEY", environment),
        openai_base_url=_url("OPENAI_BASE_URL", environment.get("OPENAI_BASE_URL", "")),
        slack_signing_secrets=_secrets("SLACK_SIGNING_SECRET", environment),
        slack_bot_token=_credential("SLACK_BOT_TOKEN", environment),
        slack_app_token=_credential("SLACK_APP_TOKEN", environment),
        slack_api_url=_url("SLACK_API_URL", environment.get("SLACK_API_URL") or "https://slack.com/api") + "/",
        jira_base_url=_url("JIRA_BASE_URL", environment.get("JIRA_BASE_URL", "")),
        jira_email=environment.get("JIRA_EMAIL", "").strip(),
        jira_api_token=_credential("JIRA_API_TOKEN", environment),
        jira_webhook_secrets=_secrets("JIRA_WEBHOOK_SECRET", environment),
        public_url=_url("GOFER_URL", environment.get("GOFER_URL", "")),
        log_level=_log_level(environment.get("AGENT_LOG_LEVEL") or "summary"),
    )


def _log_level(value: str) -> LogLevel:
    for level in get_args(LogLevel):
        if value == level:
            return level
    raise ConfigError(f"AGENT_LOG_LEVEL is {value[:40]!r}; write minimal, summary or full.")


def _credential(name: str, environment: Mapping[str, str]) -> Secret:
    """A credential that goes into a header."""
    value = environment.get(name, "").strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(f"{name} holds characters that no key has; copy it again.")
    return Secret(value)


def _secrets(name: str, environment: Mapping[str, str]) -> tuple[Secret, ...]:
    """A secret that others sign with, and the previous one behind a comma while it is being rotated."""
    return tuple(Secret(secret.strip()) for secret in environment.get(name, "").split(",") if secret.strip())


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
