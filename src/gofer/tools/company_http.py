"""The network as a company's tool reaches it: the hosts that its files name, and addresses that the run read.

A tool that only reads can still carry words away, in an address that the model wrote. So a request goes to a host that
a setting of the tool or a module of `tools/` names, or to an address that stood whole in what the run read. Only a host
that a setting names may be in a private network.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar
from urllib.parse import unquote

from typing_extensions import override

from gofer.tools.declare import Variables
from gofer.tools.definition import Call
from gofer.values.addresses import host_of, key_of, keys_in
from gofer.values.errors import ToolError
from gofer.values.outside import Http, HttpRequest, HttpResponse

A = TypeVar("A")
R = TypeVar("R")
_WHOLE = re.compile(r"https?://[\w.-]+(?::\d+)?(?=[/?#\s\"'`)\],;]|$)", re.IGNORECASE)
"""An address with a host that no other text continues, as `{` in a template does."""
_MOST_TEXT = 100_000
"""The most bytes of an answer in which addresses are looked for."""
_UNREAD = (
    "Nothing was sent to that address: no source that this run read has it. Use an address as the request, a "
    "page or a result holds it. The owner of the tool can name the base URL of a system in a variable of `settings`."
)

_CHOSEN = (
    "Nothing was sent to that address: this run began in a private place, only texts of others have the address, and "
    "the call did not name it, so nobody could permit it. Name the whole address in an argument of the call."
)


def hosts_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the hosts, with their ports, of the addresses in texts such as modules."""
    return frozenset(host_of(found) for text in texts for found in _WHOLE.findall(text)) - {""}


def hosts_of(variables: Variables) -> frozenset[str]:
    """Return the hosts that the environment variables of a tool name, with or without a scheme."""
    values = [value.reveal() for value in variables.values()]
    return (hosts_in(values) | frozenset(map(host_of, values))) - {""}


def within(
    function: Callable[[Call, A], R], configured: frozenset[str], named: frozenset[str]
) -> Callable[[Call, A], R]:
    """Return a function of a tool with the network of a company's tool: `configured` and `named` are hosts."""
    return lambda call, arguments: function(replace(call, http=CompanyHttp(call, configured, named)), arguments)


@dataclass(slots=True)
class CompanyHttp(Http):
    """The network of one call of a company's tool."""

    call: Call
    configured: frozenset[str]
    """The hosts that the settings of the tool name."""
    named: frozenset[str]
    """The hosts that the modules of `tools/` name."""
    offered: set[str] = field(default_factory=set[str])
    """The addresses in answers of these hosts during the call, such as one for an upload."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request. Raises ToolError for an address that the tool may not reach."""
        host = host_of(request.url)
        if host in self.configured:
            return self._noted(request, await self.call.http.send(request))
        if host in self.named:
            return self._noted(request, await self._send_outside(request))
        key = key_of(request.url)
        if key in self.offered:
            return await self._send_outside(request)
        # The sentences do not repeat the address, because what a result holds counts as read.
        if not self.call.live(request.url):
            raise ToolError(_UNREAD, code="unread_address")
        if self.call.live.chosen(key):
            raise ToolError(_CHOSEN, code="chosen_address")
        return await self._send_outside(request)

    async def _send_outside(self, request: HttpRequest) -> HttpResponse:
        return await self.call.http.send(replace(request, public_only=True))

    def _noted(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Return a response after its addresses were noted, except those of hosts that stand in the request."""
        sent = unquote(f"{request.url} {request.content.decode(errors='replace')}").casefold()
        text = f"{response.headers.get('location', '')} {response.body[:_MOST_TEXT].decode(errors='replace')}"
        if "://" in text:
            self.offered.update(key for key in keys_in(text) if host_of(key) not in sent)
        return response
