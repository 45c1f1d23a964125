"""Limits per person and per workflow: which runs count, and how a refused run is answered."""

import hashlib
from dataclasses import replace

import pytest

from gofer.engine.usage_limits import scope_limits
from gofer.journal import entries as e
from gofer.journal import inbox
from gofer.journal.coordination import Usage
from gofer.journal.lineage import run_id
from gofer.journal.log import Pen, claim
from gofer.models.language_model import Answer
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Allowance, Defaults
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import CATALOG, Crashed, MemoryWorker
from support.stand_ins import KEY, TOKENS, claimed, make_outside, mention

pytestmark = pytest.mark.anyio

LOADED = CATALOG.workflows["answer-here"]
TENTH = 100_000 - 10
"""Input tokens of an answer that costs 0.10 USD, with its one output token."""


def limited(*answers: Answer, person: Allowance | None = None, workflow: Allowance | None = None) -> MemoryWorker:
    form = LOADED.workflow.model_copy(update={"limits_per_workflow": workflow or Allowance()})
    loaded = replace(LOADED, workflow=form, limits_per_person=person or Allowance())
    return MemoryWorker(ListModel(list(answers)), catalog=Catalog({"answer-here": loaded}, Defaults()))


async def begin(made: MemoryWorker, run: str) -> str:
    """Return the answer to a mention, five minutes after the one before."""
    made.clock.advance(300)
    await claimed(made.store, run, make_outside(made.clock))
    await made.accept(run)
    await work_until_idle(made)
    return made.posted[-1]


async def work_until_idle(made: MemoryWorker) -> None:
    while await made.work_once():
        pass


async def used(made: MemoryWorker) -> list[Usage]:
    limited = scope_limits(mention(), made.catalog.workflows["answer-here"], TOKENS, "")
    rows = [await made.store.usage(share.scopes[0], 0) for share in limited]
    return [row for scope in rows for row in scope]


async def test_run_over_the_limit_of_a_person_is_refused_with_the_next_possible_time() -> None:
    made = limited(says("one"), says("two"), says("three"), person=Allowance(runs_per_hour=2))
    assert [await begin(made, run) for run in ("a", "b")] == ["one", "two"]
    told = await begin(made, "c")
    assert told == "You have started 2 runs in the last hour; I can take the next one at 13:05 UTC."
    head = await made.store.head("c")
    assert head is not None
    # The thread was read before and is public, so the reason is listed.
    assert (head.status, head.reason) == ("limited", "limit reached: 2 runs an hour for one person")
    assert len(made.model.requests) == 2
    made.clock.advance(3000)
    assert await begin(made, "d") == "three"


async def test_refused_run_does_not_count_against_the_limit() -> None:
    made = limited(says("one"), says("two"), workflow=Allowance(runs_per_hour=1))
    await begin(made, "a")
    for run in ("b", "c", "d"):
        told = await begin(made, run)
        assert (
            told == "People have started 1 run of answer-here in the last hour; I can take the next one at 13:05 UTC."
        )
    assert [row.run for row in await used(made)] == ["a"]


async def test_spent_usd_counts_against_the_limit_for_a_day() -> None:
    made = limited(says("one", tokens=TENTH), says("two"), person=Allowance(usd_per_day=0.1))
    await begin(made, "a")
    told = await begin(made, "b")
    assert told == (
        "Your runs have used 0.10 USD in the last 24 hours; I can take the next one at 12:05 UTC on 22 November."
    )
    made.clock.advance(86_400)
    assert await begin(made, "c") == "two"


@pytest.mark.parametrize("whose", ["person", "workflow"])
async def test_tokens_written_to_a_cache_count_against_the_limit_for_a_day(whose: str) -> None:
    written = replace(says("one"), usage=messages.Usage(50_000, 0, written_tokens=50_000))
    made = limited(written, says("two"), **{whose: Allowance(usd_per_day=0.1)})
    await begin(made, "a")
    assert "used 0.10 USD" in await begin(made, "b")


async def test_run_exceeds_the_usd_limit_by_at_most_one_model_call() -> None:
    look = says("So far.", ("slack_read_thread", {"ts": "1.0"}), tokens=TENTH)
    made = limited(says("one", tokens=TENTH), look, says("unused"), person=Allowance(usd_per_day=0.15))
    made.grant("slack_read_thread")
    await begin(made, "a")
    assert await begin(made, "b") == ("_I stopped at 0.15 USD a day for one person; here is what I have:_\n\nSo far.")
    assert sum(row.usd for row in await used(made)) == pytest.approx(0.2)


async def test_run_with_a_crash_and_repeated_queue_messages_counts_once() -> None:
    made = limited(says("one", tokens=TENTH), says("two"), person=Allowance(runs_per_hour=2, usd_per_day=1))
    made.crash_in.add("slack_update_message")
    await made.accept("a")
    with pytest.raises(Crashed):
        await made.work_once()
    made.crash_in.clear()
    for _ in range(3):
        await made.queue.enqueue("a")
        made.clock.advance(130)
        await work_until_idle(made)
    assert made.posted == ["one"]
    (row,) = await used(made)
    assert (row.run, row.usd) == ("a", pytest.approx(0.1))
    assert await begin(made, "b") == "two"


async def test_concurrent_mentions_never_exceed_the_run_limit() -> None:
    made = limited(*[says(str(n)) for n in range(9)], person=Allowance(runs_per_hour=3))
    for n in range(9):
        await made.accept(f"run{n}")
    await work_until_idle(made)
    assert len(made.model.requests) == 3
    assert sum("You have started 3 runs" in text for text in made.posted) == 6


async def test_run_cancelled_before_the_start_does_not_count_against_the_limit() -> None:
    made = limited(says("one"), person=Allowance(runs_per_hour=1))
    await begin(made, "a")
    await claimed(made.store, "b", make_outside(made.clock))
    await inbox.put(made.store, "b", "cancel-1", e.RunCancelled("Ada"))
    assert await begin(made, "b") == "_Stopped: cancelled by Ada._"
    assert [row.run for row in await used(made)] == ["a"]


async def test_limit_of_one_person_does_not_affect_another_person() -> None:
    made = limited(says("one"), says("two"), person=Allowance(runs_per_hour=1))
    await begin(made, "a")
    event = replace(mention(), actor=replace(mention().actor, id="U0OTHER0"))
    await claim(
        "b", e.RunAccepted(event, "answer-here"), Pen("ingress", made.worker.services.outside), made.store, made.blobs
    )
    await made.accept("b")
    await work_until_idle(made)
    assert made.posted[-1] == "two"


async def test_usage_row_holds_only_a_keyed_token_of_the_person() -> None:
    made = limited(says("one"), person=Allowance(runs_per_hour=1))
    await begin(made, "a")
    (row,) = await used(made)
    person = mention().actor.id
    assert person not in str(row)
    assert row.scope == TOKENS.usage("person", "slack", person)
    assert hashlib.sha256(encode(["person", "slack", person])).hexdigest()[:12] not in row.scope


async def test_usage_is_not_recorded_without_limits() -> None:
    made = limited(says("one"))
    await begin(made, "a")
    assert await used(made) == []
    assert made.store._usage == {}


async def test_money_used_before_a_rotation_counts_and_a_longer_run_counts_once() -> None:
    made = limited(says("one", tokens=TENTH), says("two", tokens=TENTH), person=Allowance(usd_per_day=0.2))
    loaded = made.catalog.workflows["answer-here"]
    before = run_id(KEY, mention(), loaded.name)
    await begin(made, before)
    rotated = InstallationKey(Secret("2" * 64), (KEY.current,))
    made.worker = replace(made.worker, services=replace(made.worker.services, installation_key=rotated))
    (row,) = await used(made)
    (share,) = scope_limits(mention(), loaded, Tokens(rotated), "b")
    assert list(share.scopes[1:]) == [row.scope]
    # A worker with the new key would record the money of the earlier run in the same row.
    (share,) = scope_limits(mention(), loaded, Tokens(rotated), before)
    assert share.scopes[0] == row.scope
    assert await begin(made, "b") == "two"
    assert "Your runs have used 0.20 USD in the last 24 hours" in await begin(made, "c")
