"""Places in systems where the list of a workflow file and the asker's words decide where runs may write."""

import re
from collections.abc import Collection, Mapping

from gofer.sources.part_values import Known, OwnCall
from gofer.tools.places import Place
from gofer.values.canonical_json import as_list, as_text


def is_named(name: str, words: str) -> bool:
    """Return whether words contain a name on its own or within an address, not as a part of a longer name."""
    return bool(name) and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|[.]\w)", words) is not None


def look_within(tool: str, place: Place, listed: Collection[str]) -> Known | OwnCall:
    """Return the call that looks up which places contain `place`, or an unknown place when the file lists none."""
    if not listed:
        return Known()
    return OwnCall(tool, {place.kind: place.name})


def found_within(details: Mapping[str, object], listed: Collection[str]) -> Known:
    """Return a place as the look-up found it; it counts as listed when a place that contains it is listed."""
    within = {as_text(one) for one in as_list(details.get("within"))}
    return Known(as_text(details.get("id")), listed=bool(within & {*listed}))


def entry(place: Place) -> str:
    """Return the entry of the key `writes` that permits writing to a place."""
    return f"{place.system}: [{place}]"
