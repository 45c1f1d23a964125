"""Recorded runs of the engine's memory run, for tests of affected runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.journal.entries import Recorded
from gofer.workflows.bundle import Bundle
from support.engine.memory_run import MemoryRun


@dataclass(frozen=True, slots=True)
class Work:
    """A recorded run with its bundle."""

    run: str
    entries: Sequence[Recorded]
    bundles: Mapping[str, Bundle]
    subagents: Mapping[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])

    @property
    def journals(self) -> Mapping[str, Sequence[Recorded]]:
        """The journals of the run and of its subagent runs."""
        return {self.run: self.entries, **self.subagents}

    @property
    def bundle(self) -> Bundle:
        """The bundle with which the run began."""
        return self.bundles[self.run]


async def recorded_work(made: MemoryRun, run: str = "run1") -> Work:
    """Let a memory run work, and return it as it was recorded."""
    await made.run()
    return Work(run, await made.journal(), {run: made.bundle()})


def with_system(bundle: Bundle, system: str) -> Bundle:
    """Return a bundle with another system prompt."""
    return replace(bundle, loaded=replace(bundle.loaded, system=system))
