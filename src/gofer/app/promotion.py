"""The promotion of a workflow of this folder: its recorded runs, the draft of a script, and the trial of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from gofer.app.catalog import model_roles
from gofer.app.operations import Operations
from gofer.app.replay import Replayer, open_replayer
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.learning.promotion.draft import Draft, draft, gives_an_answer
from gofer.learning.promotion.judgements import NotDecided, decided
from gofer.learning.promotion.observed_run import ObservedRun, is_on_a_system, observe, observed_call
from gofer.learning.promotion.promotion import Promotion, oldest, promote
from gofer.learning.promotion.recorded_runs import recorded_runs
from gofer.learning.promotion.verification import Trial, Verification, verify
from gofer.replay.divergence import ReplayEnded
from gofer.replay.recorded_run import recorded_run
from gofer.replay.script_trial import try_script
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import load_company
from gofer.values.canonical_json import as_object, encode_text
from gofer.values.errors import ConfigError
from gofer.workflows.bundle import Bundle
from gofer.workflows.file_text import read_text
from gofer.workflows.script_source import FOLDER as SCRIPTS
from gofer.workflows.script_source import Script, load_script
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import read_skills
from gofer.workflows.subagent import LoadedSubagent, load_subagents
from gofer.workflows.yaml_source import read_source

AGENTS = "agents"


async def promotion_of(opened: Operations, root: Path, workflow: str, most: int) -> Promotion:
    """Return what at most `most` recorded runs of a workflow have in common. Raises ConfigError, TemporaryError."""
    read = await recorded_runs(RunReader(opened.stores, opened.clock, {}), workflow, most)
    tools = build_tools(read_settings({}), company=load_company(root))
    observed = [observe(record, tools) for record in read.records]
    runs = [run for run in observed if run is not None]
    if not runs:
        raise ConfigError(_no_runs(workflow))
    drafted = oldest(runs)
    return promote(workflow, drafted, read.with_bad_feedback + len(observed) - len(runs), len(runs) - len(drafted))


def draft_of(promotion: Promotion, root: Path) -> Draft:
    """Return the draft for a workflow of the folder. Raises ConfigError for a workflow that it does not have."""
    loaded = load_catalog(root / AGENTS).workflows.get(promotion.workflow)
    if loaded is None:
        raise ConfigError(
            f"There is no workflow {promotion.workflow!r} in {AGENTS}/, so no file can be drafted for it."
        )
    if loaded.workflow.coordinator == "script":
        raise ConfigError(
            f"The coordinator of {promotion.workflow} is already {loaded.workflow.coordinator_script}; verify it with "
            "--verify."
        )
    prompt, _ = read_text(root / loaded.prompt_file)
    return draft(promotion, loaded.workflow, read_source(root / AGENTS / f"{promotion.workflow}.yaml"), prompt or "")


def write_draft(made: Draft, folder: Path, *, force: bool) -> Sequence[Path]:
    """Write the new files of a draft below a folder, and return their paths.

    Raises ConfigError, before it writes anything, for a file that exists, unless `force` says to replace it.
    """
    files = {folder / path: text for path, text in made.new.items()}
    existing = [str(path) for path in files if path.exists()]
    if existing and not force:
        raise ConfigError(f"{', '.join(existing)} exists; add --force to replace it, or choose another --out.")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


async def verification_of(opened: Operations, root: Path, workflow: str, script: Path, most: int) -> Verification:
    """Return how a script compares with at most `most` recorded runs. Raises ConfigError, TemporaryError."""
    home = _home(script)
    loaded = _script(script, home)
    read = await recorded_runs(RunReader(opened.stores, opened.clock, {}), workflow, most)
    runs: list[ObservedRun] = []
    trials: dict[str, Trial] = {}
    async with open_replayer(read_settings({}), root, live=False) as replayer:
        bench = _Bench(replayer, opened, loaded, _subagents(replayer, [home, root]))
        for record in read.records:
            observed = observe(record, replayer.services.tools)
            if observed is not None:
                runs.append(observed)
                trials[record.run] = await bench.trial(record, observed)
    if not runs:
        raise ConfigError(_no_runs(workflow))
    return verify(
        workflow,
        str(script),
        runs,
        trials,
        with_answer=_gives_an_answer(read.records[0]),
        judged=bool(bench.asked),
        source=loaded.sources[loaded.module],
    )


@dataclass(slots=True)
class _Bench:
    """A script, and everything that its trials need."""

    replayer: Replayer
    opened: Operations
    script: Script
    subagents: Mapping[str, LoadedSubagent]
    asked: set[str] = field(default_factory=set[str])
    """The subagents that the script asked so far."""

    async def trial(self, record: RunRecord, observed: ObservedRun) -> Trial:
        """Run the script on the event of a recorded run."""
        services = self.replayer.services
        bundle = self._bundle(record)
        recorded = await recorded_run(record, self.opened.stores)
        judge = partial(self._answer, observed)
        tried = await try_script(recorded, bundle, self.script, services, self.replayer.catalog, judge)
        calls = [observed_call(call, services.tools) for call in tried.calls if is_on_a_system(call, services.tools)]
        stopped = tried.reason
        if tried.status == "done":
            stopped = ""
        return Trial(calls, tried.answer, stopped)

    def _bundle(self, record: RunRecord) -> Bundle:
        """Return the bundle of a recorded run with the script as its coordinator."""
        bundle = record.bundle
        if bundle is None:
            raise ConfigError(f"Run {record.run} has no bundle, so its workflow is not known.")
        changed = {
            "coordinator": "script",
            "coordinator_script": self.script.file,
            "subagents": tuple(self.subagents),
        }
        loaded = replace(
            bundle.loaded,
            workflow=bundle.loaded.workflow.model_copy(update=changed),
            script_sha256=self.script.sha256,
            subagents=self.subagents,
        )
        return replace(bundle, loaded=loaded)

    def _answer(self, run: ObservedRun, name: str) -> str:
        """Return what the recorded model decided, as the answer of a subagent. Raises ReplayEnded."""
        self.asked.add(name)
        fields = as_object(as_object(self.subagents[name].subagent.output).get("properties"))
        if not fields:
            raise ReplayEnded(f"the subagent {name} has no output with fields that name recorded arguments")
        try:
            return encode_text(decided(run, list(fields), self.replayer.services.tools))
        except NotDecided as error:
            raise ReplayEnded(f"the subagent {name} cannot be answered: {error}") from error


def _gives_an_answer(record: RunRecord) -> bool:
    """Return whether the answer of a run reaches people or programs."""
    if record.bundle is None:
        return True
    return gives_an_answer(record.bundle.loaded.workflow)


def _no_runs(workflow: str) -> str:
    return (
        f"There is no recorded run of {workflow!r} to learn from: a public one that a model decided and that ended as "
        "done. `gofer runs --workflow NAME --status done` lists runs."
    )


def _home(script: Path) -> Path:
    """Return the folder that holds the folder of a script. Raises ConfigError for a script elsewhere."""
    if script.parent.name != SCRIPTS:
        raise ConfigError(f"{script} is not in a folder {SCRIPTS}/; name a script such as {SCRIPTS}/NAME.py.")
    return script.parent.parent


def _script(path: Path, home: Path) -> Script:
    try:
        return load_script(home, f"{SCRIPTS}/{path.name}")
    except ValueError as error:
        raise ConfigError(f"{path} cannot be loaded: {error}.") from error


def _subagents(replayer: Replayer, roots: Sequence[Path]) -> Mapping[str, LoadedSubagent]:
    """Return the subagents of these folders; those of an earlier folder count."""
    roles = model_roles(replayer.catalog)
    found: dict[str, LoadedSubagent] = {}
    for root in roots:
        found = {**load_subagents(root, roles, read_skills(root / SKILLS)), **found}
    return found
