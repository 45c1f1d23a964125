"""The places of systems in which a workflow file alone says where runs write."""

from collections.abc import Collection, Mapping

from gofer.sources.part_values import Known, OwnCall
from gofer.tools.places import Place
from gofer.values.canonical_json import as_list, as_text


def look_within(tool: str, place: Place, listed: Collection[str]) -> Known | OwnCall:
    """Return the call that looks up in which places another one is; nothing is looked up where none is listed."""
    if not listed:
        return Known()
    return OwnCall(tool, {place.kind: place.name})


def found_within(details: Mapping[str, object], listed: Collection[str]) -> Known:
    """Return what is known of a place by the places that it is in."""
    within = {as_text(one) for one in as_list(details.get("within"))}
    return Known(as_text(details.get("id")), listed=bool(within & {*listed}))


def entry(place: Place) -> str:
    """Return the entry of the key `writes` that permits a place."""
    return f"{place.system}: [{place}]"
