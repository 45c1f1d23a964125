"""The object that a function makes of published workflows and its settings, made anew when either was changed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from gofer.app.functions.parameters import Following, Parameters
from gofer.sources.webhook.hook import variable
from gofer.values.canonical_json import as_object
from gofer.workflows.published import Compiled, Live

Told = tuple[Compiled, Mapping[str, str]]
"""Published workflows, and the environment with the parameters that they and the function need."""
T = TypeVar("T")


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
        """Raises ConfigError, TemporaryError when there never was one."""
        return self._made(await self._published.current())

    async def anew(self) -> T:
        """After a look at what is published now: somebody else may have seen it first. Raises as `now`."""
        return self._made(await self._published.look())

    def _made(self, compiled: Compiled) -> T:
        secrets = ["WEBHOOK_SECRET", *map(variable, as_object(compiled.hooks))] if self._hooks else []
        return self._following.current(lambda: (compiled, self._parameters.told([*self._names, *secrets])))
