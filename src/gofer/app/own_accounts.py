"""The accounts as which Gofer acts in Jira, Notion and GitHub, and its workspace in Slack; each system is asked once.

What Gofer writes with such an account starts nothing, and presses of buttons count in that workspace only. An account
that the settings name is not looked up; receivers on AWS never look, because they start anew all the time.
"""

import asyncio
import logging
from base64 import b64encode
from dataclasses import dataclass, replace

from gofer.app.settings import Settings
from gofer.sources.notion.api import VERSION
from gofer.values.canonical_json import as_object, as_text, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.outside import Http, HttpRequest

SECONDS = 5.0
"""How long a start waits for each answer at most; all are asked at once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Question:
    """Where one system says who a token belongs to."""

    system: str
    setting: str
    """What names the account instead."""
    request: HttpRequest
    field: str
    """What of the answer is the account."""


async def with_own_accounts(settings: Settings, http: Http) -> Settings:
    """The settings with the accounts of the tokens; one that cannot be found out is a warning and stays empty."""
    jira, notion, github, teams = await asyncio.gather(
        _jira(settings, http), _notion(settings, http), _github(settings, http), _slack(settings, http)
    )
    return replace(settings, jira_account_id=jira, notion_bot_id=notion, github_login=github, slack_team_ids=teams)


async def _slack(settings: Settings, http: Http) -> frozenset[str]:
    """Return the workspace of the bot token, and the organisation of that."""
    if settings.slack_team_ids or not settings.slack_bot_token:
        return settings.slack_team_ids
    headers = {"Authorization": f"Bearer {settings.slack_bot_token.reveal()}"}
    request = HttpRequest("POST", f"{settings.slack_api_url}auth.test", headers, timeout=SECONDS)
    try:
        answer = as_object(decode((await http.send(request)).body))
    except (BadRequest, TemporaryError):
        # `slack_app.identify` asks Slack the same next, and says what is wrong.
        return frozenset()
    return frozenset(filter(None, (as_text(answer.get("team_id")), as_text(answer.get("enterprise_id")))))


async def _jira(settings: Settings, http: Http) -> str:
    if settings.jira_account_id or not (settings.jira_base_url and settings.jira_api_token):
        return settings.jira_account_id
    basic = b64encode(f"{settings.jira_email}:{settings.jira_api_token.reveal()}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Accept": "application/json"}
    request = HttpRequest("GET", f"{settings.jira_base_url}/rest/api/3/myself", headers, timeout=SECONDS)
    return await _answer(_Question("Jira", "JIRA_ACCOUNT_ID", request, "accountId"), http)


async def _notion(settings: Settings, http: Http) -> str:
    if settings.notion_bot_id or not settings.notion_token:
        return settings.notion_bot_id
    headers = {"Authorization": f"Bearer {settings.notion_token.reveal()}", "Notion-Version": VERSION}
    request = HttpRequest("GET", f"{settings.notion_base_url}/v1/users/me", headers, timeout=SECONDS)
    return await _answer(_Question("Notion", "NOTION_BOT_ID", request, "id"), http)


async def _github(settings: Settings, http: Http) -> str:
    if settings.github_login or not settings.github_token:
        return settings.github_login
    headers = {
        "Authorization": f"Bearer {settings.github_token.reveal()}",
        "Accept": "application/vnd.github+json",
        "User-Agent": "gofer",
    }
    request = HttpRequest("GET", f"{settings.github_api_url}/user", headers, timeout=SECONDS)
    return await _answer(_Question("GitHub", "GITHUB_LOGIN", request, "login"), http)


async def _answer(question: _Question, http: Http) -> str:
    try:
        response = await http.send(question.request)
        if response.status == 200 and (found := as_text(as_object(decode(response.body)).get(question.field))):
            return found
        why = f"HTTP {response.status}"
    except BadRequest:
        why = "the answer is no JSON"
    except TemporaryError as error:
        why = str(error)
    _log.warning(
        "%s does not say whom Gofer's token belongs to (%s), so that what Gofer writes there may start it again; "
        "correct the token, or set %s.",
        question.system,
        why,
        question.setting,
    )
    return ""
