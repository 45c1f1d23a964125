"""Reloading of edited workflow files, and reports of mistakes in them."""

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.applications import Starlette

from gofer.app.embedded.editions import ABSENCE_SECONDS, LOOK_SECONDS, STABLE_SECONDS, Edition, Editions, Edits, Watcher
from gofer.runtime.receive import Ingress
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.fingerprint import fingerprint
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes
from gofer.workflows.schema import Defaults
from support.models.served import served
from support.stand_ins import SetClock, make_outside, memory_stores

pytestmark = pytest.mark.anyio


@dataclass
class Repository:
    """A folder in which each file of agents/ is a workflow with that text; the text `broken` is a mistake."""

    root: Path
    clock: SetClock = field(default_factory=SetClock)
    adopted: list[Catalog] = field(default_factory=list[Catalog])
    reads: int = 0
    error: Exception | None = None

    def __post_init__(self) -> None:
        (self.root / "agents").mkdir()
        self.write("answer", "hello")
        store, blobs = memory_stores()
        ingress = Ingress(
            {},
            read_routes({}),
            Stores(store, blobs, MemoryQueue(self.clock)),
            InstallationKey(Secret("k")),
            make_outside(self.clock),
        )
        self.notices: list[str] = []

        def make(catalog: Catalog, notice: str) -> Edition:
            self.notices.append(notice)
            return Edition(catalog, ingress, Starlette())

        self.editions = Editions(make, self.load(self.root / "agents"), self.clock)
        self.reads = 0
        self.watcher = self.watch()

    def watch(self) -> Watcher:
        """Return a watcher of the files as they are now."""
        tools = fingerprint(self.root, ["tools"])
        seen = fingerprint(self.root)
        return Watcher(self.root, self.editions, self.load, self.clock, self.adopted.append, Edits(seen), Edits(tools))

    def write(self, name: str, text: str) -> None:
        (self.root / "agents" / f"{name}.md").write_text(text)

    def load(self, folder: Path) -> Catalog:
        self.reads += 1
        if self.error is not None:
            raise self.error
        texts = {path.stem: path.read_text() for path in sorted(folder.iterdir())}
        if "broken" in texts.values():
            raise ConfigError("agents/answer.md:1:1: broken. Mend it.")
        workflow = Workflow(description="d", owner="#o", when=("slack.mention",))
        return Catalog(
            {name: Loaded(name, workflow, text, "", served("m")) for name, text in texts.items()}, Defaults()
        )

    async def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / LOOK_SECONDS)):
            self.clock.advance(LOOK_SECONDS)
            await self.watcher.look()

    @property
    def texts(self) -> dict[str, str]:
        return {name: loaded.system for name, loaded in self.editions.now.catalog.workflows.items()}


async def test_edit_is_loaded_after_one_second_without_further_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    made = Repository(tmp_path)
    await made.wait(5)
    assert made.reads == 0
    made.write("answer", "good morning")
    await made.wait(STABLE_SECONDS)
    assert made.texts == {"answer": "hello"}
    made.write("digest", "weekly")
    await made.wait(STABLE_SECONDS)
    assert (made.texts, made.reads) == ({"answer": "hello"}, 0)
    await made.wait(LOOK_SECONDS)
    assert made.texts == {"answer": "good morning", "digest": "weekly"}
    assert [sorted(catalog.workflows) for catalog in made.adopted] == [["answer", "digest"]]
    assert caplog.messages == ["the workflow files were read again: added digest; changed answer"]
    assert await made.editions.holding("answer") is made.editions.now.catalog


async def test_deleted_workflow_file_removes_the_workflow(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.write("digest", "weekly")
    await made.wait(2)
    (tmp_path / "agents" / "digest.md").unlink()
    await made.wait(2)
    assert made.texts == {"answer": "hello"}


async def test_runs_wait_a_minute_for_a_missing_workflow_file(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    path = tmp_path / "agents" / "answer.md"
    for _ in range(2):
        path.unlink()
        await made.wait(2)
        with pytest.raises(TemporaryError, match=r"agents/answer.yaml is missing; its runs wait up to a minute"):
            await made.editions.holding("answer")
        made.write("answer", "hello")
        await made.wait(2)
        assert "answer" in (await made.editions.holding("answer")).workflows
        made.clock.advance(ABSENCE_SECONDS)
    path.unlink()
    await made.wait(2)
    with pytest.raises(TemporaryError):
        await made.editions.holding("answer")
    made.clock.advance(ABSENCE_SECONDS)
    assert (await made.editions.holding("answer")).workflows == {}


async def test_broken_edit_keeps_the_last_good_edition_and_shows_a_notice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = Repository(tmp_path)
    made.write("answer", "broken")
    await made.wait(5)
    assert (made.texts, made.reads, made.adopted) == ({"answer": "hello"}, 1, [])
    (said,) = caplog.messages
    assert said.endswith("agents/answer.md:1:1: broken. Mend it.")
    assert made.editions.notice == (
        "The workflow files were edited and have mistakes. Runs use the files of "
        "2026-11-21 12:00:00 UTC.\nagents/answer.md:1:1: broken. Mend it."
    )
    assert made.notices == ["", made.editions.notice]
    made.write("answer", "hello")
    await made.wait(2)
    assert (made.texts, made.editions.notice, made.notices[-1]) == ({"answer": "hello"}, "", "")
    assert "no workflow differs" not in caplog.text


async def test_log_reports_when_the_workflow_files_are_correct_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    made = Repository(tmp_path)
    made.write("answer", "broken")
    await made.wait(5)
    made.write("answer", "hello")
    await made.wait(2)
    assert caplog.messages[1:] == ["the workflow files have no mistakes any more"]


@pytest.mark.parametrize("error", [RecursionError("deep"), StopIteration()])
async def test_edit_that_crashes_the_check_keeps_the_last_good_edition(tmp_path: Path, error: Exception) -> None:
    made = Repository(tmp_path)
    made.error = error
    made.write("answer", "deep")
    await made.wait(2)
    assert made.texts == {"answer": "hello"}
    assert "The check of the files failed (R" in made.editions.notice
    assert " at test_editions.py:" in made.editions.notice
    made.error = None
    made.write("answer", "shallow")
    await made.wait(2)
    assert made.texts == {"answer": "shallow"}


async def test_edit_that_meets_too_little_memory_is_read_later_without_another_edit(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.write("answer", "good morning")
    made.error = MemoryError()
    await made.wait(STABLE_SECONDS)
    with pytest.raises(MemoryError):
        await made.wait(LOOK_SECONDS)
    assert made.editions.notice == ""
    made.error = None
    await made.wait(LOOK_SECONDS)
    assert made.texts == {"answer": "good morning"}


def test_fingerprint_leaves_out_a_folder_that_disappears_during_the_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents", "skills"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").touch()
    real = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        if path == tmp_path / "agents" / "deep":
            raise FileNotFoundError(path)
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    assert list(fingerprint(tmp_path)) == [str(tmp_path / "skills" / "deep" / "file")]


async def test_workflow_files_changed_during_loading_are_loaded_again(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    load = made.watcher.load

    def load_during_an_edit(folder: Path) -> Catalog:
        catalog = load(folder)
        if made.reads == 1:
            made.write("digest", "half of it")
        return catalog

    made.watcher.load = load_during_an_edit
    made.write("answer", "good morning")
    await made.wait(1.5)
    assert (made.texts, made.reads) == ({"answer": "hello"}, 1)
    await made.wait(2)
    assert (made.texts, made.reads) == ({"answer": "good morning", "digest": "half of it"}, 2)


async def test_unchanged_save_makes_no_new_edition(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    before = made.editions.now
    made.write("answer", "hello")
    await made.wait(2)
    assert (made.reads, made.adopted) == (1, [])
    assert made.editions.now is before


async def test_files_edited_together_are_never_loaded_separately(tmp_path: Path) -> None:
    made, seen = Repository(tmp_path), []
    for number in range(20):
        made.write("answer", f"{number}")
        await made.wait(LOOK_SECONDS * (1 + number % 2))
        made.write("digest", f"{number}")
        await made.wait(LOOK_SECONDS * (1 + number % 4))
        texts = made.texts
        assert texts == {"answer": "hello"} or texts["answer"] == texts["digest"]
        seen.append(texts["answer"])
    # Two of four edits are followed by enough time without changes.
    assert [*dict.fromkeys(seen)] == ["hello", *(str(number) for number in range(20) if number % 4 >= 2)]


async def test_edit_during_startup_is_loaded(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.watcher = made.watch()
    made.write("answer", "written between the reading and the first look")
    await made.wait(2)
    assert made.texts == {"answer": "written between the reading and the first look"}


async def test_edited_tool_logs_one_request_for_a_restart(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "oncall.py").write_text("before")
    caplog.set_level(logging.INFO)
    made = Repository(tmp_path)
    before = made.editions.now
    await made.wait(3)
    assert caplog.messages == []
    (tmp_path / "tools" / "oncall.py").write_text("after")
    await made.wait(STABLE_SECONDS)
    (tmp_path / "tools" / "wiki.py").write_text("new")
    await made.wait(5)
    (line,) = caplog.messages
    assert "tools/" in line
    assert "restart" in line
    assert (made.reads, made.editions.now) == (0, before)


def test_upward_symlinks_are_not_followed_into_a_cycle(tmp_path: Path) -> None:
    (tmp_path / "agents" / "x").mkdir(parents=True)
    for name in ("one", "two", "three"):
        (tmp_path / "agents" / "x" / name).symlink_to("../..")
    (tmp_path / "agents" / "a.yaml").write_text("a")
    assert len(fingerprint(tmp_path)) == 1
