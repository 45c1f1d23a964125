"""The agreement of reviews with the feedback of people about the same runs, and whether the reviews count."""

from collections import Counter
from collections.abc import Mapping

from gofer.journal.head_facts import HeadFacts
from gofer.values.rater_agreement import LEAST_EXAMPLES, LEAST_KAPPA, LEAST_OF_EACH, LEAST_SHARE, RaterAgreement

Pair = tuple[bool, bool]
"""Whether people called a run good, and whether its review called it effective."""


def pair_of(facts: HeadFacts) -> Pair | None:
    """Return what people and the review say about a run; None without both, and if people disagree."""
    if facts.effective is None or bool(facts.good) == bool(facts.bad):
        return None
    return facts.good > 0, facts.effective


def agreement_of(pairs: Mapping[Pair, int]) -> RaterAgreement:
    """Return the agreement over runs, counted by their pair."""
    counted = Counter(pairs)
    return RaterAgreement(
        both_good=counted[True, True],
        both_bad=counted[False, False],
        wrongly_good=counted[False, True],
        wrongly_bad=counted[True, False],
    )


def is_measured(agreement: RaterAgreement) -> bool:
    """Return whether enough reviewed runs have feedback for the agreement to mean something, however high it is."""
    return agreement.examples >= LEAST_EXAMPLES and agreement.fewest >= LEAST_OF_EACH


def not_counting(agreement: RaterAgreement) -> str:
    """Return why the reviews of these runs do not count yet, in one sentence; empty if they count.

    Reviews that do not count rank nothing and prove nothing. One of them may still be shown to an owner, as an opinion.
    """
    if agreement.examples < LEAST_EXAMPLES:
        return (
            f"The agreement with people is not measured: {agreement.examples} of at least {LEAST_EXAMPLES} reviewed "
            "runs have feedback."
        )
    if agreement.fewest < LEAST_OF_EACH:
        return (
            f"The agreement with people is not measured: the feedback needs at least {LEAST_OF_EACH} good and "
            f"{LEAST_OF_EACH} bad runs, and the rarer verdict has {agreement.fewest}."
        )
    if agreement.share < LEAST_SHARE:
        return (
            f"The reviewer agrees with people about {agreement.agreed} of {agreement.examples} runs, which is below "
            f"{LEAST_SHARE:.0%}."
        )
    if agreement.kappa is None or agreement.kappa < LEAST_KAPPA:
        return f"The agreement beyond chance (kappa) is below {LEAST_KAPPA}."
    return ""
