"""The foundation of every function: log lines, parameters, and the latest published workflows.

Receivers load only the small part of a bundle: routes, hooks and schedules. Every cold start imports this module before
its first 2xx, so it imports no YAML and no pydantic. `app/logs.py` decides what `AGENT_LOG_LEVEL` lets through, as for
every other process.
"""

import asyncio
import contextlib
import gc
import json
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from typing_extensions import override

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.aws.settings import CloudSettings, cloud_settings
from gofer.app.functions.aws_http import TIMEOUT, Account, Wire, read_account
from gofer.app.functions.aws_requests import LightS3
from gofer.app.functions.invocation import Answer, Handler, handler
from gofer.app.functions.parameters import Parameters, ParameterStore
from gofer.app.logs import JsonLines
from gofer.app.private_files import forbid_core_dumps
from gofer.app.settings import LogLevel, process_variables, read_log_level
from gofer.stores.aws.calls import Aws
from gofer.values.errors import TemporaryError
from gofer.values.outside import Clock, Http, HttpRequest, HttpResponse, Outside, SystemClock, random_id, random_key
from gofer.workflows.published import PATIENCE, BundleStore, Compiled, Live, read_compiled, routes_key


class TypedLines(LambdaPowertoolsFormatter):
    """A log line with the keys of Powertools and the fields of Gofer's own lines."""

    def __init__(self, level: LogLevel) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            log_record_order=["level", "message"], use_rfc3339=True, utc=True
        )
        self._own = JsonLines(level)

    @override
    def format(self, record: logging.LogRecord) -> str:
        line = json.loads(self._own.format(record))
        # Only keys that Powertools set for this invocation: ids, names and numbers, and no unfilled templates.
        keys = {name: value for name, value in self.log_format.items() if isinstance(value, str | int | float)}
        keys = {name: value for name, value in keys.items() if "%(" not in str(value)}
        return json.dumps(keys | line, ensure_ascii=False)


def start_lines(level: LogLevel) -> Logger:
    """Send the log lines of this process to Lambda's log, and return the logger that adds data of the invocation."""
    logger = Logger(service=None, logger_formatter=TypedLines(level))
    root = logging.getLogger()
    # The runtime's own handler would write every line a second time, in another format.
    root.handlers[:] = [logger.registered_handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("gofer").setLevel(logging.INFO)
    return logger


T = TypeVar("T")


def live_front(
    bundles: BundleStore,
    clock: Clock,
    build: Callable[[Compiled], T],
    packaged: bytes | None = None,
    patience: float = PATIENCE,
) -> Live[T]:
    """Return an object that `build` makes from the published routes, hooks and schedules after each publication.

    `packaged` is the small part that came with the code. It is used until the first publication. `patience` is the
    number of seconds that a request may take when Gofer looks for a newer publication.
    """

    def load(raw: bytes) -> T:
        return build(read_compiled(raw))

    initial = None
    if packaged:
        initial = load(packaged)
    return Live(bundles, clock, routes_key, load, initial, patience)


COMPILED = "compiled.json"
"""The file with the routes, hooks and schedules of the workflows that a package was made with."""

_READERS = 2
"""The number of threads that read published objects."""


class NoNetwork(Http):
    """The network of functions that send no requests to outside systems."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise TemporaryError("this function sends nothing")


@dataclass(frozen=True, slots=True)
class Ground:
    """One execution environment of Lambda, which is prepared before the first invocation and shared by all of them."""

    environment: Mapping[str, str] = field(repr=False)
    """The environment variables, which include keys and tokens."""
    cloud: CloudSettings
    account: Account
    clock: Clock
    logger: Logger
    runner: asyncio.Runner
    kept: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """The resources that `close` closes."""

    @property
    def package(self) -> Path:
        """Return the folder of the function's code."""
        return Path(self.environment.get("LAMBDA_TASK_ROOT", "."))

    def parameters(self, store: ParameterStore) -> Parameters:
        """Return the parameters of the function, read from a store."""
        return Parameters(self.environment, store, self.clock)

    def outside(self, http: Http | None = None) -> Outside:
        """Return the clock, ids, random numbers and the network."""
        return Outside(http or NoNetwork(), self.clock, random_id, random.SystemRandom(), random_key)

    def wire(self, service: str, bucket: str = "", timeout: float = TIMEOUT) -> Wire:
        """Return a client for signed requests to a service. `timeout` limits each step of a request, in seconds."""
        wire = Wire(self.account, service, self.clock, bucket, timeout=timeout)
        self.kept.callback(wire.close)
        return wire

    def bundles(self) -> BundleStore:
        """Return the store of published workflows, for reading."""
        return S3BundleStore(Aws(_READERS), LightS3(self.wire("s3", self.cloud.bucket)), self.cloud.bucket)

    def published(self) -> Live[Compiled]:
        """Return the latest published routes, hooks and schedules, or those of the package before any publication."""
        file = self.package / COMPILED
        packaged = None
        if file.exists():
            packaged = file.read_bytes()
        return live_front(self.bundles(), self.clock, _unchanged, packaged)

    def handler(self, answer: Answer) -> Handler:
        """Return the entry point that calls `answer` for each invocation."""
        return handler(self.logger, self.runner, answer)

    def close(self) -> None:
        """Close all resources. Lambda never calls this, because it ends the process."""
        self.kept.close()
        self.runner.close()


def stand() -> Ground:
    """Return the foundation of this process. Call it after all imports. Raises ConfigError."""
    # Imported objects live as long as the process, so the garbage collector need not scan them.
    gc.freeze()
    gc.enable()
    forbid_core_dumps()
    environment = process_variables()
    logger = start_lines(read_log_level(environment))
    cloud = cloud_settings(environment)
    account = read_account(environment)
    return Ground(environment, cloud, account, SystemClock(), logger, asyncio.Runner())


def _unchanged(compiled: Compiled) -> Compiled:
    return compiled
