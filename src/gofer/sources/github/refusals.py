"""The refusals of GitHub that its tools share: what each means, and who can act on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Rule = Literal["tell", "operate"]
"""What is done about a refusal:

tell     the model: nothing happened, and the sentence says what to do instead
operate  the same, and whoever runs Gofer finds it in the log, because nobody on GitHub can act on it
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way for GitHub to say no."""

    rule: Rule
    sentence: str


UNKNOWN = Refusal("tell", "GitHub gave no other reason.")
"""For codes that are not listed."""

REFUSALS: Mapping[str, Refusal] = MappingProxyType(
    {
        "bad_credentials": Refusal(
            "operate", "GitHub does not accept Gofer's token; whoever runs Gofer has to renew GITHUB_TOKEN."
        ),
        "bad_request": Refusal("tell", "GitHub cannot read that; check the arguments."),
        "conflict": Refusal("tell", "Something there changed meanwhile, or it is empty; look at it again."),
        "forbidden": Refusal("tell", "GitHub does not allow it there."),
        "gone": Refusal("tell", "That is deleted, or switched off for this repository."),
        "missing_permission": Refusal(
            "operate", "Gofer's token lacks a permission for this; whoever runs Gofer has to add it."
        ),
        "no_token": Refusal("operate", "Gofer has no access to GitHub; whoever runs Gofer has to set GITHUB_TOKEN."),
        "not_found": Refusal("tell", "There is no such thing on GitHub, or Gofer has no access to it. Check the name."),
        "rate_limited": Refusal("tell", "GitHub takes no more calls for a while."),
        "validation_failed": Refusal("tell", "GitHub does not accept it as it is; correct what it names."),
    }
)
"""Every code that has a rule of its own; docs/github.md lists the same."""


def refusal(code: str) -> Refusal:
    """The rule for a code."""
    return REFUSALS.get(code, UNKNOWN)
