"""The state that operations commands act on, in a local folder or in a stage on AWS."""

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
    """The environment variables of this process."""
    stage: str = ""
    """The stage on AWS. Empty for a local folder, or if the environment names the table and the bucket."""
    profile: str = ""
    """The profile in the AWS configuration. Empty for the default profile."""

    @property
    def away(self) -> bool:
        """Return whether the state is on AWS."""
        return bool(self.stage or self.variables.get("GOFER_TABLE"))

    @property
    def data(self) -> Path:
        """Return the folder of the embedded state."""
        return Path(self.variables.get("GOFER_DATA") or ".gofer")


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything that an operations command may use, independent of where the state is kept."""

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
