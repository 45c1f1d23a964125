"""Which of the next answers of a simulated service go wrong, and how?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One way for an answer to go wrong."""

    kind: Literal["timeout_after_success", "timeout", "status", "slow", "expired_token"]
    status: int = 500
    """For `status`."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """For `status`: what the answer says beside it."""
    seconds: float = 0.0
    """For `slow`."""


class Faults:
    """Faults that wait for their request."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str, Fault]] = []

    def add(self, method: str, path: str, fault: Fault, times: int = 1) -> None:
        """The next so many requests that match go wrong; `*` is any method, the path is an fnmatch pattern."""
        self._waiting += [(method.upper(), path, fault)] * times

    def take(self, method: str, path: str) -> Fault | None:
        """The fault of this request, which is used up by it."""
        for index, (wanted, pattern, fault) in enumerate(self._waiting):
            if wanted in ("*", method.upper()) and fnmatchcase(path, pattern):
                del self._waiting[index]
                return fault
        return None
