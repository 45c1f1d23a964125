"""The publisher: makes workflows live, and earlier ones live again.

A bundle is written, then its new schedules, then the pointer is moved if no one else moved it, and only then goes what
is not wanted any more: so the schedules of what is live are always there, and one that is not live starts nothing.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from gofer.values.outside import Clock
from gofer.values.schedules.fields import NoSchedule
from gofer.values.schedules.planned import Planned, planned
from gofer.workflows.load import Catalog
from gofer.workflows.publication import Publication, publication, read_catalog, read_publication
from gofer.workflows.publish.timetable import Changes, Timetable, changes, clear, write
from gofer.workflows.published import (
    FOLDER,
    POINTER,
    BundleStore,
    Compiled,
    Current,
    bundle_key,
    encode_pointer,
    is_name,
    read_pointer,
    routes_key,
)
from gofer.workflows.schema import Workflow


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of workflows, in their order."""

    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    """Also those that changed with the preamble, a skill, a subagent or the defaults."""
    removed: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """Return it as `gofer publish --json` has it."""
        return {"added": list(self.added), "changed": list(self.changed), "removed": list(self.removed)}


def difference(before: Catalog | None, after: Catalog) -> Difference:
    """Return what is different for the runs of each workflow; None for what cannot be read, or was never there."""
    old: Mapping[str, object] = _said(before) if before else dict[str, object]()
    new = _said(after)
    return Difference(
        added=sorted(new.keys() - old.keys()),
        changed=sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        removed=sorted(old.keys() - new.keys()),
    )


def _said(catalog: Catalog) -> Mapping[str, object]:
    """Return what each workflow says; not its script, which comes with a deploy."""
    said: dict[str, object] = {}
    for name, loaded in catalog.workflows.items():
        hooks = [catalog.hooks[trigger.hook.name] for trigger in loaded.workflow.when if trigger.hook]
        parts = (
            loaded.system,
            loaded.prompt_file,
            loaded.models,
            loaded.search_models,
            loaded.limits_per_person,
            loaded.subagents,
        )
        said[name] = (loaded.workflow, *parts, hooks)
    return said


_ROUNDS = 20
"""How often the schedules are set right while others publish."""
_log = logging.getLogger(__name__)


class Overtaken(TemporaryError):
    """Another publisher was first; nothing of this bundle is live."""


@dataclass(frozen=True, slots=True)
class Published:
    """What was done, or would be."""

    name: str
    """What is live now; for what is only tried, what would be."""
    before: str
    """What was live before; empty for nothing."""
    workflows: Difference
    schedules: Changes

    @property
    def moved(self) -> bool:
        """Whether something else is live now."""
        return self.name != self.before

    def to_json(self) -> dict[str, object]:
        """Return it as `gofer publish --json` has it."""
        changed = {"workflows": self.workflows.to_json(), "schedules": self.schedules.to_json()}
        return {"name": self.name, "before": self.before, "moved": self.moved, **changed}


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is live when a publication begins; the last two are None when there is nothing that can be read."""

    name: str = ""
    tag: str = ""
    publication: Publication | None = None
    catalog: Catalog | None = None


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes to one stage."""

    bundles: BundleStore
    timetable: Timetable
    clock: Clock
    code: Path
    """Where `coordinators/` stands."""
    form: type[Workflow]
    """The form of a workflow file."""

    async def publish(self, files: Mapping[str, str], *, dry: bool = False) -> Published:
        """Make files live; with `dry` only say what would be. The same files again only set the schedules right.

        Raises ConfigError, TemporaryError, and Overtaken when another publisher was first.
        """
        wanted, catalog = publication(files, self.code, self.clock.now(), self.form)
        standing = await self._standing()
        if standing.publication is not None and standing.publication.sha256 == wanted.sha256:
            wanted = standing.publication
        elif not dry:
            await self._store(wanted)
        return await self._make_live(wanted.compiled, catalog, standing, dry=dry)

    async def roll_back(self, name: str, *, dry: bool = False) -> Published:
        """Make an earlier bundle live again, with its schedules. Raises as `publish`."""
        found = await self.bundles.read(bundle_key(name)) if is_name(name) else None
        if found is None:
            raise ConfigError(f"There is no bundle {name[:60]!r}; `gofer publish --list` shows which there are.")
        try:
            wanted = read_publication(found.body)
            catalog = read_catalog(found.body, self.code, self.form)
        except Corrupt as error:
            raise ConfigError(f"{error} It is the one that was asked for.") from error
        if not dry:
            # A publisher that was lost may have left the small part out.
            await self.bundles.create(routes_key(name), wanted.routes())
        return await self._make_live(wanted.compiled, catalog, await self._standing(), dry=dry)

    async def listing(self, limit: int) -> tuple[Sequence[str], Current | None]:
        """Return the newest bundles first, and what is live. Raises TemporaryError."""
        keys = await self.bundles.keys(FOLDER)
        names = [key.removeprefix(FOLDER).removesuffix(".json") for key in keys]
        return sorted(filter(is_name, names), reverse=True)[:limit], await self._current()

    async def _make_live(self, compiled: Compiled, catalog: Catalog, standing: _Standing, *, dry: bool) -> Published:
        plans = _plans(compiled)
        coming = await changes(plans, self.timetable, self._now())
        done = Published(compiled.name, standing.name, difference(standing.catalog, catalog), coming)
        if dry:
            return done
        await write(coming, self.timetable)
        overtaken = ""
        if done.moved:
            overtaken = await self._overtaken(compiled.name, standing)
        await self._settle(compiled)
        if overtaken:
            told = "look what it changed with `gofer publish --dry-run`, then publish again"
            raise Overtaken(f"Somebody else published {overtaken} meanwhile, and {compiled.name} is not live; {told}.")
        return done

    async def _overtaken(self, name: str, standing: _Standing) -> str:
        """Move the pointer; return what is live instead, if another publisher was first."""
        pointer = encode_pointer(Current(name, self._now().strftime("%Y-%m-%dT%H:%M:%SZ")))
        if await self.bundles.swap(POINTER, pointer, standing.tag):
            return ""
        # An answer that was lost may have been a yes.
        current = await self._current()
        if current is not None and current.name == name:
            return ""
        if current:
            return current.name
        return "something"

    async def _settle(self, mine: Compiled) -> None:
        """Make the schedules those of what is live and no others.

        A publisher that changed anything looks at the pointer again afterwards. So of several that publish at once the
        last one to change a schedule leaves the schedules of what is live.
        """
        settled = ""
        for _ in range(_ROUNDS):
            current = await self._current()
            if current is None or current.name == settled:
                return
            if current.name == mine.name:
                compiled = mine
            else:
                compiled = await self._compiled(current.name)
            if compiled is None:
                return
            left = await changes(_plans(compiled), self.timetable, self._now())
            await write(left, self.timetable)
            await clear(left, self.timetable)
            settled = current.name
        raise TemporaryError("Others publish all the time; set the schedules right with `gofer publish` later.")

    async def _compiled(self, name: str) -> Compiled | None:
        found = await self.bundles.read(bundle_key(name))
        try:
            return read_publication(found.body if found else b"").compiled
        except Corrupt as error:
            _log.warning("%s", error)
            return None

    async def _store(self, wanted: Publication) -> None:
        for key, body in ((bundle_key(wanted.name), wanted.bundle()), (routes_key(wanted.name), wanted.routes())):
            if not await self.bundles.create(key, body):
                found = await self.bundles.read(key)
                if found is None or found.body != body:
                    raise TemporaryError(f"Something else stands under {key}; publish again.")

    async def _standing(self) -> _Standing:
        found = await self.bundles.read(POINTER)
        if found is None:
            return _Standing()
        standing = _Standing(tag=found.tag)
        # What is damaged is said, and replaced.
        try:
            standing = replace(standing, name=read_pointer(found.body).name)
            bundle = await self.bundles.read(bundle_key(standing.name))
            body = bundle.body if bundle else b""
            return replace(
                standing, publication=read_publication(body), catalog=read_catalog(body, self.code, self.form)
            )
        except (Corrupt, ConfigError) as error:
            _log.warning("what is live cannot be compared: %s", error)
            return standing

    async def _current(self) -> Current | None:
        found = await self.bundles.read(POINTER)
        try:
            if found:
                return read_pointer(found.body)
            return None
        except Corrupt as error:
            _log.warning("%s", error)
            return None

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


def _plans(compiled: Compiled) -> Sequence[Planned]:
    try:
        return [planned(workflow, schedule) for workflow, schedule in compiled.schedules]
    except NoSchedule as error:
        raise ConfigError(f"A schedule of {compiled.name} cannot be read: {error}") from error
