"""The account as which Gofer acts in Jira."""

from base64 import b64encode
from collections.abc import Mapping

from gofer.sources.jira.settings import ACCOUNT_ID, API_TOKEN, BASE_URL, EMAIL
from gofer.sources.own_account import SECONDS, OwnAccount
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[API_TOKEN]
    if not settings[BASE_URL] or not token:
        return None
    basic = b64encode(f"{settings[EMAIL]}:{token.reveal()}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Accept": "application/json"}
    return HttpRequest("GET", f"{settings[BASE_URL]}/rest/api/3/myself", headers, timeout=SECONDS)


def _found(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("accountId"))


ACCOUNT = OwnAccount("Jira", ACCOUNT_ID, _request, _found)
