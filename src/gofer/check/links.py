"""Hosts of the key `links` on which anyone may have pages."""

from collections.abc import Iterator, Sequence

from gofer.sources.registry import SHARED_HOSTS
from gofer.workflows.mistake import Mistake
from gofer.workflows.yaml_source import Source


def check_links(source: Source, links: Sequence[str]) -> Iterator[Mistake]:
    """Yield each host that is no host of one company alone."""
    for at, host in enumerate(links):
        if host in SHARED_HOSTS:
            message = f"Anyone may have pages on {host}, so texts may not link all of them."
            hint = "Remove it; a run may link each address that it read."
            yield Mistake(source.file, source.place(("links", at)), "unknown-value", message, hint)
