"""Lines of the history of a case."""

from typing import Any

from gofer.evals.history import PastRun

DAY = 86_400.0


def past(**changed: Any) -> PastRun:
    """Return a run of a case that passed on Monday, 2 March 2026."""
    known: dict[str, Any] = {
        "case": "answers/basic",
        "suite_at": 1_772_442_000.0,
        "number": 1,
        "commit": "c" * 40,
        "agent_version": "b" * 64,
        "models": ("m",),
        "evidence": "live",
        "outcome": "passed",
        "latency_ms": 1_200,
        "cost_usd": 0.01,
        "runs": ("ab" * 12,),
    }
    return PastRun(**known | changed)
