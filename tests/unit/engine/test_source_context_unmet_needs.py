"""Runs whose source context could not be read: the messages for the colleague and the operator."""

from collections.abc import Mapping

import pytest

from gofer.engine.source_context import PERSON, stopped
from gofer.journal.entries import ToolResult
from gofer.sources.part_values import Need
from gofer.sources.slack.source_context import THREAD
from gofer.sources.subject import SUBJECT


@pytest.mark.parametrize(
    ("need", "system", "details", "cause", "told"),
    [
        (
            THREAD,
            "Slack",
            {"code": "outage"},
            "outage",
            "I could not read this thread, because Slack did not answer for 30 minutes. Please ask again.",
        ),
        (
            PERSON,
            "Slack",
            {"code": "outage"},
            "outage",
            "I could not look up the person who asked, because Slack did not answer for 30 minutes. Please ask again.",
        ),
        (
            SUBJECT,
            "Jira",
            {"code": "outage"},
            "outage",
            (
                "I could not read the issue, page or pull request, because Jira did not answer for 30 minutes. "
                "Please ask again."
            ),
        ),
        (
            THREAD,
            "Slack",
            {"code": "token_expired", "access": "credential"},
            "credential",
            "I cannot read Slack now, because it does not accept my access. Please tell {owner}.",
        ),
        (
            THREAD,
            "Slack",
            {"code": "missing_scope", "access": "permission"},
            "permission",
            "I am not allowed to read this thread. Please tell {owner}.",
        ),
        (
            THREAD,
            "Slack",
            {"code": "not_in_channel"},
            "refused",
            "I am not a member of this channel. Please invite me and ask again.",
        ),
        (
            THREAD,
            "Slack",
            {"code": "channel_not_found"},
            "refused",
            "I am not a member of this channel. Please invite me and ask again.",
        ),
        (
            THREAD,
            "Slack",
            {"code": "ratelimited"},
            "refused",
            "I could not read this thread, because Slack takes no more requests now. Please ask again later.",
        ),
        (
            THREAD,
            "Slack",
            {"code": "restricted_action"},
            "refused",
            "I could not read this thread, because Slack refused it. Please tell {owner}.",
        ),
    ],
)
def test_unmet_need_gives_the_colleague_advice_and_the_operator_the_cause(
    need: Need, system: str, details: Mapping[str, object], cause: str, told: str
) -> None:
    error = stopped(need, ToolResult("context/1", "error", "It failed (HTTP 503).", details=details), system)
    assert (error.cause, error.system, error.plain_reason) == (cause, system, told)
    assert str(error) == f"{need.missed}: It failed (HTTP 503)."
