"""The account as which Gofer acts on GitHub."""

from collections.abc import Mapping

from gofer.sources.github.settings import API_URL, LOGIN, TOKEN
from gofer.sources.own_account import SECONDS, OwnAccount
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[TOKEN]
    if not token:
        return None
    headers = {
        "Authorization": f"Bearer {token.reveal()}",
        "Accept": "application/vnd.github+json",
        "User-Agent": "gofer",
    }
    return HttpRequest("GET", f"{settings[API_URL]}/user", headers, timeout=SECONDS)


def _found(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("login"))


ACCOUNT = OwnAccount("GitHub", LOGIN, _request, _found)
