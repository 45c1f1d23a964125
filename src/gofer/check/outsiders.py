"""Workflows that outsiders start, and that read private things and write without a person in between."""

from collections.abc import Iterator, Mapping

from gofer.sources.worst_case import Reach, outsiders
from gofer.tools.definition import AnyTool
from gofer.workflows.mistake import Mistake
from gofer.workflows.schema import Workflow
from gofer.workflows.yaml_source import Source


def check_outsiders(source: Source, workflow: Workflow, tools: Mapping[str, AnyTool]) -> Iterator[Mistake]:
    """Yield a mistake if an outsider's words could make the model of such a workflow pass on what it reads."""
    reach = Reach(workflow, tools)
    admitted = outsiders(workflow)
    # A reaction has no words of its own.
    writing = [
        tool.name for _, tool in reach.writers if tool.shows != "reaction" and tool.name not in _decided(workflow)
    ]
    if not (reach.has_model and admitted and reach.private and writing):
        return
    message = (
        f"`who` admits {' and '.join(admitted)}, `reads` lists what only some people see, and no colleague decides "
        f"about {', '.join(f'`{name}`' for name in writing)}."
    )
    hint = (
        f'Write `approve: {{tools: [{", ".join(writing)}], by: "@group"}}` with a group of colleagues, let only '
        "members start it with `who: members`, or remove `reads`."
    )
    yield Mistake(source.file, source.key(("who",)), "outsiders-unasked", message, hint)


def _decided(workflow: Workflow) -> tuple[str, ...]:
    """Return the tools about which a colleague decides. The person who asked may be the outsider."""
    approve = workflow.approve
    if approve is None or set(approve.by) == {"requester"}:
        return ()
    return approve.tools
