"""The mistakes of the eval files of a repository, with its tools, its receivers and the simulators."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import yaml

from gofer.app.catalog import known_tools
from gofer.app.evals.trigger_input import event_input_of, speaker_of, world_in
from gofer.app.event_input import event_input
from gofer.check.company_tools import check_company
from gofer.check.eval_names import Repository
from gofer.check.evals import check_evals
from gofer.check.judges import check_judges
from gofer.evals.case_begin import FileOrData, Trigger
from gofer.evals.eval_file import Eval
from gofer.evals.load import FOLDER
from gofer.evals.references import DEMO, GOLDENS
from gofer.sources.near_miss import near_miss
from gofer.sources.receivers import known
from gofer.sources.workflow_files import load_catalog
from gofer.tools.definition import AnyTool
from gofer.tools.mocks import kept_systems
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock
from gofer.workflows.file_text import read_bytes
from gofer.workflows.load import Catalog
from gofer.workflows.mistake import Mistake, in_order, refuse
from gofer.workflows.routes import read_routes
from gofer_simulators.world_check import SYSTEMS, check_part

_LOST_TOOL = "tool-not-granted"
"""The rule about a tool that a workflow lost. A case that needs the tool is played, and fails with its report."""


def eval_mistakes(agents: Path, clock: Clock) -> list[Mistake]:
    """Return every mistake and hint in `evals/` beside the folder of the workflow files; none without that folder."""
    folder = agents.parent / FOLDER
    if not folder.is_dir():
        return []
    tools: Mapping[str, AnyTool] = known_tools()
    company = check_company(agents.parent, tools).tools
    now = clock.now()
    repository = Repository(
        agents=agents,
        tools={**tools, **company},
        simulators=SYSTEMS,
        starts=_Deliveries(_catalog(agents), now).problem,
        world_problem=_world_problem,
        today=datetime.fromtimestamp(now, UTC).date(),
    )
    found = [*check_evals(folder, repository)]
    catalog = _catalog(agents)
    if catalog is not None:
        found += check_judges(folder, catalog)
    return in_order(found)


def mistakes_of_goldens(chosen: Collection[Path], root: Path, clock: Clock) -> Mapping[Path, str]:
    """Return the first mistake of each golden of a repository, by the resolved path of its file.

    `chosen` are the files of the cases to play. Raises ConfigError for mistakes in the eval files among them, with
    which nothing is played.
    """
    found = [one for one in eval_mistakes(root / "agents", clock) if one.rule != _LOST_TOOL and not one.is_hint]
    goldens = (root / FOLDER / GOLDENS).resolve()
    of_goldens = [one for one in found if one.file.resolve().parent == goldens]
    paths = {path.resolve() for path in chosen}
    refuse([one for one in found if one.file.resolve() in paths and one not in of_goldens], "evals")
    shown = [replace(one, file=one.file.resolve().relative_to(root.resolve())) for one in of_goldens]
    # The first mistake of a file replaces its later ones.
    return {one.file.resolve(): str(text) for one, text in reversed([*zip(of_goldens, shown, strict=True)])}


def _catalog(agents: Path) -> Catalog | None:
    """Return the workflows, or None if a file has a mistake, which the check of the workflows reports."""
    try:
        return load_catalog(agents)
    except ConfigError:
        return None


class _Deliveries:
    """The receivers and routes that deliveries of eval files pass."""

    def __init__(self, catalog: Catalog | None, now: float) -> None:
        self._catalog = catalog
        self._now = now
        if catalog is not None:
            self._routes = read_routes(catalog.routes())

    def problem(self, of: Eval, world: FileOrData | None, trigger: Trigger, folder: Path) -> str:
        """Return why a trigger does not start the workflow of an eval in a world.

        The result is empty if it does, or if the workflows or the world have mistakes.
        """
        workflow = of.workflow
        if self._catalog is None or workflow not in self._catalog.workflows:
            return ""
        contents = world or {}
        if isinstance(contents, str):
            try:
                contents = world_in(contents, folder / contents)
            except ConfigError:
                return ""
        speaker = speaker_of(self._catalog, workflow, contents, of.clock.timestamp)
        try:
            given = replace(event_input_of(trigger, folder, speaker), file="This payload")
            event = event_input(self._catalog, workflow, given, self._now)
        except ConfigError as error:
            return str(error)
        matching = self._routes.matching(event.kind, known(event))
        if event.source == "schedule" or any(route.workflow == workflow for route in matching):
            return ""
        if matching:
            others = " and ".join(sorted({f"`{route.workflow}`" for route in matching}))
            return f"This delivery starts {others}, not `{workflow}`."
        return f"This delivery starts nothing: {near_miss(self._routes, event).tell(found=True)}."


def _world_problem(world: FileOrData, folder: Path, clock: float, systems: Collection[str]) -> str:
    """Return what is wrong with the data of simulated systems; empty for correct data."""
    if world == DEMO:
        return ""
    data: object = world
    if isinstance(world, str):
        try:
            data = yaml.load(read_bytes(folder / world), Loader=yaml.CSafeLoader)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            return f"`{world[:80]}` is not a YAML file."
    parts = as_object(data)
    if not parts:
        return "The world has no system; write one part for each system."
    if unknown := [name for name in parts if name not in systems]:
        return f"There is no simulator of `{unknown[0][:80]}`; the systems are {', '.join(systems)}."
    try:
        kept_systems(parts, SYSTEMS)
        for name in [name for name in parts if name in SYSTEMS]:
            check_part(name, as_object(parts[name]), clock)
    except ConfigError as error:
        return str(error)
    return ""
