"""Feedback on answers: reactions and replies in Slack, on the way to the journal, statistics, pages and retention."""

import asyncio
import json
from pathlib import Path

import pytest

from gofer.cli.main import main
from gofer.journal.entries import FeedbackGiven
from gofer.journal.head_facts import HeadFacts, decode
from gofer.models.language_model import Answer
from gofer.projections.progress import Progress, project
from gofer.runtime.retention import Purger
from gofer_simulators.slack.envelopes import reaction_envelopes
from gofer_simulators.slack.workspace import Message
from support.app.company import Company
from support.app.one_workflow import CAPTAIN, DEPLOYS, LEADS, ONCALL, Echo, gofer, quiet
from support.app.signed_in_pages import PAGES, signed_in_pages
from support.engine.memory_run import says
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio
ASK = "<@U0GOFER0> hello"
MENTIONS = "when: [slack.mention]"
BOTH = 'when: [slack.mention, slack.reaction: {emoji: "-1"}]'


class Long(Echo):
    """A model whose answer takes several messages."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says("A sentence of the answer. " * 1_000)


async def answered(made: Company, channel: str = DEPLOYS) -> tuple[str, Message]:
    """Mention Gofer; return the run and the answer."""
    asked = await made.slack.say(CAPTAIN, channel, ASK)
    (*_, head) = await made.ended()
    (answer,) = made.answers(asked)
    return head.run, answer


async def progress_of(made: Company, run: str) -> Progress:
    """Return a run once all deliveries were taken."""
    await quiet(made)
    return project(await made.journal(run))


async def facts_of(made: Company, run: str) -> HeadFacts:
    head = await made.embedded.state.store.head(run)
    assert head is not None
    facts = decode(head.facts)
    assert facts is not None
    return facts


def verdicts(progress: Progress) -> dict[str, str]:
    return {actor: given.verdict for actor, given in progress.follow_ups.feedback.items()}


async def test_reaction_on_an_answer_is_feedback_until_its_removal(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, answer = await answered(made)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1")
        await made.slack.react(ONCALL, DEPLOYS, answer.ts, "+1::skin-tone-3")
        assert verdicts(await progress_of(made, run)) == {CAPTAIN: "bad", ONCALL: "good"}
        facts = await facts_of(made, run)
        assert (facts.good, facts.bad) == (1, 1)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1", added=False)
        assert verdicts(await progress_of(made, run)) == {ONCALL: "good"}
        assert len(await quiet(made)) == 1


async def test_feedback_delivered_twice_is_journaled_once(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, answer = await answered(made)
        (envelope,) = reaction_envelopes(made.slack.workspace, answer, "-1", CAPTAIN, added=True)
        for number in range(3):
            assert await made.slack.deliver(envelope, retry_num=number) == 200
            await quiet(made)
        assert len([entry for entry in await made.entries(run) if isinstance(entry, FeedbackGiven)]) == 1


async def test_reaction_on_any_other_message_is_no_feedback(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, answer = await answered(made)
        other = await made.slack.say(ONCALL, DEPLOYS, "thanks", answer.thread_ts)
        await made.slack.react(CAPTAIN, DEPLOYS, other.ts, "-1")
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "eyes")
        await made.slack.react(made.slack.workspace.bot.user, DEPLOYS, answer.ts, "+1")
        assert verdicts(await progress_of(made, run)) == {}


async def test_reaction_that_starts_a_workflow_is_feedback_besides(tmp_path: Path) -> None:
    async with gofer(tmp_path, BOTH) as made:
        run, answer = await answered(made)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1")
        assert len(await made.ended(2)) == 2
        assert verdicts(await progress_of(made, run)) == {CAPTAIN: "bad"}


@pytest.mark.parametrize("mention", ["", "<@U0GOFER0> "])
async def test_reply_that_begins_with_an_emoji_is_feedback_in_words_and_starts_no_run(
    tmp_path: Path, mention: str
) -> None:
    async with gofer(tmp_path, "when: [slack.mention: {follow_ups: true}]") as made:
        run, answer = await answered(made)
        text = f"{mention}:-1::skin-tone-2: the project &amp; the team were missing"
        await made.slack.say(ONCALL, DEPLOYS, text, answer.thread_ts)
        progress = await progress_of(made, run)
        given = progress.follow_ups.feedback[ONCALL]
        assert (given.verdict, given.words, given.origin) == ("bad", "the project & the team were missing", "reply")
        assert len(await quiet(made)) == 1
        await made.slack.say(ONCALL, DEPLOYS, "<@U0GOFER0> and now?", answer.thread_ts)
        assert len(await made.ended(2)) == 2


async def test_words_below_an_emoji_of_another_thread_start_a_run(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        parent = await made.slack.say(ONCALL, DEPLOYS, "Something else")
        await made.slack.say(ONCALL, DEPLOYS, "<@U0GOFER0> :-1: is what she wrote", parent.ts)
        assert [head.status for head in await made.ended()] == ["done"]


async def test_private_run_leaves_no_row_and_no_entry(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        asked = await made.slack.say(CAPTAIN, LEADS, ASK)
        await made.ended()
        (answer,) = made.answers(asked)
        store, tokens = made.embedded.state.store, made.embedded.worker.services.tokens
        team = made.slack.workspace.team.id
        assert await store.memo(f"answer:{tokens.answer('slack', team, LEADS, answer.ts)}") is None
        assert await store.memo(f"answered:{tokens.answered_thread('slack', team, LEADS, asked.ts)}") is None
        await made.slack.react(CAPTAIN, LEADS, answer.ts, "-1")
        (head,) = await quiet(made)
        assert (head.facts, head.retention) == ("", "deleted")
        assert await store.items(head.run) == []


async def test_all_messages_of_a_long_answer_take_feedback(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS, Long()) as made:
        asked = await made.slack.say(CAPTAIN, DEPLOYS, ASK)
        (head,) = await made.ended()
        first, *_, last = made.answers(asked)
        assert first.ts != last.ts
        await made.slack.react(CAPTAIN, DEPLOYS, first.ts, "-1")
        await made.slack.react(ONCALL, DEPLOYS, last.ts, "+1")
        assert verdicts(await progress_of(made, head.run)) == {CAPTAIN: "bad", ONCALL: "good"}


async def test_bad_reaction_keeps_a_run_past_retention_until_its_owner_looked(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, answer = await answered(made)
        other, _ = await answered(made)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1")
        await progress_of(made, run)
        state = made.embedded.state
        head = await state.store.head(run)
        assert head is not None
        assert head.retention == "unseen"
        later = Purger(state.stores, SetClock(head.updated_at / 1000 + 40 * 86_400 + 60))
        purged = await later.purge()
        assert purged.proposal == "1 run with bad feedback, 40 days old, waits for its owner: gofer feedback"
        assert (await made.get(f"/runs/{run}")).status_code == 200
        assert await state.store.head(other) is None
        assert await state.store.retain(run, "unseen", "due") == "due"
        assert (await later.purge()).proposal == ""
        assert (await made.get(f"/runs/{run}")).status_code == 404


async def test_feedback_after_the_deletion_of_the_contents_is_ignored(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, answer = await answered(made)
        await Purger(made.embedded.state.stores, made.embedded.worker.services.outside.clock).purge(0)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1")
        (head,) = await quiet(made)
        assert (head.run, head.retention) == (run, "deleted")
        assert await made.embedded.state.store.items(run) == []


async def test_page_of_a_run_takes_and_shows_feedback(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, _ = await answered(made)
        form = {"verdict": "bad", "words": "no <b>project</b>"}
        url = f"{made.embedded.url}/runs/{run}/feedback"
        foreign = await made.http.post(url, data=form, headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403
        own = await made.http.post(url, data=form, headers={"origin": made.embedded.url})
        assert (own.status_code, "Your feedback is stored" in own.text) == (200, True)
        await progress_of(made, run)
        page = (await made.get(f"/runs/{run}")).text
        assert "bad by operator, in words: “no &lt;b&gt;project&lt;/b&gt;”" in page
        assert f"gofer golden {run} --regression" in page
        posted = await made.http.post(url, json={"verdict": "withdrawn"})
        assert (posted.status_code, posted.json()) == (202, {"run": run, "verdict": "withdrawn"})
        assert verdicts(await progress_of(made, run)) == {}
        accept = {"accept": "application/json"}
        shown = (await made.http.get(f"{made.embedded.url}/runs/{run}", headers=accept)).json()
        assert (shown["feedback"], shown["review"]) == ([], None)
        assert (await made.http.post(url, json={"verdict": "great"})).status_code == 400
        assert (await made.http.post(url, json={"verdict": "bad", "words": "x" * 2_001})).status_code == 413
        assert (await made.http.post(url, json={"verdict": "bad", "words": "x" * 40_000})).status_code == 413
        assert (await made.http.post(url.replace(run, "0" * 24), json={"verdict": "bad"})).status_code == 404


async def test_signed_in_person_gives_feedback_with_the_token_of_the_page_only(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made, signed_in_pages(made) as pages:
        run, _ = await answered(made)
        path = f"/runs/{run}/feedback"
        async with pages.signed_in(CAPTAIN) as browser:
            page = (await browser.get(f"/runs/{run}", headers={"accept": "text/html"})).text
            token = page.partition('name="token" value="')[2].partition('"')[0]
            own = {"origin": PAGES}
            assert (await browser.post(path, data={"verdict": "bad"}, headers=own)).status_code == 403
            form = {"verdict": "bad", "token": token}
            evil = {"origin": "https://evil.example"}
            assert (await browser.post(path, data=form, headers=evil)).status_code == 403
            assert (await browser.post(path, data=form, headers=own)).status_code == 200
        async with pages.stranger() as browser:
            answer = await browser.post(path, data={"verdict": "good", "token": token}, headers=own)
            assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?to=%2Fruns%2F{run}")
        assert verdicts(await progress_of(made, run)) == {CAPTAIN: "bad"}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words])
    out, err = capsys.readouterr()
    return code, out + err


def test_feedback_is_shown_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[str] = []

    async def play() -> None:
        async with gofer(tmp_path, MENTIONS) as made:
            for emoji in ("+1", "-1", ""):
                run, answer = await answered(made)
                runs.append(run)
                if emoji:
                    await made.slack.react(ONCALL, DEPLOYS, answer.ts, emoji)
                await quiet(made)

    asyncio.run(play())
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    good, bad, unrated = runs
    code, listed = printed(capsys, "feedback")
    first, said, offered, second, *_ = listed.splitlines()
    assert (code, first.split()[0], second.split()[0]) == (0, bad, good)
    assert first.endswith("bad: 1 person, good: 0 persons  waits for its owner")
    assert (said, offered) == (
        f"  bad by {ONCALL} with :-1:",
        f'  gofer golden {bad} --regression --not-contains "…"',
    )
    assert [row["waits"] for row in json.loads(printed(capsys, "feedback", "--json")[1])] == [True, False]
    assert f"  feedback: bad by {ONCALL} with :-1:" in printed(capsys, "trace", bad)[1]
    assert "good/bad" in printed(capsys, "stats")[1]
    total = json.loads(printed(capsys, "stats", "--json")[1])["total"]
    assert (total["feedback"], total["reviews"]["runs"]) == ({"good": 1, "bad": 1}, 0)
    found = json.loads(printed(capsys, "runs", "--feedback", "bad", "--json")[1])
    assert [row["run"] for row in found] == [bad]
    assert len(json.loads(printed(capsys, "runs", "--feedback", "any", "--json")[1])) == 2
    assert printed(capsys, "runs", "--not-effective", "--json")[1].startswith("[]\n")
    assert "1 run with bad feedback, 0 days old, waits for its owner: gofer feedback." in printed(capsys, "purge")[1]
    assert printed(capsys, "feedback", bad, "--seen") == (
        0,
        f"The contents of run {bad} will be deleted on schedule.\n",
    )
    assert printed(capsys, "feedback", bad, "--seen")[0] == 2
    assert printed(capsys, "feedback", unrated, "--bad", "no project")[1] == (
        f"No Gofer serves {tmp_path / 'state'} now. The next `gofer serve` or `gofer demo` there adds this to run "
        f"{unrated}: bad.\n"
        f'Make a test of it: gofer golden {unrated} --regression --not-contains "…"\n'
    )
    looked = "`gofer runs` lists the newest runs. Only a whole id finds a run behind the newest 10,000."
    assert printed(capsys, "feedback", "ffff", "--bad") == (2, f"gofer: There is no run 'ffff'; {looked}\n")
    assert printed(capsys, "feedback", "--bad")[0] == 2
    code, said = printed(capsys, "feedback", "--good", unrated)
    assert (code, said.startswith("gofer: Name the run first")) == (2, True)


async def test_unfinished_run_takes_no_feedback_from_a_page(tmp_path: Path) -> None:
    model = Echo()
    model.go.clear()
    async with gofer(tmp_path, MENTIONS, model) as made:
        await made.slack.say(CAPTAIN, DEPLOYS, ASK)
        async with asyncio.timeout(60):
            await model.asked.wait()
        (head,) = await made.embedded.state.store.heads(9, private=True)
        posted = await made.http.post(f"{made.embedded.url}/runs/{head.run}/feedback", json={"verdict": "bad"})
        error = {"error": f"Run {head.run} has not ended yet. Give feedback once it has."}
        assert (posted.status_code, "Bad answer" in (await made.get(f"/runs/{head.run}")).text) == (409, False)
        accept = {"accept": "application/json"}
        url = f"{made.embedded.url}/runs/{head.run}/feedback"
        assert (await made.http.post(url, json={"verdict": "bad"}, headers=accept)).json() == error
        model.go.set()
        await made.ended()


def test_private_run_and_deleted_run_take_no_feedback_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[str] = []

    async def play() -> None:
        async with gofer(tmp_path, MENTIONS) as made:
            for channel in (DEPLOYS, LEADS):
                await made.slack.say(CAPTAIN, channel, ASK)
                runs.append((await made.ended(len(runs) + 1))[-1].run)
            await Purger(made.embedded.state.stores, made.embedded.worker.services.outside.clock).purge(0)

    asyncio.run(play())
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    deleted, private = runs
    gone = f"gofer: The contents of run {deleted} were deleted by retention; nothing can bring them back.\n"
    assert printed(capsys, "feedback", deleted, "--bad") == (1, gone)
    unknown = f"gofer: There is no run {private!r}; `gofer runs` lists the newest runs.\n"
    assert printed(capsys, "feedback", private, "--bad") == (2, unknown)
    assert printed(capsys, "feedback") == (0, "No run that may be listed has feedback.\n")
