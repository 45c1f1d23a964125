"""The end of every text that Gofer writes on GitHub: where it comes from, and which call wrote it.

The call stands in a comment that people do not see; the triggers of GitHub know it too (`sources/github/receiver.py`).
"""

import re
from urllib.parse import quote

from gofer.sources.origin_links import origin_links
from gofer.tools.definition import Call, Provenance
from gofer.values.errors import ToolError

BODY_LIMIT = 65_536
"""Characters GitHub takes for one text."""
JOINER = "\u2060"
"""An invisible character of no width: it stands where GitHub would begin to read a mention."""
CLOCKS_APART = 300.0
"""Seconds GitHub's clock may be behind ours."""
_MARKER = re.compile(r"^[ \t>]*<!-- gofer:.*?(?:-->|$)\n?", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_MENTION = re.compile(r"(?<![A-Za-z0-9])(@|&commat;|&#0*64;|&#[xX]0*40;)(?=[A-Za-z0-9&])")


def marker(call: Call) -> str:
    """Return what finds the text of a call again; never two hyphens in a row, which would end the comment."""
    key = quote(call.key, safe="/:").replace("-", "%2D")
    return f"<!-- gofer:{key} -->"


def without_marker(text: str) -> str:
    """Return a text without markers, also without copied ones."""
    return _MARKER.sub("", text)


def carries(text: str, call: Call) -> bool:
    """Return whether this call wrote the text: its marker is the last line."""
    return text.rstrip().endswith(marker(call))


def signed(call: Call, text: str) -> str:
    """Return a text that pages no person, its links, and the marker. Raises ToolError for one that is too long."""
    said = _closed(_MENTION.sub(rf"\1{JOINER}", without_marker(text)).replace("<!--", f"<{JOINER}!--").strip())
    body = "\n\n".join(filter(None, (said, _links(call.provenance), marker(call))))
    if len(body) > BODY_LIMIT:
        raise ToolError(f"That is longer than GitHub takes ({BODY_LIMIT} characters); write less.")
    return body


def _closed(text: str) -> str:
    """Return the text with its last fence closed, so that the links do not become code."""
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
    links = " · ".join(f"[{words}]({url})" for words, url in origin_links(provenance))
    if links:
        return f"<sub>{links}</sub>"
    return ""
