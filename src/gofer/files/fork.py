"""The loop of the helper process, which forks one child with limits for each job.

The helper is a process of its own and shares only one socket with its parent. It receives the sockets of jobs over that
socket. When the socket closes, the helper kills all children and ends.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Container, Mapping
from pathlib import Path

from gofer.files.child_wire import Limits, Packet, receive, send, send_status
from gofer.values.errors import ToolError
from gofer.values.outside import SystemClock

Work = Callable[[Packet], Packet]
"""The function of one job, called in a child. Raises ToolError with the message for the model."""

_GRACE = 1.0
"""The seconds after a child's own alarm until the helper kills the child."""


def serve(
    jobs: Mapping[str, Work],
    sealed: Container[str],
    control: int,
    limits: Limits,
    starting: Container[str] = (),
) -> None:
    """Fork a child for each received socket.

    A `sealed` job cannot open any file, so all its modules must be imported before. A `starting` job may start
    programs, which have the limits of the child.
    """
    _Helper(jobs, sealed, starting, socket.socket(fileno=control), limits).serve()


class _Helper:
    """The running children by process id."""

    def __init__(
        self,
        jobs: Mapping[str, Work],
        sealed: Container[str],
        starting: Container[str],
        control: socket.socket,
        limits: Limits,
    ) -> None:
        self._jobs = jobs
        self._sealed = sealed
        self._starting = starting
        self._control = control
        self._limits = limits
        self._clock = SystemClock()
        self._children: dict[int, tuple[socket.socket, float]] = {}
        self._awake, self._waker = os.pipe()

    def serve(self) -> None:
        """Serve until the other end of the control socket is closed."""
        for end in (self._awake, self._waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        gc.freeze()  # Every child shares the existing objects, so the garbage collector must not touch them.
        while True:
            ready, _, _ = select.select([self._control, self._awake], [], [], self._patience())
            if self._awake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._awake, 4096)
            self._reap()
            if self._control in ready and not self._begin():
                break
        self._end()

    def _end(self) -> None:
        signal.set_wakeup_fd(-1)
        for child, (wire, _) in self._children.items():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            wire.close()
        self._control.close()
        os.close(self._awake)
        os.close(self._waker)

    def _patience(self) -> float | None:
        now = self._clock.monotonic()
        if self._children:
            return max(0.0, min(ends for _, ends in self._children.values()) - now)
        return None

    def _begin(self) -> bool:
        """Fork the child of the next job. Return False if the control socket is closed."""
        _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        if not descriptors:
            return False
        wire = socket.socket(fileno=descriptors[0])
        child = os.fork()
        if child == 0:
            self._be_child(wire)
        self._children[child] = (wire, self._clock.monotonic() + self._limits.wall + _GRACE)
        return True

    def _reap(self) -> None:
        now = self._clock.monotonic()
        for child, (wire, ends) in list(self._children.items()):
            if now >= ends:
                os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                del self._children[child]
                # The process that sent the job may have ended.
                with contextlib.suppress(OSError):
                    wire.settimeout(_GRACE)
                    send_status(wire, os.waitstatus_to_exitcode(status))
                wire.close()

    def _be_child(self, wire: socket.socket) -> None:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
                signal.signal(number, signal.SIG_DFL)
            for other in [self._control, *(taken for taken, _ in self._children.values())]:
                other.close()
            os.close(self._awake)
            os.close(self._waker)
            limit(self._limits)
            packet = receive(wire)
            if str(packet.fields["job"]) in self._sealed:
                _set(resource.RLIMIT_NOFILE, 0)
            if str(packet.fields["job"]) not in self._starting:
                _set(resource.RLIMIT_NPROC, 0)
            send(wire, execute(self._jobs, packet))
            code = 0
        finally:
            # The code of the helper must not continue in the child, not even after an error.
            os._exit(code)


def _wake(number: int, frame: object) -> None:
    """Do nothing. The byte in the wakeup pipe ends the call of select."""


def limit(limits: Limits) -> None:
    """Limit the resources of this process. Limits that the operating system does not support are skipped."""
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.wall)
    _set(resource.RLIMIT_CORE, 0)
    # This limit has whole seconds, and also applies to programs that the child starts.
    _set(resource.RLIMIT_CPU, int(limits.seconds) + 1)
    _set(resource.RLIMIT_FSIZE, 0)
    # macOS has no limit on address space, so only the time limits apply there.
    if used := _address_space():
        _set(resource.RLIMIT_AS, used + limits.memory)
    _set(resource.RLIMIT_NOFILE, _FILES)


_STATM = Path("/proc/self/statm")
_FILES = 64
"""The most open files of a job. A library may still import one of its own modules."""

_PAGE = resource.getpagesize()


def _address_space() -> int:
    """Return the bytes of address space of this process; 0 if the system does not report them."""
    try:
        return int(_STATM.read_text().split()[0]) * _PAGE
    except OSError:
        return 0


def _set(which: int, most: int) -> None:
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (most, most))


def execute(jobs: Mapping[str, Work], packet: Packet) -> Packet:
    """Return the result of a job, or `error` and `code` for the model, or `failed` for an unexpected error."""
    try:
        return jobs[str(packet.fields["job"])](packet)
    except ToolError as error:
        return Packet({"error": error.message_to_model, "code": error.code})
    except MemoryError:
        return Packet({"failed": "memory"})
    except Exception as error:  # noqa: BLE001 - libraries for documents raise anything
        return Packet({"failed": type(error).__name__})
