"""The script coordinator: a script always runs from its top, and the journal answers the calls that it made before."""

import asyncio
import inspect

from gofer.coordinator import ToolFailed
from gofer.engine import gates
from gofer.engine.gates import Limited
from gofer.engine.loop import Ending, done
from gofer.engine.script_branches import Diverged
from gofer.engine.script_run import Halted, ScriptRun, cancel_all
from gofer.engine.working_step import WorkingStep
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object
from gofer.values.errors import GoferError
from gofer.values.foreign_code import is_from_outside
from gofer.workflows.bundle import Bundle
from gofer.workflows.output import problems, read_answer
from gofer.workflows.schema import Limits, Workflow
from gofer.workflows.script_module import Modules, place_of
from gofer.workflows.script_source import Script

ENTRY = "coordinate"
"""The name of a script's main function."""
ANSWER_LIMIT = 200_000
"""Longest answer of a script, in characters."""
_QUOTED = 300
"""Characters of a script's error that people see."""


class ScriptFailed(GoferError):
    """The script has a bug. The message is for lists; only the asker sees `error_text`, which may hold contents."""

    def __init__(self, reason: str, error_text: str = "") -> None:
        super().__init__(reason)
        self.error_text = error_text


async def coordinate(step: WorkingStep, bundle: Bundle, provenance: Provenance) -> Ending:
    """Run the workflow's script until it returns or the run ends. Raises what `step` raises."""
    script = step.own.services.scripts.get(bundle.loaded.workflow.coordinator_script)
    if script is None:
        step.own.record_unknown_calls("its script was removed")
        gone = "it was removed, or the deploy that adds it has not happened yet"
        return Ending("failed", reason=f"there is no script {bundle.loaded.workflow.coordinator_script}: {gone}")
    await step.settle(provenance)
    run = ScriptRun(step, bundle, provenance, script)
    try:
        returned = await _play(step, run, script, bundle.loaded.workflow.limits)
        run.check_end(script.file)
        return _answer(returned, script, bundle.loaded.workflow)
    except Diverged as error:
        return Ending("needs_attention", reason=str(error), notice=error.notice)
    except Limited as error:
        return Ending(error.stop.status, reason=error.stop.reason)
    except ScriptFailed as error:
        return Ending("failed", reason=str(error), script_error=error.error_text)


async def _play(step: WorkingStep, run: ScriptRun, script: Script, limits: Limits) -> object:
    """Run the script and return its value. Raises the exception that ended the run, or ScriptFailed."""
    task = asyncio.create_task(_call(run, script))
    try:
        while not task.done():
            left = limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
            await asyncio.wait({task}, timeout=max(left, 1.0))
            stop = gates.budget(step.own.progress, limits, step.own.now_ms())
            if stop and not task.done() and not run.calls_in_progress:
                # No call is in progress, so the script waits for something that Gofer does not control.
                run.ended_by = run.ended_by or Limited(stop)
                break
    finally:
        await cancel_all(task)
    failed: BaseException | None = None
    if task.done() and not task.cancelled():
        failed = task.exception()
    if run.ended_by is not None:
        raise run.ended_by
    if failed is not None:
        raise failed
    if task.cancelled():
        raise ScriptFailed(f"{script.file} cancelled itself")
    return task.result()


async def _call(run: ScriptRun, script: Script) -> object:
    try:
        function = getattr(Modules(script.sources).load(script.module), ENTRY, None)
        if not inspect.iscoroutinefunction(function):
            raise ScriptFailed(f"{script.file} has no `async def {ENTRY}(run)`")
        return await function(run)
    except (ScriptFailed, Halted, asyncio.CancelledError):
        raise
    except SystemExit as error:
        raise ScriptFailed(f"{place_of(error, script)} called exit") from error
    except BaseException as error:
        if is_from_outside(error):
            raise
        error_text = " ".join(str(error).split())[:_QUOTED]
        raise ScriptFailed(f"{place_of(error, script)}{_kind(error)}", error_text) from error


def _kind(error: BaseException) -> str:
    """Return the kind of a failure without contents: the tool and its code, or the type of the script's error."""
    if not isinstance(error, ToolFailed):
        return f" failed with {type(error).__name__}"
    code = f" ({error.code})" if error.code else ""
    if error.tool:
        return f": {error.tool[:64]} failed{code}"
    return f" failed with ToolFailed{code}"


def _answer(returned: object, script: Script, workflow: Workflow) -> Ending:
    """Return the ending with the value of a script, or a failure if the value has not the form of the answer."""
    schema = as_object(workflow.output)
    if returned is None and not schema:
        return Ending("done", notice="Done.")
    if not isinstance(returned, str):
        reason = f"{script.file} returned a {type(returned).__name__} instead of text or None"
        return Ending("failed", reason=reason)
    if len(returned) > ANSWER_LIMIT:
        reason = f"{script.file} returned {len(returned)} characters, and an answer has at most {ANSWER_LIMIT}"
        return Ending("failed", reason=reason)
    if not schema:
        return done(returned, workflow)
    try:
        found = problems(schema, read_answer(returned))
    except ValueError as error:
        found = [f"it is {error}"]
    if found:
        # The problem quotes the answer, so it must not be part of the reason, which lists show.
        reason = f"{script.file} returned an answer that does not fit the output schema"
        return Ending("failed", reason=reason, script_error=found[0])
    return done(returned, workflow)
