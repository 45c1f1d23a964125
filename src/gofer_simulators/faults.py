"""Planned faults: which of the next requests to a simulated vendor fail, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a request fails.

    timeout_after_success  the vendor does the work and never answers
    timeout                the vendor does nothing and never answers
    status                 the vendor does nothing and answers with `status` and `headers`
    slow                   the vendor answers after `seconds`
    expired_token          the vendor answers that the token has expired
    """

    kind: Literal["timeout_after_success", "timeout", "status", "slow", "expired_token"]
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0


class Faults:
    """The planned faults, in the order in which they were added."""

    def __init__(self) -> None:
        self._planned: list[tuple[str, str, Fault]] = []

    def add(self, method: str, path: str, fault: Fault, times: int = 1) -> None:
        """Plan a fault for the next `times` requests with this method and a path that matches this glob.

        The method `*` matches every method.
        """
        self._planned += [(method, path, fault)] * times

    def take(self, method: str, path: str) -> Fault | None:
        """Return and remove the first fault planned for this request, or return None."""
        for index, (wanted, pattern, fault) in enumerate(self._planned):
            if wanted in ("*", method) and fnmatchcase(path, pattern):
                del self._planned[index]
                return fault
        return None
