"""Files in Slack: listed with their messages, downloaded from Slack hosts only, or refused with the reason."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.http import SharedHttp, http_client
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.attached_files import FILES, GetFile, attached, line, slack_get_file
from gofer.sources.slack.channels import ReadChannel, slack_read_channel
from gofer.sources.slack.read_thread import ReadThread, slack_read_thread
from gofer.tools.definition import Call, NewFile
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from gofer_simulators.slack.simulator import SlackSimulator
from support.tools.calls import any_call
from support.vendors.slack import API, ROOT, play

HERE, ADA = "C0000001", "U0000001"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


async def fetched(call: Call, file: NewFile, api: SlackApi = API) -> NewFile:
    assert file.source is not None
    (found,) = (await slack_get_file.act(api, call, GetFile.model_validate(file.source["arguments"]))).files
    return found


def test_slack_thread_lists_the_files_of_the_requested_message_first() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        for number in range(3):
            await slack.upload(ADA, HERE, f"{number}.png", PNG, "", ROOT, "image/png")
        asked = slack.workspace.replies(slack.workspace.message(HERE, ROOT))[0]
        read = await slack_read_thread.act(API, call, ReadThread(ts=asked.ts))
        assert [file.name for file in read.files] == ["0.png", "2.png", "1.png"]
        assert all(file.content is None and file.size == len(PNG) for file in read.files)
        again = await fetched(call, read.files[0])
        assert (again.id, again.content, again.media_type) == (read.files[0].id, PNG, "image/png")

    play(story)


def test_slack_channel_lists_files_up_to_the_limit() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        for number in range(FILES + 2):
            await slack.upload(ADA, HERE, f"{number}.txt", b"x")
        read = await slack_read_channel.act(API, call, ReadChannel(limit=100))
        assert len(read.files) == FILES
        assert '[file: "0.txt", text/plain, 1 bytes]' in read.text
        assert f'[file {read.files[0].id}: "{FILES + 1}.txt"' in read.text

    play(story)


@pytest.mark.parametrize(
    ("mode", "why"),
    [("external", "it is stored outside of Slack"), ("hidden_by_limit", "more files than its plan shows")],
)
def test_slack_file_that_cannot_be_fetched_is_explained_with_the_message(mode: str, why: str) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack.upload(ADA, HERE, "plan.gdoc", b"x", "", ROOT, mode=mode)
        read = await slack_read_thread.act(API, call, ReadThread())
        assert read.files == []
        assert '[file: "plan.gdoc"' in read.text
        assert why in read.text
        with pytest.raises(ToolError, match=why):
            await slack_get_file.act(API, call, GetFile(file=next(iter(slack.workspace.files))))

    play(story)


def test_slack_file_of_another_company_is_described_after_files_info() -> None:
    stub = {"id": "F1", "mode": "file_access", "file_access": "check_file_info"}
    (file,) = attached([{"ts": "1.0", "files": [stub, {"id": "F2", "mode": "tombstone"}, {}, "odd"]}])
    assert (file.name, file.size, line(stub, {file.id})) == ("unnamed", 0, f'[file {file.id}: "unnamed"]')

    async def story(_: SlackSimulator, call: Call) -> None:
        there = "https://files.slack.com/a"
        http = Recorder({"name": "plan.pdf", "url_private": there}, {there: HttpResponse(200, {}, b"%PDF-")})
        api, asking = real(http, call)
        found = await fetched(asking, file, api)
        assert (found.id, found.name, found.media_type) == (file.id, "plan.pdf", "application/pdf")
        http.file["file_access"] = "access_denied"
        with pytest.raises(ToolError, match="Gofer may not see it"):
            await fetched(asking, file, api)

    play(story)


def test_slack_deleted_file_is_refused_and_marked_in_the_thread() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack.upload(ADA, HERE, "plan.txt", b"x", "", ROOT)
        (file,) = (await slack_read_thread.act(API, call, ReadThread())).files
        await slack.delete_file(next(iter(slack.workspace.files)))
        with pytest.raises(ToolError, match="That file was deleted") as raised:
            await fetched(call, file)
        assert raised.value.code == "file_deleted"
        assert "it was deleted]" in (await slack_read_thread.act(API, call, ReadThread())).text

    play(story)


def test_slack_missing_files_scope_is_named_also_for_a_redirect_to_the_login_page(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        await slack.upload(ADA, HERE, "plan.txt", b"x", "", ROOT)
        (file,) = (await slack_read_thread.act(API, call, ReadThread())).files
        slack.workspace.bot = replace(slack.workspace.bot, scopes=frozenset({"channels:history"}))
        with pytest.raises(ToolError, match="files:read"):
            await fetched(call, file)
        slack.workspace.bot = replace(slack.workspace.bot, scopes=None)
        withheld = replace(call, http=WithoutToken(call))
        with caplog.at_level(logging.ERROR), pytest.raises(ToolError, match="lacks the permission files:read"):
            await fetched(withheld, file)
        assert "plan.txt" not in caplog.text

    play(story)


@dataclass
class WithoutToken:
    """A Slack for an app without the scope: methods answer, file contents do not."""

    call: Call

    async def send(self, request: HttpRequest) -> HttpResponse:
        if "/files-pri/" in request.url:
            request = replace(request, headers={})
        return await self.call.http.send(request)


@dataclass
class Recorder:
    """A Slack at any address, and the requests sent to it."""

    file: dict[str, object]
    answers: dict[str, HttpResponse]
    asked: list[HttpRequest] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        if "/api/" in request.url:
            body = JSONResponse({"ok": True, "file": {"id": "F1", "name": "a.txt", **self.file}}).body
            return HttpResponse(200, {"content-type": "application/json"}, bytes(body))
        return self.answers[request.url]


def real(http: Recorder, call: Call) -> tuple[SlackApi, Call]:
    return SlackApi("https://slack.com/api/", Secret("xoxb-real")), replace(call, http=http)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/a.txt",
        "https://slack.com.evil.example/a.txt",
        "https://notslack.com/a.txt",
        "http://files.slack.com/a.txt",
        "https://files.slack.com:8443/a.txt",
        "https://files.slack.com@evil.example/a.txt",
        "file:///etc/passwd",
        "https://[::1/a.txt",
        "",
    ],
)
def test_slack_token_is_never_sent_to_another_host(address: str) -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        for first, answers in (
            (address, {}),
            ("https://files.slack.com/a", {"https://files.slack.com/a": HttpResponse(302, {"location": address}, b"")}),
        ):
            if not address and answers:
                continue
            http = Recorder({"url_private": first, "mimetype": "text/plain"}, answers)
            api, asking = real(http, call)
            with pytest.raises(ToolError, match="does not fetch files from there") as raised:
                await slack_get_file.act(api, asking, GetFile(file="F1"))
            assert raised.value.code == "elsewhere"
            assert {request.url for request in http.asked} <= {"https://slack.com/api/files.info", *answers}

    play(story)


@pytest.mark.parametrize("address", ["http://slack.corp:8081/a", "https://slack.corp:8080/a", "http://slack.corp/a"])
def test_slack_token_is_never_sent_to_another_server_on_the_configured_host(address: str) -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        http = Recorder({"url_private": address, "mimetype": "text/plain"}, {})
        api = SlackApi("http://slack.corp:8080/api/", Secret("xoxb-real"))
        with pytest.raises(ToolError, match="does not fetch files from there"):
            await slack_get_file.act(api, replace(call, http=http), GetFile(file="F1"))

    play(story)


def test_slack_file_hosts_must_be_public_except_the_configured_slack() -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        here = "https://files.slack.com/a"
        http = Recorder({"url_private": here}, {here: HttpResponse(200, {}, b"content")})
        api, asking = real(http, call)
        await slack_get_file.act(api, asking, GetFile(file="F1"))
        assert [(request.url, request.public_only) for request in http.asked[1:]] == [(here, True)]
        own = "https://slack.corp:8443/files/a"
        http = Recorder({"url_private": own}, {own: HttpResponse(200, {}, b"content")})
        api = SlackApi("https://slack.corp:8443/api/", Secret("xoxb-real"))
        await slack_get_file.act(api, replace(call, http=http), GetFile(file="F1"))
        assert [(request.url, request.public_only) for request in http.asked[1:]] == [(own, False)]

    play(story)


def test_slack_file_redirect_within_slack_is_followed_and_a_loop_refused() -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        there, here = "https://files-edge.slack.com/b", "https://files.slack.com/a"
        http = Recorder(
            {"url_private": here},
            {here: HttpResponse(302, {"location": there}, b""), there: HttpResponse(200, {}, b"content")},
        )
        api, asking = real(http, call)
        (file,) = (await slack_get_file.act(api, asking, GetFile(file="F1"))).files
        assert file.content == b"content"
        http.answers[there] = HttpResponse(302, {"location": here}, b"")
        with pytest.raises(ToolError, match="redirected Gofer too often"):
            await slack_get_file.act(api, asking, GetFile(file="F1"))
        http.answers[there] = HttpResponse(503, {}, b"")
        with pytest.raises(TemporaryError):
            await slack_get_file.act(api, asking, GetFile(file="F1"))
        http.answers[there] = HttpResponse(404, {}, b"")
        with pytest.raises(ToolError, match="it was deleted"):
            await slack_get_file.act(api, asking, GetFile(file="F1"))

    play(story)


def test_slack_file_of_300_megabytes_is_refused_before_the_download() -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        about = {"url_private": "https://files.slack.com/a", "size": 300_000_000, "mimetype": "application/pdf"}
        http = Recorder(about, {})
        api, asking = real(http, call)
        with pytest.raises(ToolError, match="300 MB") as raised:
            await slack_get_file.act(api, asking, GetFile(file="F1"))
        assert raised.value.code == "too_large"
        assert len(http.asked) == 1

    play(story)


@pytest.mark.anyio
async def test_slack_file_download_above_the_limit_is_aborted() -> None:
    async def flood(_: Request) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(300):
                yield b"x" * 1_000_000

        return StreamingResponse(chunks())

    async def info(request: Request) -> Response:
        url = f"{request.base_url}flood"
        return JSONResponse({"ok": True, "file": {"id": "F1", "name": "a.txt", "size": 12, "url_private": url}})

    app = Starlette(routes=[Route("/flood", flood), Route("/api/files.info", info, methods=["POST"])])
    async with serve(app) as url, http_client(DIRECT) as client:
        asking = any_call(SharedHttp(client), key="run1/1")
        with pytest.raises(ToolError, match="too large"):
            await slack_get_file.act(SlackApi(f"{url}/api/", Secret("xoxb-x")), asking, GetFile(file="F1"))
