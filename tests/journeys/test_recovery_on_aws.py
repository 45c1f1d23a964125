"""Recovery on AWS: the table is gone, and a stage continues from tables of an earlier time without a second answer.

moto cannot restore to a point in time, so a restore is played by copying the items as they were at that time into new
tables, which is what DynamoDB makes of it: new tables with the old items, without their TTL and their recovery.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from support.app.command_line import gofer
from support.aws import moto_server
from support.aws.lambda_stage import FUNCTIONS, Code, Stage, stage, together
from support.aws.moto_server import client
from support.aws.moto_stage import sign_in

pytestmark = pytest.mark.anyio
Items = Mapping[str, list[Any]]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    return together(Path(tmp_path_factory.mktemp("code")))


def backed_up(table: DynamoTable) -> Items:
    """Return the items of a table and its table of keys as they are now."""
    return {name: client("dynamodb").scan(TableName=name)["Items"] for name in (table._name, table._keys)}


def restored(table: DynamoTable, backup: Items) -> DynamoTable:
    """Delete both tables, and return new ones with the items of the backup."""
    made = moto_server.new_table()
    for old, new in ((table._name, made._name), (table._keys, made._keys)):
        client("dynamodb").delete_table(TableName=old)
        for item in backup[old]:
            client("dynamodb").put_item(TableName=new, Item=item)
    return made


def point_to(made: Stage, table: DynamoTable) -> None:
    """Deploy the stack with `ExistingTable` and `ExistingKeysTable`: parameters and variables name the new tables."""
    made.earlier.append(made.cloud.table)
    made.cloud.table = table
    made.cloud.store = DynamoStore(table)
    name_resources(made)
    for name in FUNCTIONS:
        made.deploy(name)
    made.deploy("worker", timeout=900.0)


def name_resources(made: Stage) -> None:
    """Write the parameters by which commands find the stage."""
    environment = made.environment()
    names = ("GOFER_TABLE", "GOFER_KEYS_TABLE", "GOFER_BUCKET", "GOFER_QUEUE_URL", "GOFER_DEAD_LETTER_URL")
    for name in names:
        place = {"Name": f"{made.path}{name}", "Value": environment[name], "Type": "String", "Overwrite": True}
        client("ssm").put_parameter(**place)


async def command(capsys: pytest.CaptureFixture[str], made: Stage, *words: str) -> tuple[int, str, str]:
    """Run a command for the stage as an administrator."""
    name = made.path.strip("/").partition("/")[2]
    return await asyncio.to_thread(gofer, capsys, *words, "--stage", name, "--profile", "ops")


async def drain(made: Stage) -> None:
    while await made.poll():
        pass


@pytest.mark.rehearsal(
    "tests/journeys/test_backup_at_a_terminal.py::test_restored_unfinished_run_needs_attention_until_retried",
    "tests/unit/runtime/test_run_retry.py::test_restored_run_answers_once_after_a_retry_even_if_posted_after_the_backup",
    "tests/journeys/test_recovery_on_aws.py::test_restore_refuses_a_table_of_keys_that_belongs_to_other_runs",
)
async def test_restored_stage_answers_no_mention_twice_and_continues_a_retried_run(
    code: Code,
    terminal: None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(monkeypatch, tmp_path)
    async with stage(code) as made:
        name_resources(made)
        before = await made.ask("@Gofer hello, before the backup")
        await made.work(1)
        await drain(made)
        # Accepted before the backup, and answered after it.
        across = await made.ask("@Gofer hello, across the backup")
        backup, at = backed_up(made.cloud.table), datetime.now(UTC)
        await made.work(2)
        await drain(made)
        after = await made.ask("@Gofer hello, after the backup")
        await made.work(3)
        await drain(made)
        assert [len(made.answers(one)) for one in (before, across, after)] == [1, 1, 1]

        point_to(made, restored(made.cloud.table, backup))
        code_, out, err = await command(capsys, made, "restore", "--at", at.isoformat(), "--json")
        assert (code_, err) == (0, ""), err
        told = json.loads(out)
        # Whether the channel is public is known from one of Slack's two deliveries only, which race.
        assert len(told["held"]) + told["private"] == 1
        # Slack delivers both again, the sweeper looks for work, and workers take what is in the queue.
        for one in (before, across):
            assert await made.slack.deliver(made.slack.envelopes(one)[0], retry_num=1) == 200
        await command(capsys, made, "sweep", "--seconds", "1")
        await drain(made)
        assert [len(made.answers(one)) for one in (before, across, after)] == [1, 1, 1]
        listed = await command(capsys, made, "runs", "--stuck", "--json")
        (held,) = [row["run"] for row in json.loads(listed[1])]

        retried = await command(capsys, made, "retry", held)
        assert (retried[0], "continues from the backup of" in retried[2]) == (0, True)
        await made.work(2)
        await drain(made)
        head = await made.cloud.store.head(held)
        fresh = await made.ask("@Gofer hello, after the restore")
        await made.work(3)
        answers = [len(made.answers(one)) for one in (before, across, after, fresh)]
    assert head is not None
    assert head.status == "done"
    assert answers == [1, 1, 1, 1]


async def test_restore_refuses_a_table_of_keys_that_belongs_to_other_runs(
    code: Code,
    terminal: None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(monkeypatch, tmp_path)
    async with stage(code) as made:
        await made.ask("@Gofer hello")
        await made.work(1)
        backup = backed_up(made.cloud.table)
        point_to(made, restored(made.cloud.table, {**backup, made.cloud.table._keys: []}))
        told = await command(capsys, made, "restore", "--at", datetime.now(UTC).isoformat())
        (head,) = await made.cloud.store.heads(10)
    assert (told[0], "correct ExistingKeysTable" in told[2], head.retention) == (2, True, "due")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("restore", "backups", "--stage", "x", "--profile", "ops"), "docs/recover.md"),
        (("restore",), "Name the folder of a backup"),
    ],
)
@pytest.mark.usefixtures("terminal")
def test_restore_names_the_missing_option(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
    told: str,
) -> None:
    sign_in(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    code, _, err = gofer(capsys, *words)
    assert (code, told in err) == (2, True), err
