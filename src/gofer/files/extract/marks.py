"""How are words written that are raised or struck through? So that nobody reads other words, or another number."""

_RAISED = str.maketrans("0123456789+-−()=n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ⁿ")
_RAISABLE = frozenset("0123456789+-−()=n ")


def raised(text: str) -> str:
    """Powers and the marks of notes stand as they are seen: 10⁵, not 105; letters stay on their line."""
    return text.translate(_RAISED) if _RAISABLE.issuperset(text) else text


def struck(text: str) -> str:
    """What is crossed out says so."""
    return f"~~{text}~~" if text.strip() else text


def joined(text: str) -> str:
    """What is crossed out piece by piece is crossed out as a whole."""
    return text.replace("~~~~", "") if "~~~~" in text else text
