"""The frame of every page: its HTML, its style, its headers, and the answer for pages that a reader may not see.

The pages have no scripts. They follow the browser's choice of a light or a dark page.
"""

from collections.abc import Mapping
from html import escape

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STYLE = """
:root { color-scheme: light dark; --text: #1d1c1d; --soft: #616061; --line: #e3e3e6; --back: #ffffff; --block: #f6f6f8;
  --link: #1264a3; --good: #007a5a; --bad: #c01343; --warn: #9a6200; --model: #6b3fa0; --person: #1264a3 }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e8; --soft: #a0a0a8; --line: #36363c; --back: #1a1b1e;
  --block: #24252a; --link: #6cb6f0; --good: #4cc38a; --bad: #ff7a95; --warn: #e8b04a; --model: #b79aed;
  --person: #6cb6f0 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
  background: var(--back) }
h1 { font-size: 1.5rem; margin: 0 0 .4rem; overflow-wrap: anywhere } a { color: var(--link) }
table { border-collapse: collapse; width: 100% } th { text-align: left; color: var(--soft); font-weight: 500 }
td, th { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--block); padding: .7rem .9rem; margin: .3rem 0;
  border-radius: 6px; font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.ok, .done, .approved { color: var(--good) } .error, .failed, .unknown, .refused, .violation,
  .denied, .damaged, .needs_attention { color: var(--bad) }
.limited, .parked, .deferred, .cancelled, .expired { color: var(--warn) }
.soft { color: var(--soft) }
"""
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    '<meta name="viewport" content="width=device-width">\n<style>{style}</style><h1>{heading}</h1>{body}{footer}</html>'
)

HEADERS: Mapping[str, str] = {
    "cache-control": "private, no-store",
    # The pages have inline styles, no scripts and no images, and send their only form to Gofer.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    # With `no-referrer`, browsers would also omit the origin of a form, which the sign-out checks.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""The headers of every answer, unless the page sets them itself."""


def html_page(title: str, body: str, footer: str, *, heading: str = "", style: str = "", status: int = 200) -> Response:
    """Return a page. `title` is text; `body`, `footer` and `heading` are HTML, and `style` is CSS of this page."""
    filled = _PAGE.format(
        title=escape(title), heading=heading or escape(title), style=_STYLE + style, body=body, footer=footer
    )
    return HTMLResponse(filled, status)


def for_program(request: Request) -> bool:
    """Return whether a request wants JSON: a request for steps always does, and other requests say so.

    A request without a wish gets a page, because links in chats are followed by browsers and their previews.
    """
    return request.url.path.endswith("/trace") or "application/json" in request.headers.get("accept", "").lower()


_ABSENT = "This page does not exist, or you may not see it."


def absent(request: Request) -> Response:
    """Return the answer for a page that does not exist or that the reader may not see."""
    if for_program(request):
        return JSONResponse({"error": _ABSENT}, 404)
    return Response(f"{_ABSENT}\n", 404, media_type="text/plain")


def refusal(request: Request, title: str, sentence: str, footer: str, status: int) -> Response:
    """Return an answer that says in one sentence why a page cannot be shown."""
    if for_program(request):
        return JSONResponse({"error": sentence}, status)
    return html_page(title, f'<p class="error">{escape(sentence)}', footer, status=status)


class PageHeaders:
    """ASGI middleware that adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
