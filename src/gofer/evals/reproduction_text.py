"""Reproduction rates as lines for a terminal, and as JSON."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.evals.reproduction import PromptComparison, Rate, Shows, Verdict
from gofer.values.amounts import counted

_VERDICTS: Mapping[Verdict, str] = {
    "ended": "verdict: the new prompt ended it",
    "continues": "verdict: the new prompt does not end it",
    "not_enough_evidence": "verdict: not enough evidence",
    "infrastructure": "verdict: none, because no model answered",
}


def rate_lines(run: str, shows: Sequence[Shows], rate: Rate) -> Iterator[str]:
    """Yield a reproduction rate: what counts, how many replays show it, the interval, and the cost."""
    yield f"run {run[:8]}  reproduced: {words_of(shows)}"
    yield f"  recorded prompt  {_rate_words(rate)}"
    yield from _silent_lines(rate)
    yield f"  {cost_words([rate])}; recorded results answered the tools, and nothing was written"


def comparison_lines(run: str, shows: Sequence[Shows], compared: PromptComparison, prompt: str) -> Iterator[str]:
    """Yield the rates of the recorded prompt and of another one, and the verdict."""
    yield f"run {run[:8]}  reproduced: {words_of(shows)}"
    yield f"  recorded prompt  {_rate_words(compared.before)}"
    yield from _silent_lines(compared.before)
    yield f"  {prompt}  {_rate_words(compared.now)}"
    yield from _silent_lines(compared.now)
    yield f"  {_VERDICTS[compared.verdict]}{_reason(compared)}"
    yield f"  {cost_words([compared.before, compared.now])}; nothing was written"


def words_of(shows: Sequence[Shows]) -> str:
    """Return what counts as a reproduction."""
    return ", or ".join(map(str, shows))


def cost_words(rates: Sequence[Rate]) -> str:
    """Return how many answers of the live model came, and their cost."""
    answers = counted(sum(rate.answers for rate in rates), "live answer")
    unpriced = sum(rate.unpriced for rate in rates)
    cost = f"{answers}, ${sum(rate.cost_usd for rate in rates):.4f}"
    if unpriced:
        return f"{cost} and {counted(unpriced, 'answer')} of unknown price"
    return cost


def rate_json(rate: Rate) -> Mapping[str, object]:
    """Return a rate as JSON."""
    return {
        "shown": rate.shown,
        "conclusive": rate.conclusive,
        "inconclusive": rate.inconclusive,
        "infrastructure": rate.away,
        "rate": rate.share,
        "interval": [rate.interval.low, rate.interval.high],
        "live_answers": rate.answers,
        "cost_usd": rate.cost_usd,
        "unpriced_answers": rate.unpriced,
    }


def report_json(run: str, shows: Sequence[Shows], rate: Rate) -> Mapping[str, object]:
    """Return the reproduction rate of a run as JSON."""
    return {"run": run, "shows": [f"{one.kind}:{one.name}" for one in shows], "recorded_prompt": rate_json(rate)}


def comparison_json(run: str, shows: Sequence[Shows], compared: PromptComparison) -> Mapping[str, object]:
    """Return the rates of two prompts and the verdict as JSON."""
    return {
        **report_json(run, shows, compared.before),
        "new_prompt": rate_json(compared.now),
        "limit": compared.limit,
        "verdict": compared.verdict,
        "more_replays": compared.more,
    }


def _rate_words(rate: Rate) -> str:
    if rate.share is None:
        return f"no rate: none of {counted(rate.replays, 'replay')} is conclusive"
    interval = f"{rate.interval.low:.1%} to {rate.interval.high:.1%}"
    return f"{rate.shown} of {rate.conclusive} ({rate.share:.0%}; 95 % interval {interval})"


def _silent_lines(rate: Rate) -> Iterator[str]:
    """Yield how many replays say nothing, with the reason of the first."""
    if rate.inconclusive:
        yield f"    {counted(rate.inconclusive, 'replay')} left out as inconclusive"
    if rate.away:
        yield f"    {counted(rate.away, 'replay')} left out, because no model answered"
    if rate.reason:
        yield f"    the first: {rate.reason}"


def _reason(compared: PromptComparison) -> str:
    match compared.verdict:
        case "not_enough_evidence" if compared.limit is None:
            return "; no replay of the recorded prompt is conclusive"
        case "not_enough_evidence" if compared.now.share is None:
            return "; no replay of the new prompt is conclusive"
        case "not_enough_evidence" if compared.more is None:
            return "; the recorded prompt does not show it either, so replay more often"
        case "not_enough_evidence":
            replays = counted(compared.more or 0, "more conclusive replay")
            return f"; about {replays} of the new prompt tell, if its rate stays"
        case "continues" if compared.limit is not None and compared.now.share is not None:
            return f": {compared.now.share:.0%} of its replays show it"
        case _:
            return ""
