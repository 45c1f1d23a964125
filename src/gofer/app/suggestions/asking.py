"""The question to the model of the role `suggester`, and the check of its answer in the scratch checkout."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gofer.app.catalog import mistakes
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.settings import Settings
from gofer.app.suggestions.budget import Budget
from gofer.app.suggestions.golden_case import Redactor, golden_files
from gofer.app.suggestions.scratch import AGENTS, Scratch
from gofer.learning.suggestions.cost import ATTEMPTS
from gofer.learning.suggestions.edited_file import Refused, edited_text, refuse_wrong_case
from gofer.learning.suggestions.evidence import Evidence
from gofer.learning.suggestions.proposal import NoProposal, Proposal
from gofer.learning.suggestions.question import SECONDS, Unreadable, answer_of, material, request
from gofer.models.language_model import Unusable
from gofer.models.served_model import ServedModel
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.workflows.file_text import read_text

HOUSE_RULES = "AGENTS.md"
"""The file with the rules of the repository."""


@dataclass(frozen=True, slots=True)
class CheckedProposal:
    """A proposal that keeps the rules. Its files are in the scratch checkouts."""

    proposal: Proposal
    edited: str
    """The edited file as it is with the edit."""
    golden: Mapping[str, bytes]
    """The files of the eval case, by path."""
    answered_as: str
    """The name of the model that answered."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The parts of one question."""

    settings: Settings
    runs: RunReader
    scratch: Scratch
    evidence: Evidence
    records: Mapping[str, RunRecord]
    """The affected runs."""
    texts: Mapping[str, str]
    """The files that may be edited, by path."""
    redactor: Redactor
    budget: Budget

    async def ask(self, served: ServedModel) -> CheckedProposal | NoProposal:
        """Return the proposal of a model, which is asked once more if its first answer breaks a rule.

        Raises Refused if the second one does too, OverBudget, TemporaryError if the model does not answer now, and
        RunStopped if it may not be asked.
        """
        rules, _ = read_text(self.scratch.without / HOUSE_RULES)
        asked = material(self.evidence, self.records, self.texts, rules or "")
        problem = ""
        async with http_client(self.settings.proxies) as http:
            model = models_of(self.settings, http).of(served.endpoint)
            for _ in range(ATTEMPTS):
                self.budget.check()
                try:
                    answer = await model.ask(request(served, asked, problem), SECONDS)
                    self.budget.spend(served.price and served.price.cost(answer.usage))
                    found = answer_of(answer.text)
                    if isinstance(found, NoProposal):
                        return found
                    return await self._checked(found, answer.model)
                except (Unreadable, Unusable, Refused) as error:
                    problem = str(error)
        raise Refused(problem)

    async def _checked(self, proposal: Proposal, answered_as: str) -> CheckedProposal:
        """Return the proposal with its files, after they were written into the scratch checkouts. Raises Refused."""
        edited = edited_text(proposal.edit, self.texts)
        refuse_wrong_case(proposal.must, self.records)
        self.redactor.refuse_names(proposal, self.texts[proposal.edit.file])
        self._refuse_mistakes(proposal, edited)
        golden = await golden_files(self.runs, proposal, self.evidence.workflow, self.settings, self.scratch.without)
        self.scratch.write(golden)
        return CheckedProposal(proposal, edited, golden, answered_as)

    def _refuse_mistakes(self, proposal: Proposal, edited: str) -> None:
        """Write the edited file, and raise Refused if `gofer check` finds a mistake then."""
        file: Path = self.scratch.with_edit / proposal.edit.file
        file.write_text(edited, encoding="utf-8")
        found = [mistake for mistake in mistakes(self.scratch.with_edit / AGENTS) if not mistake.is_hint]
        if found:
            file.write_text(self.texts[proposal.edit.file], encoding="utf-8")
            raise Refused(f"With the edit, gofer check finds a mistake: {found[0].message} {found[0].hint}")
