"""Counts and costs as people read them."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 call` or `2 calls`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def money(usd: float | None) -> str:
    """Return US dollars as text; an unknown cost is said to be unknown."""
    if usd is None:
        return "cost unknown"
    return f"{usd:.4f} USD"
