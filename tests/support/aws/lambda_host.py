"""Lambda without AWS: the real runtime client in a process of its own, with Lambda's timeouts, kills and throttling.

Each environment handles one event at a time, is replaced after a crash, and gets SIGKILL at the deadline. Concurrency
is limited. A function gets its deadline as from Lambda. The test decides when it has passed (`Host.expire`), so that a
slow machine changes nothing. The process is `awslambdaric` on the folder of a package, without the shell's environment.
"""

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.http.threaded_server import Requests, serve

REGION = "eu-central-1"
INIT_SECONDS = 600.0
"""Lambda allows 10; this machine may have other things to do."""
HANGS = 600.0
"""Seconds after which an invocation hangs, on the slowest machine."""
_RUNTIME = "/2018-06-01/runtime"


class ThrottledError(Exception):
    """All allowed environments are busy."""


@dataclass(frozen=True)
class Function:
    """The configuration of one function."""

    name: str
    handler: str
    code: Path
    besides: Path
    """What there is besides its package: put behind it on the path."""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 30.0
    """Seconds until the deadline that the function is given."""
    concurrency: int = 2


@dataclass
class Outcome:
    """The outcome of one invocation."""

    payload: Any = None
    error: Mapping[str, Any] | None = None
    cold: bool = False
    init_seconds: float = 0.0
    seconds: float = 0.0


@dataclass
class _Invocation:
    body: bytes
    deadline: float
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    done: threading.Event = field(default_factory=threading.Event)
    payload: bytes = b""
    error: Mapping[str, Any] | None = None


class Environment:
    """One process that handles one event at a time."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.ready = threading.Event()
        self.init_error: Mapping[str, Any] | None = None
        self.init_seconds = 0.0
        self.used = False
        self.inbox: queue.SimpleQueue[_Invocation] = queue.SimpleQueue()
        self.current: _Invocation | None = None
        self.log: list[str] = []
        # A port of its own: the client takes no path.
        self._api = serve(_runtime_api(self))
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-m", "awslambdaric", function.handler],
            cwd=function.code,
            env=self._variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def _variables(self) -> dict[str, str]:
        function = self.function
        return {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TZ": ":UTC",
            "PYTHONPATH": f"{function.code}{os.pathsep}{function.besides}",
            "LAMBDA_TASK_ROOT": str(function.code),
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._api.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/gofer/test/{function.name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": "test",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_SESSION_TOKEN": "testing",
            "POWERTOOLS_SERVICE_NAME": "gofer-test",
            **function.environment,
        }

    def answer(self, body: bytes) -> Outcome:
        """Return the outcome of one event; the process is killed when its deadline passes."""
        cold, self.used = not self.used, True
        if cold and (error := self._not_begun()):
            return Outcome(error=error, cold=True, init_seconds=self.init_seconds)
        began = time.monotonic()
        invocation = self.current = _Invocation(body, time.time() + self.function.timeout)
        self.inbox.put(invocation)
        if not invocation.done.wait(HANGS):
            self.expire()
        self.current = None
        payload = json.loads(invocation.payload) if invocation.payload and not invocation.error else None
        seconds = time.monotonic() - began
        return Outcome(payload, invocation.error, cold, self.init_seconds if cold else 0.0, seconds)

    def _not_begun(self) -> Mapping[str, Any] | None:
        self.ready.wait(INIT_SECONDS)
        if self.init_error is None and self.alive and self.ready.is_set():
            return None
        self.kill()
        return self.init_error or {"errorType": "Runtime.InitError"}

    def begun(self) -> None:
        """Wait until the process asks for its first event."""
        if not self.ready.is_set():
            self.init_seconds = time.monotonic() - self._began
            self.ready.set()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill the process as Lambda does: no handler, no `finally`."""
        if self.alive:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._watching.join(INIT_SECONDS)

    def expire(self) -> None:
        """Let the deadline of the event under way pass."""
        if invocation := self.current:
            invocation.error = {"errorType": "Sandbox.Timedout"}
        self.kill()

    def _watch(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as out:
            for line in out:
                self.log.append(line)
        self.process.wait()
        self.ready.set()
        if invocation := self.current:
            invocation.error = invocation.error or {"errorType": "Runtime.ExitError"}
            invocation.done.set()
        self._api.shutdown()
        self._api.server_close()


class Host:
    """All functions, and their environments."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.outcomes: list[tuple[str, Outcome]] = []
        """Of every invocation, by function."""
        self._every: list[Environment] = []
        self._idle: dict[str, list[Environment]] = {}
        self._busy: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, function: Function) -> None:
        self.functions[function.name] = function

    def close(self) -> None:
        for environment in self._every:
            environment.kill()

    def expire(self, name: str) -> None:
        """Let the deadline of a function's events under way pass."""
        for environment in self._every:
            if environment.function.name == name and environment.current is not None:
                environment.expire()

    def retire(self, name: str) -> None:
        """End a function's environments, so that its next invocation begins cold."""
        for environment in self._idle.pop(name, []):
            environment.kill()

    def peak_mb(self, name: str) -> list[float]:
        """Return the peak memory of each living process of a function in megabytes (on Linux only)."""
        alive = [one for one in self._every if one.function.name == name and one.alive]
        told = [Path(f"/proc/{one.process.pid}/status").read_text() for one in alive]
        return [int(status.split("VmHWM:", 1)[1].split()[0]) / 1024 for status in told]

    def log(self, *names: str) -> str:
        """Return everything that functions logged; their processes end first, so that all output is written."""
        for name in names or list(self._idle):
            self.retire(name)
        return "".join(
            line for one in self._every if one.function.name in (names or self.functions) for line in one.log
        )

    def invoke(self, name: str, event: object) -> Outcome:
        """Invoke a function synchronously. Raise ThrottledError when no environment is free."""
        function = self.functions[name]
        with self._lock:
            if self._busy.get(name, 0) >= function.concurrency:
                raise ThrottledError(name)
            self._busy[name] = self._busy.get(name, 0) + 1
        try:
            environment = self._environment(function)
            outcome = environment.answer(json.dumps(event).encode())
        finally:
            with self._lock:
                self._busy[name] -= 1
        with self._lock:
            self.outcomes.append((name, outcome))
            if environment.alive:
                self._idle.setdefault(name, []).append(environment)
        return outcome

    def _environment(self, function: Function) -> Environment:
        with self._lock:
            idle = [one for one in self._idle.pop(function.name, []) if one.alive]
            if idle:
                self._idle[function.name] = idle[:-1]
                return idle[-1]
        environment = Environment(function)
        self._every.append(environment)
        return environment


def _runtime_api(environment: Environment) -> type[Requests]:
    """Return a request handler that plays the Runtime API as the client uses it."""
    numbers = itertools.count(1)

    class RuntimeApi(Requests):
        def take(self) -> None:
            if self.command == "GET":
                self.next()
            else:
                self.told()

        def next(self) -> None:
            assert self.path == f"{_RUNTIME}/invocation/next"
            environment.begun()
            while environment.alive:
                try:
                    invocation = environment.inbox.get(timeout=0.5)
                except queue.Empty:
                    continue
                name = environment.function.name
                headers = {
                    "Lambda-Runtime-Aws-Request-Id": invocation.id,
                    "Lambda-Runtime-Deadline-Ms": str(int(invocation.deadline * 1000)),
                    "Lambda-Runtime-Invoked-Function-Arn": f"arn:aws:lambda:{REGION}:123456789012:function:{name}",
                    "Lambda-Runtime-Trace-Id": f"Root=1-{int(time.time()):08x}-{next(numbers):024x};Sampled=0",
                    "Content-Type": "application/json",
                }
                return self.reply(200, invocation.body, headers)
            return self.reply(410)

        def told(self) -> None:
            body, invocation = self.body(), environment.current
            if self.path == f"{_RUNTIME}/init/error":
                environment.init_error = json.loads(body or b"{}")
                environment.ready.set()
            elif invocation and self.path.startswith(f"{_RUNTIME}/invocation/{invocation.id}/"):
                if self.path.endswith("/error"):
                    invocation.error = json.loads(body or b"{}")
                invocation.payload = body
                invocation.done.set()
            self.reply(202, b'{"status":"OK"}', {"Content-Type": "application/json"})

    return RuntimeApi
