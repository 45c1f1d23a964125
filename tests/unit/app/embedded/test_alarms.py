"""The places that hear alarms: a webhook, or a channel of Slack."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.embedded.alarms import build_alarms
from gofer.app.not_set_up import lacking
from gofer.app.settings import read_settings
from gofer.runtime.alarms import PATIENCE
from gofer.sources.workflow_files import load_catalog
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import ConfigError
from gofer.values.outside import HttpResponse
from support.app.company import ROOT
from support.runtime.memory_worker import memory_worker
from support.stand_ins import AnsweringHttp, SetClock

pytestmark = pytest.mark.anyio
HOOK = "https://hooks.example.com/services/T0/B0/secret"


def answers(*replies: HttpResponse) -> AnsweringHttp:
    """Return a network that gives these answers, and the last one again and again."""
    left = [*replies]

    def answer(url: str, body: bytes) -> Mapping[str, object] | HttpResponse:
        if len(left) > 1:
            return left.pop(0)
        return left[0]

    return AnsweringHttp(answer)


async def heard(tmp_path: Path, http: AnsweringHttp, **environment: str) -> list[tuple[str, object]]:
    """Return the requests that an absence of Jira and its end cause, as URL and JSON."""
    clock = SetClock()
    outside = replace(memory_worker().worker.services.outside, http=http, clock=clock)
    settings = read_settings({"GOFER_DATA": str(tmp_path), **environment})
    alarms = build_alarms(settings, MemoryStore(), outside)
    assert alarms is not None
    alarms = replace(alarms, has_room=lambda: True)
    alarms.note_away("Jira")
    for _ in range(3):
        clock.advance(PATIENCE)
        await alarms.look()
    return [(url, json.loads(body)) for url, body in http.requests]


async def test_webhook_gets_the_text_once(tmp_path: Path) -> None:
    found = await heard(tmp_path, answers(HttpResponse(200, {}, b"ok")), GOFER_ALARMS=HOOK)
    assert found == [(HOOK, {"text": "Gofer: Jira does not answer. Runs that need it wait."})]


@pytest.mark.parametrize(("status", "times"), [(404, 3), (500, 1)])
async def test_alarm_is_repeated_only_after_a_refusal(tmp_path: Path, status: int, times: int) -> None:
    found = await heard(tmp_path, answers(HttpResponse(status, {}, b"")), GOFER_ALARMS=HOOK)
    assert len(found) == times


async def test_channel_gets_a_message_with_the_address_of_this_gofer(tmp_path: Path) -> None:
    refused = HttpResponse(200, {}, b'{"ok": false, "error": "channel_not_found"}')
    http = answers(refused, HttpResponse(200, {}, b'{"ok": true}'))
    found = await heard(
        tmp_path, http, GOFER_ALARMS="#ops", SLACK_BOT_TOKEN="xoxb-1", GOFER_URL="https://gofer.example.com"
    )
    text = "Gofer at https://gofer.example.com: Jira does not answer. Runs that need it wait."
    message = {"channel": "#ops", "text": text, "unfurl_links": False}
    assert found == [("https://slack.com/api/chat.postMessage", message)] * 2


def test_alarms_are_off_without_the_setting(tmp_path: Path) -> None:
    outside = memory_worker().worker.services.outside
    assert build_alarms(read_settings({"GOFER_DATA": str(tmp_path)}), MemoryStore(), outside) is None


@pytest.mark.parametrize("text", ["ops", "http://hooks.example.com/secret", "ftp://x/secret", "https://", "@secret"])
def test_setting_of_alarms_that_leads_nowhere_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(ConfigError, match="GOFER_ALARMS") as refused:
        read_settings({"GOFER_ALARMS": text})
    assert "secret" not in str(refused.value)


def test_channel_for_alarms_needs_a_token_of_slack() -> None:
    settings = read_settings({"GOFER_ALARMS": "#ops", "OPENAI_API_KEY": "k", "SLACK_APP_TOKEN": "xapp-1"})
    found = [one.text for one in lacking(settings, load_catalog(ROOT / "agents"))]
    assert "GOFER_ALARMS names a channel, which needs SLACK_BOT_TOKEN; set it, or write an https URL." in found
