"""The simulated GitHub: REST answers, refusals, signed deliveries and faults as the vendor has them."""

import asyncio
import base64
import gc
import hashlib
import hmac
import json
import warnings
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.values.errors import ConfigError
from gofer_simulators.faults import Fault
from gofer_simulators.github.repositories import GitHubRefusal
from gofer_simulators.github.simulator import GitHubSimulator
from support.http import loopback
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import SetClock
from support.vendors.github import API, SECRET, TOKEN, WORLD

HEADERS = {"Authorization": f"Bearer {TOKEN}", "X-GitHub-Api-Version": "2022-11-28"}
REPO = "/repos/acme/app"
ISSUE = {"title": "t", "author": "x", "number": 3}


class Receiver:
    """An endpoint that keeps deliveries and answers with a given status."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.app = Starlette(routes=[Route("/github/webhook", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        self.got.append((dict(request.headers), await request.body()))
        return Response(status_code=self.status)

    def events(self) -> list[tuple[str, str | None]]:
        return [(headers["x-github-event"], json.loads(body).get("action")) for headers, body in self.got]


class Room:
    def __init__(self, github: GitHubSimulator, http: httpx2.AsyncClient, receiver: Receiver, clock: SetClock) -> None:
        self.github, self.http, self.receiver, self.clock = github, http, receiver, clock

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.http.get(API + path, headers=HEADERS | headers)

    async def post(self, path: str, body: object) -> httpx2.Response:
        return await self.http.post(API + path, headers=HEADERS, json=body)


def play(story: Callable[[Room], Awaitable[None]]) -> None:
    async def run() -> None:
        receiver, clock = Receiver(), SetClock()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=receiver.app)) as outside:
            github = GitHubSimulator(WORLD, clock=clock.now, http=outside)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=github.app)) as http:
                await story(Room(github, http, receiver, clock))
            await github.close()

    in_virtual_time(VirtualLoop(), run())


def test_simulated_github_reads_a_pull_request_in_both_api_versions() -> None:
    async def story(room: Room) -> None:
        old = (await room.get(f"{REPO}/pulls/7")).json()
        new = (await room.get(f"{REPO}/pulls/7", **{"X-GitHub-Api-Version": "2026-03-10"})).json()
        assert old.keys() - new.keys() == {"merge_commit_sha", "assignee"}
        assert (old["state"], old["merged"], old["draft"], old["changed_files"]) == ("open", False, True, 2)
        files = (await room.get(f"{REPO}/pulls/7/files")).json()
        assert [(one["filename"], one["status"], one["additions"], one["deletions"]) for one in files] == [
            ("src/new.py", "added", 1, 0),
            ("src/pay.py", "modified", 1, 1),
        ]
        listed = (await room.get(f"{REPO}/pulls")).json()
        assert "merged" not in listed[0]
        assert (await room.get(f"{REPO}/pulls/7/merge")).status_code == 404
        assert (await room.get(REPO, **{"X-GitHub-Api-Version": "2025-01-01"})).status_code == 400
        kinds = [
            (await room.get(f"{REPO}/contents", **{"X-GitHub-Api-Version": v})).json()[2]
            for v in ("2022-11-28", "2026-03-10")
        ]
        assert [kind["type"] for kind in kinds] == ["file", "submodule"]

    play(story)


@pytest.mark.parametrize(
    ("path", "headers", "status", "message"),
    [
        (f"{REPO}/pulls/7", {"Authorization": "Bearer wrong"}, 401, "Bad credentials"),
        (f"{REPO}/pulls/7", {"Authorization": ""}, 401, "Requires authentication"),
        (f"{REPO}/pulls/7", {"User-Agent": ""}, 403, "User-Agent"),
        (f"{REPO}/pulls/8", {}, 404, "Not Found"),
        ("/repos/acme/hidden/contents/a", {}, 404, "Not Found"),
        ("/repos/acme/app/contents/none", {}, 404, "Not Found"),
        ("/repos/acme/app/commits?since=yesterday", {}, 422, "Validation Failed"),
        ("/nowhere", {}, 404, "Not Found"),
    ],
)
def test_simulated_github_refuses_reads_in_the_form_of_the_vendor(
    path: str, headers: dict[str, str], status: int, message: str
) -> None:
    async def story(room: Room) -> None:
        answer = await room.get(path, **headers)
        assert answer.status_code == status
        assert message in answer.json()["message"]
        assert answer.json()["status"] == str(status)

    play(story)


def test_simulated_github_refuses_wrong_request_bodies() -> None:
    async def story(room: Room) -> None:
        missing = await room.post(f"{REPO}/issues", {"body": "x"})
        assert missing.status_code == 422
        assert missing.json()["errors"] == [{"resource": "Issue", "code": "missing_field", "field": "title"}]
        assert (await room.post(f"{REPO}/issues/7/comments", {"text": "x"})).status_code == 422
        assert (await room.post(f"{REPO}/issues/7/comments", {"body": "x" * 65_537})).status_code == 422
        assert (await room.post(f"{REPO}/issues/7/comments", [])).status_code == 400
        author = await room.post(f"{REPO}/pulls/7/requested_reviewers", {"reviewers": ["ada"]})
        stranger = await room.post(f"{REPO}/pulls/7/requested_reviewers", {"reviewers": ["kim"]})
        assert [author.status_code, stranger.status_code] == [422, 422]
        assert room.github.state()["repositories"]["acme/app"]["pulls"]["7"]["comments"] == []

    play(story)


@pytest.mark.parametrize(
    ("fields", "message", "errors"),
    [
        (
            {"title": "x" * 257},
            "Validation Failed",
            [{"code": "custom", "field": "title", "message": "title is too long (maximum is 256 characters)"}],
        ),
        ({"assignees": ["nobody-here"]}, "Validation Failed", [{"code": "invalid", "field": "assignees"}]),
        ({"assignees": ["kim"]}, "Validation Failed", [{"code": "invalid", "field": "assignees"}]),
        ({"labels": "bug"}, "Invalid request.\n\nFor 'properties/labels', \"bug\" is not an array.", []),
        ({"labels": [7]}, "Invalid request.\n\nNo subschema in \"oneOf\" matched for 'properties/labels'.", []),
        ({"assignees": "ada"}, "Invalid request.\n\nFor 'properties/assignees', \"ada\" is not an array.", []),
    ],
)
def test_simulated_github_refuses_an_invalid_new_issue(
    fields: dict[str, object], message: str, errors: list[dict[str, str]]
) -> None:
    async def story(room: Room) -> None:
        before = room.github.state()
        refused = await room.post(f"{REPO}/issues", {"title": "t", **fields})
        said = refused.json()
        assert (refused.status_code, said["message"]) == (422, message)
        for got, wanted in zip(said.get("errors", []), errors, strict=True):
            assert got.items() >= ({"resource": "Issue"} | wanted).items()
        assert room.github.state() == before
        opened = await room.post(
            f"{REPO}/issues", {"title": "x" * 256, "labels": ["a", {"name": "b"}], "assignees": ["sam"]}
        )
        assert opened.status_code == 201
        assert [label["name"] for label in opened.json()["labels"]] == ["a", "b"]

    play(story)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("issues?labels=money", [7]),
        ("issues?labels=money,late", []),
        ("issues?assignee=SAM", [9]),
        ("issues?assignee=none&direction=asc", [7, 8]),
        ("issues?assignee=*", [9]),
        ("issues?creator=kim", [8]),
        ("pulls?base=main", [7]),
        ("pulls?base=release", []),
        ("pulls?head=acme:feature", [7]),
        ("pulls?head=acme:other", []),
    ],
)
def test_simulated_github_filters_lists_by_the_query(path: str, found: list[int]) -> None:
    async def story(room: Room) -> None:
        await room.post(f"{REPO}/issues", {"title": "t", "assignees": ["sam"]})
        assert [one["number"] for one in (await room.get(f"{REPO}/{path}")).json()] == found

    play(story)


def test_simulated_github_filters_commits_by_author_and_time() -> None:
    async def story(room: Room) -> None:
        commits = (await room.get(f"{REPO}/commits")).json()
        authors = [one["author"]["login"] for one in commits]
        newest = commits[0]["commit"]["author"]["date"]
        by_sam = (await room.get(f"{REPO}/commits?author=SAM")).json()
        assert [one["sha"] for one in by_sam] == [commits[authors.index("sam")]["sha"]]
        assert (await room.get(f"{REPO}/commits?since={newest}")).json() == commits[:1]
        older = commits[1]["commit"]["author"]["date"]
        assert (await room.get(f"{REPO}/commits?until={older}")).json() == commits[1:]
        assert (await room.get(f"{REPO}/commits?until=tomorrow")).status_code == 422

    play(story)


def test_simulated_github_pages_lists_with_link_headers() -> None:
    async def story(room: Room) -> None:
        issue = room.github.issue("acme/app", 8)
        for number in range(5):
            room.github.people.comment(issue, "ada", f"{number}")
        url, seen, links = f"{API}{REPO}/issues/8/comments?per_page=4", [], []
        while url:
            page = await room.http.get(url, headers=HEADERS)
            seen += [one["body"] for one in page.json()]
            links.append(sorted(page.links))
            url = page.links.get("next", {}).get("url", "")
        assert seen == ["Indeed.", "0", "1", "2", "3", "4"]
        assert links == [["last", "next"], ["first", "prev"]]
        since = (await room.get(f"{REPO}/issues/8/comments?since=2026-11-21T12:00:00Z")).json()
        assert [one["body"] for one in since] == ["0", "1", "2", "3", "4"]

    play(story)


def test_simulated_github_reads_files_by_branch_and_commits_by_path() -> None:
    async def story(room: Room) -> None:
        file = (await room.get(f"{REPO}/contents/src/pay.py")).json()
        assert base64.b64decode(file["content"]) == b"def pay():\n    return 2\n"
        branch = (await room.get(f"{REPO}/contents/src/pay.py?ref=feature")).json()
        assert b"return 3" in base64.b64decode(branch["content"])
        commits = (await room.get(f"{REPO}/commits?path=src/pay.py")).json()
        assert [one["author"]["login"] for one in commits] == ["sam", "gofer[bot]"]

    play(story)


def test_simulated_github_answers_users_repositories_and_old_contents() -> None:
    async def story(room: Room) -> None:
        assert (await room.get("/user")).json()["type"] == "Bot"
        assert (await room.get("/users/ADA")).json()["name"] == "Ada"
        assert (await room.get("/users/eve")).status_code == 404
        assert (await room.get(REPO)).json()["default_branch"] == "main"
        assert (await room.get(f"{REPO}/pulls/8")).status_code == 404
        numbers = [one["number"] for one in (await room.get(f"{REPO}/issues?sort=updated&direction=asc")).json()]
        assert numbers == [7, 8]
        assert (await room.get(f"{REPO}/issues?state=closed")).json() == []
        assert (await room.get(f"{REPO}/issues?state=shut")).status_code == 422
        asked = (await room.get(f"{REPO}/pulls/7/requested_reviewers")).json()
        assert [user["login"] for user in asked["users"]] == ["sam"]
        first = (await room.get(f"{REPO}/commits")).json()[-1]["sha"]
        old = (await room.get(f"{REPO}/contents/README.md?ref={first[:10]}")).json()
        assert base64.b64decode(old["content"]) == b"# App\n"
        assert (await room.get(f"{REPO}/commits?sha=nowhere")).status_code == 404
        broken = await room.http.post(f"{API}{REPO}/issues", headers=HEADERS, content=b"{")
        assert (broken.status_code, broken.json()["message"]) == (400, "Problems parsing JSON")
        with pytest.raises(GitHubRefusal):
            room.github.people.merge(room.github.issue("acme/app", 8), "sam")

    play(story)


def test_simulated_github_drops_a_removed_file_after_the_merge() -> None:
    async def story(room: Room) -> None:
        people = room.github.people
        pull = people.open_pull("acme/app", "sam", "Less", {"src/pay.py": None}, head="less")
        (file,) = (await room.get(f"{REPO}/pulls/9/files")).json()
        assert (file["status"], file["additions"], file["deletions"]) == ("removed", 0, 2)
        people.merge(pull, "ada")
        assert "src/pay.py" not in room.github.state()["repositories"]["acme/app"]["files"]

    play(story)


def test_simulated_github_delivers_any_payload_after_a_subscription() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ValueError, match="subscribe"):
            await room.github.deliver("star", {"action": "created"})
        room.github.subscribe("http://gofer/github/webhook")
        await room.github.settled()
        assert await room.github.deliver("star", {"action": "created"}) == 200
        assert room.receiver.events() == [("ping", None), ("star", "created")]

    play(story)


def test_simulated_github_delivers_a_merge_signed_and_once() -> None:
    async def story(room: Room) -> None:
        room.github.subscribe("http://gofer/github/webhook")
        await room.github.settled()
        room.github.people.merge(room.github.issue("acme/app", 7), "sam")
        room.receiver.status = 500
        await room.github.settled()
        assert room.receiver.events() == [("ping", None), ("pull_request", "closed"), ("push", None)]
        headers, body = room.receiver.got[1]
        assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert json.loads(body)["pull_request"]["merged"] is True
        merged = room.github.state()["repositories"]["acme/app"]
        assert merged["files"]["src/new.py"] == "x = 1\n"
        assert merged["pulls"]["7"]["merged"] is True
        assert (await room.get(f"{REPO}/pulls/7/merge")).status_code == 204

    play(story)


def test_simulated_github_redelivers_the_same_bytes_on_request_for_three_days() -> None:
    async def story(room: Room) -> None:
        room.github.subscribe("http://gofer/github/webhook", form=True)
        room.github.people.open_issue("acme/app", "kim", "Ünder")
        await room.github.settled()
        ping, opened = room.github.deliveries
        assert (ping.event, opened.event, opened.status) == ("ping", "issues", 200)
        assert await room.github.redeliver(opened.id) == 200
        first, second = room.receiver.got[1:]
        assert first == second
        payload = json.loads(parse_qs(first[1].decode())["payload"][0])
        assert payload["issue"]["title"] == "Ünder"
        room.clock.advance(3 * 24 * 3600 + 1)
        with pytest.raises(ValueError, match="three days"):
            await room.github.redeliver(opened.id)

    play(story)


def test_simulated_github_delivers_each_act_of_people() -> None:
    async def story(room: Room) -> None:
        room.github.subscribe("http://gofer/github/webhook")
        people = room.github.people
        pull = people.open_pull("acme/app", "sam", "New", {"a.txt": "1\n"}, head="topic", draft=True)
        people.ready(pull, "sam")
        people.label(pull, "sam", "money")
        people.edit(pull, "sam", "Newer")
        people.comment(pull, "ada", "Nice")
        people.request_reviews(pull, "sam", ["ada"], ["core"])
        people.review(pull, "ada", "APPROVED")
        people.push("acme/app", "sam", "More", {"b.txt": "2\n"}, branch="topic")
        people.close(pull, "sam")
        people.reopen(pull, "sam")
        await room.github.settled()
        assert sorted(room.receiver.events()[1:], key=str) == sorted(
            [
                ("pull_request", "opened"),
                ("pull_request", "ready_for_review"),
                ("pull_request", "labeled"),
                ("pull_request", "edited"),
                ("issue_comment", "created"),
                ("pull_request", "review_requested"),
                ("pull_request", "review_requested"),
                ("pull_request_review", "submitted"),
                ("push", None),
                ("pull_request", "synchronize"),
                ("pull_request", "closed"),
                ("pull_request", "reopened"),
            ],
            key=str,
        )
        seen = room.github.state()["repositories"]["acme/app"]["pulls"]["9"]
        assert (seen["state"], seen["merged"], seen["reviewers"], seen["teams"]) == ("open", False, [], ["core"])

    play(story)


def test_simulated_github_faults_hit_the_matching_requests() -> None:
    async def story(room: Room) -> None:
        room.github.faults.add("GET", "/repos/*/pulls/7", Fault("expired_token"))
        room.github.faults.add("*", "/repos/*", Fault("status", 429, {"Retry-After": "3"}))
        room.github.faults.add("*", "/repos/*", Fault("status", 502))
        room.github.faults.add("*", "/repos/*", Fault("slow", seconds=0.001))
        answers = [await room.get(f"{REPO}/pulls/7") for _ in range(4)]
        assert [one.status_code for one in answers] == [401, 429, 502, 200]
        assert answers[1].headers["retry-after"] == "3"
        room.github.faults.add("POST", "/repos/*/comments", Fault("timeout_after_success"))
        room.github.faults.add("POST", "/repos/*/comments", Fault("timeout"))
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(room.post(f"{REPO}/issues/7/comments", {"body": "x"}), 0.05)
        comments = room.github.state()["repositories"]["acme/app"]["pulls"]["7"]["comments"]
        assert comments == [{"user": "gofer[bot]", "body": "x"}]

    play(story)


@pytest.mark.parametrize(
    ("world", "place"),
    [
        ({"repos": []}, "github.repos"),
        ({"repositories": [{"full_name": "acme"}]}, "github.repositories.0.full_name"),
        ({"repositories": [{"full_name": "a/b"}] * 2}, "twice"),
        ({"repositories": [{"full_name": "a/b", "issues": [{"title": "t", "author": "eve"}]}]}, "'eve'"),
        (
            {"users": [{"login": "x"}], "repositories": [{"full_name": "a/b", "issues": [ISSUE, ISSUE]}]},
            "number 3 twice",
        ),
    ],
)
def test_simulated_github_world_with_a_mistake_is_refused_at_the_place(world: dict[str, object], place: str) -> None:
    with pytest.raises(ConfigError, match=place):
        GitHubSimulator(world, clock=lambda: 0.0, http=loopback.client())


def test_simulated_github_cancels_an_unstarted_delivery_without_a_warning() -> None:
    async def story(room: Room) -> None:
        room.github.subscribe("http://gofer/github/webhook")
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            await room.github.close()
            gc.collect()
        assert not warned
        assert not room.receiver.got

    play(story)
