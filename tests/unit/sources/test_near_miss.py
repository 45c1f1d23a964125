"""Reasons for events that start no run: the nearest workflow and its unmet conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.near_miss import NEAR, REST, near_miss
from gofer.sources.receivers import known
from gofer.sources.triggers import KINDS
from gofer.sources.workflow_files import TriggerForm as Trigger
from gofer.values.events import Event
from gofer.workflows.routes import Routes, is_met, read_routes
from support.stand_ins import mention

PLAIN = st.text("aAb", min_size=1, max_size=6)
FACTS = st.dictionaries(st.sampled_from("xyz"), st.one_of(PLAIN, st.booleans(), st.lists(PLAIN, max_size=3)))
WORDS = st.text("aAb*", min_size=1, max_size=6)
WHERE = st.dictionaries(st.sampled_from("xyz"), st.lists(WORDS, min_size=1, max_size=3))
Compiled = Sequence[tuple[str, Mapping[str, Sequence[str]]]]


def event(kind: str, text: str = "the text", **facts: object) -> Event:
    return replace(mention(), kind=kind, text=text, facts=facts)


def routes(kind: str, *compiled: tuple[str, Mapping[str, Sequence[str]]]) -> Routes:
    return read_routes({kind: compiled})


SHIPPED: Compiled = [
    ("assign-reviewers", {"action": ["opened", "ready_for_review"]}),
    ("mark-merged", {"action": ["closed"]}),
]


def test_near_miss_names_workflow_condition_and_the_number_of_others() -> None:
    miss = near_miss(routes("github.pull_request", *SHIPPED), event("github.pull_request", action=["labeled"]))
    others = "1 more workflow listens to github.pull_request and does not match either"
    assert miss.tell() == f"mark-merged requires `action: closed`; {others}"
    assert miss.tell(found=True) == f"mark-merged requires `action: closed` (this is `labeled`); {others}"


def test_near_miss_says_when_no_workflow_listens() -> None:
    assert near_miss(Routes(), event("slack.mention")).tell() == "no workflow listens to slack.mention"


def test_near_miss_names_the_workflow_with_the_fewest_unmet_conditions() -> None:
    near = ("near", {"repository": ["acme/shop"], "base": ["main"], "action": ["closed"]})
    far = ("far", {"repository": ["acme/other"], "base": ["release/*"]})
    happened = event("github.pull_request", repository="acme/shop", base="main", action=["opened"])
    assert (
        near_miss(routes("github.pull_request", far, near), happened)
        .tell()
        .startswith("near requires `action: closed`;")
    )


def test_near_miss_names_all_unmet_conditions() -> None:
    where = {"label": ["bug"], "project": ["OPS"], "labels": ["bug"]}
    told = near_miss(routes("jira.commented", ("w", where)), event("jira.commented", project="HR", labels=[])).tell
    assert told() == "w requires `project: OPS` and requires `label: bug`"
    assert told(found=True) == "w requires `project: OPS` (this is `HR`) and requires `label: bug` (this has none)"


def test_near_miss_never_shows_a_condition_on_text() -> None:
    miss = near_miss(routes("jira.commented", ("w", {"says": ["*merger*"]})), event("jira.commented", "our salaries"))
    for told in (miss.tell(), miss.tell(found=True)):
        assert told == "w has a condition on the text (`says`) that is not met"


def test_near_miss_cuts_many_and_long_words() -> None:
    where = {"emoji": [f"emoji-{i}" for i in range(9)]}
    told = near_miss(routes("slack.reaction", ("w", where)), event("slack.reaction", emoji=["x" * 500]))
    assert told.tell(found=True) == (
        "w requires `emoji: [emoji-0, emoji-1, emoji-2, emoji-3, emoji-4, and 4 more]` (this is `" + "x" * 80 + "`)"
    )


def test_near_miss_compares_only_a_few_of_ten_thousand_workflows() -> None:
    compiled = [(f"w{i}", {"channel_id": [f"C{i:08}"], "bot": ["false"]}) for i in range(10_000)]
    index = routes("slack.mention", *compiled)
    looked: list[str] = []

    class Facts(dict[str, object]):
        def __getitem__(self, name: str) -> object:
            looked.append(name)
            return super().__getitem__(name)

    happened = event("slack.mention")
    miss = near_miss(index, replace(happened, facts=Facts(channel_id="C0GENERA0", bot=True)))
    assert miss.others == 9_999
    assert len(looked) <= 3 * (NEAR + REST)


@given(st.lists(st.tuples(st.sampled_from("uvw"), WHERE), max_size=12), FACTS)
def test_near_miss_reasons_are_true(compiled: list[tuple[str, dict]], facts: dict) -> None:
    happened = replace(mention(), facts=facts)
    index = read_routes({happened.kind: compiled})
    if index.matching(happened.kind, known(happened)):
        return
    miss = near_miss(index, happened)
    names = {name for name, _ in compiled}
    assert (miss.workflow in names) == bool(names)
    assert miss.others == max(0, len(names) - 1)
    for unmet in miss.unmet:
        assert not is_met(unmet.fact, unmet.wanted, known(happened))
    counts = [sum(not is_met(f, w, known(happened)) for f, w in where.items()) for _, where in compiled]
    assert len(miss.unmet) == min(counts, default=0)


CONDITIONS: Mapping[str, Mapping[str, object]] = {
    "slack.mention": {"channels": "C0INCID00", "follow_ups": True},
    "slack.message": {"channels": "C0INCID00", "mention": False, "replies": False, "says": "*gone*"},
    "slack.reaction": {"emoji": "jira", "channels": "C0INCID00"},
    "slack.channel_created": {"name": "proj-*"},
    "slack.member_joined": {"member": "gofer", "channels": "C0INCID00"},
    "jira.issue_created": {"project": "OPS", "type": "Bug", "label": "urgent"},
    "jira.issue_updated": {"project": "OPS", "field": "status", "from": "Open", "to": "Done"},
    "jira.commented": {"label": "urgent", "says": "*@gofer*"},
    "jira.attachment_added": {"type": "Bug"},
    "notion.page_created": {"database": "5f1c7d2e-0a3b-4c4d-8e9f-00000000f0c5"},
    "notion.status": {"database": "5f1c7d2e-0a3b-4c4d-8e9f-00000000f0c5", "to": "Ready"},
    "github.pull_request": {"action": "closed", "label": "bug", "base": "main", "repository": "acme/*"},
    "github.comment": {"says": "*@gofer*"},
    "github.push": {"repository": "acme/*", "branch": "main"},
}
"""Conditions as workflow files write them; `mention`, `field` and the like appear by the facts they compile to."""
TOLD_OTHERWISE = {"mention", "field", "from", "to"}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_near_miss_names_each_condition_as_the_file_does(kind: str) -> None:
    compiled = Trigger.model_validate({kind: dict(CONDITIONS[kind])}).compiled()
    reasons = ""
    for compiled_kind, where in compiled:
        facts = dict.fromkeys(where, "something else")
        reasons += near_miss(read_routes({compiled_kind: [("w", where)]}), event(compiled_kind, **facts)).tell()
    for name in CONDITIONS[kind].keys() - TOLD_OTHERWISE:
        assert f"`{name}" in reasons, reasons


def test_near_miss_samples_cover_all_conditions() -> None:
    named = {name for conditions in CONDITIONS.values() for name in conditions}
    every = {
        (inner.alias or condition)
        for field in Trigger.model_fields.values()
        for model in (getattr(field.annotation, "__args__", ()) or ())
        for condition, inner in getattr(model, "model_fields", {}).items()
        if (field.alias or "") in CONDITIONS
    }
    assert every - {"property"} <= named
    assert set(CONDITIONS) <= set(KINDS)
