"""How does an issue get a link to something outside? The link's global id is made of its address: twice is once."""

import hashlib
import re

from pydantic import Field

from gofer.sources.jira.adf import links
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.issues import issue_path, one_line
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.errors import ToolError

LINKED = ToolResult("The link is there.", "linked an address")
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)


class LinkUrl(Arguments):
    """What to link, and from which issue."""

    url: str = Field(description="Address, beginning with https:// or http://.")
    title: str = Field(min_length=1, max_length=255, description="What the link is called.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


async def link_url(api: JiraApi, call: Call, arguments: LinkUrl) -> ToolResult:
    """Add a link to an issue, or gives the link to the same address another title."""
    path = issue_path(call, arguments.issue)
    check_url(arguments)
    target: dict[str, object] = {"url": arguments.url, "title": one_line(arguments.title)}
    if origin := " · ".join(f"{words}: {address}" for words, address in links(call.provenance)):
        target["summary"] = origin[:255]
    identity = "gofer:" + hashlib.sha256(arguments.url.encode(errors="replace")).hexdigest()
    await api.write(call, f"{path}/remotelink", {"globalId": identity, "object": target})
    return LINKED


def check_url(arguments: LinkUrl) -> None:
    """Raise ToolError for what is no address."""
    if not _URL.fullmatch(arguments.url):
        raise ToolError("That is not an address that can be linked; write one that begins with https://.")
