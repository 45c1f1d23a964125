"""The world of a case: the simulated systems, and the mocks in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from gofer.app.embedded.simulated import Simulated
from gofer.app.embedded.simulators import open_systems
from gofer.app.evals.repeatable import VirtualClock
from gofer.app.evals.simulated_network import SimulatedNetwork, address
from gofer.app.evals.trigger_input import deliveries_of, world_in, world_with_words
from gofer.evals.case_begin import JsonObject
from gofer.evals.eval_file import Case, Eval
from gofer.evals.goldens.golden_reader import ReadGolden, read_golden
from gofer.evals.goldens.recorded_world import RecordedWorld
from gofer.sources.receivers import RECEIVERS
from gofer.tools.definition import AnyTool
from gofer.tools.mocks import MockedSystems, Overrides, kept_systems, mocked
from gofer_simulators.registry import SIMULATORS

CREDENTIAL = "simulated"
"""The credential of every simulated system. It opens no real system."""
_SOURCES = {spec.system: spec.source for spec in RECEIVERS if spec.source in SIMULATORS}
"""The simulated sources by the name that tools use for their system."""

Tools = Mapping[str, AnyTool]


@dataclass(frozen=True, slots=True)
class CaseWorld:
    """The initial contents of the simulated systems, and the results of mocked tools."""

    contents: Mapping[str, object] | None
    """None: every tool answers with its mock."""
    mocks: Overrides
    kept: MockedSystems
    """The states of a company's systems in one play."""

    def open(self, clock: VirtualClock, http: httpx2.AsyncClient) -> Simulated:
        """Return new systems with the initial contents. Raises ConfigError for a mistake in them."""
        systems = open_systems(self.contents or {}, clock.now, http, lambda: CREDENTIAL)
        return Simulated(systems, {name: address(name) for name in systems}, self.kept)

    def equip(self, tools: Tools) -> Tools:
        """Return the tools of a run: those with results in the file and those without a system answer with mocks."""
        replaced = {name: tool for name, tool in tools.items() if name in self.mocks or self._lacks(tool)}
        return {**tools, **mocked(replaced, self.mocks, self.kept)}

    def _lacks(self, tool: AnyTool) -> bool:
        """Return whether the world has no system for a tool."""
        if self.contents is None:
            return True
        source = _SOURCES.get(tool.target.system, "")
        return bool(tool.target.system) and source not in self.contents


@dataclass(frozen=True, slots=True)
class GoldenWorld:
    """The recorded outcomes of a golden. There is no system."""

    recorded: RecordedWorld
    contents: None = None

    def open(self, clock: VirtualClock, http: httpx2.AsyncClient) -> Simulated:
        """Return no system."""
        return Simulated()

    def equip(self, tools: Tools) -> Tools:
        """Return the tools of a run, which answer with recorded outcomes."""
        return self.recorded.equip(tools)


def network(simulated: Simulated) -> SimulatedNetwork:
    """Return the network that reaches only these systems."""
    return SimulatedNetwork({name: system.app for name, system in simulated.systems.items()})


@dataclass(slots=True)
class CaseFiles:
    """The files beside the eval files of one suite; each world and each golden is read once."""

    _worlds: dict[Path, Mapping[str, object]]
    _spoken: dict[int, tuple[Case, Mapping[str, object]]] = field(
        default_factory=dict[int, tuple[Case, Mapping[str, object]]]
    )
    """The worlds of cases in words, by the identity of the case."""
    _goldens: dict[Path, ReadGolden] = field(default_factory=dict[Path, ReadGolden])

    def world(self, case: Case, of: Eval, folder: Path) -> CaseWorld:
        """Return the world of one play of a case, by the case and else by its eval. Raises ConfigError."""
        given = case.world
        if given is None:
            given = of.world
        contents = self._contents(given, folder)
        if any(trigger.text is not None for trigger in deliveries_of(case)):
            contents = self._with_words(contents or {}, case)
        return CaseWorld(contents, {**of.mocks, **case.mocks}, kept_systems(contents or {}, SIMULATORS))

    def _with_words(self, contents: Mapping[str, object], case: Case) -> Mapping[str, object]:
        """Return contents in which the people of a case can write: the same object for each of its plays."""
        key = id(case)
        if key not in self._spoken:
            self._spoken[key] = (case, world_with_words(contents, case))
        return self._spoken[key][1]

    def golden(self, path: Path) -> ReadGolden:
        """Return a golden with its recording. Raises ConfigError."""
        if path not in self._goldens:
            self._goldens[path] = read_golden(path)
        return self._goldens[path]

    def _contents(self, given: str | JsonObject | None, folder: Path) -> Mapping[str, object] | None:
        if not isinstance(given, str):
            return given
        path = folder / given
        if path not in self._worlds:
            self._worlds[path] = world_in(given, path)
        return self._worlds[path]
