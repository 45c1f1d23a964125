"""What does one workflow make of one event, in this process, and what is different in the world afterwards?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.embedded.world_difference import difference
from gofer.app.embedded.worlds import MOCKED, apart
from gofer.app.settings import Settings
from gofer.journal.log import read_journal
from gofer.projections import progress
from gofer.projections.progress import Progress
from gofer.runtime.retention import Purger
from gofer.tools.mocks import Overrides, mocked
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.model_script import Script


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run by hand."""

    run: str
    done: Progress
    seconds: float
    world: Mapping[str, object]
    """What is different in the simulated world, as `local.difference` tells it."""
    simulated: Sequence[str]
    """The systems that were simulated."""
    model: str
    """What answered, for people."""
    data: Path
    """The folder that keeps the run."""


async def run_once(
    settings: Settings,
    root: Path,
    workflow: str,
    event: Event,
    body: bytes,
    world: Mapping[str, object] | None,
    scripts: Sequence[Script] | None,
    mocks: Overrides | None = None,
) -> Outcome:
    """Runs a workflow on an event; `body` is what told of it. See `open_embedded` for the rest.

    With `mocks` no tool reaches anything, and the run stands in a state of its own: nothing that is made up may count
    as done, or be gone on with by somebody whose tools are real.
    """
    if mocks is not None:
        settings = replace(settings, data=settings.data / MOCKED)
        world = {}
    elif world is not None:
        settings = apart(settings)
    async with open_embedded(settings, root, world=world, scripts=scripts) as opened:
        embedded = opened if mocks is None else await _on_mocks(opened, mocks)
        _adopt(embedded, event, body)
        clock, before = embedded.worker.services.outside.clock, embedded.simulated.state()
        began = clock.monotonic()
        run = await embedded.ingress.start(_by_hand(event, embedded), workflow)
        head = await embedded.state.store.head(run)
        done = await embedded.worker.continue_run(head, "by-hand") if head else None
        done = done or progress.project(await read_journal(run, embedded.state.store, embedded.state.blobs))
        seconds = clock.monotonic() - began
        await embedded.worker.export(run, done)
        await embedded.simulated.settled()
        changed = difference(before, embedded.simulated.state())
        systems = tuple(embedded.simulated.systems)
        return Outcome(run, done, seconds, changed, systems, embedded.model, embedded.settings.data)


async def _on_mocks(embedded: EmbeddedStack, mocks: Overrides) -> EmbeddedStack:
    """The same with tools that reach nothing. Nobody serves its state, so what is due there is deleted now."""
    services = embedded.worker.services
    await Purger(embedded.state.stores, services.outside.clock).purge()
    services = replace(services, tools=mocked(services.tools, mocks))
    return replace(embedded, worker=replace(embedded.worker, services=services))


def _adopt(embedded: EmbeddedStack, event: Event, body: bytes) -> None:
    """What a recorded event of Slack speaks of is planted where it is absent; that is no work of the run."""
    if embedded.simulated.slack is None or event.source != "slack":
        return
    try:
        embedded.simulated.slack.adopt(as_object(decode(body)))
    except BadRequest:
        return


def _by_hand(event: Event, embedded: EmbeddedStack) -> Event:
    """The event as a happening of its own: a run by hand never collapses with an earlier one."""
    return replace(event, identity=(*event.identity, "by hand", embedded.worker.services.outside.new_id()))
