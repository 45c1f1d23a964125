"""The trial of a script on a recorded run: the engine works the run again, and the script decides in place of a model.

Calls get the outcomes that the recorded run got for the same tool and arguments, writes too. A call that the recorded
run did not make gets no real outcome: a read fails as `not_recorded`, and a write is simulated. Nothing outside is
reached.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from gofer.engine.model_order import Params, TimedAnswer
from gofer.engine.permitted_call import Permitted
from gofer.engine.services import Services
from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.models.served_model import ServedModel
from gofer.projections.calls import Call, project
from gofer.projections.script_replay import is_of_a_script
from gofer.replay.divergence import Divergence, OwnerEnded, ReplayEnded
from gofer.replay.isolation import isolated
from gofer.replay.recorded_rows import RecordedRows
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replayed_run import ReplayedRun
from gofer.replay.stage import Stage
from gofer.runtime.owner import Owner
from gofer.sources.part_values import Outcome
from gofer.values.messages import Usage
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Catalog
from gofer.workflows.script_source import Script

Judge = Callable[[str], str]
"""Answers the question to a subagent, by its name. Raises ReplayEnded if the recorded run cannot answer it."""


@dataclass(frozen=True, slots=True)
class ScriptTrial:
    """The end of a trial."""

    calls: Sequence[Call]
    """The calls of the script, in the order in which it asked for them."""
    status: e.Status | None
    """The status with which the run ended; None for a trial that ended before its run."""
    answer: str = ""
    """The answer of the script."""
    reason: str = ""
    """Why the run did not end as done, or why the trial ended before its run."""


class _TriedRun(ReplayedRun):
    """A replayed run that a script decides. The subagents of the script get their answers from `judge`."""

    def __init__(self, stage: Stage, services: Services, judge: Judge) -> None:
        super().__init__(stage, stage.root, services)
        self._recorded = stage.outcomes(self.run, services.tools)
        self._judge = judge

    @override
    async def ask(
        self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded, added: Params
    ) -> TimedAnswer:
        if not isinstance(request.entry, e.SubagentStarted):
            raise ReplayEnded("The script asked a model that the recorded run did not ask.")
        text = self._judge(request.entry.name)
        return TimedAnswer(answer=Answer(text, (), "stop", model.name, Usage()), cost_usd=0.0, took_ms=0)

    @override
    async def clear(self, item: Permitted, check: Callable[[], Awaitable[Permitted | Outcome]]) -> Permitted | Outcome:
        if self._recorded.has(item):
            # The recorded run made this call, so it passed every gate, and a person approved it if that was needed.
            return item
        return await super().clear(item, check)


async def try_script(
    recorded: RecordedRun, bundle: Bundle, script: Script, services: Services, catalog: Catalog, judge: Judge
) -> ScriptTrial:
    """Run a script on the event of a recorded run, with the recorded outcomes. Raises ValueError before it started.

    `bundle` is that of the recorded run with the script as its coordinator; `services` and `catalog` are those of a
    process that could work the run.
    """
    started = next((one for one in recorded.entries if isinstance(one.entry, e.RunStarted)), None)
    if started is None:
        raise ValueError(f"run {recorded.run} did not start, so a script has no part in it")
    tried = replace(recorded, bundles={**recorded.bundles, recorded.run: bundle})
    stage = Stage(tried, RecordedRows(recorded.entries))
    # The coordinator is another one, so no later step is compared with the recorded one.
    changed = Divergence(
        kind="different",
        run=recorded.run,
        address=started.address,
        step="run.started",
        field="coordinator",
        original=None,
        replayed=None,
        cause="input",
    )
    stage.progress.divergences.append(changed)
    known = replace(
        catalog,
        workflows={**catalog.workflows, bundle.loaded.name: bundle.loaded},
        scripts={**catalog.scripts, script.file: script},
    )
    reached = isolated(services, stage.rows, lambda: stage.root.now, live=False).of(known)
    stage.root.adopt(0)
    run = _TriedRun(stage, reached, judge)
    stopped = ""
    try:
        await Owner(reached, known, alone=True).work(run, again=False)
    except ReplayEnded as ended:
        stopped = str(ended)
    except OwnerEnded:
        stopped = "The recording does not say what happened at this point."
    return _trial(run, stage.root.replayed, stopped)


def _trial(run: ReplayedRun, entries: Sequence[e.Recorded], stopped: str) -> ScriptTrial:
    made: Mapping[str, Call] = project(entries).calls
    calls = [call for call in made.values() if is_of_a_script(call.id)]
    concluded = run.progress.concluded
    if concluded is None:
        parked = "The script waits for something that the recorded run did not wait for."
        return ScriptTrial(calls, None, reason=stopped or parked)
    return ScriptTrial(calls, concluded.status, concluded.text, concluded.reason)
