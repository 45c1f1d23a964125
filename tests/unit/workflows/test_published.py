"""Readers of published workflows: how soon they follow, and what they keep during failures."""

import asyncio
import contextlib
import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.functions.foundation import live_front
from gofer.app.functions.worker import live_catalog
from gofer.sources.workflow_files import WorkflowForm
from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.publication import publication, read_catalog, read_files, read_publication
from gofer.workflows.published import (
    LOOK_SECONDS,
    PATIENCE,
    POINTER,
    Compiled,
    Found,
    Live,
    bundle_key,
    encode_compiled,
    read_compiled,
    routes_key,
)
from gofer.workflows.routes import read_routes
from support.stand_ins import NOON, SetClock, mention
from support.workflows.publishing import WORKFLOW, MemoryBundleStore, PublisherSetup, files
from support.workflows.started_workflows import started

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
SCRIPTED = f"{WORKFLOW}coordinator: script\ncoordinator_script: coordinators/own.py\n"


def front(setup: PublisherSetup, packaged: bytes | None = None, patience: float = PATIENCE) -> Live[Compiled]:
    return live_front(setup.bundles, setup.clock, lambda compiled: compiled, packaged, patience)


def unreachable(call: str, key: str) -> None:
    raise TemporaryError("S3 does not answer")


@given(st.lists(st.floats(1, 200), min_size=1, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_published_change_is_read_within_thirty_seconds_in_every_process(pauses: list[float], down: list[bool]) -> None:
    """For any times of reading and any failures of S3: at most 30 seconds after S3 answers again."""

    async def play() -> None:
        setup = PublisherSetup(Path("nowhere"))
        await setup.publisher.publish(files(a="old"))
        worker, ingress = live_catalog(setup.bundles, setup.clock, setup.code), front(setup)
        assert (await worker.holding("a")).workflows["a"].system == "old"
        await ingress.current()
        setup.clock.advance(1)
        new = await setup.publisher.publish(files(a="new", b="Report."))
        unheard_since = setup.clock.now()
        for pause, fails in zip(pauses, down, strict=False):
            setup.clock.advance(pause)
            setup.bundles.trouble = unreachable if fails else lambda call, key: None
            system = (await worker.holding("a")).workflows["a"].system
            name = (await ingress.current()).name
            assert system in ("old", "new")
            if fails:
                # After a failed read, the next one is 30 seconds later.
                unheard_since = setup.clock.now()
            elif setup.clock.now() - unheard_since > LOOK_SECONDS:
                assert (system, name) == ("new", new.name)

    asyncio.run(play())


async def test_pointer_is_read_at_most_every_thirty_seconds(tmp_path: Path) -> None:
    setup = PublisherSetup(tmp_path)
    await setup.publisher.publish(files(a="Do it."))
    live = front(setup)
    first = await live.current()
    setup.bundles.calls.clear()
    for _ in range(290):
        setup.clock.advance(0.1)
        assert await live.current() is first
    assert setup.bundles.calls == []
    setup.clock.advance(2)
    assert await live.current() is first
    assert setup.bundles.calls == [("read", POINTER)]


async def test_clock_set_back_does_not_delay_a_published_change(tmp_path: Path) -> None:
    setup = PublisherSetup(tmp_path)
    await setup.publisher.publish(files(a="Do it."))
    live = front(setup)
    await live.current()
    new = await setup.publisher.publish(files(a="Do it well."))
    setup.clock.advance(-86_400)
    assert (await live.current()).name == new.name


async def damage_pointer(setup: PublisherSetup, name: str) -> None:
    setup.bundles.objects[POINTER] = Found(b'{"name": "nonsense"}', "x")


async def lose_bundle(setup: PublisherSetup, name: str) -> None:
    for key in (bundle_key(name), routes_key(name)):
        del setup.bundles.objects[key]


async def damage_bundle(setup: PublisherSetup, name: str) -> None:
    for key in (bundle_key(name), routes_key(name)):
        found = setup.bundles.objects[key]
        setup.bundles.objects[key] = Found(found.body.replace(b"slack.mention", b"slack.direct_"), found.tag)


async def make_it_newer(setup: PublisherSetup, name: str) -> None:
    for key in (bundle_key(name), routes_key(name)):
        found = setup.bundles.objects[key]
        setup.bundles.objects[key] = Found(found.body.replace(b'"format":1', b'"format":2'), found.tag)


async def lose_everything(setup: PublisherSetup, name: str) -> None:
    setup.bundles.objects.clear()


async def hang_up(setup: PublisherSetup, name: str) -> None:
    setup.bundles.trouble = unreachable


@pytest.mark.parametrize("trouble", [damage_pointer, lose_bundle, damage_bundle, make_it_newer, hang_up])
async def test_last_good_version_is_kept_and_a_warning_logged(
    tmp_path: Path, trouble, caplog: pytest.LogCaptureFixture
) -> None:
    setup = PublisherSetup(tmp_path)
    old = await setup.publisher.publish(files(a="old"))
    worker, ingress = live_catalog(setup.bundles, setup.clock, tmp_path), front(setup)
    await worker.holding("a")
    await ingress.current()
    setup.clock.advance(40)
    new = await setup.publisher.publish(files(a="new"))
    await trouble(setup, new.name)
    with caplog.at_level(logging.WARNING):
        assert (await worker.holding("a")).workflows["a"].system == "old"
        assert (await ingress.current()).name == old.name
    assert caplog.text.count(f"the workflows could not be reloaded, so those of {old.name}") == 2
    # A process without an earlier version does not work without one: accepted runs wait.
    with pytest.raises(TemporaryError, match="No workflows are loaded"):
        await front(setup).current()


async def test_missing_pointer_keeps_the_last_good_version(tmp_path: Path) -> None:
    setup = PublisherSetup(tmp_path)
    old = await setup.publisher.publish(files(a="old"))
    live = front(setup)
    await live.current()
    setup.clock.advance(40)
    await lose_everything(setup, old.name)
    assert (await live.current()).name == old.name


async def test_worker_reads_the_pointer_at_once_for_an_unknown_workflow(tmp_path: Path) -> None:
    """Ingress read the new version first, and its queue message arrives before the worker would read again."""
    setup = PublisherSetup(tmp_path)
    await setup.publisher.publish(files(a="Do it."))
    worker = live_catalog(setup.bundles, setup.clock, tmp_path)
    await worker.holding("a")
    await setup.publisher.publish(files(a="Do it.", b="Report."))
    assert "b" in (await worker.holding("b")).workflows
    assert "c" not in (await worker.holding("c")).workflows


async def test_packaged_workflows_are_used_until_the_first_publish(tmp_path: Path) -> None:
    setup = PublisherSetup(tmp_path)
    with pytest.raises(TemporaryError, match="Nothing is published yet; run `gofer publish`"):
        await front(setup).current()
    (tmp_path / "agents").mkdir()
    for name, text in files(packed="Do it.").items():
        (tmp_path / name).write_text(text)
    made, _ = publication(read_files(tmp_path), tmp_path, NOON, WorkflowForm)
    ingress, worker = front(setup, made.routes()), live_catalog(setup.bundles, setup.clock, tmp_path)
    assert started(read_routes((await ingress.current()).routes), mention()) == ["packed"]
    assert list((await worker.holding("packed")).workflows) == ["packed"]
    setup.clock.advance(40)
    await setup.publisher.publish(files(other="Do it."))
    assert started(read_routes((await ingress.current()).routes), mention()) == ["other"]
    assert list((await worker.holding("other")).workflows) == ["other"]


def test_shipped_workflows_are_equal_after_publishing() -> None:
    """Every workflow, hook and schedule of the repository is the same from a bundle as from its folder."""
    texts = read_files(ROOT)
    made, catalog = publication(texts, ROOT, NOON, WorkflowForm)
    again = read_catalog(made.bundle(), ROOT, WorkflowForm)
    assert again.workflows == catalog.workflows
    assert (again.scripts, again.hooks, again.defaults) == (catalog.scripts, catalog.hooks, catalog.defaults)
    assert "skills/jira-routing/SKILL.md" in texts
    assert read_publication(made.bundle()) == read_publication(made.bundle())
    compiled = read_compiled(made.routes())
    assert json.loads(json.dumps(catalog.routes())) == compiled.routes
    assert [name for name, _ in compiled.schedules] == [name for name, _ in catalog.schedules()]
    assert len(compiled.schedules) == 3


def test_missing_script_of_a_bundle_leaves_other_workflows_loaded(tmp_path: Path) -> None:
    texts = {**files(a="Do it."), "agents/b.yaml": SCRIPTED.replace("slack.mention", "slack.direct")}
    raw = publication(texts, tmp_path, NOON, WorkflowForm)[0].bundle()
    catalog: Catalog = read_catalog(raw, tmp_path, WorkflowForm)
    assert (sorted(catalog.workflows), dict(catalog.scripts)) == (["a", "b"], {})


@pytest.mark.parametrize(
    ("name", "hint"),
    [("agents/link.md", "is a link"), ("agents/bytes.md", "is not UTF-8 text")],
)
def test_link_or_binary_file_is_not_published(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "agents" / ".hidden").write_bytes(b"\xff")
    if "link" in name:
        (tmp_path / name).symlink_to(tmp_path / "secret")
    else:
        (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(Exception, match=hint):
        read_files(tmp_path)


def test_files_above_the_size_limit_are_not_published(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "large.md").write_text("x" * 20_000_001)
    with pytest.raises(ConfigError, match="contain more than 20000000 characters"):
        read_files(tmp_path)


def test_bundle_that_cannot_be_unpacked_is_a_temporary_error() -> None:
    """As with a full disk: here, one file is also the folder of another."""
    with pytest.raises(TemporaryError, match="cannot be unpacked"):
        publication({**files(a="Do it."), "agents/a.md/b": "x"}, ROOT, NOON, WorkflowForm)


@pytest.mark.parametrize("path", ["../x", "/etc/x", "agents/../../x", "other/x", "agents//x", "", "agents/\0"])
def test_bundle_with_a_path_outside_of_the_known_folders_is_refused(path: str) -> None:
    made, _ = publication(files(a="Do it."), ROOT, NOON, WorkflowForm)
    odd = type(made)({**made.files, path: "x"}, made.compiled)
    renamed = type(made)(odd.files, Compiled(f"20261121T120000Z-{odd.sha256[:12]}", *made.compiled.to_json().values()))
    with pytest.raises(Corrupt):
        read_publication(renamed.bundle())


KEYS = st.sampled_from(["format", "name", "files", "compiled", "schedules", "sha256"])
VALUES = st.recursive(st.none() | st.text() | st.just(1), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


FORM = {"format": 1, "name": "20261121T120000Z-000000000000", "files": {}}


@pytest.mark.parametrize("schedules", [1, [1], [[1]], [[1, 2, 3]], [["a", {}]], {"a": 1}])
def test_bundle_with_malformed_schedules_is_corrupt(schedules: object) -> None:
    for raw in ({**FORM, "compiled": {"schedules": schedules}}, {**FORM, "schedules": schedules}):
        for read in (read_publication, read_compiled):
            with pytest.raises(Corrupt):
                read(json.dumps(raw).encode())


@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_malformed_bundle_is_corrupt_and_raises_no_other_error(raw: bytes) -> None:
    for read in (read_publication, read_compiled):
        with pytest.raises(Corrupt):
            read(raw)


@given(st.integers(0), st.integers(0, 255))
def test_changed_byte_of_a_bundle_is_detected(at: int, byte: int) -> None:
    """Except for the time in the name of the bundle, which is not part of its contents."""
    made, _ = publication(files(a="Do it.", b="Report."), ROOT, NOON, WorkflowForm)
    bundle, small = bytearray(made.bundle()), bytearray(made.routes())
    bundle[at % len(bundle)] = small[at % len(small)] = byte
    with contextlib.suppress(Corrupt):
        assert read_publication(bytes(bundle)).sha256 == made.sha256
    with contextlib.suppress(Corrupt):
        assert encode_compiled(read_compiled(bytes(small))) == made.routes()


async def test_hanging_bundle_store_does_not_delay_a_function_with_a_bundle(tmp_path: Path) -> None:
    class Hanging(MemoryBundleStore):
        hangs = False

        async def read(self, key: str) -> Found | None:
            if self.hangs:
                await asyncio.sleep(3600)
            return await super().read(key)

    bundles = Hanging()
    setup = PublisherSetup(tmp_path, SetClock(), bundles)
    old = await setup.publisher.publish(files(a="Do it."))
    live = front(setup, patience=0.01)
    await live.current()
    bundles.hangs = True
    setup.clock.advance(31)
    assert (await live.current()).name == old.name
