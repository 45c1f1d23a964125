"""The frame of pages on which people read the simulated systems other than Slack."""

import base64
import hashlib
import re
from collections.abc import Iterable
from html import escape

from starlette.responses import HTMLResponse, Response

from gofer_simulators.local_links import LocalLinks

_URL = re.compile(r"https?://[^\s<>()]*[^\s<>().,;:!?\]'\"]")
_CSS = (
    "body { max-width: 760px; margin: 32px auto; padding: 0 20px; color: #1d1c1d; background: #fff;"
    ' font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }'
    "a { color: #1264a3; text-decoration: none; } a:hover { text-decoration: underline; }"
    "nav, small, dt { color: #616061; font-size: 13px; } h1 { font-size: 22px; } h2 { font-size: 16px; }"
    "dl { display: grid; grid-template-columns: 110px 1fr; gap: 4px 12px; } dd { margin: 0; }"
    "li { margin: 4px 0; } h3 { font-size: 15px; } .comment p { margin: 4px 0; }"
    ".text { white-space: pre-wrap; overflow-wrap: anywhere; }"
    ".comment { margin: 8px 0; padding: 8px 12px; border-left: 3px solid #5b2a86; background: #f6f5f8; }"
)


def web_page(system: str, title: str, body: str, status: int = 200) -> Response:
    """Return a page of a simulated system; `body` is HTML, `system` and `title` are plain text."""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · simulated {escape(system)}</title><style>{_CSS}</style></head>"
        f'<body><nav><a href="/">Simulated {escape(system)}</a></nav><h1>{escape(title)}</h1>{body}</body></html>'
    )
    style = base64.b64encode(hashlib.sha256(_CSS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; frame-ancestors 'none'"
    return HTMLResponse(html, status, {"Content-Security-Policy": policy, "Cache-Control": "no-store"})


def missing_page(system: str, what: str) -> Response:
    """Return the page for a missing thing, named in plain text such as `issue PAY-99`."""
    return web_page(system, "Not found", f"<p>There is no {escape(what)} here.</p>", 404)


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values as HTML, without the empty values; both are plain text."""
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows if value)
    return f"<dl>{shown}</dl>"


def comment_html(author: str, text: str) -> str:
    """Return one comment as HTML; `author` is plain text, and `text` is HTML."""
    return f'<div class="comment"><small>{escape(author)}</small><div class="text">{text}</div></div>'


def linked(text: str, links: LocalLinks) -> str:
    """Return plain text as HTML in which web addresses are links that open on this machine."""
    pieces: list[str] = []
    end = 0
    for found in _URL.finditer(text):
        pieces.append(escape(text[end : found.start()]))
        pieces.append(anchor(found[0], found[0], links))
        end = found.end()
    return "".join(pieces) + escape(text[end:])


def anchor(address: str, label: str, links: LocalLinks) -> str:
    """Return a link as HTML; the label stays text if the address is no web address."""
    if not address.startswith(("http://", "https://", "/")):
        return escape(label)
    return f'<a href="{escape(links.opened(address))}" rel="noreferrer noopener">{escape(label)}</a>'
