"""The terms of Slack's manifest reference: keys, scopes of bots, and the scopes that each event needs."""

from collections.abc import Mapping, Sequence

FIELDS: Mapping[str, frozenset[str]] = {
    "": frozenset({"_metadata", "display_information", "features", "oauth_config", "settings"}),
    "display_information": frozenset({"name", "description", "long_description", "background_color"}),
    "features": frozenset(
        {"agent_view", "app_home", "assistant_view", "bot_user", "shortcuts", "slash_commands", "unfurl_domains"}
    ),
    "features.agent_view": frozenset({"agent_description", "suggested_prompts"}),
    "features.assistant_view": frozenset({"assistant_description", "suggested_prompts"}),
    "features.app_home": frozenset({"home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled"}),
    "features.bot_user": frozenset({"display_name", "always_online"}),
    "oauth_config": frozenset({"redirect_urls", "scopes", "token_management_enabled"}),
    "oauth_config.scopes": frozenset({"bot", "bot_optional", "user", "user_optional"}),
    "settings": frozenset(
        {
            "allowed_ip_address_ranges",
            "event_subscriptions",
            "function_runtime",
            "incoming_webhooks",
            "interactivity",
            "is_hosted",
            "org_deploy_enabled",
            "socket_mode_enabled",
            "token_rotation_enabled",
        }
    ),
    "settings.event_subscriptions": frozenset({"request_url", "bot_events", "user_events", "metadata_subscriptions"}),
    "settings.interactivity": frozenset({"is_enabled", "request_url", "message_menu_options_url"}),
}
"""The keys of each mapping, by its path."""

SWITCHES: Sequence[str] = (
    "features.app_home.home_tab_enabled",
    "features.app_home.messages_tab_enabled",
    "features.app_home.messages_tab_read_only_enabled",
    "features.bot_user.always_online",
    "settings.interactivity.is_enabled",
    "settings.org_deploy_enabled",
    "settings.socket_mode_enabled",
    "settings.token_rotation_enabled",
)
"""What is true or false."""

_SCOPES = """
app_mentions:read assistant:write bookmarks:read bookmarks:write calls:read calls:write canvases:read canvases:write
channels:history channels:join channels:manage channels:read channels:write.invites channels:write.topic chat:write
chat:write.customize chat:write.public commands conversations.connect:manage conversations.connect:read
conversations.connect:write datastore:read datastore:write dnd:read emoji:read files:read files:write
groups:history groups:read groups:write groups:write.invites groups:write.topic im:history im:read im:write
incoming-webhook links.embed:write links:read links:write lists:read lists:write metadata.message:read mpim:history
mpim:read mpim:write mpim:write.invites mpim:write.topic pins:read pins:write reactions:read reactions:write
reminders:read reminders:write remote_files:read remote_files:share remote_files:write search:read.files
search:read.im search:read.mpim search:read.private search:read.public search:read.users team.billing:read
team.preferences:read team:read tokens.basic triggers:read triggers:write usergroups:read usergroups:write
users.profile:read users:read users:read.email users:write workflow.steps:execute
"""
SCOPES: frozenset[str] = frozenset(_SCOPES.split())
"""Scopes that a bot may have."""

EVENTS: Mapping[str, frozenset[str]] = {
    "agent_session_stopped": frozenset(),
    "agent_session_title_changed": frozenset(),
    "app_context_changed": frozenset(),
    "app_home_opened": frozenset(),
    "app_mention": frozenset({"app_mentions:read"}),
    "app_uninstalled": frozenset(),
    "assistant_thread_context_changed": frozenset({"assistant:write"}),
    "assistant_thread_started": frozenset({"assistant:write"}),
    "channel_archive": frozenset({"channels:read"}),
    "channel_created": frozenset({"channels:read"}),
    "channel_deleted": frozenset({"channels:read"}),
    "channel_id_changed": frozenset({"channels:read"}),
    "channel_left": frozenset({"channels:read"}),
    "channel_rename": frozenset({"channels:read"}),
    "channel_unarchive": frozenset({"channels:read"}),
    "emoji_changed": frozenset({"emoji:read"}),
    "entity_details_requested": frozenset(),
    "file_change": frozenset({"files:read"}),
    "file_deleted": frozenset({"files:read"}),
    "file_shared": frozenset({"files:read"}),
    "function_executed": frozenset(),
    "group_archive": frozenset({"groups:read"}),
    "group_left": frozenset({"groups:read"}),
    "group_rename": frozenset({"groups:read"}),
    "link_shared": frozenset({"links:read"}),
    "member_joined_channel": frozenset({"channels:read", "groups:read"}),
    "member_left_channel": frozenset({"channels:read", "groups:read"}),
    "message.app_home": frozenset(),
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "message.im": frozenset({"im:history"}),
    "message.mpim": frozenset({"mpim:history"}),
    "pin_added": frozenset({"pins:read"}),
    "pin_removed": frozenset({"pins:read"}),
    "reaction_added": frozenset({"reactions:read"}),
    "reaction_removed": frozenset({"reactions:read"}),
    "subteam_created": frozenset({"usergroups:read"}),
    "subteam_members_changed": frozenset({"usergroups:read"}),
    "subteam_updated": frozenset({"usergroups:read"}),
    "team_join": frozenset({"users:read"}),
    "tokens_revoked": frozenset(),
    "user_change": frozenset({"users:read"}),
}
"""Events that a bot may subscribe to, with scopes of which the app needs one; those without scopes need none."""

OF_AGENTS: frozenset[str] = frozenset({"agent_session_stopped", "agent_session_title_changed", "app_context_changed"})
"""Events that only an app with `agent_view` gets."""
