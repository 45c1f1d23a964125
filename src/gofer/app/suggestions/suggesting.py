"""One suggestion: the evidence of recorded runs, the question to a model, the proof of its answer, and the branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gofer.app.catalog import checked_catalog, model_roles
from gofer.app.http import http_client
from gofer.app.model_endpoints import NoDefault, models_of
from gofer.app.operations import Operations
from gofer.app.settings import Settings
from gofer.app.suggestions.asking import HOUSE_RULES, Asking, CheckedProposal
from gofer.app.suggestions.budget import Budget, OverBudget
from gofer.app.suggestions.editable_files import editable_texts
from gofer.app.suggestions.git import Commit, commit_of
from gofer.app.suggestions.golden_case import Redactor, redactor_of, replayable
from gofer.app.suggestions.proving import ModelAway, Prover, Say
from gofer.app.suggestions.scratch import AGENTS, Scratch, scratch_of
from gofer.engine.services import Links
from gofer.evals.goldens.golden_cases import load_cases
from gofer.evals.judging.judge_role import JUDGE_ROLE, judge_of
from gofer.evals.load import FOLDER as EVALS
from gofer.evals.plan import coordinators_of, plan
from gofer.evals.prompt_review import Review, changed_file, markdown_lines, not_reviewed, review
from gofer.evals.references import GOLDENS
from gofer.learning.suggestions.cost import MostCalls
from gofer.learning.suggestions.edited_file import Refused, diff_lines
from gofer.learning.suggestions.ended_runs import ended_runs
from gofer.learning.suggestions.evidence import Evidence, evidence_of
from gofer.learning.suggestions.proposal import NoProposal
from gofer.learning.suggestions.pull_request import commit_message, pull_request
from gofer.learning.suggestions.suggestion import Suggestion
from gofer.models.failures import said_by
from gofer.replay.recorded_run import RecordedRun, recorded_run
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import ConfigError, RunStopped, TemporaryError
from gofer.workflows.file_text import read_text
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.suggest_form import SUGGESTER_ROLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person wants."""

    workflow: str
    days: int
    usd: float | None = None
    """The most US dollars; None for the limit in agents/defaults.yaml."""
    with_branch: bool = True


async def suggest(settings: Settings, root: Path, opened: Operations, wanted: Wanted, say: Say) -> Suggestion:
    """Return a suggestion for a workflow of a folder, or why there is none. `say` shows the progress.

    Raises ConfigError for wrong input, and TemporaryError if a store does not answer.
    """
    commit = commit_of(root)
    if commit.is_changed():
        say("The working tree has changes that are not committed; the suggestion begins from the last commit.")
    with scratch_of(commit) as scratch:
        catalog = checked_catalog(scratch.without / AGENTS)
        loaded = _prompted(catalog, wanted.workflow)
        runs = RunReader(opened.stores, opened.clock, {})
        found = await ended_runs(runs, loaded, wanted.days)
        evidence = evidence_of(
            wanted.workflow,
            found.records,
            current=found.current,
            days=wanted.days,
            reviews_do_not_count=found.reviews_do_not_count,
        )
        nothing = Suggestion(evidence=evidence, outcome="no_suggestion", reason=evidence.too_little)
        if evidence.too_little:
            return nothing
        if not settings.has_model:
            reason = "A proposal needs a model, and none is set up; set OPENAI_API_KEY, or another endpoint."
            return replace(nothing, outcome="not_asked", reason=reason)
        records = {record.run: record for record in found.records}
        budget = Budget(wanted.usd or catalog.defaults.suggest.usd)
        texts = editable_texts(scratch.without, loaded, [records[run] for run in evidence.affected])
        work = _Work(settings, runs, wanted, commit, scratch, catalog, loaded, evidence, records, budget, say, texts)
        return replace(await work.suggestion(nothing), usd=budget.spent)


@dataclass(frozen=True, slots=True)
class _Work:
    """The parts of one suggestion."""

    settings: Settings
    runs: RunReader
    wanted: Wanted
    commit: Commit
    scratch: Scratch
    catalog: Catalog
    loaded: Loaded
    evidence: Evidence
    records: Mapping[str, RunRecord]
    budget: Budget
    say: Say
    texts: Mapping[str, str]
    """The files that may be edited, by path."""

    async def suggestion(self, nothing: Suggestion) -> Suggestion:
        """Return the proposal of the model with its proof; `nothing` is the suggestion without a proposal."""
        served = next(iter(model_roles(self.catalog).playing(SUGGESTER_ROLE)), None)
        if served is None:
            raise ConfigError(f"agents/defaults.yaml has no role `{SUGGESTER_ROLE}`; name a strong model there.")
        affected = replayable(await self._recorded(self.evidence.affected))
        if not affected:
            return replace(nothing, reason="This version of Gofer can replay none of the affected runs.")
        redactor = redactor_of(affected)
        self.say(self._most_calls().sentence(self.budget.limit))
        try:
            answer = await self._asking(affected, redactor).ask(served)
        except Refused as error:
            return replace(nothing, outcome="refused", reason=f"No answer of the model could be used. {error}")
        except OverBudget as error:
            return replace(nothing, outcome="over_budget", reason=str(error))
        except (TemporaryError, RunStopped) as error:
            return replace(
                nothing, outcome="infrastructure", reason=f"The model {served.name} did not answer: {said_by(error)}"
            )
        if isinstance(answer, NoProposal):
            return replace(nothing, reason=f"The model proposes nothing: {answer.reason}")
        return await self._after_proposal(self._proposed(nothing, answer), answer, affected, redactor)

    async def _after_proposal(
        self, made: Suggestion, checked: CheckedProposal, affected: Sequence[RecordedRun], redactor: Redactor
    ) -> Suggestion:
        """Return the suggestion after its proof, with its branch."""
        branch = checked.proposal.branch(self.wanted.workflow)
        if self.commit.has_branch(branch):
            return replace(made, outcome="exists", branch=branch, reason=f"The branch {branch} has this edit already.")
        if problem := await self._no_live_model():
            return replace(made, outcome="not_proven", reason=problem)
        prover = Prover(self.settings, self.scratch, self.budget, self.say, self.wanted.workflow, made.case)
        made = replace(made, proof=prover.proof)
        try:
            problem = await prover.prove(affected, await self._recorded(self.evidence.good), checked.proposal)
        except OverBudget as error:
            return replace(made, outcome="over_budget", reason=str(error))
        except ModelAway as error:
            return replace(made, outcome="infrastructure", reason=str(error))
        if problem:
            return replace(made, outcome="no_suggestion", reason=problem)
        return await self._with_branch(replace(made, outcome="proven", branch=branch), checked, redactor)

    async def _with_branch(self, made: Suggestion, checked: CheckedProposal, redactor: Redactor) -> Suggestion:
        """Return a proven suggestion with the text of its pull request, after its branch was written."""
        edit = {checked.proposal.edit.file: checked.edited.encode()}
        made = replace(made, files={**edit, **checked.golden, **self.scratch.new_answers()}, usd=self.budget.spent)
        advice = markdown_lines(await self._advice(checked))
        made = replace(made, pull_request=pull_request(made, redactor.text, self._run_url, advice))
        if not self.wanted.with_branch:
            return replace(made, branch="")
        message = commit_message(made, redactor.text)
        return replace(made, commit=self.commit.add_branch(made.branch, made.files, message))

    def _run_url(self, run: str) -> str:
        """Return the address of the page of a run; empty if Gofer has no public address."""
        if not self.settings.public_url:
            return ""
        return Links(self.settings.public_url).run_url(run)

    async def _advice(self, checked: CheckedProposal) -> Review:
        """Return the remarks of the role `judge` about the edited file, by the rules of the repository."""
        served = judge_of(model_roles(self.catalog))
        if served is None:
            return not_reviewed(f"agents/defaults.yaml has no role `{JUDGE_ROLE}`")
        path = checked.proposal.edit.file
        rules, _ = read_text(self.scratch.without / HOUSE_RULES)
        async with http_client(self.settings.proxies) as http:
            try:
                model = models_of(self.settings, http).of(served.endpoint)
            except RunStopped:
                return not_reviewed(f"the endpoint of the role `{JUDGE_ROLE}` is not set up")
            return await review([changed_file(path, self.texts[path], checked.edited)], rules or "", served, model)

    def _proposed(self, nothing: Suggestion, checked: CheckedProposal) -> Suggestion:
        edit = checked.proposal.edit
        return replace(
            nothing,
            reason="",
            proposal=checked.proposal,
            case=f"{GOLDENS}/{checked.proposal.golden(self.wanted.workflow)}",
            diff=tuple(diff_lines(edit, self.texts[edit.file])),
        )

    def _asking(self, affected: Sequence[RecordedRun], redactor: Redactor) -> Asking:
        records = {recorded.run: self.records[recorded.run] for recorded in affected}
        return Asking(self.settings, self.runs, self.scratch, self.evidence, records, self.texts, redactor, self.budget)

    async def _no_live_model(self) -> str:
        """Return why the model of the workflow cannot be asked, in one sentence; empty if it can."""
        async with http_client(self.settings.proxies) as http:
            try:
                model = models_of(self.settings, http).of(self.loaded.models[0].endpoint)
            except RunStopped as error:
                return f"No live model can prove it. {error}"
        if isinstance(model, NoDefault):
            return "No live model can prove it: the model of the workflow is not set up here; set OPENAI_API_KEY."
        return ""

    def _most_calls(self) -> MostCalls:
        files = [file for file in load_cases(self.scratch.without / EVALS) if file.eval.workflow == self.loaded.name]
        plays = [case.planned for case in plan(files, coordinators_of(self.catalog))]
        replayed = len(self.evidence.affected) + len(self.evidence.good)
        return MostCalls(per_run=self.loaded.workflow.limits.llm_calls, replayed=replayed, suite_plays=plays)

    async def _recorded(self, runs: Sequence[str]) -> Sequence[RecordedRun]:
        return [await recorded_run(self.records[run], self.runs.stores) for run in runs]


def _prompted(catalog: Catalog, name: str) -> Loaded:
    """Return a workflow with a prompt. Raises ConfigError for an unknown one and for one with a script."""
    loaded = catalog.workflows.get(name)
    if loaded is None:
        known = ", ".join(sorted(catalog.workflows)) or "none"
        raise ConfigError(f"There is no workflow {name[:80]!r} in the commit; the workflows are {known}.")
    if loaded.workflow.coordinator != "llm":
        raise ConfigError(f"The coordinator of {name} is a script, so it has no prompt to edit.")
    return loaded
