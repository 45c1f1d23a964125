"""The meaning of each refusal of Notion, and who can act on it."""

from gofer.sources.refusals import Refusal, Refusals

_BUSY = Refusal("unclear", "Notion had trouble of its own.")
_LATER = Refusal("tell", "Notion takes no more requests for a while.")

NOT_THERE = frozenset({"object_not_found"})
"""Codes that say that there is no such thing, or that Gofer may not see it."""
LIMITED = frozenset({429, 529})
"""Statuses of requests that did not happen because there were too many."""

REFUSALS = Refusals(
    "notion",
    {
        "bad_gateway": _BUSY,
        "conflict_error": Refusal("tell", "Somebody changed it at the same moment; read it again before another try."),
        "gateway_timeout": _BUSY,
        "internal_server_error": _BUSY,
        "object_not_found": Refusal(
            "tell",
            "There is no such page or database, or nobody has shared it with Gofer; somebody who can edit it has to "
            "add Gofer's connection to it under ••• > Connections.",
        ),
        "rate_limited": _LATER,
        "restricted_resource": Refusal(
            "operate", "Gofer's connection in Notion lacks a capability for this; whoever runs Gofer has to allow it."
        ),
        "service_overload": _LATER,
        "service_unavailable": _BUSY,
        "unauthorized": Refusal("operate", "Notion does not accept Gofer's token; whoever runs Gofer has to renew it."),
        "validation_error": Refusal("tell", "Correct what it names and call again."),
    },
    unknown=Refusal("tell", "Notion gave no other reason."),
    credential=frozenset({"unauthorized"}),
)
"""Every code that has a rule of its own; docs/notion.md lists the same."""
