"""The measured agreement of a judge with people, and when a criterion may block."""

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from gofer.evals.eval_file import Criterion, Share
from gofer.evals.judging.labels import Labels
from gofer.evals.judging.question import PROMPT_SHA256, criterion_sha256
from gofer.evals.results import Interval
from gofer.evals.statistics import wilson
from gofer.values.canonical_json import decode
from gofer.values.errors import BadRequest, ConfigError
from gofer.values.rater_agreement import LEAST_EXAMPLES, LEAST_KAPPA, LEAST_OF_EACH, RaterAgreement
from gofer.workflows.file_text import read_bytes
from gofer.workflows.form_parts import Strict, Whole

SUFFIX = ".agreement.json"
AGAIN = "Run `gofer eval --calibrate`."


class JudgedLabel(Strict):
    """What the judge said about one label."""

    number: Whole = Field(ge=0)
    """The place of the label in its file, from 0."""
    passed: bool | None
    """As in `judge.Opinion.passed`, from the number of votes that a grade has."""
    agreeing: Whole = Field(ge=0)
    """The pairs of votes about the label that agree."""
    pairs: Whole = Field(ge=0)
    steered: bool | None = None
    """Whether the label could demand its verdict; None if that was not tried."""


class Agreement(Strict):
    """One measurement of a judge on the labels of one criterion."""

    format: Literal[1] = 1
    criterion: str
    criterion_sha256: str
    labels_sha256: str
    prompt_sha256: str
    judge: str
    """The judge as `endpoint/model`, or as `model` at the default endpoint."""
    endpoint: str = ""
    """The base URL of the judge; empty in measurements of earlier versions, which do not count."""
    measured_on: date
    both_correct: Whole = Field(ge=0)
    """Examples that the person and the judge call CORRECT."""
    both_incorrect: Whole = Field(ge=0)
    wrongly_correct: Whole = Field(ge=0)
    """Examples that the judge calls CORRECT and the person INCORRECT."""
    wrongly_incorrect: Whole = Field(ge=0)
    """Examples that the judge calls INCORRECT and the person CORRECT."""
    without_verdict: Whole = Field(default=0, ge=0)
    """Examples without a readable verdict; they count as disagreement."""
    repeats_agree: Share | None = None
    """The share of the pairs of votes about one example that agree; None without pairs."""
    steered: Whole = Field(default=0, ge=0)
    """The verdicts INCORRECT that became CORRECT when the example itself demanded it."""
    steering_tried: Whole = Field(default=0, ge=0)
    unanswered: Whole = Field(default=0, ge=0)
    """Labels about which the judge gave no answer. They are in no other number, and the measurement does not count."""
    judged: tuple[JudgedLabel, ...] = ()
    """The other labels, from which the next measurement continues; empty in a complete one."""

    @property
    def examples(self) -> int:
        """The number of the examples."""
        return self.agreed + self.wrongly_correct + self.wrongly_incorrect + self.without_verdict

    @property
    def agreed(self) -> int:
        """The number of the examples on which person and judge agree."""
        return self.both_correct + self.both_incorrect

    @property
    def accuracy(self) -> float:
        """The share of the examples on which person and judge agree; 0 without examples."""
        return self.agreed / max(1, self.examples)

    @property
    def base_rate(self) -> float:
        """The share of the examples with a verdict that the person calls CORRECT; 0 without any."""
        return self._decided.base_rate

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa over all examples with a verdict; None if chance alone explains every agreement."""
        return self._decided.kappa

    @property
    def kappa_interval(self) -> Interval | None:
        """The 95 % interval of kappa: the Wilson interval of the agreement, beyond the measured chance; or None."""
        decided = self._decided
        interval = wilson(decided.agreed, decided.examples)
        low = decided.beyond_chance(interval.low)
        high = decided.beyond_chance(interval.high)
        if low is None or high is None:
            return None
        return Interval(low, high)

    @property
    def fewest(self) -> int:
        """The number of the examples with the rarer label, among those with a verdict."""
        return self._decided.fewest

    @property
    def _decided(self) -> RaterAgreement:
        """The examples with a verdict."""
        return RaterAgreement(
            both_good=self.both_correct,
            both_bad=self.both_incorrect,
            wrongly_good=self.wrongly_correct,
            wrongly_bad=self.wrongly_incorrect,
        )


def agreement_path(labels: Path) -> Path:
    """Return the file beside the labels that keeps the measurement."""
    return labels.with_name(labels.name + SUFFIX)


def read_agreement(labels: Path) -> Agreement | None:
    """Return the kept measurement; None without one. Raises ConfigError for a file that is no measurement."""
    path = agreement_path(labels)
    try:
        return Agreement.model_validate(decode(read_bytes(path)))
    except FileNotFoundError:
        return None
    except (OSError, BadRequest, ValidationError) as error:
        raise ConfigError(f"The measurement {path.name} cannot be read. {AGAIN}") from error


def not_blocking(
    criterion: Criterion, judge: str, endpoint: str, labels: Labels | None, agreement: Agreement | None
) -> str:
    """Return why a failed criterion may not block, in one sentence; empty if it may.

    `endpoint` is the base URL of the judge; empty if the deployment decides it, and then it is not compared.
    """
    if labels is None:
        return "The criterion has no labels, so that its agreement with people is not known."
    if agreement is None:
        return f"The agreement of the judge with the labels is not measured. {AGAIN}"
    return outdated(criterion, judge, endpoint, labels, agreement) or _too_low(criterion, agreement)


def outdated(criterion: Criterion, judge: str, endpoint: str, labels: Labels, agreement: Agreement) -> str:
    """Return why a measurement is about something else, in one sentence; empty if it is about these."""
    if agreement.judge != judge:
        return f"The agreement was measured with the judge {agreement.judge}. {AGAIN}"
    if not agreement.endpoint:
        return f"The measurement does not name the endpoint of the judge. {AGAIN}"
    if endpoint and agreement.endpoint != endpoint:
        return f"The agreement was measured with {judge} of another endpoint, {agreement.endpoint}. {AGAIN}"
    if agreement.prompt_sha256 != PROMPT_SHA256:
        return f"The agreement was measured with another prompt of the judge. {AGAIN}"
    if agreement.criterion_sha256 != criterion_sha256(criterion):
        return f"The criterion changed after its agreement was measured. {AGAIN}"
    if agreement.labels_sha256 != labels.sha256:
        return f"The labels changed after the agreement was measured. {AGAIN}"
    return ""


def _too_low(criterion: Criterion, agreement: Agreement) -> str:
    if agreement.unanswered:
        every = agreement.examples + agreement.unanswered
        return f"The agreement is measured on {agreement.examples} of {every} labels. {AGAIN}"
    if agreement.examples < LEAST_EXAMPLES or agreement.fewest < LEAST_OF_EACH:
        return f"Label {LEAST_EXAMPLES} examples or more, {LEAST_OF_EACH} or more of each label, and measure again."
    if agreement.steered:
        return f"{agreement.steered} of {agreement.steering_tried} examples could make the judge say CORRECT."
    if agreement.accuracy < criterion.least_agreement:
        return (
            f"The judge agrees with {agreement.agreed} of {agreement.examples} labels, which is below "
            f"{criterion.least_agreement:.0%}."
        )
    kappa = agreement.kappa
    if kappa is None or kappa < LEAST_KAPPA:
        return f"The agreement beyond chance (kappa) is below {LEAST_KAPPA}."
    return ""
