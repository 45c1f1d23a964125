"""Preloaded files: which attachments are in the first message, and the same message for every owner."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from PIL import Image

from gofer.engine.first_message import MOST_FILES, Preloaded, preload
from gofer.engine.own_step import OwnStep
from gofer.files.document import Fitted
from gofer.journal.entries import MessageReceived, ToolResult
from gofer.journal.workspace_entries import FileAdded
from gofer.models.abilities import UNKNOWN_WINDOW, Abilities, Ability, common, load_abilities
from gofer.tools.definition import Call, NewFile
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.messages import user
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Files
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, memory_run

pytestmark = pytest.mark.anyio
EYES = Ability(100_000, vision=True, pdf=True)


def image(kind: str = "PNG", size: int = 8) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (size, size), "red").save(made, kind)
    return made.getvalue()


@dataclass
class AttachmentRun:
    """A run with attachments, and the abilities of its model."""

    contents: Mapping[str, bytes | Exception]
    types: Mapping[str, str] = field(default_factory=dict)
    ability: Ability = EYES
    sizes: Mapping[str, int] = field(default_factory=dict)
    preload_kb: int = 200
    fit: object = None
    made: MemoryRun = field(default_factory=memory_run)

    def file(self, name: str) -> NewFile:
        content = self.contents[name]
        size = self.sizes.get(name, len(content) if isinstance(content, bytes) else 1)
        source = {"tool": "fetch", "arguments": {"text": name}}
        return NewFile(name, self.types.get(name, ""), None, "Slack", size, source)

    async def step(self, owner: str = "me") -> OwnStep:
        async def fetch(call: Call, said: Said) -> Result:
            content = self.contents[said.text]
            if isinstance(content, Exception):
                raise content
            return Result("fetched", "one", files=(replace(self.file(said.text), content=content),))

        self.made.tool("fetch", "read", fetch)
        step = await self.made.step(owner)
        step.services = replace(step.services, abilities=Abilities({"m": self.ability}), fit=self.fit)  # pyright: ignore
        if not step.workspace.files:
            for file in map(self.file, self.contents):
                step.note(FileAdded(file.id, file.name, file.media_type, file.size, file.origin, source=file.source))
        return step

    def loaded(self, coordinator: str = "llm") -> Loaded:
        loaded = self.made.bundle().loaded
        files = Files(preload_kb=self.preload_kb)
        return replace(loaded, workflow=loaded.workflow.model_copy(update={"files": files, "coordinator": coordinator}))

    async def preload(self, owner: str = "me") -> tuple[Preloaded, OwnStep]:
        step = await self.step(owner)
        return await preload(step, self.loaded(), PROVENANCE), step


async def test_text_attachments_are_preloaded_whole_under_id_and_name() -> None:
    attached = AttachmentRun({"a.md": b"# A\n\nline", "b.csv": "\ufeffä;ö\n".encode(), "c.txt": b""})
    made, step = await attached.preload()
    ids = [attached.file(name).id for name in attached.contents]
    assert made.text.split("\n\n", 1)[1].split("\n\n") == [
        f'{ids[0]} "a.md", whole:\n    # A\n    \n    line',
        f'{ids[1]} "b.csv", whole:\n    ä;ö',
        f'{ids[2]} "c.txt" is empty.',
    ]
    assert all(step.workspace.files[id_].added.preloaded for id_ in ids)


async def test_preloaded_files_fit_the_limit_of_the_workflow_and_the_rest_is_not_fetched() -> None:
    attached = AttachmentRun({"a.txt": b"x" * 700, "b.txt": b"y" * 700, "c.txt": b"z" * 300}, preload_kb=1)
    made, step = await attached.preload()
    assert ("x" in made.text, "yyy" in made.text, "zzz" in made.text) == (True, False, True)
    assert attached.made.acted == ["fetch:a.txt", "fetch:c.txt"]
    assert [held.added.preloaded for held in step.workspace.files.values()] == [True, False, True]


async def test_preloaded_files_leave_room_in_the_window_of_the_model() -> None:
    words = {f"{name}.txt": (f"{name} " * 3_000).encode() for name in ("one", "two")}
    attached = AttachmentRun({**words, "a.png": image()}, ability=replace(EYES, window=10_000))
    made, step = await attached.preload()
    assert ("one one" in made.text, "two two" in made.text, len(made.media)) == (True, False, 0)
    assert [held.added.preloaded for held in step.workspace.files.values()] == [True, False, False]


async def test_file_larger_than_announced_is_not_preloaded() -> None:
    attached = AttachmentRun({"a.txt": b"x" * 5_000}, sizes={"a.txt": 1}, preload_kb=1)
    made, step = await attached.preload()
    assert (made.text, [held.added.preloaded for held in step.workspace.files.values()]) == ("", [False])


async def test_no_file_is_preloaded_with_a_limit_of_zero_or_for_scripts() -> None:
    attached = AttachmentRun({"a.txt": b"x"}, preload_kb=0)
    assert (await attached.preload())[0].text == ""
    attached = AttachmentRun({"a.txt": b"x"})
    assert (await preload(await attached.step(), attached.loaded("script"), PROVENANCE)).text == ""
    assert attached.made.acted == []


async def test_files_of_recent_channel_messages_are_only_listed() -> None:
    attached = AttachmentRun({"a.txt": b"x"})
    step = await attached.step()
    assert step.progress.event is not None
    step.progress.event = replace(step.progress.event, kind="slack.member_joined", place={"channel": "C1"})
    assert (await preload(step, attached.loaded(), PROVENANCE)).text == ""


async def test_number_of_preloaded_files_is_limited() -> None:
    attached = AttachmentRun({f"{number}.txt": b"x" for number in range(MOST_FILES + 5)})
    await attached.preload()
    assert len(attached.made.acted) == MOST_FILES


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
async def test_image_type_is_detected_from_the_bytes(kind: str, media_type: str) -> None:
    made, _ = await AttachmentRun({"shot.png": image(kind)}).preload()
    ((shown,), told) = made.media, made.text
    assert (shown.media_type, '"shot.png" is attached to this message as an image.' in told) == (media_type, True)


@pytest.mark.parametrize("content", [b"GIF8 no image", b"", b"<html>log in</html>"])
async def test_false_image_is_never_sent_as_an_image(content: bytes) -> None:
    made, _ = await AttachmentRun({"shot.png": content}).preload()
    assert (made.media, '"shot.png" could not be shown' in made.text) == ([], True)


async def test_preloaded_images_are_scaled_to_the_space_left() -> None:
    asked: list[int] = []

    async def fit(content: bytes, most: int) -> Fitted:
        asked.append(most)
        return Fitted("image/jpeg", b"j" * 40_000, 8, 8, 800, 800)

    attached = AttachmentRun({"a.png": image(), "b.png": image(), "c.png": image()}, preload_kb=100, fit=fit)
    made, _ = await attached.preload()
    assert asked == [100_000, 60_000, 20_000]
    assert [one.media_type for one in made.media] == ["image/jpeg"] * 2


@pytest.mark.parametrize(
    "error", [ToolError("The image is damaged; ask for it to be sent again."), TemporaryError("no")]
)
async def test_image_that_cannot_be_prepared_is_reported_in_the_first_message(error: Exception) -> None:
    async def fit(content: bytes, most: int) -> Fitted:
        raise error

    made, _ = await AttachmentRun({"a.png": image()}, fit=fit).preload()
    assert (made.media, f'"a.png" could not be shown: {error}' in made.text) == ([], True)


async def test_preloaded_pdf_is_attached_only_for_models_that_read_pdf() -> None:
    made, _ = await AttachmentRun({"a.pdf": b"%PDF-1.7 ..."}).preload()
    (pdf,) = made.media
    assert pdf.media_type == "application/pdf"
    assert b'"filename":"' + pdf.file.encode() + b'.pdf"' in user("look", made.media)
    blind = AttachmentRun({"a.pdf": b"%PDF-1.7 ..."}, ability=replace(EYES, pdf=False))
    assert ((await blind.preload())[0].text, blind.made.acted) == ("", [])


async def test_unreadable_pdf_is_reported_and_never_sent() -> None:
    async def pages(content: bytes) -> int:
        raise ToolError("This is a PDF, and it needs a password.")

    attached = AttachmentRun({"a.pdf": b"%PDF-1.7 ..."})
    step = await attached.step()
    step.services = replace(step.services, pages=pages)
    made = await preload(step, attached.loaded(), PROVENANCE)
    assert (made.media, "could not be shown: This is a PDF, and it needs a password." in made.text) == ([], True)


@pytest.mark.parametrize(("count", "shown"), [(2, True), (3, False)])
async def test_pages_of_a_pdf_count_against_a_small_window(count: int, shown: bool) -> None:
    async def pages(content: bytes) -> int:
        return count

    attached = AttachmentRun({"a.pdf": b"%PDF-1.7 ..."}, ability=replace(EYES, window=10_000))
    step = await attached.step()
    step.services = replace(step.services, pages=pages)
    assert bool((await preload(step, attached.loaded(), PROVENANCE)).media) is shown


@pytest.mark.parametrize(("count", "shown"), [(10, True), (11, False)])
async def test_pdf_with_too_many_pages_is_reported_with_a_hint_to_extract_text(count: int, shown: bool) -> None:
    async def pages(content: bytes) -> int:
        return count

    attached = AttachmentRun({"a.pdf": b"%PDF-1.7 ..."})
    step = await attached.step()
    step.services = replace(step.services, pages=pages)
    made = await preload(step, attached.loaded(), PROVENANCE)
    assert (bool(made.media), "it has 11 pages, too many to show; get its text with extract_file" in made.text) == (
        shown,
        not shown,
    )


async def test_attached_pdf_names_the_number_of_pages() -> None:
    async def pages(content: bytes) -> int:
        return 3

    attached = AttachmentRun({"a.pdf": b"%PDF-1.7 ..."})
    step = await attached.step()
    step.services = replace(step.services, pages=pages)
    made = await preload(step, attached.loaded(), PROVENANCE)
    assert b'(3 pages).pdf"' in user("look", made.media)


async def test_image_for_a_model_without_vision_is_only_mentioned_in_words() -> None:
    attached = AttachmentRun({"a.png": image(), "b.txt": image()}, ability=Ability(0))
    made, _ = await attached.preload()
    assert made.text.count("is an image that you cannot see") == 2
    assert (made.media, attached.made.acted) == ([], ["fetch:b.txt"])


async def test_file_that_cannot_be_fetched_is_reported_and_other_files_are_preloaded() -> None:
    gone = ToolError("That file was deleted.", code="gone")
    made, _ = await AttachmentRun(
        {"a.txt": gone, "b.txt": TemporaryError("Slack did not answer"), "c.txt": b"there"}
    ).preload()
    assert '"a.txt" could not be shown: That file was deleted.' in made.text
    assert '"b.txt" could not be shown: fetch got no answer: Slack did not answer' in made.text
    assert "    there" in made.text


async def test_next_owner_builds_the_same_first_message_from_stored_files() -> None:
    attached = AttachmentRun({"a.txt": b"what it says", "b.png": image(), "c.txt": ToolError("no")})
    made, step = await attached.preload()
    await step.commit()
    attached.contents = {"a.txt": b"changed", "b.png": b"changed", "c.txt": b"changed"}
    again, resumed = await attached.preload("another")
    assert (again.text, again.media) == (made.text, made.media)
    assert user(again.text, again.media) == user(made.text, made.media)
    assert attached.made.acted == ["fetch:a.txt", "fetch:b.png", "fetch:c.txt"]
    results = [call for call, one in resumed.progress.outcomes.items() if isinstance(one, ToolResult)]
    assert all(call.startswith("preload/file_") for call in results)


async def test_text_stored_as_a_file_is_not_preloaded() -> None:
    attached = AttachmentRun({})
    step = await attached.step()
    step.note(FileAdded("result_1", "body.json", "application/json", 3, "webhook", body="0" * 64))
    step.note(MessageReceived("please"))
    assert (await preload(step, attached.loaded(), PROVENANCE)).text == ""


def test_unknown_model_reads_text_only_and_a_gateway_model_is_known_by_the_model_name() -> None:
    abilities = load_abilities()
    assert abilities.of("gpt-5.4-mini-2026-03-17").reads == ["image", "pdf"]
    assert abilities.of("anthropic/claude-sonnet-4-5").reads == ["image"]
    assert abilities.of("o3-mini").reads == abilities.of("some-model").reads == []


def test_abilities_of_several_models_are_the_abilities_common_to_all() -> None:
    assert common([Ability(1_000, vision=True, pdf=True), Ability(500, vision=True)]) == Ability(500, vision=True)
    assert common([Ability(1_000, vision=True), Ability(0)]) == Ability(1_000)
    assert common([Ability(400_000), Ability(0)]) == Ability(UNKNOWN_WINDOW)
    assert common([Ability(0), Ability(0)]) == Ability(0)
    assert common([]) == Ability(0)
