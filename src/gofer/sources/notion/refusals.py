"""The meaning of each refusal by Notion, and the person who can act on it."""

from gofer.sources.refusals import Refusal, Refusals

_BUSY = Refusal("unclear", "Notion had an internal problem.")
_LATER = Refusal("tell", "Notion accepts no more requests for a while.")

NOT_THERE = frozenset({"object_not_found"})
"""Codes which mean that an object does not exist or that Gofer may not see it."""
OUTAGES = frozenset({"conflict_error", "rate_limited", "service_overload", "unauthorized"})
"""Codes which do not mean that one object cannot be read: a later request, or one with another token, can succeed."""
LIMITED = frozenset({429, 529})
"""HTTP statuses of requests that Notion did not execute because of its rate limit."""

REFUSALS = Refusals(
    "notion",
    {
        "bad_gateway": _BUSY,
        "conflict_error": Refusal("tell", "Someone changed it at the same moment; read it again before you retry."),
        "gateway_timeout": _BUSY,
        "internal_server_error": _BUSY,
        "object_not_found": Refusal(
            "tell",
            "There is no such page or database, or it is not shared with Gofer; a person who can edit it must "
            "add Gofer's connection to it under ••• > Connections.",
        ),
        "rate_limited": _LATER,
        "restricted_resource": Refusal(
            "operate", "Gofer's connection in Notion lacks a capability for this; the operator of Gofer must allow it."
        ),
        "service_overload": _LATER,
        "service_unavailable": _BUSY,
        "unauthorized": Refusal(
            "operate", "Notion does not accept Gofer's token; the operator of Gofer must renew it."
        ),
        "validation_error": Refusal("tell", "Correct what it names and call again."),
    },
    unknown=Refusal("tell", "Notion gave no other reason."),
    credential=frozenset({"unauthorized"}),
)
MISSING = REFUSALS.of("object_not_found").sentence
"""The sentence for an object that does not exist or that Gofer may not see."""
"""Every code with its own rule. docs/notion.md lists the same codes."""
