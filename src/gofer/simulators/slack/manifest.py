"""What app does a manifest describe, and is it one that Slack takes?

The fields and limits are those of Slack's manifest reference; what it does not name is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.errors import ConfigError
from gofer.simulators.json_values import JsonObject, is_object, object_of, text_of, texts

_FIELDS: Mapping[str, frozenset[str]] = {
    "": frozenset({"_metadata", "display_information", "features", "oauth_config", "settings"}),
    "display_information": frozenset({"name", "description", "long_description", "background_color"}),
    "features": frozenset({"app_home", "bot_user", "shortcuts", "slash_commands", "unfurl_domains"}),
    "features.bot_user": frozenset({"display_name", "always_online"}),
    "oauth_config": frozenset({"redirect_urls", "scopes"}),
    "oauth_config.scopes": frozenset({"bot", "user"}),
    "settings": frozenset(
        {
            "allowed_ip_address_ranges",
            "event_subscriptions",
            "interactivity",
            "org_deploy_enabled",
            "socket_mode_enabled",
            "token_rotation_enabled",
        }
    ),
    "settings.event_subscriptions": frozenset({"request_url", "bot_events", "user_events"}),
    "settings.interactivity": frozenset({"is_enabled", "request_url", "message_menu_options_url"}),
}
_SCOPE = re.compile(r"[a-z_]+(\.[a-z]+)?(:[a-z.]+)*")


@dataclass(frozen=True, slots=True)
class App:
    """An app as it is installed."""

    name: str
    """Of its bot user."""
    scopes: frozenset[str]
    events: frozenset[str]


def read_manifest(manifest: object) -> App:
    """The app of a manifest that was read from YAML or JSON. Raises ConfigError."""
    if not is_object(manifest):
        raise _invalid("it is not a mapping")
    for path, known in _FIELDS.items():
        unknown = sorted(set(_at(manifest, path)) - known)
        if unknown:
            raise _invalid(f"{path or 'it'} has the unknown key {unknown[0]!r}")
    display, bot = _at(manifest, "display_information"), _at(manifest, "features.bot_user")
    _need(0 < len(text_of(display, "name")) <= 35, "display_information.name must have 1 to 35 characters")
    _need(len(text_of(display, "description")) <= 140, "display_information.description has over 140 characters")
    _need(0 < len(text_of(bot, "display_name")) <= 80, "features.bot_user.display_name must have 1 to 80 characters")
    scopes = texts(_at(manifest, "oauth_config.scopes").get("bot"))
    _need(0 < len(scopes) <= 255, "oauth_config.scopes.bot must list 1 to 255 scopes")
    _need(all(map(_SCOPE.fullmatch, scopes)), "oauth_config.scopes.bot lists what is no scope")
    _deliverable(_at(manifest, "settings"))
    events = texts(_at(manifest, "settings.event_subscriptions").get("bot_events"))
    return App(text_of(bot, "display_name"), frozenset(scopes), frozenset(events))


def _deliverable(settings: JsonObject) -> None:
    subscriptions = object_of(settings, "event_subscriptions")
    events, url = texts(subscriptions.get("bot_events")), text_of(subscriptions, "request_url")
    _need(len(events) <= 100, "settings.event_subscriptions.bot_events lists over 100 events")
    _need(not url or url.startswith("https://"), "settings.event_subscriptions.request_url must be an https URL")
    socket = settings.get("socket_mode_enabled") is True
    reachable = bool(url) or socket
    interactivity = object_of(settings, "interactivity")
    pressed = text_of(interactivity, "request_url")
    _need(not pressed or pressed.startswith("https://"), "settings.interactivity.request_url must be an https URL")
    _need(
        interactivity.get("is_enabled") is not True or bool(pressed) or socket,
        "interactivity needs a request URL or Socket Mode",
    )
    _need(not events or reachable, "event subscriptions need a request URL or Socket Mode")


def _at(manifest: JsonObject, path: str) -> JsonObject:
    value: JsonObject = manifest
    for key in filter(None, path.split(".")):
        value = object_of(value, key)
    return value


def _need(holds: bool, problem: str) -> None:
    if not holds:
        raise _invalid(problem)


def _invalid(problem: str) -> ConfigError:
    return ConfigError(f"The manifest is wrong: {problem}.")
