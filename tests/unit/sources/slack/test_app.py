"""The identity of the installed Slack app, and errors of Slack in one sentence."""

import asyncio
import json

import pytest

from gofer.app.settings import read_settings
from gofer.sources.serving import InstalledApp
from gofer.sources.slack.app import identify
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import HttpResponse
from support.stand_ins import AnsweringHttp

SETTINGS = read_settings({"SLACK_BOT_TOKEN": "xoxb-hunter2", "SLACK_API_URL": "http://127.0.0.1/api"}).sources


def asked(status: int, body: object, **headers: str) -> InstalledApp:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    http = AnsweringHttp(lambda url, content: HttpResponse(status, headers, raw))
    app = asyncio.run(identify(SETTINGS, http))
    assert [url for url, _ in http.requests] == ["http://127.0.0.1/api/auth.test"]
    return app


def test_slack_app_of_a_token_has_team_user_and_scopes() -> None:
    app = asked(200, {"ok": True, "team": "Acme", "user": "gofer"}, **{"x-oauth-scopes": "chat:write, users:read"})
    assert app == InstalledApp("Acme", "gofer", frozenset({"chat:write", "users:read"}))
    assert asked(200, {"ok": True}).scopes is None


@pytest.mark.parametrize("code", ["invalid_auth", "account_inactive", "token_revoked"])
def test_slack_refused_token_is_a_config_error_without_the_token(code: str) -> None:
    with pytest.raises(ConfigError, match=rf"does not accept SLACK_BOT_TOKEN \({code}\)") as refused:
        asked(200, {"ok": False, "error": code})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "body"), [(502, b"<html>proxy</html>"), (200, b"hello"), (429, {"ok": False, "error": "ratelimited"})]
)
def test_slack_answer_of_another_form_is_a_temporary_error(status: int, body: object) -> None:
    with pytest.raises(TemporaryError, match="does not answer as Slack"):
        asked(status, body)
