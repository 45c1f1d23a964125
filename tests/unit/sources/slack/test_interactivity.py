"""Presses of Slack buttons: the workspaces that count."""

import json
from collections.abc import Mapping

import pytest

from gofer.app.settings import read_settings
from gofer.sources.receiver import Click, Ignored, RawRequest
from gofer.sources.receivers import receivers
from gofer.sources.slack.interactivity import PATH, InteractivityReceiver
from gofer.values.errors import ConfigError
from support.sources.every_delivery import PRESS

OWN, OTHER = "T0ACME000", "T0OTHER00"
ORG = "E0ACME000"
Fields = Mapping[str, object]


def press(**fields: object) -> Fields:
    return {**PRESS, **fields}


def by(team: str | None) -> Fields:
    return {"id": "U0NEWCO0", **({"team_id": team} if team else {})}


def translated(body: Fields, *teams: str) -> Click | Ignored:
    found = InteractivityReceiver((), frozenset(teams)).translate(
        RawRequest("POST", PATH, (), json.dumps(body).encode())
    )
    assert isinstance(found, Click | Ignored)
    return found


@pytest.mark.parametrize(
    ("teams", "body"),
    [
        ((OWN,), press(team={"id": OWN}, user=by(OWN))),
        ((OWN,), press(team={"id": OWN}, user=by(None), enterprise=None)),
        ((OWN, ORG), press(team={"id": OWN, "enterprise_id": ORG}, user=by(ORG), enterprise={"id": ORG})),
        # A channel of several workspaces of one organisation.
        ((OWN, ORG), press(team={"id": OTHER, "enterprise_id": ORG}, user=by(ORG))),
        # Installed for the whole organisation.
        ((OWN, ORG), press(team=None, user=by(ORG), enterprise={"id": ORG}, is_enterprise_install=True)),
    ],
)
def test_slack_press_from_the_own_workspace_or_organisation_counts(teams: tuple[str, ...], body: Fields) -> None:
    assert isinstance(translated(body, *teams), Click)


@pytest.mark.parametrize(
    "body",
    [
        press(team={"id": OTHER}, user=by(OTHER)),
        press(team={"id": OTHER}, user=by(None)),
        # Of another company, in a channel that two companies share.
        press(team={"id": OWN}, user=by(OTHER)),
        press(team={"id": OTHER}, user=by(OWN)),
        press(team={"id": OTHER, "enterprise_id": "E0OTHER00"}, user=by("E0OTHER00"), enterprise={"id": "E0OTHER00"}),
        press(team=None, user=by(OWN)),
        press(team=None, user=by(None), enterprise=None),
        press(team={"id": [OWN]}, user=by(OWN)),
        press(team=OWN, user=by(OWN)),
        press(user=by(OWN)),
        press(team={"id": ""}, user=by("")),
    ],
)
def test_slack_press_from_another_workspace_is_ignored(body: Fields) -> None:
    ignored = translated(body, OWN, ORG)
    assert isinstance(ignored, Ignored)
    assert ignored.code == "other_team"


def test_slack_press_is_ignored_while_the_own_workspace_is_unknown() -> None:
    ignored = translated(press(team={"id": OWN}, user=by(OWN)))
    assert isinstance(ignored, Ignored)
    assert ignored.code == "team_unknown"
    assert "SLACK_TEAM_ID" in ignored.reason


def test_slack_interactivity_receiver_takes_the_workspaces_of_the_settings() -> None:
    known = receivers(read_settings({"SLACK_SIGNING_SECRET": "s", "SLACK_TEAM_ID": f" {OWN} ,{ORG}, "}).sources)[PATH]
    assert isinstance(known, InteractivityReceiver)
    assert known.teams == {OWN, ORG}
    with pytest.raises(ConfigError, match="SLACK_TEAM_ID is not the id of a workspace"):
        read_settings({"SLACK_TEAM_ID": "acme.slack.com"})
