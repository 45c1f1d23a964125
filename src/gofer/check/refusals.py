"""Mistakes in what files ask of a model that its vendor refuses: with tools, with thoughts, or in its format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.check.models import FolderDefaults, choice
from gofer.models.refusals import Refusal, refusals
from gofer.workflows.form import fill
from gofer.workflows.mistake import Mistake
from gofer.workflows.model_roles import Roles
from gofer.workflows.schema import ModelChoice, Subagent, Workflow
from gofer.workflows.subagent import candidate
from gofer.workflows.yaml_source import Loc, Source


@dataclass(frozen=True, slots=True)
class _Asking:
    """A file whose runs ask models."""

    source: Source
    choice: ModelChoice
    has_tools: bool


def check_refusals(
    workflows: Sequence[Source], forms: Mapping[str, Workflow], subagents: Sequence[Source], folder: FolderDefaults
) -> Iterator[Mistake]:
    """Yield what vendors refuse: of each model of a role alone, and of the requests of each file that asks it.

    `forms` has the parsed workflows, by name.
    """
    if folder.defaults is None:
        return
    roles = folder.defaults.roles(folder.look_up)
    asking = [
        _Asking(source, forms[source.file.stem].model, has_tools=True)
        for source in workflows
        if source.file.stem in forms
    ]
    for source in subagents:
        subagent, _ = fill(source, Subagent)
        if subagent is not None:
            asking.append(_Asking(source, subagent.model, subagent.needs_own_run))
    for role in roles.models:
        yield from _refused(_Asking(folder.source, ModelChoice(name=role), has_tools=False), roles, folder)
    for one in asking:
        yield from _refused(one, roles, folder)


def _refused(asking: _Asking, roles: Roles, folder: FolderDefaults) -> Iterator[Mistake]:
    name = asking.choice.name
    for at, model in enumerate(roles.of(name)):
        endpoint = folder.deployed if model.endpoint.is_default else model.endpoint
        params = candidate(asking.choice, model).params
        for refusal in refusals(model.name, endpoint, params, has_tools=asking.has_tools):
            source, loc = _place(asking, folder.source, (name, at), refusal)
            yield Mistake(source.file, source.key(loc), "refused-by-vendor", refusal.message, refusal.remedy)


def _place(asking: _Asking, defaults: Source, model: tuple[str, int], refusal: Refusal) -> tuple[Source, Loc]:
    """Return the file and the path of what is refused: in the file that asks, or at the model of its role."""
    chosen = ("model", refusal.parameter)
    if chosen in asking.source.keys:
        return asking.source, chosen
    role, at = model
    listed: Loc = ("models", role, at)
    if listed not in defaults.values:
        listed = ("models", role)
    if listed not in defaults.values:
        return asking.source, choice(asking.source)[0]
    within = {"": (), "reasoning": ("reasoning",)}.get(refusal.parameter, ("parameters", refusal.parameter))
    return defaults, (*listed, *within)
