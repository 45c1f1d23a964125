"""The progress of a whole replay, which its runs and their branches share."""

from dataclasses import dataclass, field

from gofer.replay.divergence import Divergence


@dataclass(slots=True)
class ReplayProgress:
    """The progress of a whole replay: its differences, and how many entries it has repeated."""

    version: str = ""
    """The version of Gofer that replays."""
    repeated: int = 0
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    input_changed: bool = False
    """Whether an input of the replay, such as the prompt, differs from the recorded one."""
    inconclusive: str = ""
    """Why the replay says little about the run: the first call with a made-up outcome; empty if there is none."""

    @property
    def first(self) -> Divergence | None:
        """The first step with which the replay left the recorded path."""
        return next((one for one in self.divergences if one.leaves_the_path), None)

    @property
    def has_diverged(self) -> bool:
        """Whether the replay left the recorded path."""
        return self.first is not None

    def note(self, divergence: Divergence) -> None:
        """Note a difference, unless it follows from one that was noted."""
        is_known = any(_follows(divergence, one) for one in self.divergences)
        if divergence.leaves_the_path or not (self.has_diverged or is_known):
            self.divergences.append(divergence)


def _follows(later: Divergence, earlier: Divergence) -> bool:
    """Return whether a difference only repeats an earlier one of the same run."""
    if (later.run, later.kind) != (earlier.run, earlier.kind):
        return False
    match later.kind:
        case "read":
            # The messages of a request hold every text that an earlier difference was about.
            return later.field in (earlier.field, "messages")
        case "added":
            return later.step.rpartition(" ")[2] == earlier.step.rpartition(" ")[2]
        case _:
            return False
