"""Planned faults: the next requests to a simulated vendor that go wrong, and in which way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to go wrong.

    timeout_after_success  the work is done and the answer never comes
    timeout                nothing is done and no answer comes
    status                 nothing is done; `status` and `headers` are answered
    slow                   the answer comes after `seconds`
    expired_token          the token counts as expired
    """

    kind: Literal["timeout_after_success", "timeout", "status", "slow", "expired_token"]
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0


class Faults:
    """What goes wrong next, in the order in which it was added."""

    def __init__(self) -> None:
        self._planned: list[tuple[str, str, Fault]] = []

    def add(self, method: str, path: str, fault: Fault, times: int = 1) -> None:
        """Let the next `times` requests go wrong that have this method (`*`: any) and a path of this glob."""
        self._planned += [(method, path, fault)] * times

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault for this request, which is used up with it."""
        for index, (wanted, pattern, fault) in enumerate(self._planned):
            if wanted in ("*", method) and fnmatchcase(path, pattern):
                del self._planned[index]
                return fault
        return None
