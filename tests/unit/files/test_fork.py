"""The loop of the helper, seen from inside: a child for each job, how it ended, and the end with the parent."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gofer.files.child_wire import Limits, Packet, receive_ending, send
from gofer.files.fork import done, serve
from support.processes import hostile_jobs_helper

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # A child of many threads is what it warns of.


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGALRM)}
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.set_wakeup_fd(-1)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def served(*jobs: str, until: float = 0, wall: float = 60.0) -> list[tuple[Packet | None, int | None]]:
    """What came of jobs until the parent went away: after that many seconds, or when the last of them was over."""
    ours, control = socket.socketpair()
    wires: list[socket.socket] = []
    for job in jobs:
        wire, theirs = socket.socketpair()
        send(wire, Packet({"job": job}, b"data"))
        socket.send_fds(ours, [b"j"], [theirs.fileno()])
        theirs.close()
        wires.append(wire)

    def leave(*_: object) -> None:
        # Not closed only: children that are forked from here hold it too.
        with contextlib.suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)

    signal.signal(signal.SIGALRM, leave)
    signal.setitimer(signal.ITIMER_REAL, until)
    with ThreadPoolExecutor(1) as beside:
        endings = beside.submit(lambda: [receive_ending(wire) for wire in wires])
        endings.add_done_callback(leave)
        serve(hostile_jobs_helper.JOBS, {"connect"}, control.detach(), Limits(64 << 20, 60.0, wall))
    ours.close()
    for wire in wires:
        wire.close()
    return endings.result()


def test_each_job_is_answered_and_its_end_is_told() -> None:
    (packet, status), (refused, _), left = served("echo", "refuse", "leave")
    assert packet == Packet({"size": 4}, b"data")
    assert status == 0
    assert refused is not None
    assert refused.fields["code"] == "no_page"
    assert left == (None, 0)


def test_a_child_that_outlives_its_alarm_is_killed() -> None:
    ((packet, status),) = served("deaf", wall=0.2)
    assert (packet, status) == (None, -signal.SIGKILL)


def test_children_end_with_their_parent() -> None:
    assert served("asleep", until=0.5) == [(None, None)]


def test_what_nobody_foresaw_is_told_without_its_words() -> None:
    assert done(hostile_jobs_helper.JOBS, Packet({"job": "stumble"})).fields == {"failed": "KeyError"}
