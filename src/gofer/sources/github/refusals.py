"""The meaning of each refusal by GitHub, and the person who can act on it."""

from gofer.sources.refusals import Refusal, Refusals

REFUSALS = Refusals(
    "github",
    {
        "bad_credentials": Refusal(
            "operate", "GitHub does not accept Gofer's token; the operator of Gofer must renew GITHUB_TOKEN."
        ),
        "bad_request": Refusal("tell", "GitHub cannot read that; check the arguments."),
        "conflict": Refusal("tell", "It changed in the meantime, or it is empty; read it again."),
        "forbidden": Refusal("tell", "GitHub does not allow it there."),
        "gone": Refusal("tell", "That is deleted, or switched off for this repository."),
        "missing_permission": Refusal(
            "operate", "Gofer's token lacks a permission for this; the operator of Gofer must add it."
        ),
        "no_token": Refusal("operate", "Gofer has no access to GitHub; the operator of Gofer must set GITHUB_TOKEN."),
        "not_found": Refusal("tell", "It does not exist on GitHub, or Gofer has no access to it. Check the name."),
        "rate_limited": Refusal("tell", "GitHub accepts no more calls for a while."),
        "validation_failed": Refusal("tell", "GitHub does not accept these values; correct what it names."),
    },
    unknown=Refusal("tell", "GitHub gave no other reason."),
    credential=frozenset({"bad_credentials", "no_token"}),
)
MISSING = REFUSALS.of("not_found").sentence
"""The sentence for an object that does not exist or that Gofer may not see."""
"""Every code with its own rule. docs/github.md lists the same codes."""
