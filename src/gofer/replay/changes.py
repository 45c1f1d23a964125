"""What a replay changes on purpose, and where it ends."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from gofer.workflows.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of one replay. The default changes nothing."""

    prompt: str | None = None
    """The prompt in place of the recorded one."""
    bundle: Bundle | None = None
    """The files in place of those with which the run began; None for the recorded ones."""
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    """The text for the model in place of the recorded result, by call."""
    until: str = ""
    """The call before which the replay ends; empty for none."""
    live: bool = False
    """Whether a model answers: every request, or with overrides those after the first overridden result."""
    order: int | None = None
    """The seed of another order in which parallel calls end; None for the recorded order."""

    def delays(self) -> random.Random | None:
        """Return the chance that orders parallel calls; None for the recorded order."""
        if self.order is None:
            return None
        return random.Random(self.order)  # noqa: S311

    @property
    def asks_from_the_start(self) -> bool:
        """Whether a model answers the first request already."""
        return self.live and not self.overrides
