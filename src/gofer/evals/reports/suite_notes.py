"""The sentences of all reports about a suite as a whole, beside its verdict and its cases."""

from collections.abc import Iterator, Sequence

from gofer.evals.reports.comparison_words import comparison_text, worse_words
from gofer.evals.reports.wording import short
from gofer.evals.results import SuiteResult
from gofer.values.amounts import counted

MOST_NAMED = 20
"""The most names in one sentence, and the most sentences of one kind."""
_MOST_WORSE = 8
"""The most cases that are named because they are worse than in the baseline."""


def suite_notes(result: SuiteResult) -> Iterator[str]:
    """Yield the sentences about the baseline, and about prompts and skills without evidence."""
    yield from result.remarks
    if result.comparison is not None:
        yield f"Compared with the baseline, which decides nothing: {comparison_text(result.comparison)}."
    worse = [case for case in result.cases if worse_words(case.comparison)]
    for case in worse[:_MOST_WORSE]:
        yield f"{short(case.case)}, beside the baseline: {'; '.join(worse_words(case.comparison))}."
    if len(worse) > _MOST_WORSE:
        yield f"{counted(len(worse) - _MOST_WORSE, 'more case')} worse than in the baseline; --json FILE has them."
    for name in result.unproved[:MOST_NAMED]:
        yield f"`{name}` changed, and no case loads it."
    if len(result.unproved) > MOST_NAMED:
        yield f"{counted(len(result.unproved) - MOST_NAMED, 'more prompt')} changed that no case loads."
    if result.unloaded:
        yield unloaded_sentence(result.unloaded, result.prompt_texts)
    if result.missing:
        yield f"The baseline has {counted(len(result.missing), 'case')} no longer in evals/: {_named(result.missing)}."


def unloaded_sentence(unloaded: Sequence[str], texts: int) -> str:
    """Return the sentence about prompts and skills that no case loads; `texts` is the number of all of them."""
    return f"{len(unloaded)} of {counted(texts, 'prompt')} and skills are loaded by no case: {_named(unloaded)}."


def _named(names: Sequence[str]) -> str:
    more = ""
    if len(names) > MOST_NAMED:
        more = f" and {len(names) - MOST_NAMED} more"
    return f"{', '.join(names[:MOST_NAMED])}{more}"
