"""The check of eval files against the workflows and tools of the repository."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gofer.check.eval_calls import CallChecks
from gofer.check.eval_names import EvalNames, Repository
from gofer.check.goldens import check_goldens
from gofer.evals.case_begin import FileOrData, Trigger
from gofer.evals.eval_file import Case, Expectations, Rubric, WorldExpectations
from gofer.evals.goldens.golden_file import recording_path
from gofer.evals.goldens.world_ids import is_id, words_in
from gofer.evals.grading.turn_view import STATUSES, statuses_in
from gofer.evals.load import LoadedEval, read_evals
from gofer.evals.own_graders import load_grader
from gofer.evals.references import DEMO, golden_path, is_usable
from gofer.projections.checks.check_settings import CHECKS
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError
from gofer.workflows.mistake import Mistake, Place, Rule, in_order
from gofer.workflows.output_schema import flaws
from gofer.workflows.sentences import close_match, invalid_schema
from gofer.workflows.yaml_source import Loc, Source, read_source

LONGEST_QUARANTINE = timedelta(days=90)


def check_evals(folder: Path, repository: Repository) -> Sequence[Mistake]:
    """Return every mistake and hint in the evals and goldens of a folder, sorted by file and line. Never raises."""
    loaded, mistakes = read_evals(folder)
    names = EvalNames(repository)
    found = [*mistakes, *check_goldens(folder, names)]
    for one in loaded:
        found += _Check(one, names).mistakes()
    return in_order(found)


@dataclass(frozen=True, slots=True)
class _Check:
    """The check of one eval file."""

    loaded: LoadedEval
    names: EvalNames

    @property
    def source(self) -> Source:
        return self.loaded.source

    def mistakes(self) -> Iterator[Mistake]:
        of = self.loaded.eval
        if of.workflow not in self.names.workflows:
            yield self.names.unknown_workflow(self.source, of.workflow)
            return
        calls = CallChecks(self.source, self.names.granted(of.workflow))
        yield from calls.unmocked(of)
        yield from calls.mocks(of.mocks, ("mocks",))
        yield from self._world(of.world, ("world",))
        for at, case in enumerate(of.cases):
            loc = ("cases", at)
            yield from calls.case(case, loc)
            yield from self._case(case, loc)

    def _case(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        yield from self._world(case.world, (*loc, "world"))
        yield from self._whole(case, loc)
        if case.trigger is not None:
            yield from self._trigger(case.trigger, case.world, (*loc, "trigger"))
        systems = self._systems(case)
        yield from self._expectations(case.expect, systems, (*loc, "expect"))
        for at, turn in enumerate(case.then):
            yield from self._trigger(turn.trigger, case.world, (*loc, "then", at, "trigger"))
            yield from self._expectations(turn.expect, systems, (*loc, "then", at, "expect"))
        yield from self._expected_status(case.rubric, (*loc, "rubric"))
        yield from self._schema(case.rubric.output_schema, (*loc, "rubric", "schema"))
        yield from self._quarantine(case, (*loc, "quarantine", "until"))
        for at, name in enumerate(case.grade):
            try:
                load_grader(self.source.file.parent.parent, name)
            except ConfigError as error:
                message = f"The grader `{name[:80]}` cannot be used: {str(error).rstrip('.')}."
                yield self._at((*loc, "grade", at), "case-grader", message, "Correct the file or the name.")
        for at, criterion in enumerate(case.judge):
            if not criterion.labels:
                message = f"The criterion `{criterion.id[:80]}` has no `labels`, so it never blocks."
                hint = "Add a file with labelled examples, which measures the judge; see docs/evals.md."
                yield self._at((*loc, "judge", at, "id"), "unlabelled-criterion", message, hint)

    def _whole(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        """Yield a mistake for each key that needs another key."""
        if case.trigger is None and not case.golden:
            yield self._at((*loc, "name"), "incomplete-case", "The case has no `trigger`.", "Add one, or a `golden`.")
        if case.golden:
            yield from self._golden(case.golden, (*loc, "golden"))
            yield from self._beside_golden(case, loc)
        if case.decision is not None and case.expect.next is None:
            hint = "Add `expect: {next: […]}` with the calls that must come next."
            yield self._key((*loc, "decision"), "incomplete-case", "The case does not say what must come next.", hint)
        if case.decision is None and case.expect.next is not None:
            hint = "Add `decision` with the history, or use `tools: {required: […]}`."
            path = (*loc, "expect", "next")
            yield self._key(path, "incomplete-case", "`next` needs a `decision`, the point in the run.", hint)
        if case.decision is not None and case.then:
            message = "A `decision` ends after one answer of the model, so no turn follows."
            yield self._key((*loc, "then"), "incomplete-case", message, "Remove `then` or `decision`.")

    def _golden(self, name: str, loc: Loc) -> Iterator[Mistake]:
        """Yield a mistake if a golden records another workflow. `check_references` reports a missing golden."""
        path = golden_path(name)
        if not is_usable(self.source.file.parent, path):
            return
        recorded = read_source(self.source.file.parent / path).fields.get("workflow")
        if isinstance(recorded, str) and recorded != self.loaded.eval.workflow:
            message = f"The golden `{name}` records the workflow `{recorded[:80]}`."
            hint = f"Write a golden of `{self.loaded.eval.workflow}`, or move the case to an eval of `{recorded[:80]}`."
            yield self._at(loc, "unusable-golden", message, hint)

    def _beside_golden(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        """Yield a mistake for each key that a case with a golden cannot have."""
        if case.trigger is not None:
            yield from self._golden_in_world(case, loc)
            return
        for key in ("then", "decision", "world", "mocks", "ids"):
            if key in case.model_fields_set:
                message = (
                    f"The golden `{case.golden}` has its recorded deliveries and outcomes, so `{key}` means nothing."
                )
                hint = f"Remove `{key}`, or add a `trigger` with which the golden is played in a world."
                yield self._key((*loc, key), "unusable-golden", message, hint)
        if case.expect.world != WorldExpectations():
            message = "A golden reaches no system, so its world never changes."
            hint = "Expect calls under `tools`, or add a `trigger` and a `world`."
            yield self._key((*loc, "expect", "world"), "unusable-golden", message, hint)

    def _golden_in_world(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        """Yield a mistake for each part that keeps a golden from being played in a world."""
        if case.world is None and self.loaded.eval.world is None:
            message = f"The golden `{case.golden}` has a `trigger` and no `world` in which it could be played."
            yield self._key((*loc, "trigger"), "unusable-golden", message, "Add a `world`, or remove `trigger`.")
        if case.decision is not None:
            message = f"A golden is played in a world from its first step on, so `{case.golden}` cannot decide there."
            yield self._key((*loc, "decision"), "unusable-golden", message, "Remove `decision`, or `golden`.")
        same = [old for old, new in case.ids.items() if list(case.ids.values()).count(new) > 1]
        for old in same[1:]:
            message = f"Two recorded ids become `{case.ids[old][:80]}`."
            yield self._key((*loc, "ids", old), "unusable-golden", message, "Give each an id of its own.")
        yield from self._unknown_ids(case, loc)

    def _unknown_ids(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        path = golden_path(case.golden)
        folder = self.source.file.parent
        if not case.ids or not is_usable(folder, path):
            return
        recorded = recording_path(folder / path)
        if not recorded.is_file():
            return
        known = words_in(recorded.read_text(encoding="utf-8", errors="replace"))
        for old in case.ids.keys() - known:
            hint = "Write an id that the recording has."
            if meant := close_match(old, sorted(filter(is_id, known))):
                hint = f"Write `{meant}`."
            message = f"The golden `{case.golden}` has no id `{old[:80]}`."
            yield self._key((*loc, "ids", old), "unusable-golden", message, hint)

    def _trigger(self, trigger: Trigger, world: FileOrData | None, loc: Loc) -> Iterator[Mistake]:
        payload = trigger.payload
        folder = self.source.file.parent
        if isinstance(payload, str) and not is_usable(folder, payload):
            # `check_references` reports the file.
            return
        of = self.loaded.eval
        if problem := self.names.repository.starts(of, world or of.world, trigger, folder):
            hint = f"Write a delivery that starts `{of.workflow}`; `gofer explain` tells more about it."
            key = "payload"
            if trigger.text is not None:
                key = "text"
                hint = f"Correct the words or the workflow `{of.workflow}`, or write a `payload`."
            yield self._at((*loc, key), "payload-starts-nothing", problem, hint)

    def _world(self, world: FileOrData | None, loc: Loc) -> Iterator[Mistake]:
        if world is None:
            return
        systems = self.names.repository.systems
        unknown = [name for name in as_object(world) if name not in systems]
        for name in unknown:
            yield self._key((*loc, name), "unknown-value", *self._no_system(name))
        folder = self.source.file.parent
        is_file = isinstance(world, str) and world != DEMO
        if unknown or (is_file and not is_usable(folder, str(world))):
            return
        begin = self.loaded.eval.clock.timestamp()
        if problem := self.names.repository.world_problem(world, folder, begin, systems):
            hint = "src/gofer_simulators/worlds/demo.yaml is a complete example."
            yield self._at(loc, "unknown-value", problem, hint)

    def _systems(self, case: Case) -> Collection[str]:
        """Return the systems of the world of a case; all systems for a world that cannot be read."""
        world = case.world
        if world is None:
            world = self.loaded.eval.world
        if case.golden and case.trigger is None:
            # `_beside_golden` reports a world beside a golden.
            return self.names.repository.systems
        if world is None:
            return ()
        if isinstance(world, str):
            folder = self.source.file.parent
            if world == DEMO:
                return self.names.repository.simulators
            if not is_usable(folder, world):
                return self.names.repository.systems
            world = read_source(folder / world).fields
        return tuple(world)

    def _expectations(self, expect: Expectations, inside: Collection[str], loc: Loc) -> Iterator[Mistake]:
        yield from self._names_of(expect.status, STATUSES, "status", (*loc, "status"))
        if not isinstance(expect.checks, str):
            yield from self._names_of(expect.checks, CHECKS, "check", (*loc, "checks"))
        world = expect.world
        here = (*loc, "world")
        for name, paths in (("added", world.added), ("changed", world.changed), ("counts", world.counts)):
            for path in paths:
                yield from self._path(path, inside, self.source.key((*here, name, path)))
        for name, listed in (("removed", world.removed), ("unchanged", world.unchanged)):
            for at, path in enumerate(listed):
                yield from self._path(path, inside, self.source.place((*here, name, at)))

    def _path(self, path: str, inside: Collection[str], place: Place) -> Iterator[Mistake]:
        """Yield a mistake for a path of the world that begins with no simulated system, or with none of the case."""
        system = path.strip("/").partition("/")[0]
        systems = self.names.repository.systems
        if system not in (*systems, "*", "**"):
            yield Mistake(self.source.file, place, "unknown-value", *self._no_system(system))
        elif not inside:
            message = f"The case has no world, so nothing can change at `{path[:80]}`."
            yield Mistake(self.source.file, place, "unknown-value", message, "Give the case a `world`, or remove it.")
        elif system in systems and system not in inside:
            message = f"The world of the case has no `{system}`, so nothing can change there."
            yield Mistake(self.source.file, place, "unknown-value", message, "Correct the path, or add the system.")

    def _no_system(self, name: str) -> tuple[str, str]:
        repository = self.names.repository
        if name in repository.company_systems:
            hint = "Let a mock of its tools keep it with a third parameter: `(call, arguments, state)`."
            return f"No mock keeps the state of `{name[:80]}`, so nothing can change there.", hint
        hint = f"The systems are {', '.join(sorted(repository.systems))}."
        if meant := close_match(name, repository.systems):
            hint = f"Write `{meant}`."
        return f"There is no simulator of `{name[:80]}`.", hint

    def _names_of(self, names: Sequence[str], known: Sequence[str], what: str, loc: Loc) -> Iterator[Mistake]:
        for at, name in enumerate(names):
            if name not in known:
                hint = f"Write one of {', '.join(f'`{word}`' for word in known)}."
                if meant := close_match(name, known):
                    hint = f"Write `{meant}`."
                yield self._at((*loc, at), "unknown-value", f"There is no {what} `{name[:80]}`.", hint)

    def _expected_status(self, rubric: Rubric, loc: Loc) -> Iterator[Mistake]:
        """Yield a mistake for a status that neither the answer nor the run can have, and for a field without one."""
        output = self.names.workflows[self.loaded.eval.workflow].fields.get("output")
        if isinstance(output, str):
            # The schema is in a file, which the check of the workflow reads.
            return
        named = statuses_in(output, rubric.status_field or "status")
        if named is None and rubric.status_field:
            message = f"The `output` of `{self.loaded.eval.workflow}` has no field `{rubric.status_field[:80]}`."
            yield self._at((*loc, "status_field"), "unknown-value", message, "Write a field of the answer.")
        elif named != []:
            known = [*(named or ()), *STATUSES]
            yield from self._names_of(rubric.expected_status, known, "status", (*loc, "expected_status"))

    def _schema(self, schema: object, loc: Loc) -> Iterator[Mistake]:
        if schema is None:
            return
        whole = schema
        if (fields := as_object(schema)) and "type" not in fields:
            whole = {**fields, "type": "object"}
        for flaw in flaws(whole):
            message = invalid_schema(flaw.path, flaw.reason)
            yield self._at((*loc, *flaw.path), "invalid-schema", message, flaw.hint)

    def _quarantine(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        if case.quarantine is None:
            return
        latest = self.names.repository.today + LONGEST_QUARANTINE
        if case.quarantine.until > latest:
            message = f"The quarantine of `{case.name}` lasts longer than {LONGEST_QUARANTINE.days} days."
            yield self._at(loc, "out-of-range", message, f"Write {latest.isoformat()} or an earlier day.")

    def _at(self, loc: Loc, rule: Rule, message: str, hint: str) -> Mistake:
        return Mistake(self.source.file, self.source.place(loc), rule, message, hint)

    def _key(self, loc: Loc, rule: Rule, message: str, hint: str) -> Mistake:
        return Mistake(self.source.file, self.source.key(loc), rule, message, hint)
