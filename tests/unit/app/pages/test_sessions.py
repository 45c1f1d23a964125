"""Sessions of the pages: sign-out, expiry and renewed membership checks."""

import pytest

from gofer.app.pages.sessions import CHECK_SECONDS
from support.app.page_browser import ADA, OTHER, browser

pytestmark = pytest.mark.anyio


async def test_sign_out_ends_the_sessions_of_every_browser_and_allows_a_new_sign_in() -> None:
    async with browser() as made:
        await made.sign_in()
        stolen = dict(made.gofer.cookies)
        left = await made.sign_out()
        cookies = dict(made.gofer.cookies)
        made.gofer.cookies.update(stolen)
        with_the_stolen_one = await made.get("/runs")
        await made.sign_in()
        again = await made.get("/runs")
    assert (left.status_code, "You are signed out in all browsers." in left.text) == (200, True)
    assert cookies == {}
    assert (with_the_stolen_one.status_code, again.status_code) == (303, 200)


async def test_sign_out_leaves_the_sessions_of_other_people() -> None:
    async with browser() as made:
        await made.sign_in(ADA)
        ada = dict(made.gofer.cookies)
        await made.sign_in(OTHER)
        await made.sign_out()
        made.gofer.cookies.update(ada)
        assert (await made.get("/runs")).status_code == 200


async def test_sign_out_works_after_a_session_renewal() -> None:
    async with browser() as made:
        await made.sign_in()
        made.clock.advance(CHECK_SECONDS)
        assert (await made.sign_out()).status_code == 200
        assert (await made.get("/runs")).status_code == 303


async def test_sign_out_is_refused_to_other_sites() -> None:
    async with browser() as made:
        await made.sign_in()
        token_of_another = await made.sign_out(token="ab" * 32)
        without = await made.gofer.post("/sign-out")
        odd = await made.gofer.post("/sign-out", content=b"token=%C3%A4&token=\xff")
        assert odd.status_code == 403
        elsewhere = await made.gofer.post("/sign-out", headers={"origin": "https://evil.test"})
        asked = await made.get("/sign-out")
        assert (await made.get("/runs")).status_code == 200
    assert [token_of_another.status_code, without.status_code, elsewhere.status_code] == [403] * 3
    assert asked.status_code in (404, 405)


LEAVING: list[dict[str, object]] = [{"restricted": True}, {"deactivated": True}, {"external": True}]


@pytest.mark.parametrize("changed", LEAVING)
async def test_session_of_a_former_full_member_ends_within_an_hour(changed: dict[str, object]) -> None:
    async with browser() as made:
        await made.sign_in()
        made.become(ADA, **changed)
        soon = await made.get("/runs")
        made.clock.advance(CHECK_SECONDS)
        later = await made.get("/runs")
        after = await made.get("/runs")
    assert (soon.status_code, later.status_code, after.status_code) == (200, 403, 303)
    assert "Only full members" in later.text


@pytest.mark.parametrize("changed", LEAVING)
async def test_former_full_member_loses_private_runs_at_once(
    changed: dict[str, object],
) -> None:
    async with browser() as made:
        await made.sign_in()
        before = await made.get("/runs/run2")
        made.become(ADA, **changed)
        after = await made.get("/runs/run2")
    assert (before.status_code, after.status_code) == (200, 404)


async def test_session_of_a_user_unknown_to_slack_ends() -> None:
    async with browser() as made:
        await made.sign_in()
        del made.slack.workspace.users[ADA]
        made.clock.advance(CHECK_SECONDS)
        assert (await made.get("/runs")).status_code == 403


async def test_slack_is_asked_about_a_session_once_an_hour() -> None:
    async with browser() as made:
        await made.sign_in()
        made.http.asked.clear()
        for _ in range(3):
            made.clock.advance(CHECK_SECONDS - 1)
            await made.get("/runs")
            made.clock.advance(1)
            assert (await made.get("/runs")).status_code == 200
            await made.get("/runs")
    assert made.http.asked == ["users.info"] * 3


async def test_session_renewal_does_not_extend_the_session() -> None:
    async with browser() as made:
        await made.sign_in()
        for hour in range(9):
            answer = await made.get("/runs")
            assert answer.status_code == (200 if hour < 8 else 303)
            made.clock.advance(3600)


async def test_program_reads_that_the_operator_must_fix_a_revoked_token() -> None:
    async with browser() as made:
        await made.sign_in()
        made.http.said["users.info"] = b'{"ok":false,"error":"token_revoked"}'
        made.clock.advance(CHECK_SECONDS)
        program = await made.get("/runs/run1/trace")
    sentence = "Slack refused Gofer's own access (token_revoked), so Gofer cannot show its pages."
    assert (program.status_code, program.text) == (503, f"{sentence} The operator must fix this.\n")


async def test_pages_answer_503_when_slack_has_not_answered_for_an_hour() -> None:
    async with browser() as made:
        await made.sign_in()
        made.http.away = True
        within = await made.get("/runs")
        made.clock.advance(CHECK_SECONDS)
        closed = await made.get("/runs")
        program = await made.get("/runs/run1/trace")
        made.http.away = False
        open_again = await made.get("/runs")
    assert (within.status_code, closed.status_code, open_again.status_code) == (200, 503, 200)
    assert "Gofer could not learn from Slack what you may see (no_answer). Try again in a minute." in closed.text
    assert (program.status_code, program.text) == (
        503,
        "Gofer could not learn from Slack what you may see (no_answer). Try again in a minute.\n",
    )
