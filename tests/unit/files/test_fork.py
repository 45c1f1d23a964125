"""The loop of the helper process: a child for each job, its exit status, and the end with the parent."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gofer.files.child_wire import Limits, Packet, receive_ending, send
from gofer.files.fork import execute, serve
from support.processes import hostile_jobs_helper

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # It warns of forking with several threads.


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGALRM)}
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.set_wakeup_fd(-1)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def served(*jobs: str, until: float = 0, wall: float = 60.0) -> list[tuple[Packet | None, int | None]]:
    """Return the result of each job until the parent leaves: after `until` seconds, or after the last job."""
    ours, control = socket.socketpair()
    wires: list[socket.socket] = []
    for job in jobs:
        wire, theirs = socket.socketpair()
        send(wire, Packet({"job": job}, b"data"))
        socket.send_fds(ours, [b"j"], [theirs.fileno()])
        theirs.close()
        wires.append(wire)

    def leave(*_: object) -> None:
        # Closing is not enough: forked children hold the socket too.
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


def test_helper_answers_each_job_and_reports_the_exit_status() -> None:
    (packet, status), (refused, _), left = served("echo", "refuse", "leave")
    assert packet == Packet({"size": 4}, b"data")
    assert status == 0
    assert refused is not None
    assert refused.fields["code"] == "no_page"
    assert left == (None, 0)


def test_helper_kills_a_child_that_ignores_the_alarm() -> None:
    ((packet, status),) = served("deaf", wall=0.2)
    assert (packet, status) == (None, -signal.SIGKILL)


def test_children_of_a_helper_end_with_the_parent() -> None:
    assert served("asleep", until=0.5) == [(None, None)]


def test_unexpected_error_of_a_job_is_reported_by_type_only() -> None:
    assert execute(hostile_jobs_helper.JOBS, Packet({"job": "stumble"})).fields == {"failed": "KeyError"}
