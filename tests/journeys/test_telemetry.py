"""Export of traces by OpenTelemetry: after a run, and by `gofer export`."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.projections.tracing.span_ids import session_id, trace_id
from support.app.command_line import gofer as typed
from support.app.command_line import run_json
from support.app.company import Company, ask_about_the_decision, company
from support.app.one_workflow import GENERAL, LEADS, Echo, gofer
from support.http.otlp_collector import Collector, collector, values

pytestmark = pytest.mark.anyio


@pytest.fixture
def there() -> Iterator[Collector]:
    with collector() as made:
        yield made


async def collected(there: Collector, requests: int = 1) -> None:
    async with asyncio.timeout(60):
        while len(there.requests) < requests:
            await asyncio.sleep(0.01)


async def test_answered_mention_is_exported_as_a_trace_without_contents(tmp_path: Path, there: Collector) -> None:
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url, "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"}
    async with company(tmp_path, **where) as made:
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        await collected(there)
        (answer,) = made.answers(asked)
    assert there.resource == {"service.name": "gofer", "deployment.environment.name": "test"}
    assert [span.name for span in there.spans] == [
        "invoke_workflow answer-here",
        "execute_tool slack_get_user",
        "execute_tool slack_read_thread",
        "execute_tool slack_post_message",
        "chat gpt-5.4-mini",
        "execute_tool slack_read_thread",
        "chat gpt-5.4-mini",
        "execute_tool slack_update_message",
    ]
    assert {span.trace_id for span in there.spans} == {trace_id(head.run)}
    root, *others = there.spans
    assert {span.parent_span_id for span in others} == {root.span_id}
    assert values(root)["gofer.run.id"] == head.run
    # Derived from the keyed token of the row: a plain hash of the name could be guessed.
    assert {values(span)["session.id"] for span in there.spans} == {session_id(head.conversation)}
    chat = values(there.spans[4])
    assert chat["gen_ai.usage.input_tokens"] > 0
    raw = b"".join(there.bodies)
    for words in (b"decided", b"checkout", answer.text[:40].encode(), b"Release Captain", b"C0DEPLOY0", b"U0CAPTN0"):
        assert words not in raw


async def test_message_text_is_exported_at_log_level_full(tmp_path: Path, there: Collector) -> None:
    async with company(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=there.url, AGENT_LOG_LEVEL="full") as made:
        await ask_about_the_decision(made)
        await made.ended()
        await collected(there)
    assert b"does what was decided in" in b"".join(there.bodies)


async def test_private_run_is_not_exported_even_at_log_level_full(tmp_path: Path, there: Collector) -> None:
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url, "AGENT_LOG_LEVEL": "full"}
    async with company(tmp_path, **where) as made:
        private = await made.slack.say("U0SUPPT0", LEADS, made.slack.typed("@Gofer hello"))
        (head,) = await made.ended()
        await made.ask("@Gofer hello", "general")
        public = next(it for it in await made.ended(2) if it.run != head.run)
        await collected(there)
        assert made.answers(private)
    assert head.private
    assert {span.trace_id for span in there.spans} == {trace_id(public.run)}
    assert head.run.encode() not in b"".join(there.bodies)


async def test_answers_do_not_wait_for_a_collector_that_hangs(
    tmp_path: Path, there: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    there.free.clear()
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "10000"}
    async with company(tmp_path, **where) as made:
        asked = await made.ask("@Gofer hello", "general")
        await made.ended()
        again = await made.ask("@Gofer and again", "general", asked)
        await made.ended(2)
        assert (len(made.answers(asked)), len(made.answers(again))) == (2, 1)
        assert "were not sent" not in caplog.text
        there.free.set()
        await collected(there, 2)


async def test_failing_collector_fails_no_run(
    tmp_path: Path, there: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    there.status = 500
    async with company(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=there.url) as made:
        await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        async with asyncio.timeout(60):
            while "were not sent" not in caplog.text:
                await asyncio.sleep(0.01)
    assert head.status == "done"
    assert there.bodies == []


async def test_ignored_run_is_not_exported(tmp_path: Path, there: Collector) -> None:
    narrow = "when: [slack.mention: {channels: ['#deploys']}]"
    async with gofer(tmp_path, narrow, Echo(), environment={"OTEL_EXPORTER_OTLP_ENDPOINT": there.url}) as made:
        await made.slack.say("U0CAPTN0", GENERAL, made.slack.typed("@Gofer hello"))
        assert [head.status for head in await made.ended(1)] == ["ignored"]
        await made.ask("@Gofer hello", "deploys")
        await made.ended(2)
        await collected(there)
        await settled(made)
    assert len(there.requests) == 1


async def settled(made: Company) -> None:
    await made.slack.settled()
    await asyncio.sleep(0.1)


@pytest.mark.usefixtures("terminal")
class TestAtATerminal:
    def test_export_sends_the_same_bytes_as_the_run_by_hand_did(
        self, there: Collector, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", there.url)
        run = run_json(capsys)["run"]
        code, _, err = typed(capsys, "export", run[:8])
        assert (code, err) == (0, f"Sent {len(there.spans) // 2} spans of 1 run.\n")
        assert there.bodies[0] == there.bodies[1]

    def test_export_since_a_time_prints_otlp_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        runs = {run_json(capsys)["run"] for _ in range(2)}
        code, out, _ = typed(capsys, "export", "--since", "1h", "--json")
        told = [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for line in out.splitlines()]
        assert code == 0
        assert {span["traceId"] for span in told} == {trace_id(run).hex() for run in runs}
        assert typed(capsys, "export", "--since", "2999-01-01", "--json")[1:] == ("", "Printed 0 spans of 0 runs.\n")

    def test_export_fails_when_the_collector_rejects_spans(
        self, there: Collector, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = run_json(capsys)["run"]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", there.url)
        there.rejects = 3
        code, _, err = typed(capsys, "export", run)
        assert (code, err.splitlines()[1]) == (1, "The collector rejected 3 of them.")
        there.status = 503
        code, _, err = typed(capsys, "export", "--since", "1h")
        assert (code, f"run {run}: the collector is busy" in err) == (1, True)
        there.status = 403
        assert typed(capsys, "export", run)[0] == 2

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ((), "Name either ids of runs"),
            (("abc", "--since", "1h"), "Name either ids of runs"),
            (("abc",), "No collector is set up"),
            (("--since", "yesterday", "--json"), "--since is 'yesterday'"),
            (("nope", "--json"), "There is no run 'nope'"),
        ],
    )
    def test_export_reports_wrong_input_in_one_sentence(
        self, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
    ) -> None:
        run_json(capsys)
        code, out, err = typed(capsys, "export", *words)
        assert (code, out, sentence in err) == (2, "", True)
