"""What takes something out of a private channel, by one rule for every tool."""

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_room import Said
from gofer.engine.leaving import leaves
from gofer.engine.step import Permitted
from gofer.events import Actor, Event
from gofer.journal.entries import Effect
from gofer.tools.tool import Arguments, Call, Tool, ToolResult
from stand_ins import mention


class Somewhere(Arguments):
    """Arguments that say where."""

    text: str = ""
    channel: str = ""
    issue: str = ""
    repository: str = ""


async def act(call: Call, arguments: Arguments) -> ToolResult:
    return ToolResult("", "")


def call(tool: str, effect: Effect = "blind", **arguments: str) -> Permitted:
    return Permitted("1.0", Tool(tool, "", effect, Somewhere, act), Somewhere.model_validate(arguments))


ISSUE = Event("jira", "jira.commented", ("1",), "jira::7", Actor("a"), "", {"issue": "OPS-7", "issue_id": "7"}, True)


REACTION = replace(mention(), place={**mention().place, "reaction": "jira", "user": "U0GUEST00"})
COMMENT = replace(ISSUE, place={**ISSUE.place, "comment": "10077"})


@pytest.mark.parametrize(
    ("event", "wanted", "gone"),
    [
        (mention(), call("slack_post_message"), False),
        (mention(), call("slack_post_message", channel="C0DEPLOY0"), False),
        (mention(), call("slack_post_message", channel="#random"), True),
        (mention(), call("slack_post_message", channel="C0RANDOM0"), True),
        (mention(), call("jira_create_issue"), True),
        (mention(), call("github_add_comment", repository="acme/shop"), True),
        (ISSUE, call("jira_comment"), False),
        (ISSUE, call("jira_comment", issue="ops-7"), False),
        (ISSUE, call("jira_comment", issue="OPS-8"), True),
        (ISSUE, call("jira_comment", issue="7"), False),
        (ISSUE, call("slack_post_message", channel="#random"), True),
        # A channel is not where the run began because the emoji, or the person, is called the same.
        (REACTION, call("slack_post_message", channel="#jira"), True),
        (REACTION, call("slack_post_message", channel="U0GUEST00"), True),
        (COMMENT, call("jira_comment", issue="10077"), True),
    ],
)
def test_a_private_run_leaves_with_what_it_writes_anywhere_but_where_it_began(
    event: Event, wanted: Permitted, gone: bool
) -> None:
    assert leaves(wanted, event, private=True) is gone
    assert not leaves(wanted, event, private=False)


@given(st.sampled_from(["slack_x", "jira_x", "x"]), st.text(), st.booleans())
def test_reading_never_leaves_and_a_public_run_never_does(tool: str, channel: str, private: bool) -> None:
    effect: Literal["read", "blind"] = "read" if private else "blind"
    assert not leaves(call(tool, effect, channel=channel), mention(), private=private)


def test_a_tool_that_says_nothing_of_places_is_one_of_its_own_system() -> None:
    own, other = (Permitted("1.0", Tool(name, "", "blind", Said, act), Said()) for name in ("slack_x", "web_x"))
    assert not leaves(own, mention(), private=True)
    assert leaves(other, mention(), private=True)
