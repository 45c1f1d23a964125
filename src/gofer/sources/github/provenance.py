"""The end of every text that Gofer writes on GitHub: links to its origin, and the marker of its call.

The marker is an HTML comment, which GitHub does not show. The receiver also recognizes it (`github/receiver.py`).
"""

import html
import re
from urllib.parse import quote

from gofer.sources.origin_links import origin_links
from gofer.tools.definition import Call, Provenance
from gofer.values.errors import ToolError

BODY_LIMIT = 65_536
"""The most characters that GitHub accepts in one text."""
JOINER = "\u2060"
"""An invisible character of zero width. Inserted after `@` or `<`, it stops GitHub from reading a mention or marker."""
CLOCKS_APART = 300.0
"""The most seconds by which GitHub's clock may be behind Gofer's."""
_MARKER = re.compile(r"^[ \t>]*<!-- gofer:.*?(?:-->|$)\n?", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_MENTION = re.compile(r"(?<![A-Za-z0-9])(@|&commat;|&#0*64;|&#[xX]0*40;)(?=[A-Za-z0-9&])")


def marker(call: Call) -> str:
    """Return the marker of a call. Hyphens of the key are escaped, because two in a row would end the HTML comment."""
    key = quote(call.key, safe="/:").replace("-", "%2D")
    return f"<!-- gofer:{key} -->"


def without_marker(text: str) -> str:
    """Return a text without markers, including markers in quotes."""
    return _MARKER.sub("", text)


def carries(text: str, call: Call) -> bool:
    """Return whether this call wrote the text. Then the text ends with the marker of the call."""
    return text.rstrip().endswith(marker(call))


def signed(call: Call, text: str) -> str:
    """Return a text that notifies no person, with what the run wrote, links and the marker.

    Raises ToolError for a text that is too long.
    """
    safe_text = _closed(_MENTION.sub(rf"\1{JOINER}", without_marker(text)).replace("<!--", f"<{JOINER}!--").strip())
    body = "\n\n".join(filter(None, (safe_text, _links(call.provenance), marker(call))))
    if len(body) > BODY_LIMIT:
        raise ToolError(f"That is longer than GitHub accepts ({BODY_LIMIT} characters); write less.")
    return body


def _closed(text: str) -> str:
    """Return the text with its last fence closed, so that the links after it do not become code."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence and found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
        elif not fence and found:
            fence = found[1]
    if fence:
        return f"{text}\n{fence}"
    return text


def _links(provenance: Provenance) -> str:
    wrote = _MENTION.sub(rf"\1{JOINER}", html.escape(provenance.wrote, quote=False))
    links = [f"[{words}]({url})" for words, url in origin_links(provenance)]
    if parts := [*filter(None, [wrote]), *links]:
        return f"<sub>{' · '.join(parts)}</sub>"
    return ""
