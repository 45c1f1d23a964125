"""One request to the simulated Notion, its refusals, and the pages of lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gofer_simulators.json_values import JsonObject

STATUS: Mapping[str, int] = {
    "validation_error": 400,
    "invalid_json": 400,
    "invalid_request_url": 400,
    "missing_version": 400,
    "unauthorized": 401,
    "restricted_resource": 403,
    "object_not_found": 404,
    "conflict_error": 409,
    "rate_limited": 429,
    "internal_server_error": 500,
    "bad_gateway": 502,
    "service_unavailable": 503,
    "gateway_timeout": 504,
    "service_overload": 529,
}
"""The HTTP status of each error code. A planned fault has the first code of its status."""
LARGEST_PAGE = 100

Answer = dict[str, object]


class NotionRefusal(Exception):
    """A refusal of Notion, with one of the codes of `STATUS`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS[code]


def invalid(message: str) -> NotionRefusal:
    """Return the refusal of a request with a wrong form."""
    return NotionRefusal("validation_error", message)


def not_found(kind: str, id_: str) -> NotionRefusal:
    """Return the refusal for an object that does not exist or is not shared."""
    return NotionRefusal(
        "object_not_found",
        f"Could not find {kind} with ID: {id_}. Make sure the relevant pages and databases are shared with your "
        "connection.",
    )


def id_of(text: object) -> str:
    """Return an id with dashes, from an id with or without them. Raises NotionRefusal."""
    try:
        return str(UUID(str(text)))
    except ValueError:
        raise invalid(f"path failed validation: {str(text)[:60]!r} should be a valid uuid") from None


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request with its parsed path, query and body."""

    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: JsonObject

    def permit(self, *, body: str = "", query: str = "") -> None:
        """Raise NotionRefusal for an unknown name; `body` and `query` are the known names, separated by spaces."""
        for known, given, where in ((body, self.body, "body"), (query, self.query, "query")):
            for name in given:
                if name not in known.split():
                    raise invalid(f"{where} failed validation: {where}.{name} should be not present")

    def id(self, name: str = "id") -> str:
        """Return an id of the path. Raises NotionRefusal for a text that is no id."""
        return id_of(self.path[name])

    def parameter(self, name: str) -> str | None:
        """Return the first value of a parameter of the query, or None."""
        return next(iter(self.query.get(name, ())), None)


def listed(items: Sequence[Answer], request: ApiRequest, kind: str) -> Answer:
    """Return the page of a list for `page_size` and `start_cursor`, from the body or else from the query."""
    size = _size(request.body.get("page_size", request.parameter("page_size")))
    cursor = request.body.get("start_cursor", request.parameter("start_cursor"))
    start = 0
    if cursor is not None:
        places = [index for index, item in enumerate(items) if item["id"] == cursor]
        if not places:
            raise invalid("The start_cursor provided is invalid.")
        start = places[0]
    page = items[start : start + size]
    rest = items[start + size :]
    next_cursor = None
    if rest:
        next_cursor = rest[0]["id"]
    return {
        "object": "list",
        "results": list(page),
        "next_cursor": next_cursor,
        "has_more": bool(rest),
        "type": kind,
        kind: {},
    }


def _size(given: object) -> int:
    if given is None:
        return LARGEST_PAGE
    try:
        size = int(str(given))
    except ValueError:
        size = 0
    if not 1 <= size <= LARGEST_PAGE:
        raise invalid(f"page_size should be a number from 1 to {LARGEST_PAGE}")
    return size
