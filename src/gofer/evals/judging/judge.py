"""The judge: a model that answers one criterion about one material, with as many votes as the criterion wants."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from gofer.evals.judging.question import Question, request
from gofer.evals.judging.verdict import Unreadable, Verdict, verdict_of
from gofer.models.failures import said_by
from gofer.models.language_model import Answer, Model, Unusable
from gofer.models.served_model import STAND_INS, ServedModel
from gofer.values.errors import RunStopped, TemporaryError

SECONDS = 120.0
"""How long one answer of the judge may take."""
ATTEMPTS = 2
"""The requests for one vote: an unreadable answer is asked for once more."""


@dataclass(frozen=True, slots=True)
class NoVote:
    """A vote that did not come about."""

    kind: Literal["unreadable", "refused", "infrastructure"]
    """Unreadable twice, refused by the provider or without a recorded answer, or not answered now."""
    problem: str
    """One sentence."""


Vote = Verdict | NoVote


def name_of(served: ServedModel) -> str:
    """Return a model as `endpoint/model`, or as `model` at the default endpoint."""
    if served.endpoint.is_default:
        return served.name
    return f"{served.endpoint.name}/{served.name}"


def without_credentials(url: str) -> str:
    """Return a URL without a user, a password and a query, because measurements are committed."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(slots=True)
class Judge:
    """The model of the role `judge`. It counts its requests, and the cost of their answers."""

    served: ServedModel
    model: Model
    default_url: str = ""
    """The base URL of the default endpoint."""
    requests: int = 0
    cost_usd: float | None = 0.0
    """None if the price of the model is unknown."""
    answered_as: set[str] = field(default_factory=set[str])
    """The names that the answers carry."""

    @property
    def name(self) -> str:
        """The model as `name_of` writes it."""
        return name_of(self.served)

    @property
    def endpoint(self) -> str:
        """The base URL of the endpoint that the judge is asked at, without credentials."""
        return without_credentials(self.served.endpoint.base_url or self.default_url)

    @property
    def is_stand_in(self) -> bool:
        """Whether a script answered for the model; such answers say nothing about a run."""
        return bool(self.answered_as & {*STAND_INS})

    async def votes(self, question: Question, number: int, first: int = 1) -> Sequence[Vote]:
        """Return `number` votes about a question. `first` is the number of the first vote, from 1."""
        return await asyncio.gather(*(self._vote(question, vote) for vote in range(first, first + number)))

    async def _vote(self, question: Question, vote: int) -> Vote:
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                answer = await self._ask(request(self.served, question, vote, problem))
                return verdict_of(answer.text, question.material)
            except (Unreadable, Unusable) as error:
                problem = str(error)
            except RunStopped as error:
                return NoVote("refused", f"The judge {self.name} gave no answer: {said_by(error)}")
            except TemporaryError as error:
                return NoVote("infrastructure", f"The judge {self.name} did not answer: {said_by(error)}")
        return NoVote("unreadable", f"The judge {self.name} gave no readable answer. {problem}")

    async def _ask(self, body: bytes) -> Answer:
        self.requests += 1
        answer = await self.model.ask(body, SECONDS)
        self.answered_as.add(answer.model)
        if self.served.price is None or self.cost_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd += self.served.price.cost(answer.usage)
        return answer


@dataclass(frozen=True, slots=True)
class Opinion:
    """The votes about one question, counted."""

    votes: Sequence[Vote]
    least_score: float

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """The votes that came about."""
        return [vote for vote in self.votes if isinstance(vote, Verdict)]

    @property
    def score(self) -> float | None:
        """The share of the verdicts that say CORRECT; None unless most votes came about."""
        verdicts = self.verdicts
        if len(verdicts) * 2 <= len(self.votes):
            return None
        return sum(verdict.decision == "CORRECT" for verdict in verdicts) / len(verdicts)

    @property
    def passed(self) -> bool | None:
        """Whether the majority and `least_score` of the verdicts say CORRECT; None without a score."""
        score = self.score
        if score is None:
            return None
        return score > 0.5 and score >= self.least_score

    @property
    def deciding(self) -> Verdict | None:
        """The first verdict on the side that decided, with a quote if one has it."""
        wanted = "INCORRECT"
        if self.passed:
            wanted = "CORRECT"
        sided = [verdict for verdict in self.verdicts if verdict.decision == wanted]
        return next((verdict for verdict in sided if verdict.quote), next(iter(sided), None))

    @property
    def missing(self) -> Sequence[NoVote]:
        """The votes that did not come about."""
        return [vote for vote in self.votes if isinstance(vote, NoVote)]

    @property
    def why_missing(self) -> Literal["no_evidence", "infrastructure"]:
        """Why votes did not come about, as in `results.Grade`."""
        if any(vote.kind == "infrastructure" for vote in self.missing):
            return "infrastructure"
        return "no_evidence"
