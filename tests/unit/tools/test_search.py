"""Ranking tools by the words of a query: deterministic, best first."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.tools.search import ranked, words

TOOLS = {name: tool.description for name, tool in build_tools(read_settings({})).items() if not tool.internal}


def test_tool_search_ranks_the_tool_for_a_typical_query_in_the_first_three() -> None:
    for query, name in {
        "create a jira issue": "jira_create_issue",
        "comment on a notion page": "notion_add_comment",
        "move an issue to another status": "jira_transition_issue",
        "who reviewed the pull request": "github_get_pull_request",
        "add an emoji reaction": "slack_add_reaction",
        "members of a user group": "slack_get_group",
        "read messages of a slack channel": "slack_read_channel",
        "commits of a file": "github_list_commits",
    }.items():
        assert name in ranked(query, TOOLS)[:3], query


def test_tool_search_matches_words_with_the_same_beginning() -> None:
    assert ranked("commented", {"a": "Adds a comment.", "b": "Reads a page."}) == ["a"]
    assert ranked("on", {"a": "online"}) == []


def test_tool_search_uses_stop_words_only_when_a_query_has_no_others() -> None:
    assert ranked("who is in a group", TOOLS) == ["slack_get_group"]
    assert ranked("who is it", {"a": "Who wrote it.", "b": "A page."}) == ["a"]


def test_tool_search_weighs_a_rare_word_more_than_a_common_word() -> None:
    texts = {"a": "issue", "b": "issue page", "c": "issue", "d": "issue"}
    assert ranked("page issue", texts)[0] == "b"


def test_tool_search_splits_names_into_words() -> None:
    assert words("jira_create-Issue2 größe") == ["jira", "create", "issue2", "grösse"]


@given(st.text(), st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=8))
def test_tool_search_finds_each_tool_once_in_any_order_of_the_catalog(query: str, texts: dict[str, str]) -> None:
    found = ranked(query, texts)
    assert set(found) <= set(texts)
    assert len(set(found)) == len(found)
    assert ranked(query, dict(reversed(texts.items()))) == found
