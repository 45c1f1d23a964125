"""The pages that the links under an answer open: the list of runs, the words of a run, and its workflow's prompt.

A request for `application/json` gets the same as JSON. Private runs are not listed. Their pages are shown only to
people who may see the place where the run began (`readers.py`).
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from html import escape

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.pages import grade_table, run_page
from gofer.app.pages.feedback_form import PostedFeedback, is_json, read_posted
from gofer.app.pages.page_frame import absent, for_program, html_page, refusal
from gofer.app.pages.readers import LocalReaders, PlaceUnknown, Readers
from gofer.app.pages.run_api import prompt_json, run_json, trace_json
from gofer.journal.feedback_entries import FeedbackGiven, FeedbackOrigin
from gofer.journal.lineage import root_of
from gofer.journal.unlisted_ends import recent
from gofer.projections.listing import one_for_each_event, row_of, unlisted_lines, why
from gofer.projections.tracing.trace import timestamp
from gofer.runtime.backlog import backlog_lines, read_backlog
from gofer.runtime.feedback import give
from gofer.runtime.run_reader import OPERATOR, Ambiguous, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.sources.worst_case import worst_case
from gofer.stores.one_place import Stores
from gofer.tools.definition import AnyTool
from gofer.values.errors import BadRequest, Corrupt, Gone
from gofer.values.outside import Clock, random_id
from gofer.workflows.load import Catalog

_DIGITS = 9
"""The most digits of the number of a step in a query."""
_NOT_OURS = "The feedback was not taken. Give it on the page of the run."
_NO_STEP = "The parameter `after` is no number of a step; use the path in `next`, or leave it out."


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
    evals: Callable[[], AbstractContextManager[Stores | None]] = nullcontext
    """Opens the state of the runs of evals, which are shown by their ids and not listed; None if there is none."""
    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    """The tools that workflows may list. Without them, pages show the published text of what a workflow could do."""

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.runs, methods=["GET"]),
            Route("/runs", self.runs, methods=["GET"]),
            Route("/runs/{run}", self.run, methods=["GET"]),
            Route("/runs/{run}/trace", self.trace, methods=["GET"]),
            Route("/runs/{run}/feedback", self.feedback, methods=["POST"]),
            Route("/runs/{run}/prompt", self.run_prompt, methods=["GET"]),
            Route("/prompts/{workflow}", self.prompt, methods=["GET"]),
        ]

    async def runs(self, request: Request) -> Response:
        """Return the newest runs that are not private."""
        heads = one_for_each_event(await self.stores.journals.heads(200))
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
        waiting = backlog_lines(await read_backlog(self.stores.journals), self.clock)
        notes = self._notice() + "".join(f"<p>{escape(line)}" for line in (*waiting, *unlisted))
        return self._page(request, "Runs", notes + table)

    async def run(self, request: Request) -> Response:
        """Return the words of one run: as JSON its status, answer, checks and usage."""
        record = await self._record(request)
        if isinstance(record, Response):
            return record
        if for_program(request):
            return JSONResponse(run_json(record))
        title = f"Run {record.run[:8]} of {record.progress.workflow}"
        heading = run_page.heading(record)
        footer = self.readers.footer(request)
        # On a thread, because the steps of a long run take seconds, and receivers and runs continue meanwhile.
        body = await asyncio.to_thread(run_page.body, record, self.readers.form_token(request))
        return html_page(title, body, footer, heading=heading, style=run_page.STYLE + grade_table.STYLE)

    async def feedback(self, request: Request) -> Response:
        """Take feedback on one run, from its page or as JSON from a program."""
        footer = self.readers.footer(request)
        try:
            posted = await read_posted(request)
            if not self.readers.wrote(request, posted.token):
                raise BadRequest(403, _NOT_OURS)
            record = await self._record(request)
            if isinstance(record, Response):
                return record
            if record.progress.private:
                return absent(request)
            await self._give(record, posted, request)
        except BadRequest as error:
            return refusal(request, "No feedback", str(error), footer, error.status)
        if is_json(request):
            return JSONResponse({"run": record.run, "verdict": posted.verdict}, 202)
        link = f'<p>The page of the run shows it within seconds. <a href="/runs/{record.run}">Back to the run</a>'
        return html_page("Your feedback is stored", link, footer)

    async def _give(self, record: RunRecord, posted: PostedFeedback, request: Request) -> None:
        if root_of(record.run) != record.run:
            raise BadRequest(409, f"This is the run of a subagent. Give feedback on run {root_of(record.run)}.")
        origin: FeedbackOrigin = "page"
        if is_json(request):
            origin = "api"
        given = FeedbackGiven(posted.verdict, self.readers.person(request), words=posted.words, origin=origin)
        await give(record.run, record.progress, given, self.stores, now=self.clock.now(), act=random_id())

    async def trace(self, request: Request) -> Response:
        """Return the steps and the spans of one run as JSON: `?full=1` adds all words, `?after=N` continues a list."""
        after = _step(request.query_params.get("after", "0"))
        if after is None:
            return refusal(request, "Unknown step", _NO_STEP, self.readers.footer(request), 400)
        record = await self._record(request)
        if isinstance(record, Response):
            return record
        full = request.query_params.get("full", "") not in ("", "0")
        return JSONResponse(await asyncio.to_thread(trace_json, record, full=full, after=after))

    async def run_prompt(self, request: Request) -> Response:
        """Return the prompt and the tools that a run began with."""
        record = await self._record(request)
        if isinstance(record, Response):
            return record
        setup = record.setups.get(record.run)
        if setup is None:
            return absent(request)
        if for_program(request):
            return JSONResponse(prompt_json(record.run, setup))
        origin = f"<p>From <code>{escape(setup.prompt_file)}</code>, as run <code>{escape(record.run)}</code> began:"
        tools = f"<p>{len(setup.tools)} tools: {escape(', '.join(setup.tool_names))}"
        title = f"Prompt of run {record.run[:8]}"
        return html_page(title, f"{origin}<pre>{escape(setup.system)}</pre>{tools}", self.readers.footer(request))

    async def prompt(self, request: Request) -> Response:
        """Return the prompt of a workflow as its next run will use it, or its script, and what it could do at worst."""
        loaded = self.catalog.workflows.get(request.path_params["workflow"])
        if loaded is None or not await self.readers.reads(request, loaded):
            return absent(request)
        script = self.catalog.scripts.get(loaded.prompt_file)
        if script:
            kind = "Script"
            origin = f"From <code>{escape(loaded.prompt_file)}</code>:"
            text = script.sources[script.module]
        else:
            kind = "Prompt"
            origin = f"From <code>{escape(loaded.prompt_file)}</code>, preceded by the preamble of its folder:"
            text = loaded.system
        worst = self.catalog.worst_cases.get(loaded.name, "")
        if self.tools:
            worst = worst_case(loaded.workflow, self.tools)
        description = f"<p>{escape(loaded.workflow.description)}<p>{escape(worst)}<p>{origin}"
        body = f"{self._notice()}{description}<pre>{escape(text)}</pre>"
        return self._page(request, f"{kind} of {loaded.name}", body)

    def _notice(self) -> str:
        return f'<pre class="error">{escape(self.notice)}</pre>' * bool(self.notice)

    async def _record(self, request: Request) -> RunRecord | Response:
        """Return the run of a request, or the answer that says why it is not shown."""
        footer = self.readers.footer(request)
        try:
            record = await self._found(request)
        except Ambiguous as error:
            return refusal(request, "Several runs", str(error), footer, 409)
        except Corrupt as error:
            return refusal(request, "Damaged run", str(error), footer, 500)
        except PlaceUnknown as error:
            sentence = f"{error} `gofer trace {request.path_params['run']} --full` shows the run at a terminal."
            return refusal(request, "Not shown now", sentence, footer, 503)
        if record is None:
            return absent(request)
        return record

    async def _found(self, request: Request) -> RunRecord | None:
        """Return the run of a request, or else the run of an eval with this id; None if there is neither."""
        runs = RunReader(self.stores, self.clock, self.catalog.workflows)
        name = request.path_params["run"]
        with suppress(Gone):
            record = await runs.find(name, self.readers.reader(request))
            if record is not None:
                return record
        with self.evals() as stores, suppress(Gone):
            if stores is not None:
                # The places of these runs are simulated, so no system can be asked about them.
                return await replace(runs, stores=stores).find(name, OPERATOR)
        return None

    def _page(self, request: Request, title: str, body: str) -> Response:
        return html_page(title, body, self.readers.footer(request))


def _step(text: str) -> int | None:
    """Return the number of a step in a query; None if the text is none."""
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS:
        return int(text)
    return None
