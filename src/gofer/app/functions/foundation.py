"""The foundation of every function: log lines, parameters, and the workflows that were published last.

The front follows the small part of a bundle: routes, hooks and schedules. It lies on the way of a cold start to its
first 2xx: no YAML, no pydantic. `app/logs.py` decides what `AGENT_LOG_LEVEL` lets through, as for every other
process.
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
    """Powertools' keys, and beside them what Gofer's own lines say."""

    def __init__(self, level: LogLevel) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            log_record_order=["level", "message"], use_rfc3339=True, utc=True
        )
        self._own = JsonLines(level)

    @override
    def format(self, record: logging.LogRecord) -> str:
        line = json.loads(self._own.format(record))
        # Only keys that Powertools itself set for this invocation: ids, names and numbers.
        keys = {name: value for name, value in self.log_format.items() if isinstance(value, str | int | float)}
        keys = {name: value for name, value in keys.items() if "%(" not in str(value)}
        return json.dumps(keys | line, ensure_ascii=False)


def start_lines(level: LogLevel) -> Logger:
    """Send the log lines of this process to where Lambda keeps them; return the logger that knows the invocation."""
    logger = Logger(service=None, logger_formatter=TypedLines(level))
    root = logging.getLogger()
    # The runtime's own handler would write everything a second time, in its own way.
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
    """Return what `build` makes of the published routes, hooks and schedules, made anew whenever others are published.

    `packaged` is the small part that came with the code: it counts as long as nothing was ever published. `patience` is
    how many seconds a request of a later look may take.
    """

    def load(raw: bytes) -> T:
        return build(read_compiled(raw))

    return Live(bundles, clock, routes_key, load, load(packaged) if packaged else None, patience)


COMPILED = "compiled.json"
"""In a package: the routes, hooks and schedules of the workflows that it was made with."""

_READERS = 2
"""Objects that are read at once."""


class NoNetwork(Http):
    """For functions that send nothing of their own."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise TemporaryError("this function sends nothing")


@dataclass(frozen=True, slots=True)
class Ground:
    """One execution environment: what is there before the first invocation and stays for all of them."""

    environment: Mapping[str, str] = field(repr=False)
    """Keys and tokens are in it."""
    cloud: CloudSettings
    account: Account
    clock: Clock
    logger: Logger
    runner: asyncio.Runner
    kept: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """What is let go with it."""

    @property
    def package(self) -> Path:
        """Return where the function's code is."""
        return Path(self.environment.get("LAMBDA_TASK_ROOT", "."))

    def parameters(self, store: ParameterStore) -> Parameters:
        """Return what the function is told."""
        return Parameters(self.environment, store, self.clock)

    def outside(self, http: Http | None = None) -> Outside:
        """Return time, ids, chance and the network."""
        return Outside(http or NoNetwork(), self.clock, random_id, random.SystemRandom(), random_key)

    def wire(self, service: str, bucket: str = "", timeout: float = TIMEOUT) -> Wire:
        """Return signed requests to a service; `timeout` is how many seconds each step of one may take."""
        wire = Wire(self.account, service, self.clock, bucket, timeout=timeout)
        self.kept.callback(wire.close)
        return wire

    def bundles(self) -> BundleStore:
        """Return where workflows are published, to be read."""
        return S3BundleStore(Aws(_READERS), LightS3(self.wire("s3", self.cloud.bucket)), self.cloud.bucket)

    def published(self) -> Live[Compiled]:
        """Return routes, hooks and schedules as they were published last; those of the package while there are none."""
        compiled = self.package / COMPILED
        return live_front(self.bundles(), self.clock, _as_it_is, compiled.read_bytes() if compiled.exists() else None)

    def handler(self, answer: Answer) -> Handler:
        """Return the entry point."""
        return handler(self.logger, self.runner, answer)

    def close(self) -> None:
        """Let everything go; Lambda never does, it ends the process."""
        self.kept.close()
        self.runner.close()


def stand() -> Ground:
    """Return what this process stands on, once all is imported: from here on there is garbage. Raises ConfigError."""
    gc.freeze()
    gc.enable()
    forbid_core_dumps()
    environment = process_variables()
    logger = start_lines(read_log_level(environment))
    cloud = cloud_settings(environment)
    account = read_account(environment)
    return Ground(environment, cloud, account, SystemClock(), logger, asyncio.Runner())


def _as_it_is(compiled: Compiled) -> Compiled:
    return compiled
