"""Private places: which calls of which tools leave them."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.engine.permitted_call import Permitted
from gofer.engine.place_rules import leaves_private_channel
from gofer.tools.definition import Call, Target, Tool, ToolResult
from gofer.tools.places import Writes
from gofer.values.events import Actor, Event
from support.engine.memory_run import Said

PAGE, OTHER = "7d3a5b1e-1111-4222-8333-0123456789ab", "7d3a5b1e-1111-4222-8333-0123456789ac"
PULL = "https://github.com/acme/shop/pull/7"
TOOLS = build_tools(read_settings({}))
WRITING = [tool for tool in TOOLS.values() if tool.effect != "read" and not tool.internal]
AT_HOME = [tool for tool in WRITING if tool.target.writes is not None]


def event(source: str, **place: str) -> Event:
    return Event(source, f"{source}.x", ("1",), f"{source}::1", Actor("a"), "", place, True)


PLACES: Mapping[str, Event] = {
    "slack": event("slack", team="T1", channel="C0LEADS00", ts="1.000100", thread_ts="1.000100"),
    "jira": event("jira", issue="OPS-7", issue_id="10007", comment="5"),
    "notion": event("notion", page=PAGE, workspace="w"),
    "github": event("github", repository="acme/shop", number="7", url=PULL),
}
SPELLED: Mapping[str, tuple[list[Any], list[Any]]] = {
    "channel": (["C0LEADS00", "#C0LEADS00"], ["C0RANDOM0", "#random", "T1", "1.000100", "c0leads00", " "]),
    "issue": (
        ["OPS-7", "ops-7", " OPS-7 ", "10007", "https://acme.atlassian.net/browse/OPS-7?x=1"],
        ["OPS-8", "OPS-77", "5", "10008", "https://acme.atlassian.net/browse/OPS-8", "no key"],
    ),
    "page": (
        [PAGE, PAGE.replace("-", ""), PAGE.upper(), f"https://www.notion.so/acme/Plan-{PAGE.replace('-', '')}?v=1"],
        [OTHER, f"https://www.notion.so/acme/Plan-{OTHER}", "w", "nothing"],
    ),
    "repository": (["acme/shop", "Acme/Shop"], ["acme/web", "evil/shop", " "]),
    "number": ([7], [8, 77]),
    "url": (
        [PULL, f"{PULL}/files"],
        ["https://github.com/acme/shop/pull/8", "https://github.com/acme/web/pull/7", "https://evil.example/acme", "["],
    ),
}
"""For each place argument, the spellings of the place of the event, and other places."""
CONTENT: Mapping[str, Any] = {
    "properties": {"Status": "Done"},
    "fields": {"Resolution": "Done"},
    "reviewers": ["ada"],
    "review_comment": 7,
}


def source(tool: Tool[Any]) -> str:
    return tool.name.partition("_")[0]


def left(tool: Tool[Any], began: Event, **arguments: object) -> bool:
    """Return whether a call with these arguments, and with the required ones, leaves the private place."""
    fields = tool.arguments.model_fields
    said = {name: CONTENT.get(name, "words") for name, field in fields.items() if field.is_required()}
    if tool.target.writes and "channel" in tool.target.writes.places and "channel" in said:
        said["channel"] = began.place.get("channel", "C0LEADS00")
    parsed = tool.arguments.model_construct(**{**said, **arguments})
    return leaves_private_channel(Permitted("1.0", tool, parsed), began, private=True)


@pytest.mark.parametrize("tool", WRITING, ids=lambda tool: tool.name)
def test_every_argument_of_a_writing_tool_is_declared_as_place_or_content(tool: Tool[Any]) -> None:
    if tool.target.writes is None:
        assert left(tool, PLACES[source(tool)])
        return
    places, content = set(tool.target.writes.places), tool.target.writes.content
    assert places | content == set(tool.arguments.model_fields)
    assert not places & content
    assert places <= set(SPELLED)


def test_tools_that_create_items_or_reach_other_people_always_leave_a_private_place() -> None:
    nowhere = {tool.name for tool in WRITING if tool.target.writes is None}
    assert nowhere == {"jira_create_issue", "github_create_issue", "slack_post_direct"}


@pytest.mark.parametrize("tool", AT_HOME, ids=lambda tool: tool.name)
def test_private_run_writes_unasked_only_at_the_place_of_the_event(tool: Tool[Any]) -> None:
    assert tool.target.writes is not None
    home = PLACES[source(tool)]
    assert not left(tool, home)
    for place in tool.target.writes.places:
        own, other = SPELLED[place]
        assert not any(left(tool, home, **{place: value}) for value in own), place
        assert all(left(tool, home, **{place: value}) for value in other), place
    assert all(left(tool, began) for name, began in PLACES.items() if name != source(tool))


def test_change_visible_to_all_readers_of_an_issue_leaves_a_restricted_comment() -> None:
    home = event("jira", **PLACES["jira"].place, audience="Administrators", audience_type="role")
    assert not left(TOOLS["jira_add_comment"], home)
    assert not left(TOOLS["jira_add_comment"], home, issue="OPS-7")
    assert left(TOOLS["jira_add_comment"], home, issue="OPS-8")
    assert left(TOOLS["jira_transition_issue"], home)
    assert left(TOOLS["jira_link_url"], home, issue="OPS-7")


@given(st.sampled_from(AT_HOME), st.data())
def test_any_foreign_place_argument_leaves_a_private_place(tool: Tool[Any], data: st.DataObject) -> None:
    assert tool.target.writes is not None
    home, places = PLACES[source(tool)], tool.target.writes.places
    said = {place: data.draw(st.sampled_from([*SPELLED[place][0], *SPELLED[place][1]])) for place in places}
    elsewhere = any(value in SPELLED[place][1] for place, value in said.items())
    said |= {name: data.draw(st.text(min_size=1)) for name in tool.target.writes.content - set(CONTENT)}
    assert left(tool, home, **said) is elsewhere


@given(st.sampled_from(sorted(TOOLS)), st.sampled_from(sorted(PLACES)))
def test_reads_and_public_runs_never_leave_a_private_place(name: str, began: str) -> None:
    tool = TOOLS[name]
    arguments = tool.arguments.model_construct()
    assert not leaves_private_channel(Permitted("1.0", tool, arguments), PLACES[began], private=False)
    if tool.effect == "read":
        assert not leaves_private_channel(Permitted("1.0", tool, arguments), PLACES[began], private=True)


@pytest.mark.parametrize(("content", "gone"), [({"text"}, False), ({"title"}, True)])
def test_undeclared_argument_or_tool_counts_as_leaving_a_private_place(content: set[str], gone: bool) -> None:
    async def act(call: Call, arguments: Said) -> ToolResult:
        return ToolResult("", "")

    def gone_with(name: str, writes: Writes | None) -> bool:
        tool = Tool(name, "", "blind", Said, act, target=Target(writes=writes))
        return leaves_private_channel(Permitted("1.0", tool, Said(text="x")), PLACES["slack"], private=True)

    writes = Writes({}, frozenset(content))
    assert gone_with("slack_x", writes) is gone
    assert gone_with("slack_x", None)
    assert gone_with("web_x", writes)
