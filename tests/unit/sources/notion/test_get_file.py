"""Files on pages: blocks under their ids, fetched by an address that is asked for anew and sent no token."""

from dataclasses import dataclass, field, replace

import pytest

from gofer.sources.notion.get_file import GetFile, notion_get_file
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.tools.definition import Call, NewFile
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer_simulators.notion import NotionSimulator
from support.stand_ins import NOON
from support.vendors.notion import ADA, API, CACHE, WORLD, play

PNG = b"\x89PNG\r\n\x1a\n"


async def fetched(call: Call, file: NewFile) -> NewFile:
    assert file.source is not None
    (found,) = (await notion_get_file.act(API, call, GetFile.model_validate(file.source["arguments"]))).files
    return found


def test_blocks_that_are_files_are_files_of_the_run() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.people.attach(CACHE, "shot 1.png", PNG, by=ADA, kind="image")
        notion.people.attach(CACHE, "plan", b"%PDF-1.7", by=ADA, kind="pdf")
        notion.people.attach(CACHE, "../notes.md", b"# Notes", by=ADA)
        read = await notion_get_page.act(API, call, GetPage())
        assert [(file.name, file.media_type) for file in read.files] == [
            ("shot 1.png", "image/png"),
            ("plan", "application/pdf"),
            ("notes.md", "text/markdown"),
        ]
        assert all(f"[file {file.id}: {file.name}, {file.media_type}]" in read.text for file in read.files)
        assert "X-Amz" not in read.text
        contents = [(await fetched(call, file)).content for file in read.files]
        assert contents == [PNG, b"%PDF-1.7", b"# Notes"]

    play(story)


def test_an_address_that_has_expired_meanwhile_is_asked_for_anew() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.people.attach(CACHE, "notes.md", b"# Notes", by=ADA)
        (file,) = (await notion_get_page.act(API, call, GetPage())).files
        before = notion.workspace.address(next(one for one in notion.workspace.pages[CACHE].blocks if one.file))["url"]
        notion.workspace.clock = lambda: NOON + 3_700
        stale = await call.http.send(HttpRequest("GET", str(before)))
        assert (stale.status, b"expired" in stale.body) == (403, True)
        again = await fetched(call, file)
        assert (again.id, again.content) == (file.id, b"# Notes")

    play(story)


def test_a_file_that_was_taken_from_its_page_is_told() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        block = notion.people.attach(CACHE, "notes.md", b"# Notes", by=ADA)
        (file,) = (await notion_get_page.act(API, call, GetPage())).files
        notion.people.remove(CACHE, block.id)
        with pytest.raises(ToolError, match="was deleted") as raised:
            await fetched(call, file)
        assert raised.value.code == "gone"
        text = next(one for one in notion.workspace.pages[CACHE].blocks if not one.file)
        with pytest.raises(ToolError, match="no longer holds a file"):
            await notion_get_file.act(API, call, GetFile(page=CACHE, block=text.id))

    play(story)


@dataclass
class Recorder:
    """HTTP that passes on, and what it was asked with; addresses it gives lead elsewhere on request."""

    call: Call
    instead: bytes = b"http://notion/"
    asked: list[HttpRequest] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        answer = await self.call.http.send(request)
        return replace(answer, body=answer.body.replace(b"http://notion/", self.instead))


def test_the_storage_is_sent_no_token_and_an_address_in_a_network_of_ones_own_is_not_asked() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.people.attach(CACHE, "notes.md", b"# Notes", by=ADA)
        (file,) = (await notion_get_page.act(API, call, GetPage())).files
        http = Recorder(call)
        await fetched(replace(call, http=http), file)
        told = [("/v1/" in one.url, "Authorization" in one.headers) for one in http.asked]
        assert told == [(True, True), (False, False)]
        http.instead = b"http://10.0.0.1/"
        with pytest.raises(ToolError, match="does not fetch files from there"):
            await fetched(replace(call, http=http), file)

    play(story)


def test_a_world_may_have_files_on_its_pages() -> None:
    blocks = [{"file": {"kind": "file", "name": "a.txt", "text": "what it says"}}]
    page = {"id": "00000000-0000-4000-8000-000000000099", "title": "Files", "blocks": blocks}

    async def story(_: NotionSimulator, call: Call) -> None:
        (file,) = (await notion_get_page.act(API, call, GetPage(page=str(page["id"])))).files
        assert (await fetched(call, file)).content == b"what it says"

    play(story, {**WORLD, "pages": [*WORLD["pages"], page]})
