"""The workspace that Gofer's bot is installed in, and the organisation of that: presses of buttons count there only."""

from collections.abc import Mapping

from gofer.sources.own_account import SECONDS, OwnAccount
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.settings import API_URL, BOT_TOKEN, TEAM_IDS
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[BOT_TOKEN]
    if not token:
        return None
    headers = {"Authorization": f"Bearer {token.reveal()}"}
    return HttpRequest("POST", f"{settings[API_URL]}auth.test", headers, timeout=SECONDS)


def _found(answer: Mapping[str, object]) -> frozenset[str]:
    return frozenset(filter(None, (as_text(answer.get("team_id")), as_text(answer.get("enterprise_id")))))


# `slack_app.identify` asks Slack the same next, and says what is wrong.
ACCOUNT = OwnAccount("Slack", TEAM_IDS, _request, _found, is_needed=False)
