"""The sentences of all reports about a suite as a whole, beside its verdict and its cases."""

from collections.abc import Iterator, Sequence

from gofer.evals.reports.comparison_words import suite_comparison
from gofer.evals.results import SuiteResult
from gofer.values.amounts import counted

MOST_NAMED = 20
"""The most names in one sentence, and the most sentences of one kind."""


def suite_notes(result: SuiteResult) -> Iterator[str]:
    """Yield the sentences: the baseline, prompts and skills without evidence, and those that no case loads."""
    if compared := suite_comparison(result):
        yield compared
    for name in result.unproved[:MOST_NAMED]:
        yield f"`{name}` changed, and no case loads it."
    if len(result.unproved) > MOST_NAMED:
        yield f"{counted(len(result.unproved) - MOST_NAMED, 'more prompt')} changed that no case loads."
    if result.unloaded:
        share = f"{len(result.unloaded)} of {counted(result.prompt_texts, 'prompt')} and skills"
        yield f"{share} are loaded by no case: {_named(result.unloaded)}."


def _named(names: Sequence[str]) -> str:
    more = ""
    if len(names) > MOST_NAMED:
        more = f" and {len(names) - MOST_NAMED} more"
    return f"{', '.join(names[:MOST_NAMED])}{more}"
