"""Child processes with limits for dangerous work on bytes from outside, which cannot harm this process.

The first job spawns a helper process. The helper forks one child for each job, with limits on memory, time and other
resources. Documents, jq programs and images are processed only there.
"""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gofer.files.child_wire import MEMORY, SECONDS, WALL, Limits, Packet, receive_ending, send
from gofer.files.size_limits import FILE_BYTES, megabytes
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.parts import how_to_install, is_installed

LARGEST = FILE_BYTES
"""The most bytes of a file that is read."""

_START = 20.0
"""The most seconds that a helper takes to start on a slow machine."""

_CLOSED = "Documents cannot be read now, because this process is shutting down."

_BOOT = (
    "import sys, json, importlib; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).main(*map(float, sys.argv[3:]))"
)


@dataclass(frozen=True, slots=True)
class Job:
    """The work of one child."""

    name: str
    """The name of one of the helper's jobs."""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    """The arguments in plain JSON, as the job documents them."""
    data: bytes = b""
    what: str = "The file"
    """The beginning of a sentence about a failure of the job."""
    instead: str = "ask for a smaller part of it"
    """The end of a sentence about the limits of the job."""


class Children:
    """The child processes of this process. They run several jobs at once. Call `close` at the end."""

    def __init__(
        self,
        *,
        at_once: int = 4,
        memory: int = MEMORY,
        seconds: float = SECONDS,
        wall: float = WALL,
        environment: Mapping[str, str] | None = None,
        helper: str = "gofer.files.document_jobs",
        places: threading.Semaphore | None = None,
        part: str = "",
    ) -> None:
        """Set the limits. No process starts before the first job.

        `environment` has all environment variables of the helper: none, unless the interpreter needs one to start.
        `helper` is the module with the `main(control, memory, seconds, wall)` that serves the jobs. A child may take
        `seconds` of processor time and ends after `wall` seconds at the latest. All Children with the same `places`
        together run as many jobs at once as there are places. The time that a job waits for a place does not count.
        `part` is the part of Gofer without which no job can run.
        """
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="children")
        self._limits = Limits(memory, seconds, wall)
        self._environment = dict(environment or {})
        self._module = helper
        self._places = places or threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._helper: _Helper | None = None
        self._closed = False
        self._missing = ""
        if part and not is_installed(part):
            self._missing = part

    async def run(self, job: Job) -> Packet:
        """Return the result of a job.

        Raises ToolError with one sentence for the model if the job fails or exceeds its limits, TemporaryError if there
        is no helper process.
        """
        if self._missing:
            missing = f"{job.what} needs a part that this Gofer is installed without"
            raise ToolError(f"{missing}. Its operator can {how_to_install(self._missing)}.", code="not_installed")
        if len(job.data) > LARGEST:
            size = megabytes(len(job.data))
            raise ToolError(f"{job.what} has {size}; up to {megabytes(LARGEST)} can be read.", code="too_large")
        if self._closed:
            raise TemporaryError(_CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, job)

    def close(self) -> None:
        """Stop the helper and its running jobs. Waiting jobs fail. Safe to call twice."""
        with self._lock:
            self._closed = True
            helper = self._helper
            self._helper = None
        if helper is not None:
            helper.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job) -> Packet:
        with self._places:
            return self._in_a_child(job)

    def _in_a_child(self, job: Job) -> Packet:
        for _ in range(2):
            helper = self._running_helper()
            packet, status = helper.ask(job)
            if packet is not None:
                return _result(job, packet, self._limits)
            if status is not None:
                raise ToolError(_message_of_exit(job, status, self._limits), code="limits")
            # The helper itself was lost. A job only reads, so it can run again.
            self._discard(helper)
        raise TemporaryError("The helper process that reads documents was lost twice in a row.")

    def _running_helper(self) -> "_Helper":
        with self._lock:
            if self._closed:
                raise TemporaryError(_CLOSED)
            if self._helper is not None and not self._helper.alive():
                self._helper.stop()
                self._helper = None
            if self._helper is None:
                self._helper = _Helper(self._module, self._environment, self._limits)
            return self._helper

    def _discard(self, helper: "_Helper") -> None:
        with self._lock:
            if self._helper is helper:
                self._helper = None
        helper.stop()


class _Helper:
    """One helper process, and the socket that passes jobs to it."""

    def __init__(self, module: str, environment: Mapping[str, str], limits: Limits) -> None:
        self._patience = limits.wall + _START
        self._sending = threading.Lock()
        self._control, theirs = socket.socketpair()
        # The helper has another working directory, so relative import folders must be resolved here.
        path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
        # On a full disk Python writes half of a file of bytecode, with which no later process can start.
        command = [sys.executable, "-B", "-I", "-S", "-c", _BOOT, path, module, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves, with a module that our own code names
                [*command, str(limits.memory), str(limits.seconds), str(limits.wall)],
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C must reach only this process, which stops the helper in good order.
            )

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: Job) -> tuple[Packet | None, int | None]:
        """Return the result and the exit status of a child; None for both if the helper was lost."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                try:
                    with self._sending:
                        socket.send_fds(self._control, [b"j"], [theirs.fileno()])
                except OSError:
                    return None, None
            ours.settimeout(self._patience)
            try:
                send(ours, Packet({"job": job.name, **job.fields}, job.data))
            except ConnectionError:
                pass  # The child ended before it read everything. Its status follows.
            except TimeoutError:
                return None, None
            try:
                return receive_ending(ours)
            except TimeoutError:
                return None, None

    def stop(self) -> None:
        """Close the socket, which tells the helper to end, and kill the helper if it does not."""
        self._control.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _result(job: Job, packet: Packet, limits: Limits) -> Packet:
    match packet.fields:
        case {"error": str(message), "code": str(code)}:
            raise ToolError(message, code=code)
        case {"failed": "memory"}:
            message = f"{job.what} needs more memory than it may have, {limits.memory >> 20} MB; {job.instead}."
            raise ToolError(message, code="limits")
        case {"failed": _}:
            raise ToolError(f"{job.what} is damaged, or is not what it seems to be; it cannot be read.", code="damaged")
        case _:
            return packet


def _message_of_exit(job: Job, status: int, limits: Limits) -> str:
    """Return the message about a child that ended without a result."""
    match -status:
        case signal.SIGPROF | signal.SIGXCPU:
            message = f"takes more than {limits.seconds:g} seconds of processor time and was stopped"
        case signal.SIGALRM:
            message = f"had not ended after {limits.wall:g} seconds and was stopped"
        case signal.SIGKILL:
            message = "needs more memory or time than there is and was stopped"
        case _:
            memory = f"{limits.memory >> 20} MB"
            message = f"made its reader crash: it is damaged, or it needs more memory than it may have, {memory}"
    return f"{job.what} {message}; {job.instead}."
