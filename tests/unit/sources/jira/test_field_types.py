"""Values for the types of fields in Jira's forms, against the simulated Jira."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.jira.create_issue import CreateIssue, jira_create_issue
from gofer.sources.jira.field_types import ENTRIES, FIELD_TYPES, VALUES_LIMIT, Given, field_of, takes
from gofer.values.errors import ToolError
from gofer_simulators.faults import Fault
from support.vendors.jira import ADA, API, BEN, FORMS, Room, call_of, play

TEAM = "36885b3c-1bf0-4f85-a357-c5b858c31de4"
WANTED = CreateIssue(project="PAY", type="Task", summary="Refund Ada", description="Twice.")


async def created(room: Room, fields: dict[str, Given], kind: str = "Task") -> dict[str, Any]:
    """Create an issue with fields, and return the values that Jira stored, without the prefix of their ids."""
    done = await jira_create_issue.act(API, call_of(room), WANTED.model_copy(update={"fields": fields, "type": kind}))
    own = room.issue(str(done.details["key"])).own
    return {name.removeprefix("customfield_"): value for name, value in own.items()}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"components": ["web", "LEDGER"]}, {"components": [{"id": "1"}, {"id": "2"}]}),
        ({"Components": "Web"}, {"components": [{"id": "1"}]}),
        ({"severity": " high "}, {"2": {"id": "2"}}),
        ({"Severity": "2"}, {"2": {"id": "2"}}),
        ({"customfield_2": "Low"}, {"2": {"id": "1"}}),
        ({"Device": "computer > laptop"}, {"3": {"id": "2", "child": {"id": "200"}}}),
        ({"Device": "Computer"}, {"3": {"id": "2"}}),
        ({"Requestor": "ada byron"}, {"1": {"accountId": ADA}}),
        ({"Requestor": "ben@acme.example"}, {"1": {"accountId": BEN}}),
        ({"Watchers": ["Ada Byron", "Ben Okri"]}, {"7": [{"accountId": ADA}, {"accountId": BEN}]}),
        ({"Due date": "2026-11-21"}, {"duedate": "2026-11-21"}),
        ({"Begin": "2026-11-21T14:30+01:00"}, {"6": "2026-11-21T14:30:00.000+0100"}),
        ({"Begin": "2026-11-21T14:30Z"}, {"6": "2026-11-21T14:30:00.000+0000"}),
        ({"Cost": 12.0}, {"5": 12}),
        ({"Cost": "12.5"}, {"5": 12.5}),
        ({"Reference": "one"}, None),
        ({"customfield_16": "one\n two"}, {"16": "one two"}),
        ({"Tags": ["two words"]}, {"9": ["two-words"]}),
        ({"Page": "https://acme.example/x"}, {"10": "https://acme.example/x"}),
        ({"Group": "ops"}, {"8": {"name": "ops"}}),
        ({"Parent": "PAY-1"}, {"parent": {"key": "PAY-1"}}),
        ({"Epic Link": "http://jira/browse/PAY-1"}, {"13": "PAY-1"}),
        ({"Time tracking": "2d 4h"}, {"timetracking": {"originalEstimate": "2d 4h"}}),
        ({"Sprint": 7.0}, {"11": 7}),
        ({"Sprint": "autumn"}, {"11": 3}),
        ({"Team": "Platform"}, {"12": TEAM}),
        ({"Team": TEAM}, {"12": TEAM}),
    ],
)
def test_jira_field_has_the_value_that_was_meant(given: dict[str, Given], stored: dict[str, Any] | None) -> None:
    async def story(room: Room) -> None:
        other = {
            "customfield_11": [
                {"id": 2, "name": "Summer", "state": "closed"},
                {"id": 3, "name": "Autumn", "state": "active"},
            ],
            "customfield_12": {"id": TEAM, "name": "Platform"},
        }
        room.jira.people.edit(ADA, room.issue("PAY-1"), own=other)
        room.clock.advance(60)
        if stored is None:
            with pytest.raises(
                ToolError, match="2 fields are called 'Reference'; write the id of one: customfield_15, cus"
            ):
                await created(room, given)
        else:
            assert await created(room, given) == stored

    play(story, FORMS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"Severity": "urgent"}, "Severity has no value 'urgent'. It takes one of: Low, High."),
        ({"Components": ["Web", "Mobile"]}, "Components has no value 'Mobile'. It takes one or more of: Web, Ledger."),
        ({"Device": "Computer > Phone"}, "It takes one of: Computer > Laptop, Computer > Desktop, Computer, Phone."),
        ({"Requestor": "Nobody"}, "Jira knows no person called 'Nobody'; ask who is meant, or leave it out."),
        ({"Requestor": "ben"}, "Several people match: Ben Okri, Ben Field."),
        ({"Due date": "tomorrow"}, "Due date does not take 'tomorrow'. It takes a date, as 2026-11-21."),
        ({"Begin": "2026-11-21T14:30"}, "It takes a time with its zone, as 2026-11-21T14:30+01:00."),
        ({"Begin": "noon"}, "It takes a time with its zone"),
        ({"Cost": "much"}, "Cost does not take 'much'. It takes a number."),
        ({"Page": "javascript:alert(1)"}, "It takes an address that begins with https:// or http://."),
        ({"Parent": "the other one"}, "That is not the key of an issue"),
        ({"Time tracking": "long"}, "It takes an estimate, as 2d 4h."),
        ({"Severity": ["Low", "High"]}, "Severity takes one value: one of: Low, High."),
        ({"Severity": ""}, "Severity takes one value"),
        ({"Watchers": ["Ada Byron"] * (ENTRIES + 1)}, "Watchers takes 100 entries at most, and these are 101"),
        ({"customfield_15": "x" * 256}, "Reference takes 255 characters, and this has 256; write fewer."),
        ({"Sprint": "winter"}, "Sprint has no values yet"),
        ({"Attachment": "a.txt"}, "Attachment is (files); Gofer cannot set it, only people in Jira."),
        ({"Server": "db1"}, "Server is (objects of Assets)"),
        ({"Dashboard": "x"}, "Dashboard is (a type of field that Gofer does not know: wall)"),
        (
            {"Sevrity": "Low"},
            "The form of Task in PAY has no field 'Sevrity'. Its fields are: Severity, ",
        ),
        ({"Summary": "x"}, "Summary is given twice, or has an argument of its own"),
        ({"project": "OPS"}, "Project is given twice, or has an argument of its own"),
        ({"Severity": "Low", "customfield_2": "High"}, "Severity is given twice"),
    ],
)
def test_jira_value_that_does_not_fit_is_refused_before_sending(given: dict[str, Given], words: str) -> None:
    async def story(room: Room) -> None:
        before = room.jira.state()
        with pytest.raises(ToolError) as refused:
            await created(room, given)
        assert refused.value.message_to_model.startswith("Nothing was sent to Jira. ")
        assert words in refused.value.message_to_model
        assert room.jira.state() == before

    play(story, FORMS)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"value": "High"}, "High"),
        ([{"name": "Web"}, "Ledger"], ["Web", "Ledger"]),
        ({"value": "Computer", "child": {"value": "Laptop"}}, "Computer > Laptop"),
        ({"key": "PAY-1"}, "PAY-1"),
        ({"id": "3"}, "3"),
        (3, 3.0),
        (True, True),
    ],
)
def test_jira_value_in_the_form_of_requests_is_read_as_its_words(written: object, read: object) -> None:
    asked = {"project": "PAY", "type": "Bug", "summary": "s", "fields": {"Field": written}}
    assert CreateIssue.model_validate(asked).fields == {"Field": read}


def test_jira_wrong_values_are_refused_together() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError) as refused:
            await created(room, {"Severity": "urgent", "Cost": "much", "Due date": "2026-11-21"})
        assert [line.partition(" ")[0] for line in refused.value.message_to_model.splitlines()] == ["Nothing", "Cost"]

    play(story, FORMS)


@pytest.mark.parametrize("status", [400, 403, 404])
def test_jira_refusal_to_look_a_value_up_costs_that_value_only(status: int) -> None:
    async def story(room: Room) -> None:
        room.jira.faults.add("POST", "*/search/jql", Fault("status", status))
        with pytest.raises(ToolError) as refused:
            await created(room, {"Sprint": "autumn", "Cost": "much"})
        (sprint, cost) = refused.value.message_to_model.splitlines()
        told = "Jira does not let Gofer look up a value of Sprint; leave it out, or write the id of a team or sprint."
        assert sprint == f"Nothing was sent to Jira. {told}"
        assert cost == "Cost does not take 'much'. It takes a number."

    play(story, FORMS)


def test_jira_text_area_is_a_document_without_the_links_of_the_run() -> None:
    async def story(room: Room) -> None:
        stored = await created(room, {"Steps": "1. Pay\n2. **Wait**", "Environment": "Test"})
        assert [block["type"] for block in stored["4"]["content"]] == ["orderedList"]
        assert stored["environment"]["content"][0]["content"] == [{"type": "text", "text": "Test"}]

    play(story, FORMS)


def test_jira_values_with_the_same_name_are_told_apart_by_their_ids() -> None:
    meta = {
        "fieldId": "customfield_2",
        "name": "Team",
        "schema": {"type": "option"},
        "allowedValues": [
            {"id": "1", "value": "Core"},
            {"id": "2", "value": "Core"},
            {"id": "3", "value": "Old", "disabled": True},
        ],
    }
    assert takes(field_of(meta)) == "one of: Core (1), Core (2)"


def test_jira_field_of_a_form_without_types_takes_its_values() -> None:
    field = field_of({"key": "components", "name": "Components", "allowedValues": [{"id": "1", "name": "Web"}]})
    assert (field.kind, takes(field)) == ("option", "one of: Web")


def test_jira_field_with_a_default_is_not_required() -> None:
    meta = {"key": "x", "name": "X", "required": True}
    assert (field_of(meta).required, field_of(meta | {"hasDefaultValue": True}).required) == (True, False)


def test_jira_field_shows_values_like_the_written_one_first_and_says_how_many_others_there_are() -> None:
    values = [{"id": str(number), "value": f"Server {number:05}"} for number in range(5_000)]
    field = field_of({"key": "x", "name": "Server", "schema": {"type": "option"}, "allowedValues": values})
    text = takes(field, like="04999")
    assert text.startswith("one of: Server 04999, Server 00000, ")
    assert text.endswith(" and 4,929 others")
    assert len(text) <= VALUES_LIMIT + 40


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
META = st.fixed_dictionaries(
    {},
    optional={
        "fieldId": st.text(max_size=8) | JSON,
        "name": JSON,
        "required": JSON,
        "schema": st.fixed_dictionaries(
            {},
            optional={
                name: st.sampled_from([*FIELD_TYPES.members, "array"]) | JSON
                for name in ("type", "items", "custom", "system")
            },
        )
        | JSON,
        "allowedValues": st.lists(
            st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "value", "name", "children"), JSON)) | JSON,
            max_size=3,
        )
        | JSON,
    },
)


@given(META)
def test_any_field_of_a_jira_form_has_words_for_its_values(meta: dict[str, Any]) -> None:
    assert takes(field_of(meta))
