"""The app of a manifest, and Slack's checks of manifests: keys, scopes, events and their requirements.

An event requires a scope and a way of delivery. An agent requires a scope, the event for direct messages, and a
messages tab in which people can write.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import yaml

from gofer.values.errors import ConfigError
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of, texts
from gofer_simulators.slack.workspace import MessagesTab

_TERMS: JsonObject = yaml.load(
    files("gofer_simulators.slack").joinpath("manifest_terms.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)
FIELDS = {path: frozenset(texts(keys)) for path, keys in object_of(_TERMS, "fields").items()}
"""The known keys of each mapping, by the path of the mapping."""
SWITCHES = texts(_TERMS["switches"])
"""The paths of boolean values."""
SCOPES = frozenset(text_of(_TERMS, "scopes").split())
"""The scopes that a bot can have."""
EVENTS = {event: frozenset(texts(scopes)) for event, scopes in object_of(_TERMS, "events").items()}
"""The events that a bot can subscribe to, each with scopes of which the app needs one; an empty set needs none."""
OF_AGENTS = frozenset(texts(_TERMS["of_agents"]))
"""The events that only an app with `agent_view` can subscribe to."""
_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}){1,2}")
_MOST = {
    "features.slash_commands": 50,
    "features.shortcuts": 10,
    "features.unfurl_domains": 5,
    "features.agent_view.suggested_prompts": 4,
}
"""The most items of each list, by its path."""
_VIEWS = {"agent_view": "agent_description", "assistant_view": "assistant_description"}


@dataclass(frozen=True, slots=True)
class App:
    """An installed app."""

    name: str
    """The display name of the bot user."""
    scopes: frozenset[str]
    events: frozenset[str]
    messages: MessagesTab
    """Whether people can write in the app's messages tab, which shows their direct messages with the app."""
    agent: bool
    """Whether the app is declared with `agent_view`."""
    home: bool
    """Whether people have the Home tab of the app."""
    interactive: bool
    """Whether Slack delivers presses and shortcuts."""
    shortcuts: frozenset[str]
    """The callback ids of the shortcuts."""


def read_manifest(manifest: object) -> App:
    """Return the app of a parsed manifest. Raises ConfigError with the first mistake."""
    if not is_object(manifest):
        raise _invalid("it is not a mapping")
    for problem in _problems(manifest):
        raise _invalid(problem)
    subscriptions = _at(manifest, "settings.event_subscriptions")
    return App(
        name=text_of(_at(manifest, "features.bot_user"), "display_name"),
        scopes=_scopes(manifest),
        events=frozenset(texts(subscriptions.get("bot_events"))),
        messages=_messages(manifest),
        agent="agent_view" in _at(manifest, "features"),
        home=_at(manifest, "features.app_home").get("home_tab_enabled") is True,
        interactive=_at(manifest, "settings.interactivity").get("is_enabled") is True,
        shortcuts=frozenset(
            text_of(shortcut, "callback_id") for shortcut in objects(_at(manifest, "features").get("shortcuts"))
        ),
    )


def _problems(manifest: JsonObject) -> Iterator[str]:
    yield from _keys(manifest)
    yield from _display(manifest)
    yield from _permissions(manifest)
    yield from _delivery(_at(manifest, "settings"))
    yield from _views(manifest)


def _keys(manifest: JsonObject) -> Iterator[str]:
    for path, known in FIELDS.items():
        unknown = sorted(set(_at(manifest, path)) - known)
        if unknown:
            yield f"{path or 'it'} has the unknown key {unknown[0]!r}"
    for path in SWITCHES:
        holder, _, key = path.rpartition(".")
        if not isinstance(_at(manifest, holder).get(key, False), bool):
            yield f"{path} must be true or false"
    for path, most in _MOST.items():
        holder, _, key = path.rpartition(".")
        given = _at(manifest, holder).get(key)
        if given == []:
            yield f"{path} is empty; leave it out"
        if is_array(given) and len(given) > most:
            yield f"{path} has over {most} items"


def _display(manifest: JsonObject) -> Iterator[str]:
    display = _at(manifest, "display_information")
    bot = _at(manifest, "features.bot_user")
    if not 0 < len(text_of(display, "name")) <= 35:
        yield "display_information.name must have 1 to 35 characters"
    if len(text_of(display, "description")) > 140:
        yield "display_information.description has over 140 characters"
    if "long_description" in display and not 174 <= len(text_of(display, "long_description")) <= 4_000:
        yield "display_information.long_description must have 174 to 4000 characters"
    if "background_color" in display and not _COLOR.fullmatch(text_of(display, "background_color")):
        yield "display_information.background_color must be a color such as #0000AA"
    if not 0 < len(text_of(bot, "display_name")) <= 80:
        yield "features.bot_user.display_name must have 1 to 80 characters"


def _permissions(manifest: JsonObject) -> Iterator[str]:
    scopes = _scopes(manifest)
    if not 0 < len(scopes) <= 255:
        yield "oauth_config.scopes.bot must list 1 to 255 scopes"
    for scope in sorted(scopes - SCOPES):
        yield f"oauth_config.scopes.bot lists the unknown scope {scope}"
    for url in texts(_at(manifest, "oauth_config").get("redirect_urls")):
        if not url.startswith("https://"):
            yield f"oauth_config.redirect_urls must be https URLs, but {url} is not"
    for key in ("slash_commands", "shortcuts"):
        if _at(manifest, "features").get(key) and "commands" not in scopes:
            yield f"features.{key} needs the scope commands"
    events = texts(_at(manifest, "settings.event_subscriptions").get("bot_events"))
    for event in events:
        if event not in EVENTS:
            yield f"settings.event_subscriptions.bot_events lists the unknown event {event}"
        elif EVENTS[event] and not EVENTS[event] & scopes:
            yield f"the event {event} needs the scope {' or '.join(sorted(EVENTS[event]))}"


def _delivery(settings: JsonObject) -> Iterator[str]:
    socket = settings.get("socket_mode_enabled") is True
    subscriptions = object_of(settings, "event_subscriptions")
    interactivity = object_of(settings, "interactivity")
    for path, holder in (("event_subscriptions", subscriptions), ("interactivity", interactivity)):
        url = text_of(holder, "request_url")
        if url and not url.startswith("https://"):
            yield f"settings.{path}.request_url must be an https URL"
    events = texts(subscriptions.get("bot_events"))
    if len(events) > 100:
        yield "settings.event_subscriptions.bot_events lists over 100 events"
    if interactivity.get("is_enabled") is True and not (socket or text_of(interactivity, "request_url")):
        yield "interactivity needs a request URL or Socket Mode"
    if events and not (socket or text_of(subscriptions, "request_url")):
        yield "event subscriptions need a request URL or Socket Mode"


def _views(manifest: JsonObject) -> Iterator[str]:
    """Yield the missing requirements of an agent, or of an assistant of the older kind."""
    features = _at(manifest, "features")
    views = sorted(features.keys() & _VIEWS)
    events = set(texts(_at(manifest, "settings.event_subscriptions").get("bot_events")))
    if len(views) > 1:
        yield "features has agent_view and assistant_view; agent_view replaces assistant_view, so remove the latter"
    if "assistant:write" in _scopes(manifest) and not views:
        yield "the scope assistant:write needs features.agent_view"
    for event in sorted(events & OF_AGENTS):
        if "agent_view" not in views:
            yield f"the event {event} needs features.agent_view"
    for view in views:
        yield from _view(manifest, view, events)


def _view(manifest: JsonObject, view: str, events: set[str]) -> Iterator[str]:
    described = _at(manifest, f"features.{view}")
    if not 0 < len(text_of(described, _VIEWS[view])) <= 300:
        yield f"features.{view}.{_VIEWS[view]} must have 1 to 300 characters"
    for prompt in objects(described.get("suggested_prompts")):
        if not (text_of(prompt, "title") and text_of(prompt, "message")):
            yield f"features.{view}.suggested_prompts must have a title and a message each"
    if "assistant:write" not in _scopes(manifest):
        yield f"features.{view} needs the scope assistant:write"
    if "message.im" not in events:
        yield f"features.{view} needs the event message.im"
    if view == "assistant_view" and "assistant_thread_started" not in events:
        yield "features.assistant_view needs the event assistant_thread_started"
    if view == "agent_view" and "assistant_thread_started" in events:
        yield "features.agent_view does not allow the event assistant_thread_started; use app_home_opened"
    if _messages(manifest) != "open":
        yield f"features.{view} needs features.app_home with messages_tab_enabled, and not read-only"


def _messages(manifest: JsonObject) -> MessagesTab:
    home = _at(manifest, "features.app_home")
    if home.get("messages_tab_enabled") is not True:
        return "off"
    if home.get("messages_tab_read_only_enabled") is True:
        return "read-only"
    return "open"


def _scopes(manifest: JsonObject) -> frozenset[str]:
    return frozenset(texts(_at(manifest, "oauth_config.scopes").get("bot")))


def _at(manifest: JsonObject, path: str) -> JsonObject:
    value: JsonObject = manifest
    for key in filter(None, path.split(".")):
        value = object_of(value, key)
    return value


def _invalid(problem: str) -> ConfigError:
    return ConfigError(f"The manifest is wrong: {problem}.")
