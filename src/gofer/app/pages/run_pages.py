"""The pages that the links under an answer open: the list of runs, the trace of a run, and its workflow's prompt.

A request for `application/json` gets the runs and traces as JSON. Private runs are not listed. Their pages are shown
only to people who may see the place where the run began (`Readers`). Traces hold names and counts, no contents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Protocol

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from gofer.journal.unlisted_ends import recent
from gofer.projections.listing import row_of, unlisted_lines, why
from gofer.projections.outline import about, levels
from gofer.projections.trace import Span, timestamp
from gofer.projections.whole_trace import whole_trace
from gofer.runtime.run_reader import OPERATOR, Reader, RunReader
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone
from gofer.values.outside import Clock
from gofer.workflows.load import Catalog, Loaded


class Readers(Protocol):
    """The people who open pages. Each method may raise TemporaryError if the answer cannot be determined."""

    def reader(self, request: Request) -> Reader:
        """Return the person who sent a request, as a reader of runs."""
        ...

    async def reads(self, request: Request, loaded: Loaded) -> bool:
        """Return whether a reader may see the prompt or the script of a workflow."""
        ...

    def footer(self, request: Request) -> str:
        """Return the HTML that ends each page."""
        ...


class LocalReaders(Readers):
    """The readers on one machine. Only its users can open the pages, and Gofer does not know their names.

    They read prompts and scripts, because these files are on the same machine.
    """

    @override
    def reader(self, request: Request) -> Reader:
        return OPERATOR

    @override
    async def reads(self, request: Request, loaded: Loaded) -> bool:
        return True

    @override
    def footer(self, request: Request) -> str:
        return ""


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d1c1d }}
table {{ border-collapse: collapse; width: 100% }} th {{ text-align: left; color: #616061; font-weight: 500 }}
td, th {{ padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #e8e8e8; vertical-align: top }}
td.number {{ text-align: right; white-space: nowrap }}
pre {{ white-space: pre-wrap; background: #f8f8f8; padding: 1rem; border-radius: 6px }} a {{ color: #1264a3 }}
.ok, .done {{ color: #007a5a }} .error, .failed, .unknown, .refused {{ color: #c01343 }}
</style><h1>{title}</h1>{body}{footer}</html>"""


def for_program(request: Request) -> bool:
    """Return whether a request comes from a program and not from a browser."""
    return request.url.path.endswith("/trace") or "application/json" in request.headers.get("accept", "").lower()


@dataclass(frozen=True, slots=True)
class Pages:
    """Gofer's own pages."""

    stores: Stores
    catalog: Catalog
    clock: Clock
    readers: Readers = field(default_factory=LocalReaders)
    """The rule for which reader may see which page."""
    notice: str = ""
    """A problem of the workflow files that the pages show. Empty if there is none."""

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.runs, methods=["GET"]),
            Route("/runs", self.runs, methods=["GET"]),
            Route("/runs/{run}", self.run, methods=["GET"]),
            Route("/runs/{run}/trace", self.trace, methods=["GET"]),
            Route("/prompts/{workflow}", self.prompt, methods=["GET"]),
        ]

    async def runs(self, request: Request) -> Response:
        """Return the newest runs that are not private."""
        heads = await self.stores.journals.heads(200)
        if for_program(request):
            return JSONResponse({"runs": [row_of(head) for head in heads]})
        rows = [
            f'<tr><td><a href="/runs/{head.run}">{head.run[:8]}</a><td>{escape(head.workflow)}'
            f'<td class="{head.status}">{head.status}<td>{timestamp(head.accepted_at)}<td>{escape(why(head))}'
            for head in heads
        ]
        table = "<table><tr><th>run<th>workflow<th>status<th>accepted<th>reason" + "".join(rows) + "</table>"
        if not rows:
            table = "<p>There are no runs that you may see."
        unlisted = unlisted_lines(await recent(self.stores.journals, int(self.clock.now() * 1000)))
        notes = self._notice() + "".join(f"<p>{escape(line)}" for line in unlisted)
        return self._page(request, "Runs", notes + table)

    async def run(self, request: Request) -> Response:
        """Return the trace of one run as a table."""
        if for_program(request):
            return await self.trace(request)
        if not (spans := await self._spans(request)):
            return _absent()
        deep = levels(spans)
        rows = "".join(_row(span, spans[0].start, deep[span.id]) for span in spans)
        table = f"<table><tr><th>step<th>status<th>started after<th>took<th>details{rows}</table>"
        run = request.path_params["run"]
        return self._page(
            request, f"Run {escape(run[:8])}", f'{table}<p><a href="/runs/{escape(run)}/trace">as JSON</a>'
        )

    async def trace(self, request: Request) -> Response:
        """Return the trace of one run as JSON."""
        if not (spans := await self._spans(request)):
            return _absent()
        return JSONResponse({"run": request.path_params["run"], "spans": [span.to_json() for span in spans]})

    async def prompt(self, request: Request) -> Response:
        """Return the prompt of a workflow as its next run will use it, or its script."""
        loaded = self.catalog.workflows.get(request.path_params["workflow"])
        if loaded is None or not await self.readers.reads(request, loaded):
            return _absent()
        script = self.catalog.scripts.get(loaded.prompt_file)
        if script:
            kind = "Script"
            origin = f"From <code>{escape(loaded.prompt_file)}</code>:"
            text = script.sources[script.module]
        else:
            kind = "Prompt"
            origin = f"From <code>{escape(loaded.prompt_file)}</code>, preceded by the preamble of its folder:"
            text = loaded.system
        description = f"<p>{escape(loaded.workflow.description)}<p>{origin}"
        body = f"{self._notice()}{description}<pre>{escape(text)}</pre>"
        return self._page(request, f"{kind} of {escape(loaded.name)}", body)

    def _notice(self) -> str:
        return f'<pre class="error">{escape(self.notice)}</pre>' * bool(self.notice)

    async def _spans(self, request: Request) -> Sequence[Span]:
        runs = RunReader(self.stores, self.clock, self.catalog.workflows)
        try:
            record = await runs.read(request.path_params["run"], self.readers.reader(request))
        except (Corrupt, Gone):
            return ()
        if record is None:
            return ()
        return whole_trace(record.entries, record.subagents)

    def _page(self, request: Request, title: str, body: str) -> Response:
        return HTMLResponse(_PAGE.format(title=title, body=body, footer=self.readers.footer(request)))


def _row(span: Span, beginning: int, level: int) -> str:
    took = ""
    if span.end is not None:
        took = f"{span.end - span.start} ms"
    return (
        f'<tr><td style="padding-left: {level * 1.6:g}rem">{escape(span.name)}<td class="{span.status}">{span.status}'
        f'<td class="number">{span.start - beginning} ms<td class="number">{took}<td>{escape(about(span))}'
    )


def _absent() -> Response:
    return Response(b"This page does not exist, or you may not see it.\n", 404, media_type="text/plain")


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
