"""One request to the simulated Jira, and the checks of its fields.

An unknown name in a body is refused. A missing value has the vendor's default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gofer_simulators.jira.people import People
from gofer_simulators.jira.site import JiraRefusal, Site
from gofer_simulators.json_values import JsonObject, is_array, is_object, texts

INVALID = "Invalid request payload. Refer to the REST API documentation and try again."
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request with valid credentials."""

    site: Site
    people: People
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: object

    def fields(self, *names: str) -> JsonObject:
        """Return the body. Raises JiraRefusal(400) for a name that is not among `names`."""
        if not is_object(self.body) or not set(self.body) <= set(names):
            raise JiraRefusal(400, INVALID)
        return self.body

    def listed(self, name: str) -> Sequence[str]:
        """Return the names of a comma-separated list in the query."""
        return [part for part in self.query.get(name, "").split(",") if part]

    def page(self, items: Sequence[_T], default: int, most: int) -> tuple[Sequence[_T], dict[str, object]]:
        """Return the page that `startAt` and `maxResults` of the query ask for, and the fields that describe it."""
        start = self.number("startAt", 0)
        size = min(most, self.number("maxResults", default))
        return items[start : start + size], {"startAt": start, "maxResults": size, "total": len(items)}

    def number(self, name: str, default: int) -> int:
        """Return a number of the query. Raises JiraRefusal(400) for a text that is no number."""
        value = self.query.get(name, str(default))
        if not value.isascii() or not value.isdecimal():
            raise JiraRefusal(400, f"{name} must be a number.")
        return int(value)


def named(body: JsonObject, name: str) -> Sequence[str]:
    """Return a list of texts in a body. Raises JiraRefusal(400) for anything else."""
    value = body.get(name, [])
    if not is_array(value) or len(texts(value)) < len(value):
        raise JiraRefusal(400, INVALID)
    return texts(value)
