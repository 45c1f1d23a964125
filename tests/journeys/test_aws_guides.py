"""The guides of an operator on AWS, typed block by block in a company's repository, with moto in place of AWS.

The commands are those of the guides: the AWS CLI, `sam build` of the real program, Gofer from its wheel. These are
played instead: `sam deploy` and `sam delete`, as moto does not know the Serverless transform; `uv`, which would ask a
registry; `sleep`; and Lambda, which is the real runtime client on the built packages. The AWS CLI is version 1, the
only one in a package registry. So the lines with `aws logs tail`, which only version 2 has, are not typed.
"""

import asyncio
import copy
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from moto.dynamodb.models import dynamodb_backends

from gofer.sources.notion.receiver import sign
from gofer.values.secret import Secret
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT
from support.app.earlier_wheel import earlier_wheel
from support.app.installed import environment, wheel
from support.app.local_wheel import use_phones
from support.aws import moto_server
from support.aws.followed_stack import follow
from support.aws.function_packages import runtime
from support.aws.lambda_stage import Code, Stage, undeployed
from support.aws.moto_server import REGION
from support.guides.checkout import shell_blocks
from support.guides.typed_shell import TypedShell
from support.models.tool_caller import caller

pytestmark = pytest.mark.anyio

DEPLOY, RECOVER, RUNBOOK, UPGRADE = (
    (ROOT / "docs" / f"{name}.md").read_text() for name in ("deploy", "recover", "runbook", "upgrade")
)
PROGRAMS = {"sam": "support.aws.deployed_stack", "uv": "support.aws.uv_here"}
"""The programs that are played, by the module that plays each."""
PYTHON = """#!/bin/sh
# The interpreter for Lambda, whose bytecode comes along with the libraries.
case "$*" in *compileall*) exit 0 ;; esac
exec {python} "$@"
"""


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


class Operator:
    """An engineer in the repository of a company, with an administrator's profile."""

    def __init__(self, folder: Path, built: Path) -> None:
        self.home, self.repository = folder, folder / "acme"
        played = folder / "programs"
        for name, module in PROGRAMS.items():
            paths = f"{ROOT / 'src'}:{ROOT / 'tests'}"
            program(played, name, f'#!/bin/sh\nPYTHONPATH={paths} exec {sys.executable} -m {module} "$@"\n')
        program(played, "sleep", "#!/bin/sh\n")
        program(played, "python3.13", PYTHON.format(python=sys.executable))
        installed = environment(folder / "installed", built)
        profile = f"[profile admin]\naws_access_key_id = admin\naws_secret_access_key = testing\nregion = {REGION}\n"
        (folder / "config").write_text(profile)
        variables = {
            "PATH": f"{installed}:{played}:{ROOT / '.venv' / 'awscli' / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "AWS_CONFIG_FILE": str(folder / "config"),
            "AWS_ENDPOINT_URL": moto_server.server(),
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
            "PIP_NO_INDEX": "1",
            "UV_HERE_UV": shutil.which("uv") or str(Path(sys.executable).with_name("uv")),
            "UV_HERE_PYTHON": str(played / "python3.13"),
        }
        self.shell = TypedShell(folder, variables)
        self.shell.type(f"gofer init acme --aws\nln -s {folder}/installed acme/.venv\ncd acme")

    @property
    def built(self) -> Path:
        return self.repository / ".aws-sam" / "build"

    def packaged_version(self) -> str:
        """Return the version of Gofer in the package of the worker."""
        (version,) = re.findall(r'"(\d[\d.]+)"', (self.built / "WorkerFunction" / "gofer" / "__init__.py").read_text())
        return version

    async def types(self, block: str, *answers: str) -> str:
        """Type a block, while Slack and the functions go on."""
        return await asyncio.to_thread(self.shell.type, block, *answers)

    def override(self, **parameters: str) -> None:
        """Add parameters to the file of the stage, as the guides say."""
        file = self.repository / "deploy" / "prod.toml"
        lines = "".join(f'  "{name}={value}",\n' for name, value in parameters.items())
        file.write_text(file.read_text().removesuffix("]\n") + f"{lines}]\n")

    def code(self) -> Code:
        """Return where the built packages will be."""
        return Code({}, runtime(self.home / "runtime"))


def current_wheel(folder: Path) -> Path:
    return wheel(folder / "gofer" / "dist")


def wheel_before(folder: Path) -> Path:
    """Build the wheel of an earlier version, beside the current one."""
    current_wheel(folder)
    return earlier_wheel(folder / "earlier")


@pytest.fixture(params=[current_wheel])
def operator(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Operator]:
    """An operator whose repository a wheel wrote, by default the current one."""
    # Each test deploys the stage that the guides name.
    httpx2.post(f"{moto_server.server()}/moto-api/reset").raise_for_status()
    made = Operator(tmp_path, request.param(tmp_path))
    yield made
    made.shell.close()


def secrets(made: Stage) -> Mapping[str, str]:
    """Return what the pages of Slack show to the person who makes the app."""
    return {
        "SLACK_BOT_TOKEN": "xoxb-simulated",
        "SLACK_SIGNING_SECRET": "simulated-signing-secret",
        "SLACK_TEAM_ID": made.slack.workspace.team.id,
        "SLACK_WORKSPACE_URL": "https://acme.slack.com",
        "SLACK_CLIENT_ID": made.slack.openid.client_id,
        "SLACK_CLIENT_SECRET": made.slack.openid.client_secret,
    }


async def deploy_as_the_guide_says(operator: Operator, made: Stage) -> None:
    tools, _ = shell_blocks(DEPLOY, "1. Tools")
    assert "arn:aws:sts" in await operator.types(tools.replace("make install sam\n", ""))
    operator.override(Url="https://gofer.example.com", AlarmEmail="you@example.com")
    (key,) = shell_blocks(DEPLOY, "2. The installation's key")
    await operator.types(key)
    (by_hand,) = shell_blocks(DEPLOY, "3. Deploy by hand once")
    assert "is live within 30 seconds" in await operator.types(by_hand)
    (setting,) = shell_blocks(DEPLOY, "4. Write the settings")
    await operator.types(setting, "sk-simulated")
    manifest, settings = shell_blocks(DEPLOY, "5. The Slack app")
    assert "https://gofer.example.com/slack/events" in await operator.types(manifest)
    await operator.types(settings, *secrets(made).values())
    follow(made, "prod", operator.built)


@pytest.mark.rehearsal(
    "tests/journeys/test_lambda.py::test_mention_on_lambda_is_answered_and_only_members_see_the_trace",
    "tests/architecture/test_template_functions.py::test_deployed_functions_name_the_deployed_tables_and_bucket",
)
async def test_tool_with_its_own_library_answers_from_the_stack_that_the_guide_deploys(operator: Operator) -> None:
    await use_phones_as_the_guide_says(operator)
    async with undeployed(operator.code(), "prod", caller("phone_region")) as made:
        await deploy_as_the_guide_says(operator, made)
        asked = await made.ask("@Gofer where is +49 30 1?")
        (head,) = await made.work()
        (answer,) = made.answers(asked)
        assert (head.status, "+49 30 1 is in DE." in answer.text) == ("done", True)
        await replace_the_key_as_the_guide_says(operator, made)
        await register_notion_as_the_guide_says(operator, made)
        await let_github_deploy_as_the_guide_says(operator)
        await roll_back_as_the_guide_says(operator)
        await take_down_as_the_guide_says(operator, made)


async def use_phones_as_the_guide_says(operator: Operator) -> None:
    use_phones(operator.repository)
    await operator.types("gofer upgrade\n.venv/bin/python -m pip install -q --require-hashes -r requirements-own.lock")


async def replace_the_key_as_the_guide_says(operator: Operator, made: Stage) -> None:
    begin, end = shell_blocks(DEPLOY, "Replace the key")
    old = made.setting("INSTALLATION_KEY")
    await operator.types(begin)
    new, _, rest = made.setting("INSTALLATION_KEY").partition(",")
    assert (rest, len(new)) == (old, 64)
    await operator.types(end)
    assert made.setting("INSTALLATION_KEY") == new != old


async def register_notion_as_the_guide_says(operator: Operator, made: Stage) -> None:
    allow, read = shell_blocks(DEPLOY, "Notion's verification token")
    await operator.types(allow)
    made.set(NOTION_TOKEN="ntn_simulated", NOTION_BOT_ID="b0000000-0000-4000-8000-000000000000")
    token = f"secret_{'a' * 43}"
    body = json.dumps({"verification_token": token}).encode()
    signed = {"x-notion-signature": sign(Secret(token), body)}
    offered = await made.http.post(f"{made.url}/notion/webhook", content=body, headers=signed)
    assert (offered.status_code, token in await operator.types(read)) == (200, True)


async def let_github_deploy_as_the_guide_says(operator: Operator) -> None:
    (github,) = shell_blocks(DEPLOY, "8. Let GitHub deploy")
    # moto knows no OIDC provider, and no outputs of a change set.
    await operator.types(github.replace("Repository=", "CreateProvider=no Repository="))
    operator.override(Repository="acme/gofer", PermissionsBoundary="arn:aws:iam::123456789012:policy/boundary")
    assert "PublishRoleArn" in await operator.types('sam deploy --config-file "deploy/$STAGE.toml"')


async def roll_back_as_the_guide_says(operator: Operator) -> None:
    (roll_back,) = shell_blocks(DEPLOY, "Roll back")
    first = (await operator.types('gofer publish --list --stage "$STAGE"')).split()[1]
    prompt = operator.repository / "agents" / "answer-here.md"
    prompt.write_text(f"{prompt.read_text()}\nAnswer in one sentence.\n")
    await operator.types('gofer publish --stage "$STAGE"')
    (example,) = re.findall("--roll-back (\\S+)", roll_back)
    assert f"{first} is live" in await operator.types(roll_back.replace(example, first))


async def take_down_as_the_guide_says(operator: Operator, made: Stage) -> None:
    for number in range(520):
        place = {"Bucket": made.cloud.bucket, "Key": f"blobs/{number}"}
        moto_server.client("s3").put_object(**place)
        moto_server.client("s3").delete_object(**place)
    delete, kept, _ = shell_blocks(DEPLOY, "Take it down")
    await operator.types(delete)
    assert "error occurred" not in await operator.types(kept)
    left = [
        *moto_server.client("dynamodb").list_tables()["TableNames"],
        *(one["Name"] for one in moto_server.client("s3").list_buckets()["Buckets"]),
        *(one["Name"] for one in moto_server.client("ssm").describe_parameters()["Parameters"]),
        *(one["FunctionName"] for one in moto_server.client("lambda").list_functions()["Functions"]),
    ]
    assert [name for name in left if "prod" in name] == []


async def answered(made: Stage, text: str, runs: int) -> Message:
    """Mention Gofer, and let the worker answer; `runs` is the number of runs that have then ended."""
    asked = await made.ask(text)
    await made.work(runs)
    assert len(made.answers(asked)) == 1
    return asked


def items(tables: Sequence[str]) -> Mapping[str, Any]:
    """Return all items of tables as moto keeps them."""
    kept = dynamodb_backends["123456789012"][REGION].tables
    return {name: copy.deepcopy(kept[name].items) for name in tables}


def protection(table: str) -> tuple[bool, str, int]:
    """Return of a table: whether it is protected from deletion, its time to live, and the days of its recovery."""
    dynamodb = moto_server.client("dynamodb")
    described = dynamodb.describe_table(TableName=table)["Table"]
    lifetime = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    backups = dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    days = backups["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"]
    return described["DeletionProtectionEnabled"], lifetime.get("AttributeName", ""), days


@pytest.mark.rehearsal(
    "tests/journeys/test_recovery_on_aws.py::test_restore_refuses_a_table_of_keys_that_belongs_to_other_runs",
    "tests/journeys/test_backup_at_a_terminal.py::test_restored_unfinished_run_needs_attention_until_retried",
)
async def test_stage_that_the_guide_recovers_answers_no_mention_twice(operator: Operator) -> None:
    async with undeployed(operator.code(), "prod") as made:
        await deploy_as_the_guide_says(operator, made)
        s3, place = moto_server.client("s3"), {"Bucket": made.cloud.bucket, "Key": "blobs/deleted-before"}
        s3.put_object(**place)
        s3.delete_object(**place)
        before = await answered(made, "@Gofer hello, before the damage", runs=1)
        across = await made.ask("@Gofer hello, across the damage")
        tables = (made.cloud.table._name, made.cloud.table._keys)
        protected = [protection(table) for table in tables]
        kept, at = items(tables), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        await made.work(2)
        after = await answered(made, "@Gofer hello, after it", runs=3)
        s3.put_object(**place | {"Key": "blobs/deleted-after"})
        s3.delete_object(**place | {"Key": "blobs/deleted-after"})

        (functions,) = shell_blocks(RUNBOOK, "Before you start")
        await operator.types(f"{functions}export AWS_PROFILE=admin")
        (stop,) = shell_blocks(RECOVER, "1. Stop")
        await operator.types(stop)
        follow(made, "prod", operator.built)
        assert await made.slack.deliver(made.slack.envelopes(after)[0], retry_num=1) == 503
        assert mapping_state() == "Disabled"

        for name, rows in kept.items():
            # moto restores the newest items of a table, whatever the time.
            dynamodb_backends["123456789012"][REGION].tables[name].items = rows
        restore, protect = shell_blocks(RECOVER, "2. Restore the tables")
        await operator.types(re.sub("AT=.*", f"AT={at}", restore))
        await operator.types(protect)
        restored = ("gofer-prod-table-restored", "gofer-prod-keys-restored")
        assert [protection(table) for table in restored] == protected
        (bucket,) = shell_blocks(RECOVER, "3. Restore the bucket")
        await operator.types(bucket)
        bodies = s3.list_objects_v2(Bucket=made.cloud.bucket, Prefix="blobs/deleted").get("Contents", [])
        assert [one["Key"] for one in bodies] == ["blobs/deleted-after"]
        await operator.types(bucket)
        operator.override(ExistingTable=restored[0], ExistingKeysTable=restored[1])
        await operator.types('sam deploy --config-file "deploy/$STAGE.toml"')
        follow(made, "prod", operator.built)
        assert made.cloud.table._name == restored[0]
        (hold,) = shell_blocks(RECOVER, "5. Hold what was unfinished")
        assert "wait for `gofer retry RUN`: 1." in await operator.types(hold)
        (start,) = shell_blocks(RECOVER, "6. Start")
        stuck = await operator.types(start)
        follow(made, "prod", operator.built)
        assert mapping_state() == "Enabled"
        for one in (before, across):
            assert await made.slack.deliver(made.slack.envelopes(one)[0], retry_num=1) == 200
        while await made.poll():
            pass
        (held,) = set(re.findall(r"\b[0-9a-f]{24}\b", stuck))
        await operator.types(f"gofer retry {held} --stage $STAGE")
        await made.work(2)
        fresh = await answered(made, "@Gofer hello, after the restore", runs=3)
        assert [len(made.answers(one)) for one in (before, across, after, fresh)] == [1, 1, 1, 1]


def mapping_state() -> str:
    (mapping,) = moto_server.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    return mapping["State"]


@pytest.mark.rehearsal("tests/journeys/test_new_repository.py::test_upgrade_keeps_five_kinds_of_local_changes")
@pytest.mark.parametrize("operator", [wheel_before], indirect=True)
async def test_same_mention_is_answered_after_the_upgrade_of_the_guide(operator: Operator) -> None:
    await use_phones_as_the_guide_says(operator)
    person = "-c user.name=a -c user.email=a@example.com"
    await operator.types(f"git init -q\ngit add --all\ngit {person} commit -qm Begin")
    async with undeployed(operator.code(), "prod", caller("phone_region")) as made:
        await deploy_as_the_guide_says(operator, made)
        assert operator.packaged_version() == "0.0.9"
        await answered(made, "@Gofer where is +49 30 1?", runs=1)
        (upgrade,) = shell_blocks(UPGRADE, "Upgrade a company's repository")
        assert "Gofer 0.0.9 is now 0.1.0." in await operator.types(upgrade)
        assert "0.1.0" in await operator.types("gofer check\ngofer version")
        (by_hand,) = shell_blocks(DEPLOY, "3. Deploy by hand once")
        await operator.types(by_hand)
        follow(made, "prod", operator.built)
        assert operator.packaged_version() == "0.1.0"
        again = await answered(made, "@Gofer where is +49 30 1?", runs=2)
        assert "+49 30 1 is in DE." in made.answers(again)[0].text
