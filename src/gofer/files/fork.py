"""One limited child for each job: the loop of the helper process that forks them.

Runs in a process of its own, which has nothing of its parent but one socket. Over that socket come the sockets of jobs;
when it closes, all children are killed and the helper ends.
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
"""What one job does, in a child. Raises ToolError with the sentence for the model."""

_GRACE = 1.0
"""Seconds beyond its own alarm after which the helper kills a child."""


def serve(
    jobs: Mapping[str, Work],
    sealed: Container[str],
    control: int,
    limits: Limits,
    starting: Container[str] = (),
) -> None:
    """Fork a child for each socket that comes in.

    A `sealed` job cannot open a single file, so all it needs must be imported before. A `starting` one may start
    programs, which have the limits of their child.
    """
    _Helper(jobs, sealed, starting, socket.socket(fileno=control), limits).serve()


class _Helper:
    """The children under way, by process id."""

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
        self._awake, self._bell = os.pipe()

    def serve(self) -> None:
        """Serve until the other end of the control socket is closed."""
        for end in (self._awake, self._bell):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, _woken)
        signal.set_wakeup_fd(self._bell, warn_on_full_buffer=False)
        gc.freeze()  # What is there now is shared with every child and not looked at again.
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
        os.close(self._bell)

    def _patience(self) -> float | None:
        now = self._clock.monotonic()
        if self._children:
            return max(0.0, min(ends for _, ends in self._children.values()) - now)
        return None

    def _begin(self) -> bool:
        """Take one job; False when there will be no more."""
        _, handed, _, _ = socket.recv_fds(self._control, 1, 1)
        if not handed:
            return False
        wire = socket.socket(fileno=handed[0])
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
                # The process that asked may be gone.
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
            os.close(self._bell)
            limit(self._limits)
            packet = receive(wire)
            if str(packet.fields["job"]) in self._sealed:
                _set(resource.RLIMIT_NOFILE, 0)
            if str(packet.fields["job"]) not in self._starting:
                _set(resource.RLIMIT_NPROC, 0)
            send(wire, done(self._jobs, packet))
            code = 0
        finally:
            # Nothing of the helper's own may run in here, after any error.
            os._exit(code)


def _woken(number: int, frame: object) -> None:
    """Do nothing: the byte in the wakeup pipe ends the waiting."""


def limit(limits: Limits) -> None:
    """Take from this process what a job has no use for; what a system does not know stays as it is."""
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.wall)
    _set(resource.RLIMIT_CORE, 0)
    # In whole seconds, and for programs that the child starts as well.
    _set(resource.RLIMIT_CPU, int(limits.seconds) + 1)
    _set(resource.RLIMIT_FSIZE, 0)
    # Address space is not what macOS counts; there the time limits stand alone.
    if taken := _taken():
        _set(resource.RLIMIT_AS, taken + limits.memory)
    _set(resource.RLIMIT_NOFILE, _FILES)


_STATM = Path("/proc/self/statm")
_FILES = 64
"""Files a job may have open: a library may still look for a module of its own."""

_PAGE = resource.getpagesize()


def _taken() -> int:
    """Return the bytes of address space that this process has; 0 where they are not known."""
    try:
        return int(_STATM.read_text().split()[0]) * _PAGE
    except OSError:
        return 0


def _set(which: int, most: int) -> None:
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (most, most))


def done(jobs: Mapping[str, Work], packet: Packet) -> Packet:
    """Return what a job gives; else `error` and `code` for the model, or `failed` for an unforeseen error."""
    try:
        return jobs[str(packet.fields["job"])](packet)
    except ToolError as error:
        return Packet({"error": error.message_to_model, "code": error.code})
    except MemoryError:
        return Packet({"failed": "memory"})
    except Exception as error:  # noqa: BLE001 - libraries for documents raise anything
        return Packet({"failed": type(error).__name__})
