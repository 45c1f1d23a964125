"""Stored rows, messages and keys of runs name no channel, thread, person, issue, page or webhook key.

Events of every system are played through the whole of Gofer. Runs wait, get stop requests, work and end. Everything
stored of them on one machine and on AWS is searched for each name in clear, and for its SHA-256.
"""

import hashlib
import logging
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from gofer.journal.blob_store import Blobs
from gofer.journal.coordination import UNFINISHED
from gofer.journal.entries import RunAccepted
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.runtime.worker import Worker
from gofer.sources.receiver import Stop
from gofer.sources.slack.posts import stop_sign
from gofer.stores.one_place import Stores
from gofer.stores.queue import Queue
from gofer.values.canonical_json import encode
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer_simulators.demo import demo_world
from support.app import shipped_workflows
from support.app.company import PATIENCE, ROOT, Company, company
from support.aws.moto_server import MotoClock, MotoCloud, client
from support.runtime.worker_parts import over

pytestmark = pytest.mark.anyio

LEADS, PARTNER, SECRET = "C0LEADS00", "712020:people", "PAY-18"
SHORTEST = 6
"""The shortest name searched for: shorter ones, such as the number of an issue, are found everywhere."""
WORDS = {
    "created",
    "opened",
    "comment",
    "closed",
    "schedule",
    "webhook",
    "pull_request",
    "weekly-digest",
    "weekly-report",
    "new-hire",
}
"""Parts of identities that name a kind of event or a word of a workflow file."""
MOMENT = re.compile("1[0-9]{12}")
"""Unix milliseconds, which any row may have."""
FOLDERS = ("agents", "subagents", "skills", "coordinators")


@dataclass
class Kept:
    """Everything stored of runs on one machine or on AWS."""

    store: Store
    blobs: Blobs
    queue: Queue
    folder: Path | None = None
    """Set on one machine."""
    cloud: MotoCloud | None = None

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yield each place and the bytes stored there."""
        if self.folder is not None:
            yield from _on_disk(self.folder)
        if self.cloud is not None:
            yield from _on_aws(self.cloud)


def _on_disk(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        yield f"name of {path.name}", str(path.relative_to(folder)).encode()
        if path.is_file() and "bundles" not in path.parts:
            yield path.name, path.read_bytes()
    with closing(sqlite3.connect(f"file:{folder / 'gofer.db'}?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                yield table, b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in row)


def _on_aws(cloud: MotoCloud) -> Iterator[tuple[str, bytes]]:
    for item in client("dynamodb").scan(TableName=cloud.table._name)["Items"]:
        yield "table", repr(item).encode()
    for one in client("s3").list_objects_v2(Bucket=cloud.bucket).get("Contents", []):
        yield "name of object", one["Key"].encode()
        if not one["Key"].startswith("blobs/bundles/"):
            yield "object", client("s3").get_object(Bucket=cloud.bucket, Key=one["Key"])["Body"].read()
    for url in (cloud.url, cloud.dead):
        for message in (
            client("sqs")
            .receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0, MessageSystemAttributeNames=["All"]
            )
            .get("Messages", [])
        ):
            yield "queue", repr(message).encode()


def names_of(event: Event) -> set[str]:
    """Return the names of places and people in an event."""
    said = {*event.identity, event.conversation, event.conversation.rpartition(":")[0], event.actor.id}
    said |= {value for name, value in event.place.items() if name not in ("url", "hook", "workflow")}
    said |= {event.digest}
    return {name for name in said - WORDS if len(name) >= SHORTEST and not MOMENT.fullmatch(name)}


def hashes_of(event: Event, workflow: str) -> set[str]:
    """Return beginnings of hashes of these names, as an attacker would compute them to compare."""
    person = ("person", event.source, event.actor.id)
    lists = (person, (*person, workflow), ("turned away", event.source, event.actor.id, workflow))
    plain = [name.encode() for name in names_of(event)] + [encode(one) for one in lists]
    return {hashlib.sha256(one).hexdigest()[:12] for one in plain}


def found(kept: Kept, needles: set[str]) -> set[tuple[str, str]]:
    """Return each place with the needle found there."""
    return {(where, needle) for where, raw in kept.everything() for needle in needles if needle.encode() in raw.lower()}


def counted(folder: Path) -> Path:
    """Copy the shipped workflows with limits for each person and workflow, so that usage rows are written."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / "repository" / name)
    defaults = folder / "repository" / "agents" / "defaults.yaml"
    defaults.write_text(defaults.read_text().replace("# limits_per_", "limits_per_"))
    return folder / "repository"


def world() -> Mapping[str, object]:
    made = cast(dict[str, Any], demo_world())
    made["jira"]["issues"].append(
        {"key": SECRET, "summary": "Hiring", "type": "Task", "reporter": PARTNER, "security": "HR"}
    )
    return made


async def everything_happens(made: Company) -> None:
    """Play an event of each system, some of them private."""
    for _, act in shipped_workflows.ACTS.values():
        await act(made)
    await made.slack.say(shipped_workflows.CAPTAIN, LEADS, made.slack.typed("@Gofer what about the offer?"))
    shipped_workflows.jira(made).people.comment(
        PARTNER, shipped_workflows.jira(made).site.issue(SECRET), "@gofer who is hired?"
    )
    for simulated in (
        made.slack,
        shipped_workflows.jira(made),
        shipped_workflows.github(made),
        shipped_workflows.notion(made),
    ):
        await simulated.settled()


async def accepted(made: Company) -> dict[str, RunAccepted]:
    """Return the acceptance of each run."""
    runs: dict[str, RunAccepted] = {}
    for head in await made.embedded.state.store.heads(100, private=True):
        (claim,) = await made.entries(head.run)
        assert isinstance(claim, RunAccepted)
        runs[head.run] = claim
    return runs


def stops(events: list[Event]) -> list[Stop]:
    """Return a stop sign and a press on Stop for each post, by a person who did not start the run."""
    posts = [event for event in events if event.source == "slack" and "thread_ts" in event.place]
    signs = [
        stop_sign(event.place["channel"], event.place["ts"], replace(event.actor, id="U0NOBODY0")) for event in posts
    ]
    return [*signs, *(replace(one, conversation=post.conversation) for one, post in zip(signs, posts, strict=True))]


async def work(worker: Worker, kept: Kept) -> None:
    """Work on all runs, to their ends or until they wait."""
    while queue_messages := await kept.queue.receive(10, 120, 0):
        for queue_message in queue_messages:
            await worker.answer(queue_message)


async def used(tokens: Tokens, events: list[Event], store: Store) -> bool:
    """Return whether the usage of a person was stored."""
    scopes = {tokens.usage("person", event.source, event.actor.id) for event in events}
    return any([await store.usage(scope, 0) for scope in scopes])


async def private_names(runs: Mapping[str, RunAccepted], store: Store) -> set[str]:
    """Return the names that only private runs have."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for run, claim in runs.items():
        head = await store.head(run)
        assert head is not None
        found[head.private] |= {name.lower() for name in names_of(claim.event)}
    assert all(found.values())
    return found[True] - found[False]


@pytest.mark.parametrize("kind", ["sqlite", "aws"])
async def test_stored_rows_and_messages_name_no_place_and_no_person(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.DEBUG, "gofer")
    async with company(tmp_path, work=False, world=world(), root=counted(tmp_path)) as made:
        await everything_happens(made)
        runs = await accepted(made)
        events = [claim.event for claim in runs.values()]
        assert {event.source for event in events} == {
            "slack",
            "jira",
            "notion",
            "github",
            "webhook",
            "schedule",
            "runs",
        }
        state, embedded = made.embedded.state, made.embedded
        kept = Kept(state.store, state.blobs, state.queue, folder=tmp_path / "state")
        if kind == "aws":
            cloud = MotoCloud(MotoClock(embedded.worker.services.outside.clock.now()))
            kept = Kept(cloud.store, cloud.blobs, cloud.queue, cloud=cloud)
        ingress: Ingress = replace(embedded.ingress, stores=Stores(kept.store, kept.blobs, kept.queue))
        for claim in runs.values():
            await ingress.start(replace(claim.event, window=0), claim.workflow)
        for stop in stops(events):
            assert await ingress.stop(stop)
        needles = {name.lower() for event in events for name in names_of(event)}
        needles |= {one for claim in runs.values() for one in hashes_of(claim.event, claim.workflow)}
        assert {LEADS.lower(), PARTNER, shipped_workflows.HIRE["id"]} <= needles
        assert found(kept, needles) == set()
        services = over(embedded.worker.services, store=kept.store, blobs=kept.blobs, queue=kept.queue)
        services = replace(services, patience=PATIENCE)
        await work(replace(embedded.worker, services=services), kept)
        heads = [await kept.store.head(run) for run in runs]
        assert all(head is not None and head.status not in UNFINISHED for head in heads)
        assert found(kept, needles) == set()
        assert await used(embedded.worker.services.tokens, events, kept.store)
        private = await private_names(runs, kept.store)
        said = "\n".join(record.getMessage() for record in caplog.records if "simulators" not in record.name).lower()
        assert [name for name in private if name in said] == []
