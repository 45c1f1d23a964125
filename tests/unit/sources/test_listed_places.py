"""Places of Jira, Notion and GitHub: writable where the workflow file lists them or the asker's words name them."""

from dataclasses import replace

import pytest

from gofer.sources.part_values import Known, OwnCall, Standpoint
from gofer.sources.registry import SOURCES
from gofer.sources.source import Places
from gofer.sources.workflow_files import DestinationsForm as Destinations
from gofer.tools.places import Kind, Place

PAGE = "5f1c7d2e-0a3b-4c4d-8e9f-000000000001"
LISTED = Standpoint("", "", Destinations(jira=("PAY",), notion=(PAGE,), github=("Acme/Shop",)))
UNLISTED = Standpoint("", "", Destinations())


def places_of(system: str) -> Places:
    places = SOURCES[system].places
    assert places is not None
    return places


@pytest.mark.parametrize(
    ("system", "kind", "name", "listed"),
    [
        ("jira", "project", "PAY", True),
        ("jira", "project", "OPS", False),
        ("github", "repository", "acme/SHOP", True),
        ("github", "repository", "acme/other", False),
    ],
)
def test_place_of_a_project_or_repository_is_checked_against_the_list_without_a_lookup(
    system: str, kind: Kind, name: str, listed: bool
) -> None:
    place = Place(system, kind, name)
    assert places_of(system).look(place, LISTED) == Known(listed=listed)
    assert places_of(system).look(place, UNLISTED) == Known()


@pytest.mark.parametrize(("system", "kind", "name"), [("jira", "issue", "PAY-7"), ("notion", "page", "p1")])
def test_place_of_an_issue_or_page_is_looked_up_only_when_the_file_lists_places(
    system: str, kind: Kind, name: str
) -> None:
    places, place = places_of(system), Place(system, kind, name)
    assert places.look(place, LISTED) == OwnCall(f"{system}_find_place", {kind: name})
    assert places.look(place, UNLISTED) == Known()
    within = {"id": "now", "within": ["PAY", PAGE]}
    assert places.found(place, LISTED, within) == Known("now", listed=True)
    assert places.found(place, LISTED, {"id": "now", "within": ["OPS"]}) == Known("now")


@pytest.mark.parametrize(
    ("place", "entry"),
    [
        (Place("jira", "issue", "PAY-7"), "jira: [PAY]"),
        (Place("jira", "project", "PAY"), "jira: [PAY]"),
        (Place("notion", "page", "p1"), "notion: [p1]"),
        (Place("github", "repository", "acme/shop"), "github: [acme/shop]"),
        (Place("slack", "channel", "deploys"), 'slack: ["#deploys"]'),
    ],
)
def test_place_names_the_entry_of_the_workflow_file(place: Place, entry: str) -> None:
    assert places_of(place.system).entry(place) == entry


@pytest.mark.parametrize(
    ("system", "kind", "name", "words", "named"),
    [
        ("jira", "project", "PAY", "file it in PAY.", True),
        ("jira", "project", "IT", "file it", False),
        ("jira", "project", "PAY", "see PAY-7", False),
        ("jira", "issue", "PAY-7", "see https://acme.atlassian.net/browse/pay-7?x=1", True),
        ("jira", "issue", "PAY-7", "see PAY-77 and XPAY-7", False),
        ("jira", "issue", "10007", "at 10007", False),
        ("github", "repository", "acme/shop", "https://github.com/Acme/Shop/pull/3", True),
        ("github", "repository", "acme/shop", "acme/shop-2, acme/shop.js or evil-acme/shop", False),
        ("notion", "page", PAGE, f"see https://notion.so/acme/Title-{PAGE.replace('-', '').upper()}", True),
        ("notion", "page", PAGE, "see the page", False),
    ],
)
def test_place_is_named_by_its_key_name_or_address_in_the_words_of_the_asker(
    system: str, kind: Kind, name: str, words: str, named: bool
) -> None:
    known = places_of(system).look(Place(system, kind, name), replace(UNLISTED, words=words))
    assert known == Known(named=named)
