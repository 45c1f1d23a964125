"""Files on Notion pages: listed by block, downloaded from a fresh address without the token."""

from dataclasses import dataclass, field, replace

import pytest

from gofer.sources.notion.find import QueryDatabase, notion_query_database
from gofer.sources.notion.get_file import FILES, GetFile, notion_get_file
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.tools.definition import Call, NewFile
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer_simulators.notion.simulator import NotionSimulator
from support.stand_ins import NOON
from support.vendors.notion import ADA, API, CACHE, WORLD, play

PNG = b"\x89PNG\r\n\x1a\n"


async def fetched(call: Call, file: NewFile) -> NewFile:
    assert file.source is not None
    (found,) = (await notion_get_file.act(API, call, GetFile.model_validate(file.source["arguments"]))).files
    return found


def test_notion_file_blocks_become_files_of_the_run() -> None:
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


def test_notion_expired_file_address_is_requested_again() -> None:
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


def test_notion_file_removed_from_the_page_is_refused_as_gone() -> None:
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
    """HTTP that records and forwards requests, and can replace the addresses in answers."""

    call: Call
    instead: bytes = b"http://notion/"
    asked: list[HttpRequest] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        answer = await self.call.http.send(request)
        return replace(answer, body=answer.body.replace(b"http://notion/", self.instead))


def test_notion_file_storage_gets_no_token_and_private_addresses_are_refused() -> None:
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


def test_simulated_notion_world_may_have_files_on_pages() -> None:
    blocks = [{"file": {"kind": "file", "name": "a.txt", "text": "what it says"}}]
    page = {"id": "00000000-0000-4000-8000-000000000099", "title": "Files", "blocks": blocks}

    async def story(_: NotionSimulator, call: Call) -> None:
        (file,) = (await notion_get_page.act(API, call, GetPage(page=str(page["id"])))).files
        assert (await fetched(call, file)).content == b"what it says"

    play(story, {**WORLD, "pages": [*WORLD["pages"], page]})


def test_notion_files_in_properties_can_be_read_and_linked_ones_have_their_address() -> None:
    stored = [{"name": "contract.pdf", "text": "first"}, {"name": "contract.pdf", "text": "second"}]
    linked = {"name": "spec", "external": {"url": "https://example.com/spec.pdf"}}
    (rfcs, *_) = WORLD["databases"]
    cache = rfcs["pages"][0] | {"properties": {"Attachments": [*stored, linked]}}
    world = {**WORLD, "databases": [rfcs | {"properties": {"Name": "title", "Attachments": "files"}, "pages": [cache]}]}

    async def story(_: NotionSimulator, call: Call) -> None:
        read = await notion_get_page.act(API, call, GetPage())
        assert "[spec](https://example.com/spec.pdf)" in read.text
        assert [(await fetched(call, file)).content for file in read.files] == [b"first", b"second"]
        assert all(f"[file {file.id}: contract.pdf, application/pdf]" in read.text for file in read.files)
        assert read.details["properties"]["Attachments"]["value"] == ["contract.pdf", "contract.pdf", "spec"]
        rows = await notion_query_database.act(API, call, QueryDatabase(database="RFCs"))
        assert [file.id for file in rows.files] == [file.id for file in read.files]
        gone = GetFile(page=CACHE, property="fi", name="contract.pdf")
        with pytest.raises(ToolError, match="no longer holds a file there"):
            await notion_get_file.act(API, call, gone)

    play(story, world)


def test_notion_files_at_comments_can_be_read() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.people.comment(CACHE, "see the plan", by=ADA, files={"plan.pdf": b"%PDF-1.7"})
        read = await notion_get_page.act(API, call, GetPage())
        (file,) = read.files
        assert f"      [file {file.id}: plan.pdf, application/pdf]" in read.text.splitlines()
        assert (await fetched(call, file)).content == b"%PDF-1.7"

    play(story)


def test_notion_files_beyond_the_number_that_a_run_can_open_are_counted() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        for number in range(FILES + 3):
            notion.people.attach(CACHE, f"{number}.txt", b"x", by=ADA)
        read = await notion_get_page.act(API, call, GetPage())
        assert len(read.files) == FILES
        assert f"(file: {FILES + 2}.txt)" in read.text
        assert "(Gofer cannot open 3 further files of the page.)" in read.text

    play(story)
