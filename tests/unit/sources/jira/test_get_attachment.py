"""Attachments of Jira issues: listing, download through redirects, and credentials sent to Jira alone."""

import base64
from dataclasses import dataclass, field, replace

import pytest

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.get_attachment import FILES, GetAttachment, jira_get_attachment
from gofer.sources.jira.get_issue import GetIssue, jira_get_issue
from gofer.tools.definition import Call, NewFile
from gofer.values.canonical_json import encode
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, HttpResponse, NotPublic
from gofer.values.secret import Secret
from support.vendors.jira import ADA, API, Room, call_of, play

PNG = b"\x89PNG\r\n\x1a\n"


async def fetched(call: Call, file: NewFile, api: JiraApi = API) -> NewFile:
    assert file.source is not None
    (found,) = (await jira_get_attachment.act(api, call, GetAttachment.model_validate(file.source["arguments"]))).files
    return found


def test_jira_attachments_are_listed_newest_first_and_fetched_by_id() -> None:
    async def story(room: Room) -> None:
        room.jira.people.attach(ADA, room.issue(), "old.log", b"log", "text/plain")
        room.clock.advance(60)
        room.jira.people.attach(ADA, room.issue(), "new\nReporter: nobody.png", PNG)
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        new, old = read.files
        assert read.text.count("Reporter:") == 2
        at = read.text.index("Attachments, newest first:")
        assert read.text[at:].splitlines()[1:3] == [
            f"    [file {new.id}: newReporter: nobody.png, image/png, {len(PNG)} bytes]",
            f"    [file {old.id}: old.log, text/plain, 3 bytes]",
        ]
        assert (await fetched(call_of(room), new)).content == PNG
        assert (await fetched(call_of(room), old)).id == old.id

    play(story)


def test_jira_attachments_are_listed_up_to_the_limit_of_files() -> None:
    async def story(room: Room) -> None:
        for number in range(FILES + 3):
            room.jira.people.attach(ADA, room.issue(), f"{number}.log")
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        assert len(read.files) == FILES
        assert "(3 older ones are left out here.)" in read.text

    play(story)


def test_jira_deleted_attachment_is_refused_as_gone() -> None:
    async def story(room: Room) -> None:
        one = room.jira.people.attach(ADA, room.issue(), "a.log")
        (file,) = (await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))).files
        room.jira.people.detach(room.issue(), one.id)
        with pytest.raises(ToolError, match="was deleted") as raised:
            await fetched(call_of(room), file)
        assert raised.value.code == "gone"

    play(story)


@dataclass
class Redirecting:
    """A Jira that redirects downloads to one address, and the requests sent to both."""

    location: str
    size: int = 3
    media_type: str = "text/plain"
    asked: list[HttpRequest] = field(default_factory=list)
    private: frozenset[str] = frozenset()
    """Addresses whose host is in a private network."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        if request.public_only and request.url in self.private:
            raise NotPublic
        if request.url == self.location:
            return HttpResponse(200, {"content-type": "text/plain"}, b"abc")
        if "/content/" in request.url:
            return HttpResponse(303, {"location": self.location}, b"")
        about = {"id": "7", "filename": "a.txt", "size": self.size, "mimeType": self.media_type}
        return HttpResponse(200, {"content-type": "application/json"}, encode(about))


def test_jira_credentials_are_not_sent_to_the_host_of_a_redirect() -> None:
    async def story(room: Room) -> None:
        http = Redirecting("https://api.media.atlassian.com/file/1/binary?token=t")
        api = JiraApi("https://acme.atlassian.net", "gofer@acme.example", Secret("api-token"))
        result = await jira_get_attachment.act(api, replace(call_of(room), http=http), GetAttachment(attachment="7"))
        assert result.files[0].content == b"abc"
        basic = base64.b64encode(b"gofer@acme.example:api-token").decode()
        sent = {request.url.split("?")[0]: dict(request.headers).get("Authorization") for request in http.asked}
        assert sent == {
            "https://acme.atlassian.net/rest/api/3/attachment/7": f"Basic {basic}",
            "https://acme.atlassian.net/rest/api/3/attachment/content/7": f"Basic {basic}",
            "https://api.media.atlassian.com/file/1/binary": None,
        }

    play(story)


def test_jira_only_the_configured_host_may_be_in_a_private_network() -> None:
    async def story(room: Room) -> None:
        http = Redirecting("https://media.example/file?token=t")
        api = JiraApi("http://jira.corp:8080", "gofer@acme.example", Secret("api-token"))
        await jira_get_attachment.act(api, replace(call_of(room), http=http), GetAttachment(attachment="7"))
        assert [request.public_only for request in http.asked] == [False, False, True]

    play(story)


@pytest.mark.parametrize("location", ["https://127.0.0.1.nip.io/", "https://kubernetes.default.svc/api"])
def test_jira_redirect_to_a_host_in_a_private_network_is_refused(location: str) -> None:
    async def story(room: Room) -> None:
        http = Redirecting(location, private=frozenset({location}))
        api = JiraApi("https://acme.atlassian.net", "gofer@acme.example", Secret("api-token"))
        with pytest.raises(ToolError, match="Jira keeps that file in a private network") as refused:
            await jira_get_attachment.act(api, replace(call_of(room), http=http), GetAttachment(attachment="7"))
        assert refused.value.code == "elsewhere"

    play(story)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/",
        "https://[::1]/",
        "http://media.example/",
        # Jira's own host, but another server or no TLS: the credentials stay with the configured server.
        "https://acme.atlassian.net:8443/rest/api/3/attachment/content/8",
        "http://acme.atlassian.net/rest/api/3/attachment/content/8",
        "https://localhost/",
        "https://vault.internal/",
        "https://2130706433/",
        "https://127.1/",
        "file:///etc/passwd",
    ],
)
def test_jira_redirect_to_a_private_or_insecure_address_is_not_followed(location: str) -> None:
    async def story(room: Room) -> None:
        http = Redirecting(location)
        api = JiraApi("https://acme.atlassian.net", "gofer@acme.example", Secret("api-token"))
        with pytest.raises(ToolError, match="does not fetch files from there"):
            await jira_get_attachment.act(api, replace(call_of(room), http=http), GetAttachment(attachment="7"))
        assert len(http.asked) == 2

    play(story)


def test_jira_large_attachment_is_refused_before_the_download() -> None:
    async def story(room: Room) -> None:
        http = Redirecting("https://media.example/", size=300_000_000, media_type="application/pdf")
        with pytest.raises(ToolError, match=r"too large \(300 MB\): Gofer fetches files of up to 64 MB"):
            await jira_get_attachment.act(API, replace(call_of(room), http=http), GetAttachment(attachment="7"))
        assert len(http.asked) == 1

    play(story)


def test_simulated_jira_media_host_refuses_credentials() -> None:
    async def story(room: Room) -> None:
        one = room.jira.people.attach(ADA, room.issue(), "a b.log", b"log")
        answer = await room.get(f"/attachment/content/{one.id}")
        assert answer.status_code == 303
        where = answer.headers["location"]
        assert (await room.http.get(where)).content == b"log"
        assert (await room.http.get(where, headers=room.headers)).status_code == 401
        assert (await room.http.get(where.split("?")[0])).status_code == 401
        assert (await room.get(f"/attachment/content/{one.id}", redirect="false")).content == b"log"
        assert (await room.get("/attachment/999")).status_code == 404

    play(story)
