"""The receiver of Slack's interactivity: presses of Gofer's buttons.

Over HTTP, an interaction is a signed form with one field `payload`; through Socket Mode, it is the JSON of that field.
Only presses of Gofer's own buttons count. Slack names the person and the time, and the button's token the decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from typing_extensions import override

from gofer.sources.receiver import Arrival, Click, Ignored, RawRequest, Receiver, json_object, unknown_type
from gofer.sources.slack.receiver import SlackReceiver
from gofer.values.canonical_json import as_list, as_object, as_text, decode_text
from gofer.values.errors import BadRequest
from gofer.values.events import Actor
from gofer.values.secret import Secret

PATH = "/slack/interactivity"
ACTIONS = ("approve", "deny")
"""The `action_id` of each of Gofer's buttons."""

Fields = Mapping[str, object]

INTERACTIONS = frozenset(
    {"block_actions", "block_suggestion", "message_action", "shortcut", "view_submission", "view_closed"}
)
"""The types of interactions that Slack sends."""


@dataclass(frozen=True, slots=True)
class InteractivityReceiver(Receiver):
    """The receiver of one Slack app's interactions."""

    secrets: Sequence[Secret]
    """The signing secret and, during a rotation, the previous one."""
    teams: frozenset[str] | None = None
    """The ids of Gofer's workspace and organisation; None to accept presses in every workspace."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        SlackReceiver(self.secrets).verify(request, now)

    @override
    def translate(self, request: RawRequest) -> Arrival:
        body = json_object(_payload(request.body))
        kind = as_text(body.get("type"))
        if kind != "block_actions":
            return unknown_type("interactions", kind)
        actor = Actor(as_text(as_object(body.get("user")).get("id")))
        if not actor.id:
            return Ignored("incomplete", "it does not say who pressed the button")
        pressed = [one for one in map(as_object, as_list(body.get("actions"))) if one.get("action_id") in ACTIONS]
        if len(pressed) != 1 or pressed[0].get("type") != "button":
            return Ignored("no_own_button", "the pressed button is not one of Gofer's", actor)
        return self._foreign(body, actor) or _click(pressed[0], actor)

    def _foreign(self, body: Fields, actor: Actor) -> Ignored | None:
        """Return the decision for a press from another workspace; None for a press from Gofer's own.

        Slack's ids of people are unique only within one workspace.
        """
        if self.teams is None:
            return None
        if not self.teams:
            return Ignored("team_unknown", "Gofer does not know its own workspace; set SLACK_TEAM_ID to its id", actor)
        own = self.teams
        # If a person belongs to an organisation, Slack may send its id as the person's team.
        person = as_text(as_object(body.get("user")).get("team_id"))
        if not _teams(body) & own or (person and person not in own):
            return Ignored(
                "other_team", "it was pressed in another workspace than Gofer's, or by a person from another one", actor
            )
        return None


def _teams(body: Fields) -> frozenset[str]:
    """Return the ids of an interaction's workspace and organisation."""
    team = as_object(body.get("team"))
    enterprise = as_object(body.get("enterprise"))
    return frozenset(map(as_text, (team.get("id"), team.get("enterprise_id"), enterprise.get("id"))))


def _click(button: Fields, actor: Actor) -> Click | Ignored:
    seconds, _, fraction = as_text(button.get("action_ts")).partition(".")
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= 12):
        return Ignored("incomplete", "it does not say when the button was pressed", actor)
    # Slack writes the fraction in microseconds. An unreadable fraction must not lose the decision, so it counts as 0.
    thousandths = 0
    if fraction[:3].isascii() and fraction[:3].isdecimal():
        thousandths = int(fraction[:3].ljust(3, "0"))
    return Click(as_text(button.get("value")), actor, int(seconds) * 1000 + thousandths)


def _payload(body: bytes) -> bytes:
    """Return the JSON of a delivery. Raises BadRequest(400)."""
    if body.lstrip()[:1] == b"{":
        return body
    text = decode_text(body)
    if not text.strip():
        raise BadRequest(400, "The body is empty.", code="body_empty")
    try:
        fields = dict(parse_qsl(text.encode().decode("ascii"), strict_parsing=True, max_num_fields=10))
    except ValueError as error:
        raise BadRequest(400, "The body is not a form.", code="body_not_form") from error
    if "payload" not in fields:
        raise BadRequest(400, "The form has no field `payload`.", code="form_without_payload")
    return fields["payload"].encode(errors="surrogatepass")
