"""An operator's commands for a stage on AWS, played by moto: publish, roll back, and look after runs."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gofer.app.functions.foundation import live_front
from gofer.app.functions.worker import live_catalog
from gofer.journal.coordination import Head
from gofer.models.language_model import Answer
from gofer.projections.tracing.span_ids import trace_id
from gofer.runtime.worker import Worker
from gofer.sources.workflow_files import WorkflowForm
from gofer.values.outside import SystemClock
from gofer.workflows.publication import read_catalog
from gofer.workflows.published import POINTER, bundle_key
from gofer.workflows.routes import read_routes
from support.app.command_line import gofer
from support.aws.moto_server import ASKED, client
from support.aws.moto_stage import FUNCTION, OPERATOR, SCHEDULER, Stage, sign_in
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import MemoryWorker
from support.runtime.worker_parts import over
from support.stand_ins import SetClock, claimed, make_outside, mention
from support.workflows.started_workflows import started

ANSWER = 'description: d\nowner: "#o"\nwhen: [slack.mention]\n'
DIGEST = 'description: d\nowner: "#o"\nwhen:\n  - schedule: {cron: "0 9 ? * MON *", zone: Europe/Berlin}\n'
OFTEN = 'description: d\nowner: "#o"\nwhen:\n  - schedule: {every: 10 minutes, missed: catch_up}\n'

Type = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stage() -> Stage:
    return Stage(SetClock(SystemClock().now()))


@pytest.fixture
def repository(terminal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository as the current folder of an operator with an AWS profile."""
    root = tmp_path / "repository"
    (root / "agents").mkdir(parents=True)
    (root / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    write(root, "answer-here", ANSWER, "Be kind.")
    write(root, "digest", DIGEST, "Report.")
    sign_in(monkeypatch, tmp_path)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def at(capsys: pytest.CaptureFixture[str], stage: Stage) -> Type:
    """Run commands for the stage as a person with the policy for that command only."""

    def typed(*words: str) -> tuple[int, str, str]:
        ASKED.clear()
        done = gofer(capsys, *words, "--stage", stage.name, "--profile", "ops")
        assert done[0] == 2 or OPERATOR in {one.key for one in ASKED}
        assert stage.refused("PublishPolicy" if words[0] == "publish" else "OperatorPolicy") == []
        return done

    return typed


def write(root: Path, name: str, yaml: str, prompt: str) -> None:
    (root / "agents" / f"{name}.yaml").write_text(yaml)
    (root / "agents" / f"{name}.md").write_text(prompt)


def published(typed: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = typed
    assert (code, err) == (0, "")
    return json.loads(out)


def live(stage: Stage) -> str:
    return json.loads(client("s3").get_object(Bucket=stage.bucket, Key=POINTER)["Body"].read())["name"]


def worker(stage: Stage, *answers: Answer) -> Worker:
    """Return the worker of the stage, which uses the workflows published there."""
    made = MemoryWorker(ListModel(list(answers)))
    services = over(made.worker.services, store=stage.store, blobs=stage.blobs, queue=stage.queue)
    services = replace(services, outside=make_outside(made.clock))
    catalog = live_catalog(stage.bundles, SystemClock(), Path("nowhere"))
    return replace(made.worker, services=services, workflows=catalog)


async def accept(stage: Stage, run: str, *, conversation: str = "") -> None:
    at = int(SystemClock().now() * 1000)
    await claimed(stage.store, run)
    where = conversation or mention().conversation
    await stage.store.create_head(Head(run, "answer-here", where, at, private=False, frames=1))
    await stage.queue.enqueue(run)


async def work_once(made: Worker) -> None:
    queue_messages = await made.queue.receive(10, 120, 0)
    await asyncio.gather(*(made.answer(queue_message) for queue_message in queue_messages))


def test_publish_replaces_workflows_and_schedules_and_rolls_back(at: Type, stage: Stage, repository: Path) -> None:
    tried = published(at("publish", "--dry-run", "--json"))
    assert (tried["workflows"]["added"], tried["before"]) == (["answer-here", "digest"], "")
    assert (stage.schedules(), client("s3").list_objects_v2(Bucket=stage.bucket)["KeyCount"]) == ({}, 0)

    first = published(at("publish", "--json"))["name"]
    assert first == live(stage)
    bundle = client("s3").get_object(Bucket=stage.bucket, Key=bundle_key(first))["Body"].read()
    worst_cases = read_catalog(bundle, Path("nowhere"), WorkflowForm).worst_cases
    assert worst_cases["answer-here"].startswith("It is started by `slack.mention`, for members")
    (digest,) = stage.schedules().values()
    assert (digest["ScheduleExpression"], digest["ScheduleExpressionTimezone"]) == (
        "cron(0 9 ? * MON *)",
        "Europe/Berlin",
    )
    assert (digest["Target"]["Arn"], digest["Target"]["RoleArn"]) == (FUNCTION, SCHEDULER)
    assert json.loads(digest["Target"]["Input"])["at"] == "<aws.scheduler.scheduled-time>"
    assert digest["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == 90

    (repository / "agents" / "digest.yaml").unlink()
    (repository / "agents" / "digest.md").unlink()
    write(repository, "often", OFTEN, "Look.")
    write(repository, "answer-here", ANSWER, "Be brief.")
    code, out, err = at("publish")
    second = live(stage)
    assert (code, err) == (0, f"{second} is live within 30 seconds, after {first}.\n")
    assert out.splitlines()[:3] == ["+ often", "~ answer-here", "- digest"]
    assert {name: one["ScheduleExpression"] for name, one in stage.schedules().items()} == {"often": "rate(10 minutes)"}
    assert stage.schedules()["often"]["StartDate"]

    again = published(at("publish", "--json"))
    nothing = {"added": [], "changed": [], "removed": []}
    assert (again["moved"], again["workflows"], again["schedules"]) == (False, nothing, nothing)

    code, out, _ = at("publish", "--list")
    assert (code, [line.split()[:2] for line in out.splitlines()]) == (0, [["*", second], [first]])

    code, out, err = at("publish", "--roll-back", first)
    assert (code, live(stage), set(stage.schedules())) == (0, first, {"digest"})
    assert out.splitlines()[:3] == ["+ digest", "~ answer-here", "- often"]
    assert json.loads(at("publish", "--list", "--json")[1])["current"] == first


def test_receiver_and_worker_use_the_published_workflows(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0
    front = live_front(stage.bundles, SystemClock(), lambda compiled: read_routes(compiled.routes))
    made = worker(stage, says("Hello."))

    async def play() -> None:
        assert started(await front.current(), mention()) == ["answer-here"]
        await accept(stage, "run1")
        await work_once(made)
        head = await stage.store.head("run1")
        assert head is not None
        assert head.status == "done"

    asyncio.run(play())
    asked = json.loads(made.services.model.requests[0])
    assert asked["messages"][0]["content"].endswith("Be kind.")


def test_publish_refuses_workflows_with_mistakes(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0
    before = live(stage)
    write(repository, "answer-here", f"{ANSWER}tools: [slack_read_thred]\n", "Be kind.")
    script = "coordinator: script\ncoordinator_script: coordinators/gone.py\n"
    write(repository, "plain", f"{ANSWER.replace('mention', 'direct')}{script}", "")
    (repository / "agents" / "plain.md").unlink()
    code, out, err = at("publish")
    assert (code, out) == (2, "")
    assert "agents/answer-here.yaml:4:9: There is no tool `slack_read_thred`" in err
    assert "coordinators/gone.py" in err
    assert live(stage) == before


def test_publish_repairs_schedules_that_were_changed_by_hand(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0
    (digest,) = stage.schedules().values()
    form = {key: digest[key] for key in ("Name", "GroupName", "FlexibleTimeWindow", "Target", "ScheduleExpression")}
    client("scheduler").update_schedule(**form, State="DISABLED")
    client("scheduler").create_schedule(**{**form, "Name": "by-hand"})
    done = published(at("publish", "--json"))
    assert (done["moved"], len(done["schedules"]["changed"]), done["schedules"]["removed"]) == (False, 1, ["by-hand"])
    (right,) = stage.schedules().values()
    assert (right["State"], right["ScheduleExpressionTimezone"]) == ("ENABLED", "Europe/Berlin")


def test_publish_options_print_a_sentence_before_the_first_publish(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish", "--list") == (0, "", "Nothing is published yet.\n")
    code, out, err = at("publish", "--dry-run")
    assert (code, out.splitlines()[:2], err) == (
        0,
        ["+ answer-here", "+ digest"],
        "This bundle would be live; nothing was changed.\n",
    )
    code, out, err = at("publish", "--roll-back", "20261121T120000Z-000000000000")
    assert (code, out, "`gofer publish --list` lists the bundles" in err) == (2, "", True)
    code, out, err = at("publish", "elsewhere")
    assert (code, err) == (
        2,
        "gofer: There is no folder elsewhere/agents; run the command in the repository that contains your workflows.\n",
    )


def test_publishing_unchanged_workflows_only_repairs_the_schedules(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0
    (digest,) = stage.schedules().values()
    client("scheduler").delete_schedule(GroupName=stage.name, Name=digest["Name"])
    code, out, err = at("publish")
    assert (code, out.split()[:2]) == (0, ["+", digest["Name"]])
    assert err == f"{live(stage)} is already live; nothing else was published.\n"
    form = {key: digest[key] for key in ("Name", "GroupName", "FlexibleTimeWindow", "Target")}
    client("scheduler").update_schedule(**form, ScheduleExpression="rate(1 hour)")
    assert at("publish")[1].split()[:2] == ["~", digest["Name"]]


def test_runs_on_aws_are_listed_traced_exported_cancelled_kept_and_purged(
    at: Type, stage: Stage, repository: Path
) -> None:
    assert at("publish")[0] == 0
    assert at("runs") == (0, "", "There are no runs that may be listed.\n")
    made = worker(stage, says("Hello."), says("Hi."), says("Hey."))

    async def begin() -> None:
        await accept(stage, "aaaa01")
        await work_once(made)
        await accept(stage, "bbbb02", conversation="slack:T:C:2")
        await accept(stage, "cccc03", conversation="slack:T:C:3")

    asyncio.run(begin())
    rows = {row["run"]: row["status"] for row in json.loads(at("runs", "--json")[1])}
    assert rows == {"aaaa01": "done", "bbbb02": "queued", "cccc03": "queued"}
    trace = json.loads(at("trace", "aaaa", "--json")[1])
    assert trace["run"] == "aaaa01"
    assert "slack_post_message" in [span["name"] for span in trace["spans"]]
    code, out, err = at("export", "--since", "1h", "--json")
    assert (code, "of 1 run" in err) == (0, True)
    (exported,) = [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"] for line in out.splitlines()]
    assert {span["traceId"] for span in exported} == {trace_id("aaaa01").hex()}

    assert at("trace", "aaaa01")[0] == 0
    for word in ("trace", "cancel", "retry", "keep"):
        assert at(word, "") == (2, "", "gofer: The id of the run is empty; `gofer runs` lists the newest runs.\n")
    assert at("cancel", "bbbb")[0] == 0
    asyncio.run(work_once(made))
    head = asyncio.run(stage.store.head("bbbb02"))
    assert head is not None
    assert head.status == "cancelled"

    assert at("keep", "aaaa") == (0, "The contents of run aaaa01 are kept.\n", "")
    assert published(at("purge", "--older-than", "0", "--json")) == {
        "deleted": 1,
        "forgotten": 0,
        "unseen": 0,
        "oldest_days": 0,
        "overlooked": 0,
    }
    assert at("trace", "aaaa")[0] == 0
    code, _, err = at("trace", "cccc")
    assert (code, "were deleted by retention" in err) == (1, True)


def test_abandoned_run_on_aws_is_listed_and_retried(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0
    made = worker(stage, says("Hello."))

    async def abandon() -> None:
        await accept(stage, "aaaa01")
        head = await stage.store.head("aaaa01")
        assert head is not None
        await stage.store.put_head(head.now("needs_attention", head.accepted_at, reason="it cannot be continued"))
        (queue_message,) = await stage.queue.receive(1, 60, 0)
        await stage.queue.move_to_dead_letters(queue_message, "no such luck")

    asyncio.run(abandon())
    code, out, err = at("runs")
    assert (code, "needs_attention" in out, "the queue message of run aaaa01" in err) == (0, True, True)
    code, out, _ = at("retry", "aaaa", "--json")
    assert (code, json.loads(out)["enqueued"]) == (0, True)
    asyncio.run(work_once(made))
    assert at("retry", "aaaa") == (1, "", "Run aaaa01 is done; there is nothing to retry.\n")


def test_abandoned_private_run_on_aws_is_listed_by_id_only_and_retried(
    at: Type, stage: Stage, repository: Path
) -> None:
    assert at("publish")[0] == 0

    async def abandon() -> None:
        await accept(stage, "aaaa01")
        head = await stage.store.head("aaaa01")
        assert head is not None
        await stage.store.put_head(head.now("needs_attention", head.accepted_at, private=True))
        for message in await stage.queue.receive(10, 60, 0):
            await stage.queue.acknowledge(message)

    asyncio.run(abandon())
    assert at("runs")[1] == ""
    assert at("runs", "--stuck") == (0, "aaaa01\n", "")
    assert json.loads(at("runs", "--stuck", "--json")[1]) == [{"run": "aaaa01"}]
    assert at("retry", "aaaa01")[0] == 0
    asyncio.run(work_once(worker(stage, says("Hello."))))
    assert at("runs", "--stuck") == (0, "", "No run is stuck.\n")


def test_sweep_on_aws_enqueues_a_run_and_lists_runs_that_still_wait(at: Type, stage: Stage, repository: Path) -> None:
    assert at("publish")[0] == 0

    async def lose_queue_message() -> None:
        await accept(stage, "aaaa01")
        for queue_message in await stage.queue.receive(10, 60, 0):
            await stage.queue.acknowledge(queue_message)

    asyncio.run(lose_queue_message())
    code, out, _ = at("sweep", "--seconds", "1", "--json")
    assert (code, json.loads(out)) == (1, {"ended": [], "waiting": ["aaaa01"], "private": {"ended": 0, "waiting": 0}})
    asyncio.run(work_once(worker(stage, says("Hello."))))
    code, out, _ = at("sweep", "--seconds", "1", "--json")
    assert (code, json.loads(out)["waiting"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("runs", "--stage", "nowhere", "--profile", "ops"),
            "There is no stage nowhere in eu-central-1: Parameter Store has nothing below /gofer/nowhere/",
        ),
        (
            ("runs", "--stage", "prod", "--profile", "nobody"),
            "no profile 'nobody'; `aws configure list-profiles` lists",
        ),
        (("runs", "--stage", "../x", "--profile", "ops"), "--stage is '../x'"),
        (("runs", "--profile", "ops"), "--profile is for a Gofer on AWS"),
        (
            ("runs", "--stage", "prod"),
            "Stage prod cannot be looked up in eu-central-1. AWS has no valid",
        ),
        (("publish",), "Name the stage to publish to with --stage"),
        (("sweep",), "Set SLACK_BOT_TOKEN"),
        (("publish", "--stage", "nowhere", "--profile", "ops"), "There is no stage nowhere"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_stage_that_cannot_be_looked_up_is_reported_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    code, out, err = gofer(capsys, *words)
    assert (code, out, told in err, err.count("\n")) == (2, "", True, 1), err


@pytest.mark.parametrize(
    ("variable", "text", "code", "told"),
    [
        ("AWS_CONFIG_FILE", "[profile ops]\n", 2, "No AWS Region is set; set AWS_REGION"),
        ("AWS_CONFIG_FILE", "[profile ops]\nregion = eu central\n", 2, "cannot be used (InvalidRegionError)"),
        ("AWS_CONFIG_FILE", "[profile ops\n", 2, "cannot be used (ConfigParseError); correct the profile until `aws"),
        ("AWS_SHARED_CREDENTIALS_FILE", "ops", 2, "cannot be used (ConfigParseError)"),
        ("AWS_SHARED_CREDENTIALS_FILE", "[ops]\naws_access_key_id = x", 2, "cannot be used (PartialCredentialsError)"),
        ("AWS_ENDPOINT_URL", "localhost", 2, "The endpoint set for AWS is not a URL"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1", 1, "AWS did not answer get_parameters (EndpointConnectionError)"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_wrong_aws_configuration_is_reported_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
    text: str,
    code: int,
    told: str,
) -> None:
    if variable.endswith("FILE"):
        (tmp_path / "wrong").write_text(text)
        text = str(tmp_path / "wrong")
    monkeypatch.setenv(variable, text)
    typed = gofer(capsys, "runs", "--stage", "prod", "--profile", "ops")
    assert (typed[0], typed[1], told in typed[2], typed[2].count("\n")) == (code, "", True, 1), typed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("purge", "--stage", ""), "argument --stage: the name is empty; check that the shell variable is set"),
        (("runs", "--stage", "prod", "--profile", ""), "argument --profile: the name is empty"),
        (("publish", "--stage", "prod", "--roll-back", ""), "argument --roll-back: the name is empty"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_option_with_an_empty_value_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    with pytest.raises(SystemExit) as left:
        gofer(capsys, *words)
    assert (left.value.code, told in capsys.readouterr().err) == (2, True)


@pytest.mark.usefixtures("repository")
def test_publish_names_a_missing_environment_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    for name, value in {**stage.variables, "AWS_PROFILE": "ops", "GOFER_SCHEDULE_ROLE": ""}.items():
        monkeypatch.setenv(name, value)
    code, _, err = gofer(capsys, "publish")
    assert (code, "GOFER_SCHEDULE_ROLE must be set; name a stage with --stage" in err) == (2, True)


def test_stage_can_be_named_by_environment_variables_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stage: Stage, repository: Path
) -> None:
    for name, value in {**stage.variables, "AWS_PROFILE": "ops"}.items():
        monkeypatch.setenv(name, value)
    assert gofer(capsys, "publish")[0] == 0
    assert gofer(capsys, "runs") == (0, "", "There are no runs that may be listed.\n")


SHOW = """
import gc, sys
from gofer.cli.main import main
for line in sys.argv[1:]:
    print("\\nafter", line.split()[0], main(line.split()), "boto3" in sys.modules, gc.isenabled())
"""


def test_boto3_is_imported_only_by_commands_that_need_aws(stage: Stage, repository: Path) -> None:
    named = f"--stage {stage.name} --profile ops"
    lines = ("runs", "check", f"runs {named}", f"publish {named}")
    done = subprocess.run([sys.executable, "-c", SHOW, *lines], capture_output=True, text=True, check=True)
    told = [line.removeprefix("after ") for line in done.stdout.splitlines() if line.startswith("after ")]
    # All in one process: the first two commands do not import boto3, the third does.
    assert told == ["runs 2 False True", "check 0 False True", "runs 0 True True", "publish 0 True True"]
