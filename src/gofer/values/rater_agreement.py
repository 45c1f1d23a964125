"""The agreement of two raters about the same examples: a person and a model, each with one of two verdicts."""

from dataclasses import dataclass

LEAST_EXAMPLES = 20
"""The examples from which on a measurement counts."""
LEAST_OF_EACH = 5
"""The examples of each of the person's verdicts from which on a measurement counts."""
LEAST_SHARE = 0.8
"""The least share of the examples on which both agree, unless another one is set."""
LEAST_KAPPA = 0.6
"""The least agreement beyond chance. A model that always gives the more frequent verdict has 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """The numbers of examples by the verdicts of a person and of a model."""

    both_good: int = 0
    both_bad: int = 0
    wrongly_good: int = 0
    """Examples that the model calls good and the person bad."""
    wrongly_bad: int = 0
    """Examples that the model calls bad and the person good."""

    @property
    def examples(self) -> int:
        """The number of the examples."""
        return self.agreed + self.wrongly_good + self.wrongly_bad

    @property
    def agreed(self) -> int:
        """The number of the examples on which both agree."""
        return self.both_good + self.both_bad

    @property
    def share(self) -> float:
        """The share of the examples on which both agree; 0 without examples."""
        return self.agreed / max(1, self.examples)

    @property
    def base_rate(self) -> float:
        """The share of the examples that the person calls good; 0 without examples."""
        return (self.both_good + self.wrongly_bad) / max(1, self.examples)

    @property
    def fewest(self) -> int:
        """The number of the examples with the person's rarer verdict."""
        good = self.both_good + self.wrongly_bad
        return min(good, self.examples - good)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None without examples, or if chance alone explains every agreement."""
        return self.beyond_chance(self.share)

    def beyond_chance(self, share: float) -> float | None:
        """Return how much of the possible agreement beyond chance a share of agreement is, from -1 to 1, or None."""
        if not self.examples:
            return None
        modelled = (self.both_good + self.wrongly_good) / self.examples
        chance = self.base_rate * modelled + (1 - self.base_rate) * (1 - modelled)
        if chance == 1:
            return None
        return max(-1.0, (share - chance) / (1 - chance))
