"""One run of a workflow on one event, for `gofer run`, with its outcome and its changes to the simulated world."""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal, cast

from gofer.app.catalog import checked_catalog, company_tools
from gofer.app.embedded.offline import model_in_words, offline_unless_set_up
from gofer.app.embedded.runner import Run, Tools, folder_stores, open_runner
from gofer.app.embedded.simulated import Simulated, simulate
from gofer.app.embedded.worlds import MOCKED, apart, move_apart
from gofer.app.event_input import sent_at
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.settings import Settings
from gofer.journal.entries import CallDeferred
from gofer.projections.progress import Progress
from gofer.runtime.retention import Purger
from gofer.tools.mocks import Overrides, keeping_state, mocked
from gofer.values.canonical_json import as_list, as_object
from gofer.values.events import Event
from gofer.values.model_script import Script
from gofer.values.outside import SystemClock

MOST = 200
"""The most differences that are listed."""
LONGEST = 4_000
"""The most characters of a listed value. A longer value is listed as the beginning of its text."""
_NAMES = ("ts", "id", "key", "number")
"""The fields that may identify the items of a list."""
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    kind: Literal["added", "removed", "changed"]
    before: object = None
    after: object = None


def difference(before: object, after: object) -> dict[str, object]:
    """Return the added, removed and changed values by their paths, and the number of further differences.

    A path is a JSON pointer. For a list of items with ids, it holds the id instead of the index.
    """
    listed: dict[str, dict[str, object]] = {"added": {}, "removed": {}, "changed": {}}
    more = 0
    for number, change in enumerate(_changes("", _plain(before), _plain(after))):
        if number >= MOST:
            more += 1
            continue
        match change.kind:
            case "added":
                listed["added"][change.path] = _cut(change.after)
            case "removed":
                listed["removed"][change.path] = _cut(change.before)
            case "changed":
                listed["changed"][change.path] = {"before": _cut(change.before), "after": _cut(change.after)}
    return {**listed, "more": more}


def _plain(state: object) -> object:
    """Return the state as JSON would store it: lists in place of tuples, and texts as keys."""
    return json.loads(json.dumps(state))


def _changes(path: str, before: object, after: object) -> Iterator[_Change]:
    kinds = {type(before), type(after)}
    if kinds == {dict}:
        yield from _in_objects(path, as_object(before), as_object(after))
    elif kinds == {list}:
        yield from _in_lists(path, as_list(before), as_list(after))
    elif before is _ABSENT:
        yield _Change(path, "added", after=after)
    elif after is _ABSENT:
        yield _Change(path, "removed", before=before)
    elif len(kinds) > 1 or before != after:
        yield _Change(path, "changed", before, after)


def _in_objects(path: str, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[_Change]:
    for name in dict.fromkeys((*before, *after)):
        part = name.replace("~", "~0").replace("/", "~1")
        yield from _changes(f"{path}/{part}", before.get(name, _ABSENT), after.get(name, _ABSENT))


def _in_lists(path: str, before: Sequence[object], after: Sequence[object]) -> Iterator[_Change]:
    named = next((pair for name in _NAMES if (pair := _by_name(name, before, after)) is not None), None)
    if named is not None:
        yield from _in_objects(path, *named)
        return
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old = before[start : len(before) - end]
    new = after[start : len(after) - end]
    for at, (was, now) in enumerate(zip_longest(old, new, fillvalue=_ABSENT)):
        yield from _changes(f"{path}/{start + at}", was, now)


def _by_name(
    name: str, before: Sequence[object], after: Sequence[object]
) -> tuple[Mapping[str, object], Mapping[str, object]] | None:
    """Return both lists as mappings by the field `name`, or None if that field does not identify every item."""
    found: list[Mapping[str, object]] = []
    for items in (before, after):
        names = [as_object(item).get(name) for item in items]
        words = [str(word) for word in names if isinstance(word, str | int) and not isinstance(word, bool)]
        if len(words) != len(items) or len(set(words)) != len(items):
            return None
        found.append(dict(zip(words, items, strict=True)))
    return cast(tuple[Mapping[str, object], Mapping[str, object]], tuple(found))


def _alike(before: Sequence[object], after: Sequence[object]) -> int:
    """Return how many items at the beginning are the same."""
    # Compared as JSON, because in Python False equals 0, also within lists and objects.
    both = zip(map(_as_json, before), map(_as_json, after), strict=False)
    return next((at for at, (one, other) in enumerate(both) if one != other), min(len(before), len(after)))


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _cut(value: object) -> object:
    text = value
    if not isinstance(text, str):
        text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST:
        return value
    return f"{text[:LONGEST]}…"


def _begin(event: Event, body: bytes) -> float | None:
    """Return the time at which the world of a payload begins: its full minute, because worlds count in minutes."""
    at = sent_at(event, body)
    if at is None:
        return None
    return math.ceil(at / 60) * 60.0


def _refusal_of(run: Run) -> str:
    """Return the words in which the model's provider refused the last request of a failed run; else empty."""
    if run.progress.finished is None or run.progress.finished.status != "failed":
        return ""
    refusals = [one.entry.provider_error for one in run.journal if isinstance(one.entry, CallDeferred)]
    if not refusals or refusals[-1] is None:
        return ""
    return refusals[-1].message


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one run by hand."""

    run: str
    done: Progress
    seconds: float
    world: Mapping[str, object]
    """The changes to the simulated world, as `difference` lists them."""
    simulated: Sequence[str]
    """The systems that were simulated."""
    model: str
    """The name of the model that answered, for people."""
    refusal: str
    """The words in which the model's provider refused the last request; else empty. They may hold contents."""
    data: Path
    """The folder that stores the run."""


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
    """Run a workflow on an event that was translated from `body`.

    With `world`, simulators replace the outside systems, as they are at the time of the event. With `scripts`, the
    offline model answers. With `mocks`, every tool answers with its mock, and the run is stored in a separate state
    that no process with real tools continues.
    Raises ConfigError if a file or setting is wrong, if the offline model would write into a real system, or if another
    process serves the state.
    """
    catalog = checked_catalog(root / "agents")
    company = company_tools(root)
    if mocks is not None:
        settings = replace(settings, data=settings.data / MOCKED)
        world = {}
    elif world is not None:
        settings = apart(settings)
    else:
        move_apart(settings.data)
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        stores = await stack.enter_async_context(folder_stores(settings.data, clock))
        http = await stack.enter_async_context(http_client(settings.proxies))
        simulated = Simulated()
        if world is not None:
            simulated, settings = await simulate(stack, settings, world, http, begin=_begin(event, body))
        settings = await offline_unless_set_up(stack, settings, scripts, simulated=world is not None)
        models = models_of(settings, http)
        if mocks is not None:
            # No long-lived process serves this state, so this one deletes the runs that are due.
            await Purger(stores.stores, clock).purge()

        def equip(tools: Tools) -> Tools:
            if mocks is not None:
                return mocked(tools, mocks, simulated.kept)
            if world is not None:
                return keeping_state(tools, simulated.kept)
            return tools

        opening = open_runner(settings, catalog, stores, models, http, clock, equip, company)
        runner = await stack.enter_async_context(opening)
        simulated.adopt(event, body)
        before = simulated.state()
        began = clock.monotonic()
        run = await runner.work(await runner.start(event, workflow))
        seconds = clock.monotonic() - began
        await simulated.settled()
        changed = difference(before, simulated.state())
        words = model_in_words(settings)
        return Outcome(
            run.id, run.progress, seconds, changed, tuple(simulated.systems), words, _refusal_of(run), settings.data
        )
