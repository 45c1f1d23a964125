"""The settings of a function: its environment, and below it the parameters of its stage that it names.

A role may read just the parameters that are named here, so they are never asked for by their path. What a function
makes of them, and of published workflows, is made anew when either was changed.
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
"""Seconds that a parameter is taken for what it was: a secret that was changed is known to all processes after that."""
AGAIN = 30.0
"""Seconds after which what could not be read again is asked for once more; until then it is what it was."""
KEY = "INSTALLATION_KEY"
SYSTEMS = (
    *(KEY, "GOFER_URL"),
    *(setting.name for spec in RECEIVERS for setting in spec.acts_with),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "MODEL_BASE_URLS"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"),
    *("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    *("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"),
)
"""What a worker needs to act."""

_log = logging.getLogger(__name__)
K = TypeVar("K")
T = TypeVar("T")


class ParameterStore(Protocol):
    """Where parameters are read."""

    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the values of those that are there, by the whole name. Raises TemporaryError, ConfigError."""
        ...


class Parameters:
    """The environment of this process with parameters below it; what the environment sets wins."""

    def __init__(self, environment: Mapping[str, str], store: ParameterStore, clock: Clock) -> None:
        self._environment = environment
        self._path = environment.get("GOFER_PARAMETERS", "")
        self._store = store
        self._clock = clock
        self._read: dict[str, tuple[float, str | None]] = {}

    def values_of(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the environment and these parameters, as they were at most FRESH seconds ago or could be read last.

        Raises TemporaryError for one that could never be read.
        """
        now = self._clock.now()
        wanted = [name for name in names if name not in self._environment] if self._path else []
        stale = [name for name in wanted if not 0 <= now - self._read.get(name, (-FRESH, None))[0] < FRESH]
        if stale:
            self._read |= self._anew(stale, now)
        known = {name: value for name in wanted if (value := self._read[name][1]) is not None}
        return {**known, **self._environment}

    def _anew(self, names: Sequence[str], now: float) -> Mapping[str, tuple[float, str | None]]:
        try:
            found = self._store.read([f"{self._path}{name}" for name in names])
        except TemporaryError as error:
            if not set(names) <= self._read.keys():
                raise
            _log.error("the settings stay what they were: %s", error)
            return {name: (now - FRESH + AGAIN, self._read[name][1]) for name in names}
        return {name: (now, found.get(f"{self._path}{name}")) for name in names}


class Following(Generic[K, T]):
    """What is made of settings, and made anew when they were changed; the same object as long as they are not."""

    def __init__(self, make: Callable[[K], T]) -> None:
        """`make` may raise ConfigError."""
        self._make = make
        self._held: tuple[K, T] | None = None

    def current(self, read: Callable[[], K]) -> T:
        """Return the object of the settings as they are now, or of the last ones that could be read and were right.

        Raises ConfigError, TemporaryError when there never was anything.
        """
        try:
            told = read()
            if self._held is None or self._held[0] != told:
                self._held = told, self._make(told)
        except (ConfigError, TemporaryError) as error:
            if self._held is None:
                raise
            _log.error("the settings stay what they were: %s", error)
        return self._held[1]


Told = tuple[Compiled, Mapping[str, str]]
"""Published workflows, and the environment with the parameters that they and the function need."""


class Current(Generic[T]):
    """The same object as long as nothing was changed."""

    def __init__(
        self,
        published: Live[Compiled],
        parameters: Parameters,
        names: Sequence[str],
        make: Callable[[Told], T],
        *,
        hooks: bool = False,
    ) -> None:
        """`names` are the parameters of the function; with `hooks` also the secrets of the published webhooks."""
        self._published = published
        self._parameters = parameters
        self._names = names
        self._following = Following(make)
        self._hooks = hooks

    async def now(self) -> T:
        """Return the object as it is now. Raises ConfigError, TemporaryError when there never was one."""
        return self._made(await self._published.current())

    async def anew(self) -> T:
        """Return the object after a look at what is published now. Raises as `now`."""
        return self._made(await self._published.look())

    def _made(self, compiled: Compiled) -> T:
        secrets = ["WEBHOOK_SECRET", *map(variable, as_object(compiled.hooks))] if self._hooks else []
        return self._following.current(lambda: (compiled, self._parameters.values_of([*self._names, *secrets])))
