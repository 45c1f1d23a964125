"""`gofer export`: sends the spans of runs to a collector again, or prints them."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from gofer.app.http import SharedHttp, http_client
from gofer.app.operations import Operations
from gofer.app.settings import Settings, process_settings
from gofer.app.worker import build_exporter
from gofer.cli.arguments import operations, place_options
from gofer.cli.times import moment
from gofer.journal.coordination import Head
from gofer.runtime.run_reader import listed_run
from gofer.runtime.telemetry.exported_span import Exported
from gofer.runtime.telemetry.exporter import Exporter, Sent
from gofer.runtime.telemetry.otlp import requests, to_json
from gofer.values.amounts import counted
from gofer.values.canonical_json import one_line
from gofer.values.errors import ConfigError, Corrupt, GoferError, Gone, TemporaryError
from gofer.values.outside import SystemClock

_EXAMPLES = """examples:
  gofer export 3f2a91            send the spans of one run again, unchanged
  gofer export --since 24h       send every finished run that began within a day
  gofer export --since 2026-11-20 --json > spans.jsonl
                                 print OTLP/JSON, one request per line, and send nothing
  gofer export --since 7d --stage prod
                                 send runs of a stage on AWS

The command sends to OTEL_EXPORTER_OTLP_ENDPOINT with OTEL_EXPORTER_OTLP_HEADERS of this terminal, not of the stage.
docs/telemetry.md has the settings of Datadog, Langfuse and Phoenix. Runs from private channels are never exported.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer export`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("runs", nargs="*", metavar="RUN", help="ids of runs; their first characters are enough")
    parser.add_argument(
        "--since", metavar="WHEN", help="finished runs that began since then: 90m, 24h, 7d, or a date in UTC"
    )
    parser.add_argument(
        "--json", action="store_true", help="print OTLP/JSON on stdout, one request per line, and send nothing"
    )
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Export runs. The exit code is 1 when the collector did not accept all spans."""
    settings = process_settings()
    if bool(arguments.runs) == bool(arguments.since):
        raise ConfigError("Name either ids of runs, which `gofer runs` lists, or a time with --since.")
    since = None
    if arguments.since:
        since = moment(arguments.since, SystemClock().now())
    if not arguments.json and not settings.otlp.url:
        raise ConfigError("No collector is set up; set OTEL_EXPORTER_OTLP_ENDPOINT, or print the spans with --json.")
    with operations(arguments) as opened:
        return asyncio.run(_export(settings, opened, arguments.runs, since, printing=arguments.json))


async def _export(
    settings: Settings, opened: Operations, runs: Sequence[str], since: float | None, *, printing: bool
) -> int:
    # All names are looked up before the first run is sent.
    named = [await listed_run(opened.stores.journals, run) for run in runs]
    totals = _Totals()
    async with http_client(settings.proxies) as client:
        exporter = build_exporter(settings, SharedHttp(client))
        async for head in chosen(opened, named, since):
            try:
                if spans := await _spans(exporter, opened, head.run, named=since is None):
                    totals.add(_print(spans, settings) if printing else await exporter.send(spans))
            except (TemporaryError, Corrupt) as error:
                totals.fail(head.run, error)
    verb = "Sent"
    if printing:
        verb = "Printed"
    print(f"{verb} {counted(totals.spans, 'span')} of {counted(totals.runs, 'run')}.", file=sys.stderr)
    if totals.rejected:
        print(f"The collector rejected {totals.rejected} of them.", file=sys.stderr)
    if totals.failed or totals.rejected:
        return 1
    return 0


async def _spans(exporter: Exporter, opened: Operations, run: str, *, named: bool) -> Sequence[Exported]:
    """Return the spans of a run. With --since, a private or deleted run has none; a named run raises its error."""
    try:
        return await exporter.read(run, opened.stores)
    except (ConfigError, Gone):
        if named:
            raise
        return ()


async def chosen(opened: Operations, named: Sequence[Head], since: float | None) -> AsyncIterator[Head]:
    """Yield the named runs, or page by page the listed runs that began since a time and have finished."""
    for head in named:
        yield head
    if since is None:
        return
    async for page in opened.stores.journals.listed(int(since * 1000)):
        for head in page:
            if head.ended and head.has_contents and head.status != "ignored":
                yield head


@dataclass
class _Totals:
    """The totals of an export."""

    runs: int = 0
    spans: int = 0
    rejected: int = 0
    failed: int = 0

    def add(self, sent: Sent) -> None:
        self.runs += 1
        self.spans += sent.spans
        self.rejected += sent.rejected

    def fail(self, run: str, error: GoferError) -> None:
        self.failed += 1
        print(f"gofer: run {run}: {error}", file=sys.stderr)


def _print(spans: Sequence[Exported], settings: Settings) -> Sent:
    for request in requests(spans, settings.otlp.resource):
        print(one_line(json.dumps(to_json(request), ensure_ascii=False)))
    return Sent(len(spans))
