"""What the commands that look after runs act on: the state of this folder, or that of a stage on AWS."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock


@dataclass(frozen=True, slots=True)
class Place:
    """The state that a command acts on."""

    variables: Mapping[str, str]
    """What is set for this process."""
    stage: str = ""
    """The stage on AWS; empty where the environment says what its table and its bucket are, or none is meant."""
    profile: str = ""
    """The profile of AWS' own configuration; empty for the default one."""

    @property
    def away(self) -> bool:
        """Return whether it is on AWS."""
        return bool(self.stage or self.variables.get("GOFER_TABLE"))

    @property
    def data(self) -> Path:
        """Return the folder of the embedded state."""
        return Path(self.variables.get("GOFER_DATA") or ".gofer")


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything a command that looks after runs may use; it does not know where that is."""

    stores: Stores
    clock: Clock


def read_place(variables: Mapping[str, str], stage: str, profile: str) -> Place:
    """Return the place that options and environment name. Raises ConfigError when they contradict each other."""
    place = Place(variables, stage, profile)
    if profile and not place.away:
        raise ConfigError(
            "--profile is for a Gofer on AWS; add --stage NAME, or set GOFER_TABLE and what goes with it."
        )
    return place
