"""The form of base URLs that models are asked at."""

import re
from urllib.parse import urlsplit

_URL = re.compile(r"[a-zA-Z]+://[\w.\-\[\]:]+(/[\w.~\-/:%+=,!@&'()]*)?")
"""A base URL without what would end its path, and without a name or a pattern."""


def is_base_url(value: str) -> bool:
    """Return whether a text is the base URL of an endpoint, without a query, a user or a fragment."""
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bool(_URL.fullmatch(value))
