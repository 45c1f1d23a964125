"""One request to the simulated GitHub, and the checks of its fields."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer_simulators.github.people import People
from gofer_simulators.github.repositories import GitHubRefusal, Hub, Issue, Pull
from gofer_simulators.json_values import is_array, objects, text_of, texts

BODY_LIMIT = 65_536
"""Longest text of an issue or comment, in characters."""
TITLE_LIMIT = 256
"""Longest title of an issue, in characters."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request with its parsed path, query and body."""

    hub: Hub
    people: People
    version: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]

    @property
    def repository(self) -> str:
        """The full name of the repository in the path."""
        return f"{self.path['owner']}/{self.path['name']}"

    @property
    def issue(self) -> Issue:
        """The issue in the path. Raises GitHubRefusal(404)."""
        return self.hub.issue(self.repository, int(self.path["number"]))

    @property
    def pull(self) -> tuple[Issue, Pull]:
        """The pull request in the path: its issue and its pull. Raises GitHubRefusal(404)."""
        return self.hub.pull(self.repository, int(self.path["number"]))

    def permit(self, *names: str) -> None:
        """Raise GitHubRefusal(422) for a field of the body that is not among `names`."""
        for name in self.body.keys() - set(names):
            raise GitHubRefusal(422, f'Invalid request.\n\n"{name}" is not a permitted key.')

    def text(self, resource: str, field: str) -> str:
        """Return a required text. Raises GitHubRefusal(422) if the text is missing, empty or too long."""
        value = self.body.get(field)
        if not isinstance(value, str) or not value.strip():
            missing = {"resource": resource, "code": "missing_field", "field": field}
            raise GitHubRefusal(422, "Validation Failed", (missing,))
        return self.short(resource, value)

    def short(self, resource: str, text: str) -> str:
        """Return the text. Raises GitHubRefusal(422) if the text is too long."""
        if len(text) > BODY_LIMIT:
            raise too_long(resource, "body", BODY_LIMIT)
        return text

    def names(self, field: str, key: str) -> list[str]:
        """Return the names in a list of texts or of objects with a text under `key`.

        Raises GitHubRefusal(422) for anything else.
        """
        value = self.body.get(field, [])
        if not is_array(value):
            raise GitHubRefusal(
                422, f"Invalid request.\n\nFor 'properties/{field}', {json.dumps(value)} is not an array."
            )
        found = [*texts(value), *(text_of(one, key) for one in objects(value))]
        if len(found) < len(value) or not all(found):
            raise GitHubRefusal(422, f"Invalid request.\n\nNo subschema in \"oneOf\" matched for 'properties/{field}'.")
        return found

    def moment(self, name: str) -> float | None:
        """Return a time of the query as Unix seconds, or None if the query has no such time.

        Raises GitHubRefusal(422) for a text that is no time.
        """
        given = self.query.get(name)
        if given is None:
            return None
        try:
            return datetime.strptime(given, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        except ValueError as error:
            raise GitHubRefusal(422, "Validation Failed") from error

    def one_of(self, name: str, *allowed: str) -> str:
        """Return a parameter of the query; its default is the first allowed value. Raises GitHubRefusal(422)."""
        value = self.query.get(name, allowed[0])
        if value not in allowed:
            raise GitHubRefusal(422, "Validation Failed")
        return value


def too_long(resource: str, field: str, most: int) -> GitHubRefusal:
    """Return the refusal for a text with more than `most` characters."""
    sentence = f"{field} is too long (maximum is {most} characters)"
    wrong = {"resource": resource, "code": "custom", "field": field, "message": sentence}
    return GitHubRefusal(422, "Validation Failed", (wrong,))
