"""Limited children that do dangerous work on bytes from outside, so that nothing of it can hurt this process.

A helper process is spawned on first use and forks one child for each job, limited in memory, time and everything else
it could take. Documents, jq programs and images are read there and nowhere else.
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

LARGEST = FILE_BYTES
"""Bytes of a file that are read at most."""

_START = 20.0
"""Seconds a helper may take to come up on a slow machine."""

_CLOSED = "Documents are not read any more: this process is about to end."

_BOOT = (
    "import sys, json, importlib; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).main(*map(float, sys.argv[3:]))"
)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done in a child."""

    name: str
    """One of the helper's jobs."""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    """Plain JSON, as the job documents it."""
    data: bytes = b""
    what: str = "The file"
    """How a sentence about its failure begins."""
    instead: str = "ask for a smaller part of it"
    """How a sentence about its limits ends."""


class Children:
    """Runs jobs, several at once, on any event loop; `close` it at the end."""

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
    ) -> None:
        """Make it; `environment` is all the helper gets: nothing, unless the interpreter needs a variable to start.

        `helper` is the module with the `main(control, memory, seconds, wall)` that serves the jobs: a child may take
        `seconds` of a processor and ends after `wall` seconds at the latest. Of all Children with the same `places` as
        many jobs are under way at once as there are places. The others wait, and no second of that counts.
        """
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="children")
        self._limits = Limits(memory, seconds, wall)
        self._environment = dict(environment or {})
        self._module = helper
        self._places = places or threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._helper: _Helper | None = None
        self._closed = False

    async def run(self, job: Job) -> Packet:
        """Return the result of a job.

        Raises ToolError with one sentence for the model when the job fails or goes beyond its limits, TemporaryError
        when there is no helper to do it.
        """
        if len(job.data) > LARGEST:
            size = megabytes(len(job.data))
            raise ToolError(f"{job.what} has {size}; up to {megabytes(LARGEST)} can be read.", code="too_large")
        if self._closed:
            raise TemporaryError(_CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, job)

    def close(self) -> None:
        """End the helper and what it has under way; jobs that wait fail. Safe to call twice."""
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
            helper = self._present()
            packet, status = helper.ask(job)
            if packet is not None:
                return _result(job, packet, self._limits)
            if status is not None:
                raise ToolError(_ending(job, status, self._limits), code="limits")
            # The helper itself was lost, and what it was doing with it; a job reads and changes nothing.
            self._lost(helper)
        raise TemporaryError("The helper process that reads documents was lost twice in a row.")

    def _present(self) -> "_Helper":
        with self._lock:
            if self._closed:
                raise TemporaryError(_CLOSED)
            if self._helper is not None and not self._helper.alive():
                self._helper.stop()
                self._helper = None
            if self._helper is None:
                self._helper = _Helper(self._module, self._environment, self._limits)
            return self._helper

    def _lost(self, helper: "_Helper") -> None:
        with self._lock:
            if self._helper is helper:
                self._helper = None
        helper.stop()


class _Helper:
    """One helper process, and the socket over which it is handed jobs."""

    def __init__(self, module: str, environment: Mapping[str, str], limits: Limits) -> None:
        self._patience = limits.wall + _START
        self._sending = threading.Lock()
        self._control, theirs = socket.socketpair()
        # It works elsewhere, so a relative folder to import from is meant from here.
        path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
        command = [sys.executable, "-I", "-S", "-c", _BOOT, path, module, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves, with a module that our own code names
                [*command, str(limits.memory), str(limits.seconds), str(limits.wall)],
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for us; we end it in good order.
            )

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: Job) -> tuple[Packet | None, int | None]:
        """Return what a child answered and how it ended; None for both when the helper was lost."""
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
                pass  # The child ended before it read everything; how, comes next.
            except TimeoutError:
                return None, None
            try:
                return receive_ending(ours)
            except TimeoutError:
                return None, None

    def stop(self) -> None:
        """Close the socket, which is the sign to end, and kill what does not end on it."""
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
            said = f"{job.what} needs more memory than it may have, {limits.memory >> 20} MB; {job.instead}."
            raise ToolError(said, code="limits")
        case {"failed": _}:
            raise ToolError(f"{job.what} is damaged, or is not what it seems to be; it cannot be read.", code="damaged")
        case _:
            return packet


def _ending(job: Job, status: int, limits: Limits) -> str:
    """Return what is said of a child that ended without a word."""
    match -status:
        case signal.SIGPROF | signal.SIGXCPU:
            said = f"takes longer than {limits.seconds:g} seconds of a processor and was stopped"
        case signal.SIGALRM:
            said = f"had not ended after {limits.wall:g} seconds and was stopped"
        case signal.SIGKILL:
            said = "needs more memory or time than there is and was stopped"
        case _:
            memory = f"{limits.memory >> 20} MB"
            said = f"made its reader crash: it is damaged, or it needs more memory than it may have, {memory}"
    return f"{job.what} {said}; {job.instead}."
