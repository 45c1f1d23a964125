"""Tools are found by the words of what they are for: always the same ones, and best first."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.tools.search import ranked, words

TOOLS = {name: tool.description for name, tool in build_tools(read_settings({})).items() if not tool.internal}


def test_what_a_model_would_ask_for_finds_the_tool_among_the_first() -> None:
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


def test_a_word_that_only_begins_alike_finds_it_too() -> None:
    assert ranked("commented", {"a": "Adds a comment.", "b": "Reads a page."}) == ["a"]
    assert ranked("on", {"a": "online"}) == []


def test_little_words_find_nothing_beside_others_and_something_alone() -> None:
    assert ranked("who is in a group", TOOLS) == ["slack_get_group"]
    assert ranked("who is it", {"a": "Who wrote it.", "b": "A page."}) == ["a"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = {"a": "issue", "b": "issue page", "c": "issue", "d": "issue"}
    assert ranked("page issue", texts)[0] == "b"


def test_a_name_is_its_words() -> None:
    assert words("jira_create-Issue2 größe") == ["jira", "create", "issue2", "grösse"]


@given(st.text(), st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=8))
def test_what_is_there_is_found_once_whatever_order_it_stands_in(query: str, texts: dict[str, str]) -> None:
    found = ranked(query, texts)
    assert set(found) <= set(texts)
    assert len(set(found)) == len(found)
    assert ranked(query, dict(reversed(texts.items()))) == found
