"""The links below a text that Gofer writes: to the prompt of its workflow, and to its run."""

from collections.abc import Sequence

from gofer.tools.definition import Provenance


def origin_links(provenance: Provenance) -> Sequence[tuple[str, str]]:
    """Return the text and the address of each link. A text that is followed by another part has no links."""
    found = [
        (f"{provenance.workflow} prompt", provenance.prompt_url),
        (f"run {provenance.run[:8]}", provenance.run_url),
    ]
    return [(words, url) for words, url in found if url]
