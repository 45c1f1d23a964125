"""The publisher: makes workflows live, and rolls back to earlier bundles.

It writes the bundle, then the new schedules, then moves the pointer unless another publisher moved it, and removes old
schedules last. So every live workflow always has its schedules, and a schedule of an old bundle starts nothing.
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
    """The names of added, changed and removed workflows, sorted."""

    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    """Workflows whose file, prompt, preamble, skill, subagent or defaults changed."""
    removed: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """Return the names as `gofer publish --json` prints them."""
        return {"added": list(self.added), "changed": list(self.changed), "removed": list(self.removed)}


def difference(before: Catalog | None, after: Catalog) -> Difference:
    """Return the workflows that differ between two catalogs.

    None stands for a catalog that is missing or unreadable.
    """
    old: Mapping[str, object] = {}
    if before:
        old = _contents(before)
    new = _contents(after)
    return Difference(
        added=sorted(new.keys() - old.keys()),
        changed=sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        removed=sorted(old.keys() - new.keys()),
    )


def _contents(catalog: Catalog) -> Mapping[str, object]:
    """Return the published content of each workflow, without its script, which comes with a deploy."""
    contents: dict[str, object] = {}
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
        contents[name] = (loaded.workflow, *parts, hooks)
    return contents


_ROUNDS = 20
"""The most attempts to update the schedules while others publish."""
_log = logging.getLogger(__name__)


class Overtaken(TemporaryError):
    """Another publisher moved the pointer first, so this bundle is not live."""


class NotLive(TemporaryError):
    """The pointer was not written, so the earlier bundle is live."""


class UnknownWhetherLive(TemporaryError):
    """Neither the write of the pointer nor the look at it afterwards was answered."""


class LiveWithoutSchedules(TemporaryError):
    """The bundle is live, and its schedules could not be set."""


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publication, or of a dry run."""

    name: str
    """The bundle that is live now; after a dry run, the bundle that would be live."""
    before: str
    """The bundle that was live before; empty if there was none."""
    workflows: Difference
    schedules: Changes

    @property
    def moved(self) -> bool:
        """Whether the pointer moved to another bundle."""
        return self.name != self.before

    def to_json(self) -> dict[str, object]:
        """Return the result as `gofer publish --json` prints it."""
        changed = {"workflows": self.workflows.to_json(), "schedules": self.schedules.to_json()}
        return {"name": self.name, "before": self.before, "moved": self.moved, **changed}


@dataclass(frozen=True, slots=True)
class _LiveBundle:
    """The live bundle before a publication; the last two fields are None when it is missing or unreadable."""

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
    """The folder that contains `coordinators/`."""
    form: type[Workflow]
    """The form of a workflow file."""

    async def publish(self, files: Mapping[str, str], *, dry: bool = False) -> Published:
        """Make files live; with `dry`, only return what would change. Publishing the same files again repairs
        schedules.

        Raises ConfigError, TemporaryError, and Overtaken when another publisher was first.
        """
        wanted, catalog = publication(files, self.code, self.clock.now(), self.form)
        live = await self._live_bundle()
        if live.publication is not None and live.publication.sha256 == wanted.sha256:
            wanted = live.publication
        elif not dry:
            await self._store(wanted)
        return await self._make_live(wanted.compiled, catalog, live, dry=dry)

    async def roll_back(self, name: str, *, dry: bool = False) -> Published:
        """Make an earlier bundle live again, with its schedules. Raises as `publish`."""
        found = await self.bundles.read(bundle_key(name)) if is_name(name) else None
        if found is None:
            raise ConfigError(f"There is no bundle {name[:60]!r}; `gofer publish --list` lists the bundles.")
        try:
            wanted = read_publication(found.body)
            catalog = read_catalog(found.body, self.code, self.form)
        except Corrupt as error:
            raise ConfigError(f"{error} This is the bundle that you named.") from error
        if not dry:
            # A publisher that crashed may not have written the routes file.
            await self.bundles.create(routes_key(name), wanted.routes())
        return await self._make_live(wanted.compiled, catalog, await self._live_bundle(), dry=dry)

    async def listing(self, limit: int) -> tuple[Sequence[str], Current | None]:
        """Return the names of bundles, newest first, and the pointer. Raises TemporaryError."""
        keys = await self.bundles.keys(FOLDER)
        names = [key.removeprefix(FOLDER).removesuffix(".json") for key in keys]
        return sorted(filter(is_name, names), reverse=True)[:limit], await self._current()

    async def _make_live(self, compiled: Compiled, catalog: Catalog, live: _LiveBundle, *, dry: bool) -> Published:
        plans = _plans(compiled)
        coming = await changes(plans, self.timetable, self._now())
        done = Published(compiled.name, live.name, difference(live.catalog, catalog), coming)
        if dry:
            return done
        await write(coming, self.timetable)
        overtaken = ""
        if done.moved:
            overtaken = await self._overtaken(compiled.name, live)
        try:
            await self._settle(compiled)
        except TemporaryError as error:
            if overtaken:
                raise
            remedy = "run `gofer publish` again to remove old schedules"
            raise LiveWithoutSchedules(
                f"{compiled.name} is live, but its schedules may be wrong; {remedy}. {error}"
            ) from error
        if overtaken:
            remedy = "see with `gofer publish --dry-run` what changed, then publish again"
            raise Overtaken(
                f"Someone else published {overtaken} at the same time, so {compiled.name} is not live; {remedy}."
            )
        return done

    async def _overtaken(self, name: str, live: _LiveBundle) -> str:
        """Move the pointer. Return the bundle that is live instead if another publisher was first, and "" otherwise."""
        pointer = encode_pointer(Current(name, self._now().strftime("%Y-%m-%dT%H:%M:%SZ")))
        try:
            if await self.bundles.swap(POINTER, pointer, live.tag):
                return ""
        except TemporaryError as error:
            if await self._is_live_after(error, name):
                return ""
            raise NotLive(f"{name} is not live; {live.name or 'no bundle'} still is. Publish again. {error}") from error
        # The store may have written the pointer and lost its answer.
        current = await self._current()
        if current is not None and current.name == name:
            return ""
        if current:
            return current.name
        return "another bundle"

    async def _is_live_after(self, error: TemporaryError, name: str) -> bool:
        """Return whether a bundle is live after a write of the pointer without an answer. Raises UnknownWhetherLive."""
        try:
            current = await self._current()
        except TemporaryError:
            remedy = "`gofer publish --list` marks the live one with *; publish again if it is another"
            raise UnknownWhetherLive(f"Whether {name} is live could not be looked up; {remedy}. {error}") from error
        return current is not None and current.name == name

    async def _settle(self, mine: Compiled) -> None:
        """Set the schedules to exactly those of the live bundle.

        After each change the publisher reads the pointer again. So when several publish at once, the last one to change
        a schedule leaves the schedules of the live bundle.
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
        raise TemporaryError(
            "Others are publishing at the same time, so the schedules may be incomplete; run `gofer "
            "publish` again later."
        )

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
                    raise TemporaryError(f"The store holds a different object under {key}; publish again.")

    async def _live_bundle(self) -> _LiveBundle:
        found = await self.bundles.read(POINTER)
        if found is None:
            return _LiveBundle()
        live = _LiveBundle(tag=found.tag)
        # A corrupt bundle is logged, and the publication replaces it.
        try:
            live = replace(live, name=read_pointer(found.body).name)
            bundle = await self.bundles.read(bundle_key(live.name))
            body = bundle.body if bundle else b""
            return replace(live, publication=read_publication(body), catalog=read_catalog(body, self.code, self.form))
        except (Corrupt, ConfigError) as error:
            _log.warning("the live bundle cannot be compared with the new one: %s", error)
            return live

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
