"""Work in a child process: its time and memory limits, its refusals, and isolation from other jobs."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from gofer.files.child import LARGEST, Children, Job
from gofer.values.errors import TemporaryError, ToolError

pytestmark = pytest.mark.anyio


@pytest.fixture
def children() -> Iterator[Children]:
    made = Children(helper="support.processes.hostile_jobs_helper", seconds=1.0, memory=128 << 20)
    yield made
    made.close()


PART = "ask for a smaller part of it."


async def refusal(children: Children, name: str) -> str:
    with pytest.raises(ToolError) as caught:
        await children.run(Job(name, what="The PDF"))
    return caught.value.message_to_model


async def test_child_job_receives_and_returns_bytes(children: Children) -> None:
    data = bytes(range(256)) * 200_000
    packet = await children.run(Job("echo", data=data))
    assert packet.fields == {"size": len(data)}
    assert packet.data == data[:100]


async def test_child_job_sees_no_environment_and_no_descriptor_of_the_parent(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFER_SECRET", "s3cret")
    seen = (await children.run(Job("environment"))).fields
    # Python itself sets its locale, macOS its text encoding.
    assert set(seen["environment"]) <= {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}  # type: ignore[call-overload]
    assert seen["core"] == 0
    descriptors = seen["descriptors"]
    assert isinstance(descriptors, list)
    # Standard input, output and error lead nowhere; one more is the job's own socket.
    assert len(descriptors) == 4


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (
            "forever",
            "The PDF takes more than 1 seconds of processor time and was stopped; ask for a smaller part of it.",
        ),
        ("hog", "The PDF needs more memory than it may have, 128 MB; ask for a smaller part of it."),
        (
            "crash",
            "The PDF made its reader crash: it is damaged, or it needs more memory than it may have, 128 MB; " + PART,
        ),
        (
            "leave",
            "The PDF made its reader crash: it is damaged, or it needs more memory than it may have, 128 MB; " + PART,
        ),
        ("refuse", "The page does not exist; name one up to 7."),
        ("stumble", "The PDF is damaged, or is not what it seems to be; it cannot be read."),
        ("write", "The PDF is damaged, or is not what it seems to be; it cannot be read."),
        ("connect", "The PDF is damaged, or is not what it seems to be; it cannot be read."),
    ],
)
async def test_failed_child_job_is_refused_in_one_sentence_and_the_next_job_works(
    children: Children, job: str, said: str
) -> None:
    assert await refusal(children, job) == said
    assert (await children.run(Job("echo", data=b"next"))).data == b"next"
    written = Path("/tmp/gofer-was-here")
    assert not written.exists() or written.stat().st_size == 0


async def test_child_jobs_run_in_parallel_and_do_not_block_the_event_loop(children: Children) -> None:
    await children.run(Job("echo"))
    packets = await asyncio.gather(*(children.run(Job("wait", {"n": n})) for n in range(4)))
    spans = [(cast(float, packet.fields["begun"]), cast(float, packet.fields["ended"])) for packet in packets]
    assert max(ended for _, ended in spans) - min(begun for begun, _ in spans) < sum(b - a for a, b in spans)
    assert [f'"n": {n}' in str(packet.fields["said"]) for n, packet in enumerate(packets)] == [True] * 4
    assert len({packet.fields["helper"] for packet in packets}) == 1


async def test_child_job_that_sleeps_is_stopped_by_the_wall_clock_limit() -> None:
    made = Children(helper="support.processes.hostile_jobs_helper", seconds=1.0, wall=0.5, memory=128 << 20)
    said = await refusal(made, "asleep")
    made.close()
    assert said == "The PDF had not ended after 0.5 seconds and was stopped; ask for a smaller part of it."


async def test_child_job_counts_only_the_processor_seconds_of_that_job() -> None:
    made = Children(helper="support.processes.hostile_jobs_helper", at_once=6, seconds=1.0, memory=128 << 20)
    try:
        # On two processors these take two seconds at least.
        packets = await asyncio.gather(*(made.run(Job("burn")) for _ in range(6)))
    finally:
        made.close()
    assert [packet.fields for packet in packets] == [{"done": True}] * 6


async def test_hostile_child_job_does_not_disturb_the_others(children: Children) -> None:
    others = [children.run(Job("wait")) for _ in range(3)]
    bad = asyncio.ensure_future(refusal(children, "hog"))
    assert all("helper" in packet.fields for packet in await asyncio.gather(*others))
    assert "more memory" in await bad


async def test_killed_helper_is_replaced(children: Children) -> None:
    helper = (await children.run(Job("wait"))).fields["helper"]
    assert isinstance(helper, int)
    os.kill(helper, signal.SIGKILL)
    await asyncio.sleep(0.2)
    assert (await children.run(Job("wait"))).fields["helper"] != helper
    gc.collect()  # An open socket of the lost helper is reported here.


async def test_helper_killed_during_a_job_loses_no_other_job(children: Children) -> None:
    waiting = asyncio.ensure_future(children.run(Job("wait")))
    await asyncio.sleep(0.3)
    with pytest.raises(TemporaryError, match="lost twice"):
        await children.run(Job("orphan"))
    assert "helper" in (await waiting).fields
    assert (await children.run(Job("echo", data=b"x"))).data == b"x"


async def test_helper_that_cannot_start_is_a_temporary_error() -> None:
    made = Children(helper="no_such_module", seconds=1.0)
    with pytest.raises(TemporaryError, match="lost twice"):
        await made.run(Job("echo"))
    made.close()


async def test_file_above_64_mb_is_refused_before_a_helper_starts() -> None:
    made = Children(helper="no_such_module")
    with pytest.raises(ToolError, match="65 MB; up to 64 MB"):
        await made.run(Job("echo", data=bytes(LARGEST + (1 << 20)), what="The PDF"))
    made.close()


async def test_closed_children_leave_no_process_and_refuse_further_jobs(children: Children) -> None:
    helper = (await children.run(Job("wait"))).fields["helper"]
    assert isinstance(helper, int)
    under_way = asyncio.ensure_future(children.run(Job("asleep")))
    await asyncio.sleep(0.1)
    children.close()
    children.close()
    with pytest.raises((ToolError, TemporaryError)):
        await under_way
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)
    with pytest.raises(TemporaryError, match="shutting down"):
        await children.run(Job("echo"))


PROGRAM = """
import asyncio, os, signal
from gofer.files.child import Children, Job
async def play():
    children = Children(helper="support.processes.hostile_jobs_helper")
    helper = (await children.run(Job("wait"))).fields["helper"]
    asyncio.ensure_future(children.run(Job("asleep")))
    await asyncio.sleep(0.3)
    print(helper, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(play())
"""


def test_killed_worker_leaves_no_helper_and_no_child() -> None:
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=False)
    helper = int(done.stdout)
    for _ in range(100):
        if not group(helper):
            break
        time.sleep(0.05)
    assert group(helper) == []


def group(leader: int) -> list[int]:
    """Return the process ids of a helper and its children."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [row.split() for row in listed.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == leader and not row[2].startswith("Z")]


async def test_children_work_from_a_different_event_loop_each_time(children: Children) -> None:
    def once() -> bytes:
        return asyncio.run(children.run(Job("echo", data=b"again"))).data

    assert [await asyncio.to_thread(once) for _ in range(3)] == [b"again"] * 3


async def test_children_that_share_slots_never_run_more_jobs_than_slots() -> None:
    places = threading.Semaphore(1)
    two = [
        Children(helper="support.processes.hostile_jobs_helper", seconds=2.0, memory=128 << 20, places=places)
        for _ in range(2)
    ]
    try:
        await asyncio.gather(*(one.run(Job("echo")) for one in two))
        places.acquire()
        waiting = [asyncio.create_task(one.run(Job("echo"))) for one in two]
        assert await asyncio.wait(waiting, timeout=0.3) == (set(), set(waiting))
        places.release()
        assert [packet.fields for packet in await asyncio.gather(*waiting)] == [{"size": 0}] * 2
        with pytest.raises(ToolError):
            await two[0].run(Job("crash"))
        # The slot is released, however the job ended.
        assert places.acquire(timeout=0)
    finally:
        for one in two:
            one.close()
