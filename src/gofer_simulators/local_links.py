"""Links into simulated systems that open on this machine.

Texts of a company name the vendors' own addresses, such as `https://github.com/acme/shop/pull/41`. Nothing answers
there for a simulated company.
"""

from collections.abc import Mapping


class LocalLinks:
    """The addresses of simulated systems on this machine, by the origin that texts name."""

    def __init__(self) -> None:
        self._local: dict[str, str] = {}

    def use(self, local: Mapping[str, str]) -> None:
        """Use these addresses from now on: from an origin without a final slash to the base URL of its simulator."""
        self._local = dict(local)

    def opened(self, address: str) -> str:
        """Return the address on this machine of a link into a simulated system, or the address itself."""
        for origin, base in self._local.items():
            rest = address.removeprefix(origin)
            if rest != address and (not rest or rest[0] in "/?#"):
                return base + rest
        return address
