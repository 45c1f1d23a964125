"""The meaning of each refusal by Slack, and the person who can act on it."""

from gofer.sources.refusals import Refusal, Refusals

_BUSY = Refusal("unclear", "Slack had an internal problem.")
_LATER = Refusal("tell", "Slack accepts no more calls of this kind for a while.")
_RENEW = "Slack does not accept Gofer's token; the operator of Gofer must renew it."
_FILES_OFF = "This workspace does not accept files from apps; an admin of Slack can allow it."

NOT_THERE = frozenset({"message_not_found"})
"""Codes which mean that the message does not exist, so the text of an earlier edit is not visible either."""
REFUSALS = Refusals(
    "slack",
    {
        "account_inactive": Refusal("operate", "Gofer's Slack app was removed; the operator of Gofer must install it."),
        "already_reacted": Refusal("tell", "The reaction is there already."),
        "cannot_dm_bot": Refusal("tell", "That account is a program, which reads no direct messages."),
        "cant_delete_message": Refusal("tell", "Only messages that Gofer posted can be deleted."),
        "cant_update_message": Refusal("tell", "Only messages that Gofer posted can be changed."),
        "channel_not_found": Refusal(
            "tell",
            "Slack knows no such channel, or Gofer may not see it. Check the name; to a private channel, a member must "
            "invite Gofer first.",
        ),
        "edit_window_closed": Refusal("tell", "That message is too old to be changed; post a new one."),
        "fatal_error": _BUSY,
        "file_deleted": Refusal("tell", "That file was deleted."),
        "file_not_found": Refusal("tell", "That file was deleted, or Gofer may not see it."),
        "file_upload_size_restricted": Refusal(
            "tell", "The file is larger than this workspace allows; make it shorter."
        ),
        "file_uploads_disabled": Refusal("tell", _FILES_OFF),
        "internal_error": _BUSY,
        "invalid_auth": Refusal("operate", _RENEW),
        "invalid_blocks": Refusal("tell", "Slack cannot show that text; use plainer Markdown."),
        "invalid_name": Refusal("tell", "Slack knows no emoji of that name. Use a plain one such as eyes."),
        "is_archived": Refusal("tell", "That channel is archived; nothing can be written there."),
        "is_inactive": Refusal("tell", "That channel is archived or frozen; nothing can be changed there."),
        "message_not_found": Refusal("tell", "Slack knows no such message there. Check channel and ts."),
        "missing_scope": Refusal(
            "operate", "Gofer's Slack app lacks a permission for this; the operator of Gofer must add it."
        ),
        "method_not_supported_for_channel_type": Refusal(
            "tell", "Gofer can join public channels only; a member must invite it to any other channel."
        ),
        "msg_blocks_too_long": Refusal("tell", "That is longer than one Slack message; post it in several."),
        "msg_too_long": Refusal("tell", "That is longer than one Slack message; post it in several."),
        "not_authed": Refusal("operate", "Gofer called Slack without a token; the operator of Gofer must set one."),
        "not_in_channel": Refusal("tell", "Gofer is not a member of that channel; a member must invite it first."),
        "plan_upgrade_required": Refusal("operate", "This workspace's plan of Slack has no user groups."),
        "rate_limited": _LATER,
        "ratelimited": _LATER,
        "request_timeout": _BUSY,
        "restricted_action": Refusal("tell", "Only some people may post there; an admin of Slack can allow it."),
        "service_unavailable": _BUSY,
        "thread_not_found": Refusal("tell", "Slack knows no such message there. Check channel and ts."),
        "token_expired": Refusal("operate", "Gofer's Slack token has expired; the operator of Gofer must renew it."),
        "token_revoked": Refusal("operate", _RENEW),
        "too_many_reactions": Refusal("tell", "That message has as many of Gofer's reactions as Slack allows."),
        "update_failed": _BUSY,
        "user_not_found": Refusal("tell", "Slack knows no such person."),
        "user_not_in_channel": Refusal(
            "tell", "That person is not in the channel, so nothing can be shown to them there."
        ),
        "user_not_visible": Refusal("tell", "Slack does not show that person to Gofer."),
    },
    unknown=Refusal("tell", "Slack gave no other reason."),
    credential=frozenset({"account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"}),
)
"""Every code with its own rule. docs/slack.md lists the same codes."""

EDIT_REFUSED = frozenset(code for code, rule in REFUSALS.known.items() if rule.rule == "tell")
"""Codes which mean that a message was not edited, even if an earlier attempt of the edit had no answer.

Gofer then posts the text as a new message and deletes the old one. So the text never appears twice, even if the earlier
attempt did edit the old message.
"""
