"""The calls that a run makes by itself, as its source asks for them."""

from gofer.engine.permitted_call import OUTAGE, Permitted
from gofer.engine.step import Step
from gofer.sources.part_values import OwnCall


def permitted(step: Step, call: str, asked: OwnCall, *, longest: float = OUTAGE) -> Permitted:
    """Return a call with its arguments for the journal."""
    tool = step.services.tools[asked.tool]
    return Permitted(call, tool, tool.parse(asked.arguments), asked.arguments, longest=longest)


def derived(step: Step, call: str, asked: OwnCall, *, longest: float = OUTAGE) -> Permitted:
    """Return a call whose arguments follow from the journal, so that they are not written down again."""
    tool = step.services.tools[asked.tool]
    return Permitted(call, tool, tool.parse(asked.arguments), longest=longest)
