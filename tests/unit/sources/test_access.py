"""Refused credentials and permissions: a log line with fields for the operator, and the reason in the run list."""

import logging
from dataclasses import replace

import pytest

from gofer.app.logs import JsonLines
from gofer.sources.github.api import GitHubApi
from gofer.sources.jira.api import JiraApi
from gofer.sources.notion.api import NotionApi
from gofer.sources.slack.api import SlackApi
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.engine.memory_run import Said, says
from support.runtime.memory_worker import memory_worker
from support.tools.calls import any_call

pytestmark = pytest.mark.anyio
KEY, NONE = Secret("x"), Secret("")


class Answers:
    """HTTP to a service that always gives the same answer."""

    def __init__(self, status: int, body: str) -> None:
        self.response = HttpResponse(status, {}, body.encode())

    async def send(self, request: HttpRequest) -> HttpResponse:
        return self.response


async def slack(call: Call, key: Secret = KEY) -> object:
    return await SlackApi("http://slack/api/", key).read(call, "users.info", user="U1")


async def jira(call: Call, key: Secret = KEY) -> object:
    return await JiraApi("http://jira" if key else "", "a@b.c", key).read(call, "/issue/OPS-1")


async def notion(call: Call, key: Secret = KEY) -> object:
    return await NotionApi("http://notion", key).get(call, "pages/1")


async def github(call: Call, key: Secret = KEY) -> object:
    return await GitHubApi("https://api.github.com", key).read(call, "/repos/a/b")


REFUSED = [
    (slack, 200, '{"ok": false, "error": "token_expired"}', "credential", "token_expired"),
    (slack, 200, '{"ok": false, "error": "token_revoked"}', "credential", "token_revoked"),
    (slack, 200, '{"ok": false, "error": "invalid_auth"}', "credential", "invalid_auth"),
    (slack, 200, '{"ok": false, "error": "missing_scope", "needed": "users:read"}', "permission", "missing_scope"),
    (jira, 401, "<html>Log in</html>", "credential", "401"),
    (jira, 403, "{}", "permission", "403"),
    (notion, 401, '{"code": "unauthorized", "message": "API token is invalid."}', "credential", "unauthorized"),
    (notion, 403, '{"code": "restricted_resource"}', "permission", "restricted_resource"),
    (github, 401, '{"message": "Bad credentials"}', "credential", "bad_credentials"),
    (github, 403, '{"message": "Resource not accessible by integration"}', "permission", "missing_permission"),
]


def call(status: int, body: str) -> Call:
    return any_call(Answers(status, body))


@pytest.mark.parametrize(("ask", "status", "body", "access", "code"), REFUSED)
async def test_refused_access_is_one_log_line_with_system_access_and_code(
    caplog: pytest.LogCaptureFixture, ask: object, status: int, body: str, access: str, code: str
) -> None:
    with pytest.raises(ToolError) as refused:
        await ask(call(status, body))  # type: ignore[operator]
    assert (refused.value.access, refused.value.code) == (access, code)
    (line,) = caplog.records
    system = ask.__name__  # type: ignore[attr-defined]
    assert line.levelno == logging.ERROR
    assert line.__dict__["fields"] == {"system": system, "access": access, "code": code}
    # Also with minimal logs: people in a channel cannot act on it.
    assert f'"system": "{system}", "access": "{access}", "code": "{code}"' in JsonLines("minimal").format(line)


@pytest.mark.parametrize("ask", [slack, jira, notion, github])
async def test_missing_credential_is_logged_like_a_refused_credential(
    caplog: pytest.LogCaptureFixture, ask: object
) -> None:
    with pytest.raises(ToolError) as refused:
        await ask(call(200, "{}"), NONE)  # type: ignore[operator]
    assert refused.value.access == "credential"
    (line,) = caplog.records
    assert line.__dict__["fields"]["access"] == "credential"


@pytest.mark.parametrize(("access", "reason"), [("credential", "Renew the token."), ("permission", ""), ("", "")])
async def test_run_without_access_to_a_system_is_done_with_the_reason_in_the_list(access: str, reason: str) -> None:
    made = memory_worker(says("", ("act", {"text": "x"})), says("Without it, then."))
    made.grant("act")

    async def act(call: Call, said: Said) -> ToolResult:
        raise ToolError("Renew the token.", code="401", access=access)  # type: ignore[arg-type]

    before = made.worker.services
    tools = {**before.tools, "act": Tool("act", "acts", "read", Said, act)}
    made.worker = replace(made.worker, services=replace(before, tools=tools))
    await made.accept("run1", private=False)
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason) == ("done", reason)
    assert made.posted == ["Without it, then."]
