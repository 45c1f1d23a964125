"""The bot user as which Gofer acts in Notion."""

from collections.abc import Mapping

from gofer.sources.notion.settings import BASE_URL, BOT_ID, TOKEN, VERSION
from gofer.sources.own_account import SECONDS, OwnAccount
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[TOKEN]
    if not token:
        return None
    headers = {"Authorization": f"Bearer {token.reveal()}", "Notion-Version": VERSION}
    return HttpRequest("GET", f"{settings[BASE_URL]}/v1/users/me", headers, timeout=SECONDS)


def _found(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("id"))


ACCOUNT = OwnAccount("Notion", BOT_ID, _request, _found)
