"""The repository that a call names, and the issue or pull request in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field
from typing_extensions import override

from gofer.sources.github.api import GitHubApi, GitHubRefusal
from gofer.sources.github.receiver import PUBLIC
from gofer.sources.github.refusals import MISSING
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.tools.readable import hidden, readers
from gofer.values.errors import ToolError

_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_PATH = re.compile(r"/([^/]+/[^/]+)/(pull|pulls|issues)/([0-9]{1,9})(?:/.*)?")


class InRepository(Arguments):
    """The repository of a call."""

    repository: str = Field(default="", description="owner/name. Left out: where the request came from.")


class Numbered(InRepository):
    """The issue or pull request of a call."""

    url: str = Field(default="", description="Its address on GitHub; instead of repository and number.")
    number: int = Field(default=0, ge=0, lt=10**9, description="Its number. Left out: what the request is about.")


@dataclass(frozen=True, slots=True)
class Target:
    """One issue or pull request."""

    repository: str
    number: int

    @override
    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"

    def path(self, kind: Literal["issues", "pulls"], below: str = "") -> str:
        """Return the path in the API."""
        return f"/repos/{self.repository}/{kind}/{self.number}{below}"

    def page(self, api: GitHubApi, kind: Literal["issues", "pull"]) -> str:
        """Return the address of the web page."""
        return f"https://{api.web_host}/{self.repository}/{kind}/{self.number}"


def repository_of(call: Origin, arguments: InRepository) -> str:
    """Return the repository that a call names, as owner/name. Raises ToolError."""
    name = arguments.repository.strip() or call.place.get("repository", "")
    if not name:
        raise ToolError("Say which repository, as owner/name: the request did not come from GitHub.")
    return _checked(name)


async def check_readable(api: GitHubApi, call: Call, repository: str) -> None:
    """Raise the error of a hidden object for a repository that the run may not read, as for one that does not exist."""
    if is_repository_at(repository, call.place):
        return
    owner = repository.partition("/")[0]
    if call.readable.holds(repository, owner, private=True):
        return
    if call.readable.outsiders:
        raise hidden(MISSING)
    try:
        found = await api.read_object(call, f"/repos/{repository}")
    except GitHubRefusal as refused:
        raise (hidden(MISSING) if refused.code == "not_found" else refused) from refused
    if found.get("private") is not False:
        raise hidden(MISSING)


def with_readers(result: ToolResult, call: Call, repository: str) -> ToolResult:
    """Return what was read of a repository, and who could read it unless it is known to be public."""
    private = call.readable.holds(repository, repository.partition("/")[0], private=True)
    if is_repository_at(repository, call.place):
        private = call.place.get("visibility") != PUBLIC
    return replace(
        result, details={**result.details, **readers("people with access to the repository", private=private)}
    )


def target_of(api: GitHubApi, call: Origin, arguments: Numbered) -> Target:
    """Return the issue or pull request that a call names. Raises ToolError."""
    if arguments.url:
        return _target_at(api, arguments.url)
    repository = repository_of(call, arguments)
    here = call.place.get("number", "") if repository == call.place.get("repository") else ""
    number = arguments.number or (int(here) if here.isascii() and here.isdecimal() else 0)
    if not number:
        raise ToolError("Say which one: its address, or repository and number.")
    return Target(repository, number)


def number_of(arguments: Numbered) -> str:
    """Return the number in the arguments; empty when they refer to the issue or pull request of the request."""
    found = _PATH.fullmatch(_split(arguments.url).path) if arguments.url else None
    number = int(found[3]) if found else arguments.number
    return str(number or "")


def place_of(api: GitHubApi, origin: Origin, arguments: Numbered) -> Place:
    """Return the repository of the issue or pull request that a call names, as a place. Raises ToolError."""
    return Place("github", "repository", target_of(api, origin, arguments).repository)


def repository_place(origin: Origin, arguments: InRepository) -> Place:
    """Return the repository that a call names, as a place. Raises ToolError."""
    return Place("github", "repository", repository_of(origin, arguments))


def is_repository_at(name: str, place: Mapping[str, str]) -> bool:
    """Return whether a name is the name of an event's repository."""
    return bool(name.strip()) and name.strip().casefold() == place.get("repository", "").casefold()


def is_number_at(number: str, place: Mapping[str, str]) -> bool:
    """Return whether a number is the number of an event's issue or pull request."""
    return number == place.get("number")


def is_url_at(api: GitHubApi, url: str, place: Mapping[str, str]) -> bool:
    """Return whether an address belongs to an event's issue or pull request."""
    try:
        target = _target_at(api, url)
    except ToolError:
        return False
    return is_repository_at(target.repository, place) and is_number_at(str(target.number), place)


def on_one(*content: str) -> Callable[[GitHubApi], Writes]:
    """Return the writes of a tool that acts on one issue or pull request. `content` names its other arguments."""

    def writes(api: GitHubApi) -> Writes:
        where = {"repository": is_repository_at, "number": is_number_at, "url": partial(is_url_at, api)}
        return Writes(where, frozenset(content))

    return writes


def _target_at(api: GitHubApi, url: str) -> Target:
    parts = _split(url)
    found = _PATH.fullmatch(parts.path)
    host = (parts.hostname or "").removeprefix("www.")
    if not found or parts.scheme not in ("http", "https") or host != api.web_host:
        raise ToolError(
            f"That is not the address of an issue or pull request; use the form https://{api.web_host}/owner/name/pull/1."
        )
    return Target(_checked(found[1]), int(found[3]))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url.strip().strip("<>"))
    except ValueError:
        return urlsplit("")


def _checked(name: str) -> str:
    parts = name.split("/")
    if not _REPOSITORY.fullmatch(name) or {".", ".."} & set(parts):
        raise ToolError("That is not the name of a repository; write it as owner/name.")
    return name
