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
from gofer.values.errors import BadRequest
from gofer.values.rater_agreement import LEAST_EXAMPLES, LEAST_KAPPA, LEAST_OF_EACH, RaterAgreement
from gofer.workflows.form_parts import Strict, Whole

SUFFIX = ".agreement.json"
AGAIN = "Run `gofer eval --calibrate`."


class Agreement(Strict):
    """One measurement of a judge on the labels of one criterion."""

    format: Literal[1] = 1
    criterion: str
    criterion_sha256: str
    labels_sha256: str
    prompt_sha256: str
    judge: str
    """The judge as `endpoint/model`, or as `model` at the default endpoint."""
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
    """Return the kept measurement; None if there is none that can be read."""
    try:
        return Agreement.model_validate(decode(agreement_path(labels).read_bytes()))
    except (OSError, BadRequest, ValidationError):
        # Without a readable measurement the criterion does not block, and its grade says so.
        return None


def not_blocking(criterion: Criterion, judge: str, labels: Labels | None, agreement: Agreement | None) -> str:
    """Return why a failed criterion may not block, in one sentence; empty if it may."""
    if labels is None:
        return "The criterion has no labels, so that its agreement with people is not known."
    if agreement is None:
        return f"The agreement of the judge with the labels is not measured. {AGAIN}"
    return _outdated(criterion, judge, labels, agreement) or _too_low(criterion, agreement)


def _outdated(criterion: Criterion, judge: str, labels: Labels, agreement: Agreement) -> str:
    if agreement.judge != judge:
        return f"The agreement was measured with the judge {agreement.judge}. {AGAIN}"
    if agreement.prompt_sha256 != PROMPT_SHA256:
        return f"The agreement was measured with another prompt of the judge. {AGAIN}"
    if agreement.criterion_sha256 != criterion_sha256(criterion):
        return f"The criterion changed after its agreement was measured. {AGAIN}"
    if agreement.labels_sha256 != labels.sha256:
        return f"The labels changed after the agreement was measured. {AGAIN}"
    return ""


def _too_low(criterion: Criterion, agreement: Agreement) -> str:
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
