"""What do people see change when other workflows are published?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.workflows.load import Catalog


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of workflows, in their order."""

    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    """Also those that changed with the preamble, a skill, a subagent or the defaults."""
    removed: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """As `gofer publish --json` has it."""
        return {"added": list(self.added), "changed": list(self.changed), "removed": list(self.removed)}


def difference(before: Catalog | None, after: Catalog) -> Difference:
    """What is different for the runs of each workflow; None for what cannot be read, or was never there."""
    old: Mapping[str, object] = _said(before) if before else dict[str, object]()
    new = _said(after)
    return Difference(
        added=sorted(new.keys() - old.keys()),
        changed=sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        removed=sorted(old.keys() - new.keys()),
    )


def _said(catalog: Catalog) -> Mapping[str, object]:
    """What each workflow says; not its script, which comes with a deploy."""
    said: dict[str, object] = {}
    for name, loaded in catalog.workflows.items():
        hooks = [catalog.hooks[trigger.webhook.name] for trigger in loaded.workflow.when if trigger.webhook]
        parts = (
            loaded.system,
            loaded.prompt_file,
            loaded.models,
            loaded.search_models,
            loaded.limits_per_person,
            loaded.subagents,
        )
        said[name] = (loaded.workflow, *parts, hooks)
    return said
