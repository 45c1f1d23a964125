"""Which recorded runs a change affects: the bundle of each run, compared with the bundle of the current files.

A request of a run holds the parameters of its model, the schemas of its tools, its system prompt, and then the
history. So a changed prompt, tool or parameter changes every request of the run. A changed skill changes the requests
after the one that loaded it, and a changed subagent the requests after the call that asked for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gofer.journal.entries import LlmRequest, Recorded, SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.projections.comparison.prompt_diff import line_diff, shortened
from gofer.values.amounts import counted
from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.messages import sent
from gofer.workflows.bundle import Bundle
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent

MOST_LINES = 6
"""The most differing lines that a cause shows."""
MOST_CAUSES = 10
"""The most causes of one run."""
MOST_RUNS = 1_000
"""The most recorded runs that one change is compared with."""

CauseKind = Literal["workflow", "prompt", "tool", "parameters", "skill", "subagent", "script"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One changed part of a bundle, and the first request that it changes."""

    kind: CauseKind
    name: str
    """The name of the tool, skill or subagent, and else empty."""
    first: int
    """The first request of the run that changes, counted from 1, and 1 for a script.

    It may be the one after the last recorded request.
    """
    lines: Sequence[str] = ()
    """The first differing lines, after `-` or `+`."""

    @property
    def title(self) -> str:
        """The kind and the name, such as `tool create_ticket` or `prompt`."""
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class AffectedRun:
    """A recorded run, and how its requests would change."""

    run: str
    workflow: str
    requests: int
    """The number of recorded requests."""
    causes: Sequence[Cause]
    """What changes its requests, the earliest first; empty for an unaffected run."""
    next_step: str = ""
    """How the next step of a live model differs, in one sentence; empty if no model was asked."""

    @property
    def first(self) -> int | None:
        """The first request that changes; None for an unaffected run."""
        return min((cause.first for cause in self.causes), default=None)


class RecordedWork(Protocol):
    """A run as it was recorded: a record of a store, or a golden."""

    @property
    def run(self) -> str:
        """The id of the run, or the name of the golden."""
        ...

    @property
    def entries(self) -> Sequence[Recorded]:
        """The journal."""
        ...

    @property
    def bundles(self) -> Mapping[str, Bundle]:
        """The files with which the run and its subagent runs began, by run."""
        ...


def affected_runs(runs: Sequence[RecordedWork], current: Mapping[str, Bundle]) -> Sequence[AffectedRun]:
    """Return how the current bundles, by workflow, change the requests of each run.

    Runs that did not start asked no model and are left out.
    """
    found: list[AffectedRun] = []
    for run in runs[:MOST_RUNS]:
        bundle = run.bundles.get(run.run)
        if bundle is None:
            continue
        found.append(affected_run(run.run, run.entries, bundle, current.get(bundle.loaded.name)))
    return found


def affected_run(run: str, entries: Sequence[Recorded], before: Bundle, after: Bundle | None) -> AffectedRun:
    """Return how the requests of one run change. Without a current bundle its workflow does not exist any more."""
    requests = sum(isinstance(recorded.entry, LlmRequest) for recorded in entries)
    if after is None:
        causes: Sequence[Cause] = [Cause("workflow", before.loaded.name, 1, ("the workflow does not exist any more",))]
    else:
        causes = sorted(_causes(entries, before, after), key=lambda cause: cause.first)
    return AffectedRun(run, before.loaded.name, requests, causes[:MOST_CAUSES])


def summary(runs: Sequence[AffectedRun]) -> str:
    """Return in one sentence how many runs a change affects, and from which request on."""
    if not runs:
        return "There are no recorded runs to compare with."
    unaffected = sum(not run.causes for run in runs)
    at_once = sum(run.first == 1 for run in runs)
    parts = [_verb(unaffected, "is unaffected", "are unaffected")]
    if at_once:
        parts.append(_verb(at_once, "changes from the first request", "change from the first request"))
    if later := len(runs) - unaffected - at_once:
        parts.append(_verb(later, "changes later", "change later"))
    return f"Of {counted(len(runs), 'recorded run')} {', '.join(parts)}."


def _verb(number: int, one: str, several: str) -> str:
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {several}"


def by_cause(runs: Sequence[AffectedRun]) -> Mapping[str, Mapping[str, int]]:
    """Return, by workflow and cause, the number of affected runs."""
    found: dict[str, Counter[str]] = {}
    for run in runs:
        if run.causes:
            found.setdefault(run.workflow, Counter()).update({cause.title: 1 for cause in run.causes})
    return found


def _causes(entries: Sequence[Recorded], before: Bundle, after: Bundle) -> Iterator[Cause]:
    """Yield each change of the bundle that changes a request of the run."""
    old = before.loaded
    new = after.loaded
    if old.script_sha256 != new.script_sha256:
        yield Cause("script", new.prompt_file, 1)
    if old.system != new.system:
        yield Cause("prompt", "", 1, _lines(old.system, new.system))
    if not old.script_sha256 and _params(before) != _params(after):
        yield Cause("parameters", "", 1, _lines(_params(before), _params(after)))
    yield from _tools(before.tools, after.tools)
    for loaded, first in _first_requests(entries).items():
        yield from _later(loaded, first, before, after)


def _tools(before: Sequence[Mapping[str, object]], after: Sequence[Mapping[str, object]]) -> Iterator[Cause]:
    old = {_tool_name(schema): schema for schema in before}
    new = {_tool_name(schema): schema for schema in after}
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield Cause("tool", name, 1, ("- the tool does not exist any more",))
        elif name not in old:
            yield Cause("tool", name, 1, ("+ the tool is new",))
        elif old[name] != new[name]:
            yield Cause("tool", name, 1, _lines(_schema_lines(old[name]), _schema_lines(new[name])))
    if list(old) != list(new) and old.keys() == new.keys():
        yield Cause("tool", "", 1, ("the order of the tools differs",))


Loading = tuple[Literal["skill", "subagent"], str, str]
"""A skill with the path of its file, or a subagent."""


def _first_requests(entries: Sequence[Recorded]) -> Mapping[Loading, int]:
    """Return the request that follows the first loading of each skill file, and the first question to each subagent."""
    found: dict[Loading, int] = {}
    requests = 0
    for recorded in entries:
        match recorded.entry:
            case LlmRequest():
                requests += 1
            case SkillLoaded(skill=skill, file=file):
                found.setdefault(("skill", skill, file), requests + 1)
            case SubagentStarted(name=name):
                found.setdefault(("subagent", name, ""), requests + 1)
            case _:
                pass
    return found


def _later(loading: Loading, first: int, before: Bundle, after: Bundle) -> Iterator[Cause]:
    """Yield the change of a skill that the run loaded, or of a subagent that it asked."""
    kind, name, file = loading
    if kind == "skill":
        old = _skill_text(before.loaded.skills.get(name), file)
        new = _skill_text(after.loaded.skills.get(name), file)
        if old != new:
            yield Cause("skill", f"{name}/{file}".rstrip("/"), first, _lines(old, new))
        return
    one = before.loaded.subagents.get(name)
    other = after.loaded.subagents.get(name)
    if one is not None and other is not None and one.to_json() == other.to_json():
        return
    yield Cause("subagent", name, first, _lines(_prompt(one), _prompt(other)))


def _skill_text(skill: Skill | None, file: str) -> str:
    """Return the text of a skill or of one of its files; empty if there is none."""
    if skill is None:
        return ""
    if not file:
        return skill.body
    return skill.files.get(file, b"").decode(errors="replace")


def _prompt(subagent: LoadedSubagent | None) -> str:
    """Return the prompt of a subagent; empty if there is none."""
    if subagent is None:
        return ""
    return subagent.system


def _params(bundle: Bundle) -> str:
    return "\n".join(encode_text(sent(candidate.params)) for candidate in bundle.chain())


def _tool_name(schema: Mapping[str, object]) -> str:
    return as_text(as_object(schema.get("function")).get("name"))


def _schema_lines(schema: Mapping[str, object]) -> str:
    """Return a tool schema with one line for each part, so that a difference names the parameter."""
    function = as_object(schema.get("function"))
    parameters = as_object(function.get("parameters"))
    lines = [f"description: {as_text(function.get('description'))}"]
    lines += [f"{name}: {encode_text(value)}" for name, value in as_object(parameters.get("properties")).items()]
    rest = {name: value for name, value in parameters.items() if name != "properties"}
    return "\n".join([*lines, encode_text(rest)])


def _lines(before: str, after: str) -> Sequence[str]:
    differing = [line for line in line_diff(before, after) if line[:1] in ("-", "+")]
    return shortened(differing, MOST_LINES)
