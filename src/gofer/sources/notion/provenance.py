"""The line below what Gofer wrote: links to the prompt and the run, and the mark that a later attempt looks for."""

import hashlib
from collections.abc import Mapping

from gofer.sources.notion.markdown import Span
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text


def mark(call: Call) -> str:
    """Return the mark of one call: the same on every attempt, and of no other call."""
    return f"ref {hashlib.sha256(call.key.encode()).hexdigest()[:12]}"


def footer(call: Call) -> list[Span]:
    """Return one line: links to the prompt and to the run, and the mark of the call."""
    origin = call.provenance
    links = [Span(f"{origin.workflow} prompt", url=origin.prompt_url)] if origin.prompt_url else []
    links += [Span(f"run {origin.run[:8]}", url=origin.run_url)] if origin.run_url else []
    parts = [*links, Span(mark(call), frozenset({"code"}))]
    return [piece for part in parts for piece in (Span(" · "), part)][1:]


def marked(call: Call, holder: Mapping[str, object]) -> bool:
    """Return whether a comment, or the content of a block, ends with the mark of this call."""
    return words(holder.get("rich_text")).rstrip().endswith(mark(call))


def words(rich_text: object) -> str:
    """Return the plain words of a rich text."""
    return "".join(as_text(as_object(part).get("plain_text")) for part in as_list(rich_text))
