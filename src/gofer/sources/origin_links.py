"""The links under what Gofer writes, to the prompt and to the run that it comes from."""

from collections.abc import Sequence

from gofer.tools.definition import Provenance


def origin_links(provenance: Provenance) -> Sequence[tuple[str, str]]:
    """Return the words and the address of each link; none under a text that another with the links follows."""
    found = [
        (f"{provenance.workflow} prompt", provenance.prompt_url),
        (f"run {provenance.run[:8]}", provenance.run_url),
    ]
    return [(words, url) for words, url in found if url]
