"""Alarms on AWS: failures that people cause outside Gofer write the metrics on which alarms of template.yaml go off."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.functions.worker import measure
from gofer.projections.progress import Progress
from gofer.runtime.run_reports import Ended
from gofer.values.messages import Usage
from support.aws.alarms import ringing, written
from support.aws.lambda_stage import Code, Stage, stage, together

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    folder = tmp_path_factory.mktemp("code")
    return together(Path(folder))


def model_that_refuses_the_key() -> Starlette:
    async def refuse(request: Request) -> Response:
        error = {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"}
        return JSONResponse({"error": error}, status_code=401)

    return Starlette(routes=[Route("/v1/chat/completions", refuse, methods=["POST"])])


async def ask(made: Stage, times: int) -> list[str]:
    """Mention Gofer in new threads and work until all runs ended; return their statuses."""
    for number in range(times):
        await made.ask(f"@Gofer hello {number}")
    heads = await made.work(times)
    return [head.status for head in heads]


async def test_revoked_model_key_sets_off_the_alarms_on_failed_runs(code: Code) -> None:
    async with stage(code, model_that_refuses_the_key()) as made:
        two = await ask(made, 2)
        early = ringing(written(made.host.log("worker")))
        await ask(made, 3)
        values = written(made.host.log("worker"))
    assert set(two) == {"failed"}
    assert not {"FailedRunsAlarm", "FailedRunsDayAlarm"} & early
    assert values["RunFailed"] == [1.0] * len(values["RunFailed"])
    assert {"FailedRunsAlarm", "FailedRunsDayAlarm"} <= ringing(values)


async def test_runs_that_are_answered_in_time_set_off_no_alarm(code: Code) -> None:
    async with stage(code) as made:
        statuses = await ask(made, 3)
        values = written(made.host.log())
    assert statuses == ["done"] * 3
    assert values["RunFailed"] == [0.0] * 3
    assert len(values["SecondsToBegin"]) == 3
    assert ringing(values) == set()


async def test_secret_rotated_only_at_the_sender_sets_off_the_alarm_on_refused_deliveries(code: Code) -> None:
    async with stage(code) as made:
        asked = await made.ask("@Gofer hello")
        body = made.slack.envelopes(asked)[0]
        made.set(SLACK_SIGNING_SECRET="another-secret")
        made.deploy("slack")
        answers = [await made.slack.deliver(body, retry_num=number) for number in range(6)]
        # The receiver counts further deliveries of a minute for its next line; a new environment begins anew.
        for _ in range(5):
            made.host.retire("slack")
            answers.append(await made.slack.deliver(body, retry_num=1))
        values = written(made.host.log("slack"))
    assert set(answers) == {401}
    assert sum(values["RefusedDeliveries"]) >= 5
    assert "RefusedDeliveriesAlarm" in ringing(values)


def test_tokens_of_runs_without_a_known_cost_set_off_an_alarm(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "gofer-test")
    for _ in range(3):
        measure(Ended("done", 1.0, Progress(cost_usd=None, usage=Usage(1_900_000, 100_000))))
    values = written(capsys.readouterr().out)
    assert values["TokensWithoutCost"] == [2_000_000.0] * 3
    assert "TokensWithoutCostAlarm" in ringing(values)
    assert "TokensWithoutCostAlarm" not in ringing(values, {"DailyTokensWithoutCost": 7_000_000})


@pytest.mark.parametrize(
    ("waits", "rings"), [([200.0] * 4, False), ([1.0] * 90 + [200.0] * 10, True), ([1.0] * 50, False)]
)
def test_runs_that_begin_late_set_off_the_alarm_on_slow_starts(waits: list[float], rings: bool) -> None:
    assert ("SlowStartsAlarm" in ringing({"SecondsToBegin": waits})) == rings
