"""Sign-in to the pages with Slack."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.pages.sessions import SESSION_SECONDS, Cookie
from gofer.values.canonical_json import encode
from gofer.values.secret import Secret
from support.app.page_browser import ADA, BOARD, ELSEWHERE, GONE, GUEST, KEY, OTHER, PAGES, ROBOT, Browser, browser
from support.aws.template import written

pytestmark = pytest.mark.anyio


async def test_unknown_visitor_is_sent_to_sign_in_and_a_program_gets_401() -> None:
    async with browser() as made:
        page, trace = await made.get("/runs"), await made.get("/runs/run1/trace")
    assert (page.status_code, page.headers["location"]) == (303, "/sign-in?to=%2Fruns")
    assert (trace.status_code, trace.text) == (401, "Sign in first.\n")


async def test_signed_in_program_gets_json_of_every_page_about_runs() -> None:
    async with browser() as made:
        made.gofer.headers["accept"] = "application/json"
        stranger = await made.get("/runs")
        await made.sign_in()
        listed, page, trace = [await made.get(path) for path in ("/runs", "/runs/run2", "/runs/run2/trace")]
        made.gofer.headers["accept"] = "text/html,application/xhtml+xml,*/*;q=0.8"
        shown = await made.get("/runs")
    assert stranger.status_code == 401
    (row,) = [row for row in listed.json()["runs"] if row["run"] == "run1"]
    assert (row["run"], row["workflow"], row["status"]) == ("run1", "answer-here", "queued")
    assert (page.json()["run"], page.json()["status"]) == ("run2", "queued")
    assert trace.json()["steps"][0]["kind"] == "run.accepted"
    assert shown.headers["content-type"].startswith("text/html")


async def test_member_is_sent_to_the_requested_page_after_sign_in() -> None:
    async with browser() as made:
        answer = await made.sign_in(to="/runs/run1")
        listed = await made.get("/runs")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/run1")
    assert "answer-here" in listed.text
    assert listed.headers["cache-control"] == "private, no-store"
    session = next(cookie for cookie in answer.headers.get_list("set-cookie") if cookie.startswith("__Host-gofer="))
    for word in ("HttpOnly", "Secure", "SameSite=Lax", "Path=/", f"Max-Age={SESSION_SECONDS}"):
        assert f"; {word}" in session


@pytest.mark.parametrize("user", [GUEST, ELSEWHERE])
async def test_guest_or_member_of_another_workspace_is_refused_at_sign_in(user: str) -> None:
    async with browser() as made:
        answer = await made.sign_in(user)
        page = await made.get("/runs")
    assert (answer.status_code, page.status_code) == (403, 303)
    assert "Only full members" in answer.text


async def test_session_ends_after_the_session_lifetime() -> None:
    async with browser() as made:
        await made.sign_in()
        made.clock.advance(SESSION_SECONDS - 1)
        assert (await made.get("/runs")).status_code == 200
        made.clock.advance(1)
        assert (await made.get("/runs")).status_code == 303


async def seen(made: Browser) -> tuple[int, int, bool]:
    """Return how the run of the private channel is visible: status of its page, status of its trace, listed or not."""
    page, trace, listed = [await made.get(path) for path in ("/runs/run2", "/runs/run2/trace", "/runs")]
    return page.status_code, trace.status_code, "run2" in listed.text


async def test_run_of_a_private_channel_is_shown_to_current_channel_members_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with browser() as made:
        await made.sign_in(OTHER)
        outside = await seen(made)
        await made.sign_in(ADA)
        inside = await seen(made)
        made.slack.fail_next("conversations.members", "channel_not_found")
        unknown = await made.get("/runs/run2")
        made.slack.workspace.channels[BOARD] = replace(made.slack.workspace.channels[BOARD], members=("UBOT0000",))
        left = await seen(made)
    assert (outside, inside, left) == ((404, 404, False), (200, 200, False), (404, 404, False))
    assert (unknown.status_code, "Slack refused conversations.members (channel_not_found)" in caplog.text) == (
        404,
        True,
    )


async def test_channel_membership_is_found_on_a_later_page_of_members() -> None:
    async with browser() as made:
        crowd = tuple(f"U1{n:06d}" for n in range(1_500))
        board = made.slack.workspace.channels[BOARD]
        made.slack.workspace.channels[BOARD] = replace(board, members=("UBOT0000", *crowd, ADA))
        await made.sign_in(ADA)
        assert (await seen(made))[:2] == (200, 200)


async def test_pages_forbid_scripts_and_framing() -> None:
    async with browser() as made:
        await made.sign_in()
        page = await made.get("/runs")
    told = page.headers["content-security-policy"]
    assert "default-src 'none'" in told
    assert "frame-ancestors 'none'" in told
    assert "script-src" not in told
    assert (page.headers["x-content-type-options"], page.headers["referrer-policy"]) == ("nosniff", "same-origin")


async def test_sign_in_attempt_of_another_browser_is_refused() -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        made.gofer.cookies.clear()
        stolen = await made.get(back)
        await made.begin()
        mixed = await made.get(back)
    assert (stolen.status_code, mixed.status_code) == (400, 400)


async def test_expired_sign_in_attempt_is_refused() -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        made.clock.advance(600)
        assert (await made.get(back)).status_code == 400


async def test_sign_in_code_is_accepted_once() -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        kept = dict(made.gofer.cookies)
        assert (await made.get(back)).status_code == 303
        made.gofer.cookies.clear()
        made.gofer.cookies.update(kept)
        again = await made.get(back)
    assert (again.status_code, "was already finished" in again.text) == (401, True)


@pytest.mark.parametrize(
    ("altered", "status"),
    [
        ({"iss": "https://evil.test"}, 401),
        ({"aud": "another.app"}, 401),
        ({"exp": 1}, 401),
        ({"exp": None}, 401),
        ({"nonce": "of-another-attempt"}, 401),
        ({"nonce": None}, 401),
        ({"https://slack.com/team_id": "T2"}, 403),
        ({"https://slack.com/team_id": None}, 403),
        ({"sub": None}, 403),
        ({"sub": GUEST}, 403),
        ({"sub": GONE}, 403),
        ({"sub": ROBOT}, 403),
    ],
)
async def test_id_token_with_a_wrong_or_missing_claim_is_refused(altered: dict[str, object], status: int) -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        made.slack.openid.altered.update(altered)
        answer = await made.get(back)
        page = await made.get("/runs")
    assert (answer.status_code, page.status_code) == (status, 303)


async def test_sign_in_answers_503_while_slack_fails() -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        made.slack.fail_next("users.info", 500)
        answer = await made.get(back)
    assert (answer.status_code, "Gofer could not learn from Slack what you may see" in answer.text) == (503, True)


@pytest.mark.parametrize("said", [b'{"ok":true}', b'{"ok":true,"user":{"id":"U0000009"}}', b"[]", b"<html>"])
async def test_sign_in_answers_503_when_slack_omits_the_membership(said: bytes) -> None:
    async with browser() as made:
        made.http.said["users.info"] = said
        answer = await made.sign_in()
        page = await made.get("/runs")
    assert (answer.status_code, page.status_code) == (503, 303)


async def test_slack_timeouts_of_a_sign_in_fit_into_the_timeout_of_the_function() -> None:
    async with browser() as made:
        await made.sign_in()
    assert len(made.http.patience) == 4
    assert sum(made.http.patience) < written()["Resources"]["DashboardFunction"]["Properties"]["Timeout"]


async def test_declined_sign_in_is_refused_without_a_session() -> None:
    async with browser() as made:
        url = await made.begin()
        answer = await made.slack_web.get(f"{url}&denied=1")
        refused = await made.get(answer.headers["location"].removeprefix(PAGES))
    assert (refused.status_code, "did not tell Gofer who you are" in refused.text) == (403, True)


@pytest.mark.parametrize("to", ["https://evil.test", "//evil.test", "/\\evil.test", "/sign-in", "/runs/..%2f..", ""])
async def test_sign_in_redirects_to_pages_of_gofer_only(to: str) -> None:
    async with browser() as made:
        answer = await made.sign_in(to=to)
    assert answer.headers["location"] == "/runs"


async def test_sign_in_request_to_slack_has_scope_state_and_nonce() -> None:
    async with browser() as made:
        url = urlsplit(await made.begin())
    asked = parse_qs(url.query)
    assert (url.netloc, url.path) == ("slack.test", "/openid/connect/authorize")
    assert asked["redirect_uri"] == [f"{PAGES}/sign-in/callback"]
    assert (asked["scope"], asked["response_type"]) == (["openid"], ["code"])
    assert len({*asked["state"], *asked["nonce"]}) == 2


@pytest.mark.parametrize(
    "changed", ["client_id=9", "redirect_uri=https://evil.test", "scope=email", "response_type=token"]
)
async def test_simulated_slack_refuses_a_wrong_authorize_request(changed: str) -> None:
    async with browser() as made:
        url = await made.begin()
        name, _, value = changed.partition("=")
        asked = {**{key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}, name: value}
        answer = await made.slack_web.get("/openid/connect/authorize", params=asked)
    assert answer.status_code == 400


async def test_simulated_slack_offers_people_and_no_bots_at_sign_in() -> None:
    async with browser() as made:
        page = await made.slack_web.get(await made.begin())
        found = (await made.slack_web.get("/.well-known/openid-configuration")).json()
    assert (">Ada<" in page.text, ">Build Bot<" in page.text) == (True, False)
    assert found["issuer"] == "https://slack.test"


COOKIE = Cookie("__Host-gofer", KEY, PAGES, 60)


@given(st.text(max_size=300))
def test_session_cookie_of_any_foreign_text_is_refused(text: str) -> None:
    assert COOKIE.read(text, 0.0) is None


def value(cookie: Cookie, fields: dict[str, str]) -> str:
    return cookie.set(fields, 0.0).partition("=")[2].partition(";")[0]


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=4), st.integers(0, 500))
def test_session_cookie_with_one_changed_letter_is_refused(fields: dict[str, str], at: int) -> None:
    text = value(COOKIE, fields)
    assert COOKIE.read(text, 59.9) is not None
    at %= len(text)
    changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
    assert COOKIE.read(changed, 0.0) is None
    assert COOKIE.read(text, 60.0) is None


def test_session_cookie_of_another_name_key_or_site_is_refused() -> None:
    text = value(COOKIE, {"user": ADA})
    assert Cookie("__Host-gofer-sign-in", KEY, PAGES, 60).read(text, 0.0) is None
    assert Cookie("__Host-gofer", Secret("cd" * 32), PAGES, 60).read(text, 0.0) is None
    assert Cookie("__Host-gofer", KEY, "https://gofer-test.acme.test", 60).read(text, 0.0) is None


OPERATOR = [
    ("openid.connect.token", "bad_client_secret", "SLACK_CLIENT_SECRET"),
    ("users.info", "invalid_auth", "SLACK_BOT_TOKEN"),
    ("users.info", "missing_scope", "gofer manifest --sign-in"),
    ("users.info", "token_revoked", "SLACK_BOT_TOKEN"),
]


@pytest.mark.parametrize(("method", "code", "remedy"), OPERATOR)
async def test_slack_refusal_that_needs_the_operator_is_logged_and_counted(
    method: str, code: str, remedy: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with browser() as made:
        back = await made.agree(await made.begin(to="/runs/run1"))
        made.http.said[method] = b'{"ok":false,"error":"' + code.encode() + b'"}'
        answer = await made.get(back)
    (line,) = [record for record in caplog.records if record.name.startswith("gofer")]
    assert (line.levelname, line.__dict__["fields"]) == ("ERROR", {"system": "Slack", "path": method, "code": code})
    assert remedy in line.getMessage()
    assert made.counted == [code]
    assert answer.status_code == 503
    assert f"({code}), so Gofer cannot show its pages. The operator must fix this." in answer.text
    for secret in (ADA, "xoxb-", "code="):
        assert secret not in caplog.text


async def test_revoked_token_is_reported_before_the_redirect_to_slack() -> None:
    async with browser() as made:
        made.http.said["auth.test"] = b'{"ok":false,"error":"token_revoked"}'
        answer = await made.get("/sign-in")
    assert (answer.status_code, made.counted) == (503, ["token_revoked"])


async def test_unreachable_slack_alarms_no_operator(caplog: pytest.LogCaptureFixture) -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        made.http.away = True
        await made.get(back)
    assert [(one.levelname, one.getMessage()) for one in caplog.records if one.name.startswith("gofer")] == [
        ("WARNING", "Slack refused openid.connect.token (no_answer)")
    ]
    assert made.counted == []


async def test_two_tabs_of_a_browser_sign_in_at_once() -> None:
    async with browser() as made:
        first = await made.agree(await made.begin(to="/runs/run1"))
        second = await made.agree(await made.begin(to="/prompts/w"))
        answers = [await made.get(first), await made.get(second)]
    assert [answer.headers["location"] for answer in answers] == ["/runs/run1", "/prompts/w"]


async def test_browser_keeps_five_sign_in_attempts_and_drops_the_oldest() -> None:
    async with browser() as made:
        backs: list[str] = []
        for _ in range(7):
            backs.append(await made.agree(await made.begin()))
            made.clock.advance(1)
        kept = len(made.gofer.cookies)
        statuses = [(await made.get(back)).status_code for back in backs]
    assert (kept, statuses) == (5, [400, 400, 303, 303, 303, 303, 303])


@pytest.mark.parametrize("refusal", ["denied", "late", "guest", "away"])
async def test_refused_sign_in_links_back_to_the_requested_page(refusal: str) -> None:
    async with browser() as made:
        url = await made.begin(to="/runs/run1")
        if refusal == "denied":
            sent = await made.slack_web.get(f"{url}&denied=1")
            back = sent.headers["location"].removeprefix(PAGES)
        else:
            back = await made.agree(url, GUEST if refusal == "guest" else ADA)
        if refusal == "late":
            made.clock.advance(600)
        made.http.away = refusal == "away"
        answer = await made.get(back)
    assert answer.status_code >= 400
    assert 'href="/sign-in?to=%2Fruns%2Frun1"' in answer.text


async def test_sign_in_attempt_is_accepted_once_after_failure_or_success() -> None:
    async with browser() as made:
        back = await made.agree(await made.begin())
        kept = dict(made.gofer.cookies)
        made.http.said["users.info"] = b"{}"
        refused = await made.get(back)
        forgotten = dict(made.gofer.cookies)
        made.http.said.clear()
        again = await made.get(back)
        # Slack gives another code for the same attempt, and the browser kept its cookie.
        url = await made.begin()
        first = await made.agree(url)
        second = await made.agree(url)
        cookies = dict(made.gofer.cookies)
        begun = await made.get(first)
        made.gofer.cookies.clear()
        made.gofer.cookies.update(cookies)
        twice = await made.get(second)
    assert (refused.status_code, again.status_code, begun.status_code, twice.status_code) == (503, 400, 303, 401)
    assert (len(kept), forgotten) == (1, {})


async def test_sign_in_request_names_the_workspace_of_gofer() -> None:
    async with browser() as made:
        url = await made.begin()
    assert parse_qs(urlsplit(url).query)["team"] == ["T1"]


MISSING = ["deleted", "is_bot", "is_restricted", "is_ultra_restricted", "team_id", "id"]


@pytest.mark.parametrize("missing", MISSING)
async def test_sign_in_answers_503_when_slack_omits_a_field_of_the_user(missing: str) -> None:
    about: dict[str, object] = {"id": ADA, "team_id": "T1"}
    about |= dict.fromkeys(("deleted", "is_bot", "is_restricted", "is_ultra_restricted"), False)
    async with browser() as made:
        made.http.said["users.info"] = encode({"ok": True, "user": about})
        assert (await made.sign_in()).status_code == 303
        del about[missing]
        made.http.said["users.info"] = encode({"ok": True, "user": about})
        assert (await made.sign_in()).status_code == 503


async def test_error_in_a_callback_url_alarms_no_operator(caplog: pytest.LogCaptureFixture) -> None:
    async with browser() as made:
        url = urlsplit(await made.begin(to="/runs/run1"))
        state = parse_qs(url.query)["state"][0]
        answer = await made.get(f"/sign-in/callback?state={state}&error=invalid_auth")
    assert (answer.status_code, made.counted) == (403, [])
    assert "invalid_auth" not in caplog.text + answer.text
