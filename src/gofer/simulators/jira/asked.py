"""One request to the simulated Jira: its fields, read by the form that they should have.

Unknown names in a body are refused. A missing value has the vendor's own default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.simulators.jira.people import People
from gofer.simulators.jira.site import JiraRefusal, Site
from gofer.simulators.json_values import JsonObject, is_array, is_object, texts

INVALID = "Invalid request payload. Refer to the REST API documentation and try again."


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, admitted."""

    site: Site
    people: People
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: object

    def fields(self, *names: str) -> JsonObject:
        """The body, which may have these names and no other. Raises JiraRefusal(400)."""
        if not is_object(self.body) or not set(self.body) <= set(names):
            raise JiraRefusal(400, INVALID)
        return self.body

    def listed(self, name: str) -> Sequence[str]:
        """A list in the query: names with commas between them."""
        return [part for part in self.query.get(name, "").split(",") if part]

    def window(self, default: int, most: int) -> tuple[int, int]:
        """`startAt` and `maxResults` of the query."""
        return self.number("startAt", 0), min(most, self.number("maxResults", default))

    def number(self, name: str, default: int) -> int:
        """A number of the query. Raises JiraRefusal(400)."""
        value = self.query.get(name, str(default))
        if not value.isascii() or not value.isdecimal():
            raise JiraRefusal(400, f"{name} must be a number.")
        return int(value)


def named(body: JsonObject, name: str) -> Sequence[str]:
    """A list of texts in a body. Raises JiraRefusal(400) for anything else."""
    value = body.get(name, [])
    if not is_array(value) or len(texts(value)) < len(value):
        raise JiraRefusal(400, INVALID)
    return texts(value)
