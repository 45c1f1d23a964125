"""The tools of Slack."""

from collections.abc import Sequence
from typing import Any

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.approvals import (
    slack_ask_approval,
    slack_ask_requester,
    slack_close_question,
    slack_find_groups,
    slack_may_decide,
    slack_tell_one,
)
from gofer.sources.slack.attached_files import slack_get_file
from gofer.sources.slack.channels import slack_get_permalink, slack_join_channel, slack_read_channel
from gofer.sources.slack.directory import slack_get_group, slack_get_user
from gofer.sources.slack.places import slack_find_place
from gofer.sources.slack.post_file import slack_post_file
from gofer.sources.slack.private_message import slack_post_direct, slack_post_ephemeral
from gofer.sources.slack.read_thread import slack_read_thread
from gofer.sources.slack.write import (
    slack_add_reaction,
    slack_delete_message,
    slack_post_message,
    slack_update_message,
)
from gofer.tools.declare import ToolDeclaration

TOOLS: Sequence[ToolDeclaration[SlackApi, Any]] = (
    slack_read_thread,
    slack_read_channel,
    slack_get_file,
    slack_get_permalink,
    slack_get_user,
    slack_get_group,
    slack_find_place,
    slack_post_message,
    slack_update_message,
    slack_delete_message,
    slack_post_ephemeral,
    slack_post_direct,
    slack_post_file,
    slack_add_reaction,
    slack_join_channel,
    slack_ask_approval,
    slack_ask_requester,
    slack_close_question,
    slack_tell_one,
    slack_may_decide,
    slack_find_groups,
)
