"""Precedence of workflows that match an event: the most specific condition on the place wins, also in the forecast."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.check.explain import foresee
from gofer.sources.precedence import ANYWHERE, EXACT, PATTERN, standing, standings, winners
from gofer.workflows.routes import Route, passes

WORDS = st.lists(st.text("ab*", min_size=1, max_size=3), min_size=1, max_size=2)
WHERE = st.dictionaries(st.sampled_from(["channels", "labels"]), WORDS)
ROUTES = st.lists(st.builds(Route, st.sampled_from("uvw"), WHERE), max_size=6)
KINDS = {
    "project": "jira.commented",
    "database_id": "notion.commented",
    "database": "notion.commented",
    "repository": "github.push",
}
"""The kind of event for each fact on the place; other facts belong to a mention."""
PLAIN = st.text("ab", min_size=1, max_size=3)
FACTS = st.fixed_dictionaries({"channels": st.lists(PLAIN, min_size=1, max_size=2), "labels": st.lists(PLAIN)})


@pytest.mark.parametrize(
    ("where", "precedence", "place"),
    [
        ({}, ANYWHERE, ""),
        ({"labels": ["bug"]}, ANYWHERE, ""),
        ({"channel_id": ["C0DEPLOY0"]}, EXACT, "channels: C0DEPLOY0"),
        ({"channels": ["Deploys"]}, EXACT, 'channels: "#Deploys"'),
        ({"channels": ["dep*"]}, PATTERN, 'channels: "#dep*"'),
        ({"channels": ["*"]}, ANYWHERE, "channels: *"),
        ({"channels": ["other", "dep*"]}, PATTERN, 'channels: "#dep*"'),
        ({"channels": ["dep*", "deploys"]}, EXACT, 'channels: "#deploys"'),
        ({"project": ["OPS"]}, EXACT, "project: OPS"),
        ({"database_id": ["0" * 32]}, EXACT, f"database: {'0' * 32}"),
        ({"database": ["RFC*"]}, PATTERN, "database: RFC*"),
        ({"repository": ["acme/*"]}, PATTERN, "repository: acme/*"),
    ],
)
def test_precedence_follows_the_matching_word_of_the_condition(
    where: Mapping[str, Sequence[str]], precedence: int, place: str
) -> None:
    facts = {
        "channel_id": "C0DEPLOY0",
        "channels": ["deploys", "C0DEPLOY0"],
        "project": "OPS",
        "database_id": ["0" * 32],
        "database": ["RFCs"],
        "repository": "acme/shop",
    }
    kind = KINDS.get(next(iter(where), ""), "slack.mention")
    found = standing(kind, Route("w", where), facts, whole=True)
    assert (found.precedence, found.place) == (precedence, place)


def test_precedence_counts_the_name_of_a_created_channel_but_not_of_a_webhook() -> None:
    route, facts = Route("w", {"name": ["proj-*"]}), {"name": "proj-x"}
    assert standing("slack.channel_created", route, facts, whole=True).precedence == PATTERN
    assert standing("webhook", route, facts, whole=True).precedence == ANYWHERE


@given(ROUTES, FACTS)
def test_precedence_gives_the_same_winners_in_any_order_of_routes(
    routes: list[Route], facts: dict[str, list[str]]
) -> None:
    ranked = standings("slack.mention", routes, lambda workflow: facts)
    won = {one.workflow for one in winners(ranked)}
    matching = {route.workflow for route in routes if passes(route.where, facts, whole=True)}
    assert {one.workflow for one in ranked} == matching
    assert won <= matching
    assert bool(won) == bool(matching)
    backwards = standings("slack.mention", routes[::-1], lambda workflow: facts)
    assert {one.workflow for one in winners(backwards)} == won


@given(ROUTES, FACTS, st.sets(st.sampled_from(["channels", "labels"])))
def test_precedence_forecast_includes_every_winner_and_no_other_when_certain(
    routes: list[Route], facts: dict[str, list[str]], hidden: set[str]
) -> None:
    known = {name: value for name, value in facts.items() if name not in hidden}
    matched = [route for route in routes if passes(route.where, known)]
    foreseen = foresee("slack.mention", matched, known)
    won = {one.workflow for one in winners(standings("slack.mention", matched, lambda workflow: facts))}
    assert won <= set(foreseen.workflows)
    if not foreseen.decided.startswith("decided when"):
        assert won == set(foreseen.workflows)
