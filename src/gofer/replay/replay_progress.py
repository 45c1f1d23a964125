"""The progress of a whole replay, which its runs and their branches share."""

from dataclasses import dataclass, field

from gofer.replay.divergence import Divergence


@dataclass(slots=True)
class ReplayProgress:
    """The progress of a whole replay: its differences, and how many entries it has repeated."""

    repeated: int = 0
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    input_changed: bool = False
    """Whether an input of the replay, such as the prompt, differs from the recorded one."""
    inconclusive: str = ""
    """Why the replay says little about the run: the first call with a made-up outcome; empty if there is none."""

    @property
    def first(self) -> Divergence | None:
        """The first step that differs by more than words of Gofer."""
        return next((one for one in self.divergences if one.kind != "reworded"), None)

    @property
    def has_diverged(self) -> bool:
        """Whether any step differs by more than words of Gofer."""
        return self.first is not None
