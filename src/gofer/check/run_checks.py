"""Limits under `checks` that no run can exceed, because another limit of the workflow ends the run before."""

from collections.abc import Iterator

from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import Defaults, Workflow
from gofer.workflows.yaml_source import Source


def check_run_checks(source: Source, workflow: Workflow, defaults: Defaults) -> Iterator[Mistake]:
    """Yield a mistake for each limit of a check at or above the limit of runs that it warns of."""
    limits = defaults.limits.model_copy(update=workflow.limits.model_dump(exclude_unset=True))
    own = workflow.checks.own_limits
    ends = {
        "llm-call-budget": (limits.llm_calls, f"`limits: llm_calls` ends runs at {limits.llm_calls}."),
        "execution-time": (limits.minutes * 60, f"`limits: minutes` ends runs at {limits.minutes * 60:g} seconds."),
    }
    for check, (end, sentence) in ends.items():
        if check in own and own[check] >= end:
            place = source.place(("checks", check, "limit"))
            message = f"The check {check} can never fail: its limit is {own[check]:g}, and {sentence}"
            hint = f"Write a limit below {end:g}, or raise the limit of the runs."
            yield Mistake(source.file, place, "check-never-fails", message, hint)
