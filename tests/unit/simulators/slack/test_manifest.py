"""App manifests in the simulated Slack: complete ones and one refusal for each rule."""

import copy
from collections.abc import Mapping

import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.slack.manifest import read_manifest

COMPLETE: Mapping[str, object] = {
    "display_information": {
        "name": "Gofer",
        "description": "Does small jobs.",
        "long_description": "x" * 174,
        "background_color": "#0000AA",
    },
    "features": {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "agent_view": {
            "agent_description": "Does small jobs.",
            "suggested_prompts": [{"title": "Help", "message": "What can you do?"}],
            "actions": [{"name": "ask", "description": "Asks"}],
        },
        "bot_user": {"display_name": "Gofer", "always_online": True},
    },
    "oauth_config": {
        "redirect_urls": ["https://gofer.example.com/sign-in/callback"],
        "scopes": {"bot": ["app_mentions:read", "assistant:write", "chat:write", "im:history"], "user": ["openid"]},
    },
    "settings": {
        "event_subscriptions": {
            "request_url": "https://gofer.example.com/slack/events",
            "bot_events": ["agent_session_stopped", "app_mention", "message.im"],
        },
        "interactivity": {"is_enabled": True, "request_url": "https://gofer.example.com/slack/interactivity"},
        "org_deploy_enabled": False,
        "socket_mode_enabled": False,
        "token_rotation_enabled": False,
    },
}
GONE = object()


def changed(**values: object) -> dict[str, object]:
    """Return the complete manifest with other values by path, `__` between keys; GONE removes a key."""
    manifest = copy.deepcopy(dict(COMPLETE))
    for path, value in values.items():
        *above, last = path.split("__")
        holder: dict = manifest
        for key in above:
            holder = holder.setdefault(key, {})
        if value is GONE:
            del holder[last]
        else:
            holder[last] = value
    return manifest


BOT = "oauth_config__scopes__bot"
EVENTS = "settings__event_subscriptions__bot_events"
AGENT = "features__agent_view"
HOME = "features__app_home"
PROMPT = {"title": "Help", "message": "What can you do?"}
SHORTCUT = {"name": "Ask", "callback_id": "ask", "description": "Ask about this", "type": "message"}
COMMANDS = ["app_mentions:read", "assistant:write", "chat:write", "commands", "im:history"]
ASSISTANT = {"assistant_description": "Does small jobs."}


def test_simulated_slack_accepts_a_complete_manifest() -> None:
    app = read_manifest(COMPLETE)
    assert (app.name, app.messages, app.agent) == ("Gofer", "open", True)
    assert app.events == {"agent_session_stopped", "app_mention", "message.im"}
    assert app.scopes == {"app_mentions:read", "assistant:write", "chat:write", "im:history"}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"permissions": []}, "it has the unknown key 'permissions'"),
        ({"features__agent_view__description": "d"}, "features.agent_view has the unknown key 'description'"),
        ({"features__app_home__messages_tab": True}, "features.app_home has the unknown key 'messages_tab'"),
        ({"settings__socket_mode_enabled": "yes"}, "settings.socket_mode_enabled must be true or false"),
        ({f"{HOME}__messages_tab_enabled": "true"}, "messages_tab_enabled must be true or false"),
        ({"features__slash_commands": []}, "features.slash_commands is empty"),
        ({f"{AGENT}__suggested_prompts": [PROMPT] * 5}, "suggested_prompts has over 4 items"),
        ({"features__shortcuts": [SHORTCUT] * 11, BOT: COMMANDS}, "features.shortcuts has over 10 items"),
        ({"features__shortcuts": [SHORTCUT]}, "features.shortcuts needs the scope commands"),
        ({"settings__is_mcp_enabled": "no"}, "settings.is_mcp_enabled must be true or false"),
        ({"display_information": GONE}, "display_information.name must have 1 to 35 characters"),
        ({"display_information__name": "x" * 36}, "display_information.name must have 1 to 35 characters"),
        ({"display_information__description": "x" * 141}, "over 140 characters"),
        ({"display_information__long_description": "x" * 173}, "174 to 4000 characters"),
        ({"display_information__background_color": "blue"}, "must be a color"),
        ({"features__bot_user": GONE}, "features.bot_user.display_name must have 1 to 80 characters"),
        ({BOT: GONE}, "must list 1 to 255 scopes"),
        ({BOT: ["chat:write", "chat:read"]}, "lists the unknown scope chat:read"),
        ({"oauth_config__redirect_urls": ["http://gofer.example.com"]}, "redirect_urls must be https URLs"),
        ({EVENTS: ["app_mentioned"]}, "lists the unknown event app_mentioned"),
        ({EVENTS: ["reaction_added"]}, "the event reaction_added needs the scope reactions:read"),
        (
            {EVENTS: ["member_joined_channel"]},
            "the event member_joined_channel needs the scope channels:read or groups:read",
        ),
        ({EVENTS: ["app_mention"] * 101}, "bot_events lists over 100 events"),
        ({"settings__event_subscriptions__request_url": GONE}, "event subscriptions need a request URL or Socket Mode"),
        (
            {"settings__event_subscriptions__request_url": "http://x"},
            "event_subscriptions.request_url must be an https",
        ),
        ({"settings__interactivity__request_url": GONE}, "interactivity needs a request URL or Socket Mode"),
        ({"settings__interactivity__request_url": "http://x"}, "interactivity.request_url must be an https URL"),
        ({"features__assistant_view": ASSISTANT}, "agent_view replaces assistant_view"),
        ({AGENT: GONE, EVENTS: ["message.im"]}, "the scope assistant:write needs features.agent_view"),
        (
            {AGENT: GONE, BOT: ["chat:write", "im:history"], EVENTS: ["agent_session_stopped"]},
            "the event agent_session_stopped needs features.agent_view",
        ),
        ({f"{AGENT}__agent_description": ""}, "agent_description must have 1 to 300 characters"),
        ({f"{AGENT}__agent_description": "x" * 301}, "agent_description must have 1 to 300 characters"),
        ({f"{AGENT}__suggested_prompts": [{"title": "Help"}]}, "suggested_prompts must have a title and a message"),
        ({BOT: ["app_mentions:read", "im:history"]}, "features.agent_view needs the scope assistant:write"),
        ({EVENTS: ["app_mention"]}, "features.agent_view needs the event message.im"),
        ({EVENTS: ["assistant_thread_started", "message.im"]}, "use app_home_opened"),
        (
            {AGENT: GONE, "features__assistant_view": ASSISTANT, EVENTS: ["message.im"]},
            "features.assistant_view needs the event assistant_thread_started",
        ),
        ({HOME: GONE}, "features.agent_view needs features.app_home with messages_tab_enabled"),
        ({f"{HOME}__messages_tab_enabled": False}, "needs features.app_home with messages_tab_enabled"),
        ({f"{HOME}__messages_tab_read_only_enabled": True}, "messages_tab_enabled, and not read-only"),
    ],
)
def test_simulated_slack_refuses_a_manifest_by_the_rule_broken(values: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_manifest(changed(**values))
    assert problem in str(refused.value)


def test_simulated_slack_refuses_a_manifest_other_than_a_mapping() -> None:
    with pytest.raises(ConfigError, match="it is not a mapping"):
        read_manifest([])


def test_simulated_slack_accepts_the_older_assistant_view_with_the_matching_event() -> None:
    events = ["assistant_thread_started", "message.im"]
    read_manifest(changed(**{AGENT: GONE, "features__assistant_view": ASSISTANT, EVENTS: events}))


def test_simulated_slack_manifest_with_socket_mode_needs_no_urls() -> None:
    socket = {"settings__socket_mode_enabled": True}
    addresses = {"settings__event_subscriptions__request_url": GONE, "settings__interactivity__request_url": GONE}
    read_manifest(changed(**socket, **addresses))
