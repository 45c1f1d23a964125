"""The settings of a function: its environment, and the parameters of its stage that the environment does not set.

The role of a function may read only the parameters that it names, so parameters are never read by path. The objects
that a function makes from parameters and published workflows are made again when either changes.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from gofer.sources.receivers import RECEIVERS
from gofer.sources.webhook.hook import variable
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import Clock
from gofer.workflows.published import Compiled, Live

FRESH = 300.0
"""Seconds that the value of a parameter is reused. After that, every process knows a changed secret."""
AGAIN = 30.0
"""Seconds until a failed read is repeated. Until then the previous value is used."""
NAMES_AT_ONCE = 10
"""The most names in one request to Parameter Store."""
KEY = "INSTALLATION_KEY"
SYSTEMS = (
    *(KEY, "GOFER_URL"),
    *(setting.name for spec in RECEIVERS for setting in spec.acts_with),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_FORMAT", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
    "MODEL_BASE_URLS",
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"),
    *("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    *("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"),
)
"""The parameters of a worker."""

_log = logging.getLogger(__name__)
K = TypeVar("K")
T = TypeVar("T")


class ParameterStore(Protocol):
    """The store of parameters."""

    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the values of the existing parameters, by the whole name. Raises TemporaryError, ConfigError."""
        ...


class Parameters:
    """The parameters of the stage, overridden by the environment of this process."""

    def __init__(self, environment: Mapping[str, str], store: ParameterStore, clock: Clock) -> None:
        self._environment = environment
        self._path = environment.get("GOFER_PARAMETERS", "")
        self._store = store
        self._clock = clock
        self._read: dict[str, tuple[float, str | None]] = {}

    def values_of(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the environment and these parameters.

        A value is at most FRESH seconds old, or the last one that could be read. Raises TemporaryError for a parameter
        that could never be read.
        """
        now = self._clock.now()
        if not self._path:
            return dict(self._environment)
        unset = [name for name in names if name not in self._environment]
        stale = [name for name in unset if not 0 <= now - self._read.get(name, (-FRESH, None))[0] < FRESH]
        if stale:
            self._read |= self._read_again(stale, now)
        known = {name: value for name in unset if (value := self._read[name][1]) is not None}
        return {**known, **self._environment}

    def _read_again(self, names: Sequence[str], now: float) -> Mapping[str, tuple[float, str | None]]:
        try:
            found = self._store.read([f"{self._path}{name}" for name in names])
        except TemporaryError as error:
            if not set(names) <= self._read.keys():
                raise
            _log.error("the previous settings stay in use: %s", error)
            return {name: (now - FRESH + AGAIN, self._read[name][1]) for name in names}
        return {name: (now, found.get(f"{self._path}{name}")) for name in names}


class Following(Generic[K, T]):
    """An object made from settings. It stays the same until the settings change, and is then made again."""

    def __init__(self, make: Callable[[K], T]) -> None:
        """Make the object with `make`, which may raise ConfigError."""
        self._make = make
        self._current: tuple[K, T] | None = None

    def current(self, read: Callable[[], K]) -> T:
        """Return the object for the present settings, or for the last valid settings that could be read.

        Raises ConfigError or TemporaryError if there was no object before.
        """
        try:
            settings = read()
            if self._current is None or self._current[0] != settings:
                self._current = settings, self._make(settings)
        except (ConfigError, TemporaryError) as error:
            if self._current is None:
                raise
            _log.error("the previous settings stay in use: %s", error)
        return self._current[1]


Inputs = tuple[Compiled, Mapping[str, str]]
"""Published workflows, and the environment with the parameters that they and the function need."""


class Current(Generic[T]):
    """An object made from published workflows and parameters. It stays the same until either changes."""

    def __init__(
        self,
        published: Live[Compiled],
        parameters: Parameters,
        names: Sequence[str],
        make: Callable[[Inputs], T],
        *,
        hooks: bool = False,
    ) -> None:
        """Make the object with `make`.

        `names` are the parameters of the function. `hooks` adds the secrets of the published webhooks.
        """
        self._published = published
        self._parameters = parameters
        self._names = names
        self._following = Following(make)
        self._hooks = hooks

    async def now(self) -> T:
        """Return the present object. Raises ConfigError or TemporaryError if there was no object before."""
        return self._made(await self._published.current())

    async def refreshed(self) -> T:
        """Look for a newer publication and return the object. Raises the same errors as `now`."""
        return self._made(await self._published.look())

    def _made(self, compiled: Compiled) -> T:
        names = [*self._names]
        if self._hooks:
            names += ["WEBHOOK_SECRET", *map(variable, as_object(compiled.hooks))]
        return self._following.current(lambda: (compiled, self._parameters.values_of(names)))
