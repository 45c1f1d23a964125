"""The check of a world without starting its systems."""

from collections.abc import Callable, Mapping

from gofer_simulators.github.world import load_hub
from gofer_simulators.jira.world import load_site
from gofer_simulators.notion.world import load_world
from gofer_simulators.slack.world import load_workspace

_Load = Callable[[Mapping[str, object], Callable[[], float]], object]


def _load_slack(part: Mapping[str, object], clock: Callable[[], float]) -> object:
    return load_workspace({"slack": part}, clock)


_LOADERS: Mapping[str, _Load] = {
    "slack": _load_slack,
    "jira": load_site,
    "notion": load_world,
    "github": load_hub,
}
SYSTEMS = tuple(_LOADERS)
"""The sources that have a simulator, as in `registry.SIMULATORS`."""


def check_part(system: str, part: Mapping[str, object], now: float) -> None:
    """Raise ConfigError for a mistake in a system's part of a world. `now` is the time of the systems, unix seconds."""
    _LOADERS[system](part, lambda: now)
