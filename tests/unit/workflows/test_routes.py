"""Routes from events to workflows: the index, patterns and compiled triggers."""

import fnmatch
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.workflow_files import TriggerForm as Trigger
from gofer.workflows.routes import fits, overlap, passes, read_routes
from support.stand_ins import mention
from support.workflows.started_workflows import started

WORDS = st.text("aAb*", min_size=1, max_size=6)
PLAIN = st.text("aAb", min_size=1, max_size=6)
FACTS = st.dictionaries(st.sampled_from("xyz"), st.one_of(PLAIN, st.booleans(), st.lists(PLAIN, max_size=3)))
WHERE = st.dictionaries(st.sampled_from("xyz"), st.lists(WORDS, min_size=1, max_size=3))


SHORT = st.text("ab*", max_size=4)
EVERY = ["".join(letters) for length in range(9) for letters in itertools.product("ab", repeat=length)]


@given(SHORT, SHORT)
def test_patterns_overlap_when_some_text_matches_both(one: str, other: str) -> None:
    assert overlap(one, other) == any(fits(one, word) and fits(other, word) for word in EVERY)


@given(WORDS, PLAIN)
def test_pattern_star_matches_any_text_and_case_is_ignored(pattern: str, word: str) -> None:
    expected = re.fullmatch(fnmatch.translate(pattern.lower()), word.lower()) is not None
    assert fits(pattern, word) == expected


def test_pattern_with_many_stars_is_decided_in_linear_time() -> None:
    assert not fits("a*" * 5_000 + "b", "a" * 100_000)


@given(st.lists(st.tuples(st.sampled_from("uvw"), WHERE), max_size=12), FACTS)
def test_route_index_finds_the_same_workflows_as_a_full_scan(routes: list[tuple[str, dict]], facts: dict) -> None:
    looked = {name for name, where in routes if passes(where, facts)}
    found = read_routes({"slack.mention": routes}).matching("slack.mention", facts)
    assert {route.workflow for route in found} == looked
    assert [route.workflow for route in found] == sorted(route.workflow for route in found)
    assert read_routes({"slack.reaction": routes}).matching("slack.mention", facts) == []


def test_missing_fact_of_an_event_is_left_to_admission() -> None:
    where = {"channels": ["incidents"]}
    assert passes(where, {})
    assert not passes(where, {}, whole=True)
    assert passes(where, {"channels": ["Incidents", "C1"]}, whole=True)
    assert not passes(where, {"channels": "general"})


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        ("slack.mention", [("slack.mention", {})]),
        ({"slack.mention": {"channels": ["#a", "b-*"]}}, [("slack.mention", {"channels": ["a", "b-*"]})]),
        ({"slack.mention": {"channels": "C0GENERA0"}}, [("slack.mention", {"channel_id": ["C0GENERA0"]})]),
        (
            {"slack.mention": {"follow_ups": True}},
            [("slack.mention", {}), ("slack.message", {"reply": ["true"], "followed": ["true"]})],
        ),
        (
            {"slack.message": {"channels": "#a"}},
            [
                ("slack.message", {"channels": ["a"], "reply": ["false"]}),
                ("slack.mention", {"channels": ["a"], "reply": ["false"], "edited": ["false"]}),
            ],
        ),
        (
            {"slack.message": {"channels": "#a", "mention": True}},
            [("slack.mention", {"channels": ["a"], "reply": ["false"]})],
        ),
        (
            {"slack.message": {"channels": "#a", "mention": False, "replies": True}},
            [("slack.message", {"channels": ["a"]})],
        ),
        ({"slack.reaction": {"emoji": ":jira:", "channels": "any"}}, [("slack.reaction", {"emoji": ["jira"]})]),
        ({"slack.reaction": {"emoji": "punch"}}, [("slack.reaction", {"emoji": ["punch", "facepunch"]})]),
        (
            {"slack.reaction": {"emoji": ":+1::skin-tone-3:"}},
            [("slack.reaction", {"emoji": ["+1::skin-tone-3", "thumbsup::skin-tone-3"]})],
        ),
        ({"slack.reaction": {"emoji": "thumbsu*"}}, [("slack.reaction", {"emoji": ["thumbsu*", "+1"]})]),
        ({"slack.reaction": {"emoji": "*"}}, [("slack.reaction", {"emoji": ["*"]})]),
        (
            {"jira.issue_updated": {"project": "OPS", "field": "status", "to": "Done", "label": ["x", "y"]}},
            [
                (
                    "jira.issue_updated",
                    {"project": ["OPS"], "labels": ["x", "y"], "changes": ["status: * -> Done"]},
                )
            ],
        ),
        (
            {
                "notion.status": {
                    "database": "https://www.notion.so/a/B-0123456789ABCDEF0123456789abcdef?v=1",
                    "to": "X",
                }
            },
            [
                (
                    "notion.properties_updated",
                    {"database_id": ["0123456789abcdef0123456789abcdef"], "status": ["Status: * -> X"]},
                )
            ],
        ),
        (
            {"notion.properties_updated": {"database": ["RFC*", "01234567-89AB-CDEF-0123-456789abcdef"]}},
            [
                (
                    "notion.properties_updated",
                    {"database": ["RFC*", "0123456789abcdef0123456789abcdef"], "bot": ["false"]},
                )
            ],
        ),
        (
            {"notion.commented": {"database": "01234567-89ab-cdef-0123-456789abcdef"}},
            [("notion.commented", {"database_id": ["0123456789abcdef0123456789abcdef"]})],
        ),
        (
            {"github.pull_request": {"action": "merged", "base": "main"}},
            [("github.pull_request", {"action": ["merged"], "base": ["main"]})],
        ),
    ],
)
def test_trigger_is_compiled_to_event_kinds_and_facts(written: object, compiled: list[tuple[str, dict]]) -> None:
    trigger = Trigger.model_validate(written)
    assert trigger.compiled() == compiled
    assert Trigger.model_validate(trigger.model_dump(mode="json")) == trigger


def test_workflow_with_two_matching_triggers_is_started_once() -> None:
    routes = read_routes({"slack.mention": [("w", {}), ("w", {"x": ["1"]}), ("v", {})]})
    assert started(routes, mention()) == ["v", "w"]
