"""Which requests of a run differ between two versions of the workflow files.

The versions are those with which a recorded run began, of a commit, or of the present folder. A request of a run holds
the parameters of its model, the schemas of its tools, its system prompt, and then the history. So a changed prompt,
tool or parameter changes every request of the run. A changed skill changes the requests after the one that loaded it,
and a changed subagent the requests of its own and those after the call that asked for it. What no request holds, such
as a limit, a comment or a skill that the run did not load, changes nothing.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from gofer.engine.services import new_bundle
from gofer.journal.entries import LlmRequest, Recorded, SubagentStarted
from gofer.journal.workspace_entries import SkillLoaded
from gofer.models.served_model import Candidate
from gofer.projections.comparison.prompt_diff import line_diff, shortened
from gofer.replay.divergence import Divergence
from gofer.replay.replay_text import sides
from gofer.tools.definition import AnyTool
from gofer.values.amounts import counted
from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.messages import sent
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent
from gofer.workflows.subagent_run import subagent_workflow

MOST_LINES = 6
"""The most differing lines that a cause shows."""
MOST_CAUSES = 10
"""The most causes of one run."""
MOST_RUNS = 1_000
"""The most recorded runs that one change is compared with."""

Journals = Mapping[str, Sequence[Recorded]]
"""The journals of a run and of its subagent runs, by run."""
CauseKind = Literal["workflow", "prompt", "tool", "parameters", "skill", "subagent", "script", "code"]
"""The changed part of a bundle; `code`: the present code of Gofer makes another request of the same bundle."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One changed part of a bundle, and the first request that it changes."""

    kind: CauseKind
    name: str
    """The name of the tool, skill or subagent, and else empty."""
    first: int
    """The first request of the run that changes, counted from 1, and 1 for a script.

    For a subagent it is the request after the question to it.
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
    def journals(self) -> Journals:
        """The journals of the run and of its subagent runs, by run."""
        ...

    @property
    def bundles(self) -> Mapping[str, Bundle]:
        """The files with which the run and its subagent runs began, by run."""
        ...


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One version of the workflow files, as bundles: that of a folder, or that with which a recorded run began."""

    bundles: Mapping[str, Bundle]
    """The bundles by workflow. For a recorded run also those of its subagent runs, by run."""
    tools: Mapping[str, AnyTool] | None = None
    """The tools of the folder; None for a recorded run."""

    def below(self, caller: Bundle, started: SubagentStarted, depth: int) -> Bundle | None:
        """Return the bundle of a subagent run at a depth below its root run; None if it is not known."""
        if self.tools is None:
            return self.bundles.get(started.run)
        subagent = caller.loaded.direct_subagents.get(started.name)
        if subagent is None:
            return None
        own = subagent_workflow(caller.loaded, started.name, subagent, caller.loaded.workflow.limits, depth)
        return new_bundle(self.tools, own)


@dataclass(frozen=True, slots=True)
class Change:
    """Two versions of the workflow files."""

    before: FileVersion
    after: FileVersion

    def requests(self, workflow: str, run: str, journals: Journals) -> Sequence[Cause]:
        """Return what changes the requests of a run of a workflow, the earliest first, with a changed script.

        A change of no request is left out.
        """
        old = self.before.bundles.get(workflow)
        new = self.after.bundles.get(workflow)
        if new is None:
            return [Cause("workflow", workflow, 1, ("the workflow does not exist any more",))]
        if old is None:
            return [Cause("workflow", workflow, 1, ("the workflow is new",))]
        found: dict[str, Cause] = {}
        for cause in self._causes(journals, run, old, new):
            found.setdefault(cause.title, cause)
        return sorted(found.values(), key=lambda cause: cause.first)[:MOST_CAUSES]

    def _causes(self, journals: Journals, run: str, before: Bundle, after: Bundle, depth: int = 0) -> Iterator[Cause]:
        """Yield each change that changes a request of a run, or of a subagent run below it."""
        entries = journals[run]
        old = before.loaded
        new = after.loaded
        if old.script_sha256 != new.script_sha256:
            yield Cause("script", new.prompt_file, 1)
        total = _requests(entries)
        if total:
            if old.system != new.system:
                yield Cause("prompt", "", 1, _lines(old.system, new.system))
            sent_params = {encode_text(sent(one.entry.params)) for one in entries if isinstance(one.entry, LlmRequest)}
            was = _params(before.chain(), sent_params)
            now = _params(after.chain(), sent_params)
            if was != now:
                yield Cause("parameters", "", 1, _lines(was, now))
            yield from _tools(before.tools, after.tools)
        requests = 0
        for recorded in entries:
            match recorded.entry:
                case LlmRequest():
                    requests += 1
                case SkillLoaded() as loaded if requests < total:
                    yield from _skill(loaded, requests + 1, old, new)
                case SubagentStarted() as started:
                    for cause in self._of_subagent(journals, started, before, after, depth + 1):
                        yield replace(cause, first=requests + 1)
                case _:
                    pass

    def _of_subagent(
        self, journals: Journals, started: SubagentStarted, before: Bundle, after: Bundle, depth: int
    ) -> Iterator[Cause]:
        """Yield the changes of the requests of a subagent, which may be one question without a run of its own."""
        old = self.before.below(before, started, depth)
        new = self.after.below(after, started, depth)
        if started.run not in journals or old is None or new is None:
            # Gofer's own questions, such as summaries, have names of no subagent.
            asked = _question(before.loaded.subagents.get(started.name), started)
            asks = _question(after.loaded.subagents.get(started.name), started)
            if asked != asks:
                yield Cause("subagent", started.name, 1, _lines(asked, asks))
            return
        for cause in self._causes(journals, started.run, old, new, depth):
            if cause.kind in ("skill", "subagent"):
                yield cause
            else:
                yield Cause("subagent", started.name, 1, cause.lines)


def affected_runs(runs: Sequence[RecordedWork], current: FileVersion) -> Sequence[AffectedRun]:
    """Return how the current files change the requests of each run.

    Runs that did not start asked no model and are left out.
    """
    found: list[AffectedRun] = []
    for run in runs[:MOST_RUNS]:
        bundle = run.bundles.get(run.run)
        if bundle is not None:
            workflow = bundle.loaded.name
            change = Change(FileVersion({**run.bundles, workflow: bundle}), current)
            causes = change.requests(workflow, run.run, run.journals)
            found.append(AffectedRun(run.run, workflow, _requests(run.entries), causes))
    return found


def affected_by_code(run: AffectedRun, entries: Sequence[Recorded], divergences: Sequence[Divergence]) -> AffectedRun:
    """Return how the present code changes a run that its files leave as it is, by the differences of its replay."""
    found = next((one for one in divergences if one.leaves_the_path or one.kind == "read"), None)
    if found is None:
        return run
    before = itertools.takewhile(lambda recorded: recorded.address != found.address, entries)
    requests = sum(isinstance(recorded.entry, LlmRequest) for recorded in before)
    original, replayed = sides(found)
    name = f"{found.step} {found.field}".rstrip()
    return replace(run, causes=[Cause("code", name, requests + 1, (f"- {original}", f"+ {replayed}"))])


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


def _requests(entries: Sequence[Recorded]) -> int:
    return sum(isinstance(recorded.entry, LlmRequest) for recorded in entries)


def _skill(loaded: SkillLoaded, first: int, before: Loaded, after: Loaded) -> Iterator[Cause]:
    old = _skill_text(before.skills.get(loaded.skill), loaded.file)
    new = _skill_text(after.skills.get(loaded.skill), loaded.file)
    if old != new:
        yield Cause("skill", f"{loaded.skill}/{loaded.file}".rstrip("/"), first, _lines(old, new))


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


def _skill_text(skill: Skill | None, file: str) -> str:
    """Return the text of a skill or of one of its files; empty if there is none."""
    if skill is None:
        return ""
    if not file:
        return skill.body
    return skill.files.get(file, b"").decode(errors="replace")


def _question(subagent: LoadedSubagent | None, started: SubagentStarted) -> str:
    """Return the beginning of every question to a subagent; empty if there is none."""
    if subagent is None:
        return ""
    return f"{subagent.system}\n{_params(subagent.chain(), {encode_text(sent(started.params))})}"


def _params(chain: Sequence[Candidate], asked: Collection[str]) -> str:
    """Return the parameters of the models of a run up to the last one that was asked; of all if that is not known.

    `asked` has the parameters of the requests. A model after the last one gave no answer, so that it changes nothing.
    """
    lines = [encode_text(sent(candidate.params)) for candidate in chain]
    last = max((at for at, line in enumerate(lines) if line in asked), default=len(lines) - 1)
    return "\n".join(lines[: last + 1])


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
