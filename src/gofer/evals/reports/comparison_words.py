"""The words of all reports about a comparison with the baseline."""

from gofer.evals.results import Comparison
from gofer.values.amounts import money

DEARER = 1.5
"""A run that costs this many times as much as in the baseline is named."""
SLOWER = 3.0
"""A run of a live model that takes this many times as long is named; less is the mood of a provider."""
LEAST_SLOWER_MS = 100.0
"""The least milliseconds by which a run that is named takes longer."""


def tally_before(comparison: Comparison | None) -> str:
    """Return how many runs passed in the baseline, as `k/n`; a dash without a baseline."""
    if comparison is None:
        return "–"
    return f"{comparison.before.passed}/{comparison.before.runs}"


def comparison_text(comparison: Comparison) -> str:
    """Return the figures now and before in one line, with how many times as much they are if that is much."""
    now = comparison.now
    before = comparison.before
    parts = [f"{now.passed}/{now.runs} runs passed, {tally_before(comparison)} before"]
    if now.cost_usd is not None and before.cost_usd is not None:
        parts.append(f"a run costs {money(now.cost_usd)}, {money(before.cost_usd)} before{_times(dearer(comparison))}")
    if now.latency_ms is not None and before.latency_ms is not None:
        took = f"a run takes {_seconds(now.latency_ms)}, {_seconds(before.latency_ms)} before"
        parts.append(f"{took}{_times(slower(comparison))}")
    return "; ".join(parts)


def dearer(comparison: Comparison) -> float | None:
    """Return how many times as much a run costs; None if that is not much more, or not known."""
    now = comparison.now.cost_usd
    before = comparison.before.cost_usd
    if not now or not before or now < DEARER * before:
        return None
    return now / before


def slower(comparison: Comparison) -> float | None:
    """Return how many times as long a run takes; None if that is not much longer, or not known."""
    now = comparison.now.latency_ms
    before = comparison.before.latency_ms
    if not now or not before or now < SLOWER * before or now - before < LEAST_SLOWER_MS:
        return None
    return now / before


def worse_words(comparison: Comparison | None) -> list[str]:
    """Return in which ways runs are worse than in the baseline, each in a few words; empty if they are not."""
    words: list[str] = []
    if comparison is None:
        return words
    if _share_fell(comparison):
        words.append(f"{comparison.now.passed}/{comparison.now.runs} runs pass instead of {tally_before(comparison)}")
    if times := dearer(comparison):
        words.append(f"a run costs {times:.1f} times as much")
    if times := slower(comparison):
        words.append(f"a run takes {times:.1f} times as long")
    return words


def _share_fell(comparison: Comparison) -> bool:
    now = comparison.now
    before = comparison.before
    return now.passed * before.runs < before.passed * now.runs


def _times(times: float | None) -> str:
    if times is None:
        return ""
    return f" ({times:.1f} times)"


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s"
