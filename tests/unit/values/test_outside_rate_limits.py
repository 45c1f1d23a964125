"""Rate limits of vendors: how long a refused write has to wait."""

import math
from dataclasses import dataclass

import pytest

from gofer.sources.github.api import GitHubApi
from gofer.sources.jira.api import JiraApi
from gofer.sources.notion.api import NotionApi
from gofer.sources.slack.api import SlackApi
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.stand_ins import SetClock
from support.tools.calls import any_call

pytestmark = pytest.mark.anyio
KEY = Secret("x")
SLACK, JIRA = SlackApi("http://slack/api/", KEY), JiraApi("http://jira", "a@b.c", KEY)
NOTION, GITHUB = NotionApi("http://notion", KEY), GitHubApi("https://api.github.com", KEY)
WRITES = {
    "slack": lambda call: SLACK.write(call, "chat.update", channel="C1", ts="1.0", text="x"),
    "jira": lambda call: JIRA.write(call, "/issue", {}),
    "notion": lambda call: NOTION.post(call, "comments"),
    "github": lambda call: GITHUB.write(call, "/repos/a/b/issues", title="x"),
}


@dataclass
class Limited:
    """An HTTP service that refuses every request."""

    response: HttpResponse

    async def send(self, request: HttpRequest) -> HttpResponse:
        return self.response


async def refused(vendor: str, status: int, **headers: str) -> ToolError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    http, clock = Limited(HttpResponse(status, named, b"{}")), SetClock(1_000.0)
    with pytest.raises(ToolError) as error:
        await WRITES[vendor](any_call(http, clock=clock))
    return error.value


@pytest.mark.parametrize("vendor", WRITES)
async def test_refused_write_waits_for_the_retry_after_of_a_429(vendor: str) -> None:
    assert (await refused(vendor, 429, retry_after="90")).retry_after == 90.0
    assert (await refused(vendor, 429)).retry_after == math.inf


async def test_rate_limits_with_other_statuses_are_recognized() -> None:
    assert (await refused("notion", 529, retry_after="61")).retry_after == 61.0
    assert (await refused("github", 403, retry_after="61")).retry_after == 61.0
    spent = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1600"}
    assert (await refused("github", 403, **spent)).retry_after == 600.0


@pytest.mark.parametrize(("vendor", "status"), [("jira", 403), ("jira", 404), ("github", 403), ("github", 422)])
async def test_refusal_without_a_rate_limit_has_no_retry_after(vendor: str, status: int) -> None:
    assert (await refused(vendor, status)).retry_after == 0.0
