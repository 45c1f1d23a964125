"""The exporter: sends the spans of a run to a collector once, when the run ended; later exports are started by hand.

The journal is the record and spans are derived from it, so spans that a collector refuses are not stored.
"""

import asyncio
import importlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from gofer.journal.child_runs import read_subagents
from gofer.journal.entries import Recorded
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.lineage import root_of
from gofer.journal.log import read_journal
from gofer.projections import progress
from gofer.runtime.telemetry.exported_span import Exported, without_names
from gofer.runtime.telemetry.spans import exported
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import Http, HttpRequest
from gofer.values.secret import Secret

TIMEOUT = 3.0
"""The default timeout of one request in seconds."""
PATIENCE = 10.0
"""The most seconds for all requests of a run."""
MOST_SPANS = 10_000
"""The most spans of one run; of a longer run the first ones are exported."""
_ANSWER_BYTES = 64_000

_log = logging.getLogger(__name__)


class Otlp(Protocol):
    """The module `otlp`."""

    def bodies(self, spans: Sequence[Exported], resource: Mapping[str, str]) -> Sequence[bytes]:
        """Return the compressed bodies of the requests that send spans."""
        ...

    def rejected(self, body: bytes) -> int:
        """Return the number of rejected spans in a response."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of an export."""

    spans: int
    rejected: int = 0
    """The number of spans that the collector rejected."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """Sends the spans of runs to one collector."""

    url: str
    """The address for traces; empty if there is none."""
    headers: Mapping[str, Secret]
    resource: Mapping[str, str]
    """The attributes of all spans: `service.name` and others that the operator sets."""
    http: Http
    full: bool = False
    """Whether texts are exported."""
    base_url: str = ""
    """The address of the pages of runs."""
    minimal: bool = False
    """Whether names of workflows and tools are left out."""
    timeout: float = TIMEOUT
    """The timeout of one request in seconds."""

    async def export(self, run: str, stores: Stores, patience: float = PATIENCE) -> None:
        """Send the spans of a run that just ended within `patience` seconds. Log a failure and raise nothing."""
        try:
            async with asyncio.timeout(min(PATIENCE, patience)):
                if await is_hidden(run, stores.journals):
                    # A log line with its id would show that the run exists.
                    return
                sent = await self.send(await self.read(run, stores))
            if sent.rejected:
                _log.warning("the collector rejected %d spans of run %s", sent.rejected, run)
        except TimeoutError:
            _log.warning("the spans of run %s were not sent: there was not enough time", run)
        except Exception as error:  # noqa: BLE001
            # A failed export never changes the run. The text of an unknown error may hold contents, its type does not.
            reason = type(error).__name__
            if isinstance(error, TemporaryError | ConfigError):
                reason = str(error)
            _log.warning("the spans of run %s were not sent: %s", run, reason)

    async def send(self, spans: Sequence[Exported]) -> Sent:
        """Send spans. Raises ConfigError for a refusal, and TemporaryError without an answer."""
        rejected = 0
        # On a thread, because building the requests of a long run takes long, and other runs continue meanwhile.
        for body in await asyncio.to_thread(lambda: _otlp().bodies(spans, self.resource)):
            rejected += await self._post(body)
        return Sent(len(spans), rejected)

    async def read(self, run: str, stores: Stores) -> Sequence[Exported]:
        """Return the spans of a run that ended and of its subagent runs.

        Raises ConfigError as `spans` does, and also if the place of the run became private. Raises the errors of
        reading a journal.
        """
        if await is_hidden(root_of(run), stores.journals):
            raise _private(run)
        journal = await read_journal(run, stores.journals, stores.blobs)
        _check(run, journal)
        head = await stores.journals.head(run)
        below = (await read_subagents(journal, stores.journals, stores.blobs)).journals
        conversation = ""
        if head is not None:
            conversation = head.conversation
        return self.spans(run, journal, below, conversation)

    def spans(
        self,
        run: str,
        journal: Sequence[Recorded],
        below: Mapping[str, Sequence[Recorded]] | None = None,
        conversation: str = "",
    ) -> Sequence[Exported]:
        """Return the spans of a journal and of the journals of its subagents; `conversation` is the token in its row.

        Raises ConfigError for a run that is private or has not ended.
        """
        _check(run, journal)
        spans = exported(run, journal, below, full=self.full, base_url=self.base_url, conversation=conversation)
        if self.minimal:
            spans = [without_names(span) for span in spans]
        return spans[:MOST_SPANS]

    async def _post(self, body: bytes) -> int:
        """Send one request; return the number of its rejected spans. Raises ConfigError, TemporaryError."""
        headers = {name: value.reveal() for name, value in self.headers.items()}
        headers |= {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
        answer = await self.http.send(HttpRequest("POST", self.url, headers, body, self.timeout, _ANSWER_BYTES))
        if answer.status in (429, 502, 503, 504):
            raise TemporaryError(f"the collector is busy (HTTP {answer.status}); `gofer export` sends it again.")
        if not 200 <= answer.status < 300:
            advice = "check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"
            raise ConfigError(f"The collector refuses spans (HTTP {answer.status}); {advice}.")
        return _otlp().rejected(answer.body)


def _check(run: str, journal: Sequence[Recorded]) -> None:
    state = progress.project(journal)
    if state.private:
        raise _private(run)
    if state.finished is None:
        raise ConfigError(f"Run {run} has not ended; export it when it has.")


def _private(run: str) -> ConfigError:
    return ConfigError(f"Run {run} began in a private channel; its spans are never exported.")


def _otlp() -> Otlp:
    return cast(Otlp, importlib.import_module("gofer.runtime.telemetry.otlp"))
