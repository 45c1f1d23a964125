"""The budget of one suggestion: the US dollars that its questions, replays and plays may cost."""

from dataclasses import dataclass


class OverBudget(Exception):
    """The budget is spent. The message says so in one sentence."""


@dataclass(slots=True)
class Budget:
    """The US dollars that are left."""

    limit: float
    spent: float = 0.0

    def check(self) -> None:
        """Raise OverBudget if nothing is left."""
        if self.spent >= self.limit:
            raise OverBudget(
                f"Stopped after {self.spent:.4f} USD of at most {self.limit:g} USD; --usd LIMIT raises the limit."
            )

    def spend(self, usd: float | None) -> None:
        """Count a cost. Raises OverBudget for an unknown one, because a model without a price may cost anything."""
        if usd is None:
            raise OverBudget(
                "Stopped, because the price of a model is unknown, so that no limit would hold: set its `price` in "
                "agents/defaults.yaml."
            )
        self.spent += usd
