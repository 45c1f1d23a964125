"""The contract of `journal/store.py`, for every store."""

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.journal.coordination import DAY_MS, Head, InboxItem, Mark, Retention, Spent, Usage
from gofer.journal.head_facts import HeadFacts, ToolCount, decode, encode
from gofer.journal.store import PAGE, Store
from gofer.stores.aws.journal import DynamoStore
from gofer.values.errors import TemporaryError
from support.aws.moto_server import all_stores
from support.stand_ins import NOON, SetClock, any_store

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite", "table", "aws"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with all_stores(request.param, tmp_path, SetClock()) as (made, _):
        yield made


KNOWN = HeadFacts(person="ada", channel="payments", llm_calls=2, tools={"slack_read": ToolCount(3, 1)})
FACTS = encode(KNOWN)


def head(run: str, accepted_at: int, conversation: str = "c1", **changes: object) -> Head:
    return Head(run=run, workflow="answer-here", conversation=conversation, accepted_at=accepted_at, **changes)


async def test_first_claim_of_a_run_wins_and_sets_the_key(store: Store) -> None:
    assert await store.key("r") is None
    assert await store.claim("r", b"mine", b"my key") is None
    assert await store.claim("r", b"theirs", b"their key") == b"mine"
    assert (list(await store.frames("r")), await store.key("r")) == ([b"mine"], b"my key")


async def test_one_of_many_concurrent_claims_wins_and_sets_the_key(store: Store) -> None:
    claims = {f"frame {i}".encode(): f"key {i}".encode() for i in range(50)}
    results = await asyncio.gather(*(store.claim("r", frame, key) for frame, key in claims.items()))
    assert sum(standing is None for standing in results) == 1
    (frame,) = await store.frames("r")
    assert await store.key("r") == claims[frame]


async def test_old_claims_without_a_head_are_listed(store: Store) -> None:
    for run, at in (("new", 30), ("old", 10), ("listed", 10), ("older", 5)):
        await store.claim(run, b"one", b"key", at)
    await store.create_head(head("listed", 10))
    assert list(await store.unlisted(11, 10)) == ["older", "old"]
    assert list(await store.unlisted(11, 1)) == ["older"]
    await store.forget("older")
    assert list(await store.unlisted(31, 10)) == ["old", "new"]


async def test_frame_position_is_written_once(store: Store) -> None:
    await store.claim("r", b"one", b"key")
    assert await store.create("r", 2, b"mine") is None
    assert await store.create("r", 2, b"theirs") == b"mine"
    assert list(await store.frames("r")) == [b"one", b"mine"]


async def test_frame_position_is_written_once_by_concurrent_writers(store: Store) -> None:
    await store.claim("r", b"one", b"key")
    results = await asyncio.gather(*(store.create("r", 2, f"{i}".encode()) for i in range(50)))
    winners = [i for i, standing in enumerate(results) if standing is None]
    assert len(winners) == 1
    assert {standing for standing in results if standing is not None} == {f"{winners[0]}".encode()}


async def test_frame_written_again_is_returned_as_the_existing_one(store: Store) -> None:
    await store.claim("r", b"one", b"key")
    assert await store.claim("r", b"one", b"key") == b"one"
    await store.create("r", 2, b"mine")
    assert await store.create("r", 2, b"mine") == b"mine"


async def test_frames_have_no_gaps(store: Store) -> None:
    with pytest.raises(ValueError, match="gap"):
        await store.create("r", 1, b"only a claim begins a run")
    await store.claim("r", b"one", b"key")
    with pytest.raises(ValueError, match="gap"):
        await store.create("r", 3, b"three")
    await store.create("r", 2, b"two")
    assert list(await store.frames("r")) == [b"one", b"two"]


async def test_frames_are_separate_by_run_and_stored_byte_for_byte(store: Store) -> None:
    body = bytes(range(256)) * 500
    await store.claim("a", body, b"key a")
    await store.claim("b", b"b", b"key b")
    await store.create("b", 2, body[::-1])
    assert list(await store.frames("a")) == [body]
    assert list(await store.frames("b")) == [b"b", body[::-1]]
    assert list(await store.frames("nobody")) == []


async def test_head_is_created_once_and_replaced_by_the_owner(store: Store) -> None:
    await store.create_head(head("r", 1))
    await store.put_head(head("r", 1, status="done", private=False, reason="because", updated_at=9))
    await store.create_head(head("r", 1))
    assert await store.head("r") == head("r", 1, status="done", private=False, reason="because", updated_at=9)
    assert await store.head("nobody") is None


async def test_head_stores_the_number_of_frames(store: Store) -> None:
    await store.create_head(head("r", 1, frames=1))
    assert await store.head("r") == head("r", 1, frames=1)
    await store.put_head(head("r", 1, status="running", frames=7))
    assert await store.head("r") == head("r", 1, status="running", frames=7)
    assert [item.frames for item in await store.heads(9, private=True)] == [7]


async def test_heads_are_listed_newest_first(store: Store) -> None:
    for run, at in (("a", 10), ("c", 30), ("b", 20)):
        await store.create_head(head(run, at))
    assert [item.run for item in await store.heads(2, private=True)] == ["c", "b"]


async def test_abandoned_and_rated_runs_are_found_among_all_others(store: Store) -> None:
    rated = encode(replace(KNOWN, good=1))
    for run, status, facts in (
        ("abandoned", "needs_attention", ""),
        ("retried", "needs_attention", ""),
        ("deleted", "needs_attention", ""),
        ("finished", "needs_attention", FACTS),
        ("rated", "done", rated),
        ("taken back", "done", rated),
        ("done", "done", FACTS),
    ):
        await store.create_head(head(run, 10, private=run == "abandoned"))
        await store.put_head(head(run, 10, status=status, private=run == "abandoned", updated_at=20, facts=facts))
    await store.put_head(head("retried", 10, status="queued", updated_at=30))
    await store.put_head(head("taken back", 10, status="done", updated_at=20, facts=FACTS))
    await store.retain("deleted", "due", "deleting")
    await store.retain("rated", "due", "unseen")
    assert await marked(store, "abandoned") == ["abandoned"]
    assert await marked(store, "rated") == ["rated"]


async def marked(store: Store, mark: Mark) -> list[str]:
    return sorted([item.run async for page in store.marked(mark) for item in page])


async def test_runs_without_keys_are_told_apart(store: Store) -> None:
    for run in ("a", "b", "c"):
        await store.claim(run, b"one", b"key")
    await store.destroy_key("b")
    assert list(await store.keyless(["a", "b", "c", "never"])) == ["b", "never"]
    assert list(await store.keyless([])) == []


async def test_private_runs_are_listed_on_request_and_do_not_count_towards_the_limit(store: Store) -> None:
    await store.create_head(head("public", 1, private=False))
    for n in range(5):
        await store.create_head(head(f"private{n}", 10 + n))
    assert [item.run for item in await store.heads(2)] == ["public"]
    assert len(await store.heads(10, private=True)) == 6


async def test_oldest_runnable_run_of_a_conversation_is_next(store: Store) -> None:
    await store.create_head(head("late", 30))
    await store.create_head(head("early", 10))
    await store.create_head(head("elsewhere", 1, conversation="c2"))
    await store.create_head(head("over", 5, status="done"))
    next_one = await store.oldest_runnable("c1")
    assert next_one is not None
    assert next_one.run == "early"
    await store.put_head(head("early", 10, status="running"))
    assert await store.oldest_runnable("c1") == head("early", 10, status="running")
    await store.put_head(head("early", 10, status="failed"))
    assert await store.oldest_runnable("c1") == head("late", 30)
    assert await store.oldest_runnable("nothing") is None


async def test_previous_run_is_the_newest_finished_one_of_the_workflow_and_conversation(store: Store) -> None:
    await store.create_head(head("first", 10, status="done"))
    await store.create_head(head("second", 20, status="failed"))
    await store.create_head(head("under way", 25, status="running"))
    await store.create_head(head("elsewhere", 28, conversation="c2", status="done"))
    await store.create_head(replace(head("another", 29, status="done"), workflow="other"))
    await store.create_head(head("later", 40, status="done"))
    found = await store.previous("c1", "answer-here", 30)
    assert found is not None
    assert found.run == "second"
    assert await store.previous("c1", "answer-here", 10) is None


async def test_open_runs_of_a_conversation_or_of_its_place_are_found(store: Store) -> None:
    places = {"a": "here:1", "b": "here:1", "c": "here:2", "d": "elsewhere:1", "e": "her:1", "f": "here:1", "g": "here"}
    for n, (run, conversation) in enumerate(places.items()):
        await store.create_head(head(run, n, conversation, status="parked" if run == "b" else "queued"))
    await store.put_head(head("f", 5, "here:1", status="done"))

    async def found(conversations: str) -> list[str]:
        return sorted([one.run async for page in store.open_runs(conversations) for one in page])

    assert await found("here:1") == ["a", "b"]
    assert await found("here:*") == ["a", "b", "c"]
    assert await found("nowhere:1") == await found("nowhere:*") == []


async def test_unfinished_runs_without_progress_are_listed_oldest_first(store: Store) -> None:
    await store.create_head(head("new", 900))
    await store.create_head(head("old", 100))
    await store.put_head(head("alive", 50, status="running", updated_at=950))
    await store.put_head(head("parked", 60, status="parked", updated_at=200))
    await store.put_head(head("over", 10, status="done", updated_at=20))
    assert [item.run for item in await store.unfinished(900, 10)] == ["old", "parked"]
    assert [item.run for item in await store.unfinished(901, 10)] == ["old", "parked", "new"]
    assert [item.run for item in await store.unfinished(901, 1)] == ["old"]


async def test_unfinished_runs_are_listed_page_by_page(store: Store) -> None:
    for run, at in (("b", 2), ("a", 2), ("d", 1), ("c", 3), ("e", 2)):
        await store.create_head(head(run, at))
    found: list[str] = []
    last: Head | None = None
    while page := await store.unfinished(4, 2, after=last):
        found += [item.run for item in page]
        last = page[-1]
    assert found == ["d", "a", "b", "e", "c"]
    assert [item.run for item in await store.unfinished(3, 9, after=head("a", 2))] == ["b", "e"]


async def test_parked_run_is_not_listed_as_unfinished_before_the_wake_time(store: Store) -> None:
    await store.put_head(head("parked", 60, status="parked", updated_at=200, wakes_at=900))
    assert await store.head("parked") == head("parked", 60, status="parked", updated_at=200, wakes_at=900)
    assert list(await store.unfinished(900, 10)) == []
    assert [item.run for item in await store.unfinished(901, 10)] == ["parked"]


async def test_all_leases_are_dropped_at_once(store: Store) -> None:
    await store.lease("c1", "dead", NOON, 60)
    await store.drop_leases()
    assert await store.lease("c1", "alive", NOON, 60)


async def test_lease_has_one_holder_until_expiry(store: Store) -> None:
    assert await store.lease("c1", "me", NOON, 60)
    assert not await store.lease("c1", "you", NOON + 59, 60)
    assert await store.lease("c1", "me", NOON + 59, 60)
    assert not await store.lease("c1", "you", NOON + 118, 60)
    assert await store.lease("c1", "you", NOON + 119, 60)
    assert not await store.lease("c1", "me", NOON + 119, 60)
    assert await store.lease("c2", "me", NOON, 60)


async def test_lease_is_released_by_the_holder_only(store: Store) -> None:
    await store.lease("c1", "me", NOON, 60)
    await store.release("c1", "you")
    assert not await store.lease("c1", "you", NOON, 60)
    await store.release("c1", "me")
    assert await store.lease("c1", "you", NOON, 60)


async def test_free_lease_goes_to_one_of_many_concurrent_workers(store: Store) -> None:
    taken = await asyncio.gather(*(store.lease("c1", f"w{i}", NOON, 60) for i in range(20)))
    assert sum(taken) == 1


async def test_inbox_stores_items_once_and_in_order(store: Store) -> None:
    await store.put_item("r", InboxItem("2", b"second"))
    await store.put_item("r", InboxItem("1", b"first"))
    await store.put_item("r", InboxItem("1", b"again"))
    await store.put_item("other", InboxItem("1", b"theirs"))
    assert list(await store.items("r")) == [InboxItem("1", b"first"), InboxItem("2", b"second")]
    await store.drop_items("r", ["1", "unknown"])
    assert list(await store.items("r")) == [InboxItem("2", b"second")]
    assert list(await store.items("other")) == [InboxItem("1", b"theirs")]


async def test_sqlite_rows_survive_closing_the_store(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as first:
        await first.claim("r", b"one", b"key")
        await first.create("r", 2, b"two")
        await first.create_head(head("r", 1))
        await first.put_item("r", InboxItem("1", b"item"))
    with any_store("sqlite", tmp_path) as second:
        assert (list(await second.frames("r")), await second.key("r")) == ([b"one", b"two"], b"key")
        assert await second.head("r") == head("r", 1)
        assert list(await second.items("r")) == [InboxItem("1", b"item")]


async def full(store: Store, run: str = "r") -> None:
    """Store a run with frames, a head, an inbox item and a key."""
    await store.claim(run, b"one", b"key")
    await store.create(run, 2, b"two")
    await store.create_head(head(run, 1, status="done"))
    await store.put_item(run, InboxItem("1", b"item"))


async def test_destroyed_run_key_cannot_be_set_again(store: Store) -> None:
    await full(store)
    await full(store, "other")
    for _ in range(2):
        await store.destroy_key("r")
        assert await store.key("r") is None
    assert await store.claim("r", b"again", b"another key") == b"one"
    assert await store.key("r") is None
    assert await store.key("other") == b"key"


async def test_emptied_run_keeps_only_the_frame_positions(store: Store) -> None:
    await full(store)
    await full(store, "other")
    for _ in range(2):
        await store.empty("r")
        assert (list(await store.frames("r")), list(await store.items("r"))) == ([b"", b""], [])
    assert await store.claim("r", b"again", b"key") == b""
    assert await store.create("r", 2, b"again") == b""
    assert list(await store.frames("other")) == [b"one", b"two"]
    assert len(await store.items("other")) == 1
    await store.empty("nobody")
    assert await store.claim("nobody", b"one", b"key") is None


async def test_forgotten_run_leaves_no_row_and_can_be_claimed_again(store: Store) -> None:
    await full(store)
    await full(store, "other")
    for _ in range(2):
        await store.forget("r")
        assert (await store.head("r"), await store.key("r")) == (None, None)
        assert (list(await store.frames("r")), list(await store.items("r"))) == ([], [])
    assert await store.head("other") == head("other", 1, status="done")
    assert await store.claim("r", b"anew", b"another key") is None


async def test_retention_changes_only_through_retain_and_from_the_expected_state(store: Store) -> None:
    await store.create_head(head("r", 1))
    assert await store.retain("r", "due", "kept") == "kept"
    assert await store.retain("r", "due", "kept") == "kept"
    assert await store.retain("r", "due", "deleting") == "kept"
    await store.put_head(head("r", 1, status="done", reason="by an owner that knows nothing of it"))
    found = await store.head("r")
    assert found is not None
    assert (found.status, found.retention) == ("done", "kept")
    assert await store.retain("nobody", "due", "kept") is None


async def test_finished_runs_are_listed_by_retention_oldest_first(store: Store) -> None:
    await store.create_head(head("new", 900, status="done"))
    await store.create_head(head("old", 100, status="failed", private=False))
    await store.create_head(head("touched", 50, status="done", updated_at=950))
    await store.create_head(head("running", 1, status="running"))
    await store.create_head(head("parked", 1, status="parked"))
    await store.create_head(head("kept", 10, status="done", retention="kept"))
    assert [item.run for item in await store.ended("due", 900, 10)] == ["old"]
    assert [item.run for item in await store.ended("due", 951, 10)] == ["old", "new", "touched"]
    assert [item.run for item in await store.ended("due", 951, 1)] == ["old"]
    assert [item.run for item in await store.ended("due", 951, 10, private=True)] == ["new", "touched"]
    assert [item.run for item in await store.ended("kept", 951, 10)] == ["kept"]


async def test_scrubbed_sqlite_files_hold_no_deleted_bytes(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("r", b"a frame of some length", b"a key of some length")
        await store.put_item("r", InboxItem("1", b"an item of some length"))
        await store.destroy_key("r")
        await store.empty("r")
        await store.scrub()
        left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"of some length" not in left
    assert (tmp_path / "gofer.db").exists()


async def test_scrub_is_a_temporary_error_while_another_process_reads(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        await store.claim("r", b"one", b"key")
        reader = sqlite3.connect(tmp_path / "gofer.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM frames").fetchall()
        await store.destroy_key("r")
        with pytest.raises(TemporaryError, match="another process reads it"):
            await store.scrub()
        reader.close()
        await store.scrub()


async def test_usage_of_a_run_is_one_row_with_the_first_time_and_the_highest_cost(store: Store) -> None:
    await store.put_usage([])
    await store.put_usage([Usage("ada", "r", 10, 0.0), Usage("w", "r", 10, 0.0)])
    await store.put_usage([Usage("ada", "r", 99, 0.25)])
    await store.put_usage([Usage("ada", "r", 10, 0.0)])
    assert list(await store.usage("ada", 0)) == [Usage("ada", "r", 10, 0.25)]
    assert list(await store.usage("w", 0)) == [Usage("w", "r", 10, 0.0)]
    assert list(await store.usage("nobody", 0)) == []


async def test_usage_is_listed_by_time_dropped_by_run_and_expires(store: Store) -> None:
    for run, at in (("c", 30), ("b", 20), ("a", 20), ("old", 5)):
        await store.put_usage([Usage("ada", run, at, 0.5)])
    assert [row.run for row in await store.usage("ada", 20)] == ["a", "b", "c"]
    await store.drop_usage("b")
    assert [row.run for row in await store.usage("ada", 0)] == ["old", "a", "c"]
    await store.expire_usage(20)
    left = ["a", "c"]
    if isinstance(store, DynamoStore):
        # DynamoDB removes the rows, by an attribute that a test of this store reads.
        left = ["old", "a", "c"]
    assert [row.run for row in await store.usage("ada", 0)] == left


async def test_amounts_are_added_up_by_five_minutes_of_a_day(store: Store) -> None:
    step = 300_000
    noon = 500 * step
    rows = [("first", 1), ("second", step), ("third", step + 1), ("other", step)]
    await store.put_usage([Usage("ada", run, noon + at, 0.25) for run, at in rows])
    await store.put_usage([Usage("grace", "first", noon + 1, 5.0)])
    # A repeated or late write adds nothing, and a higher amount adds the difference.
    for usd in (0.25, 0.5, 0.125, 0.5):
        await store.put_usage([Usage("ada", "second", noon + 99, usd)])
    await store.put_usage([Usage("ada", "other", noon, 0.25)])
    await store.drop_usage("other")
    now = noon + 2 * step
    assert list(await store.spent("ada", now)) == [Spent(noon + step, 0.75), Spent(noon + 2 * step, 0.25)]
    assert list(await store.spent("ada", noon + step + DAY_MS - 1))[:1] == [Spent(noon + step, 0.75)]
    assert list(await store.spent("ada", noon + step + DAY_MS)) == [Spent(noon + 2 * step, 0.25)]
    assert list(await store.spent("nobody", now)) == []


async def test_concurrent_writes_of_amounts_count_each_run_once(store: Store) -> None:
    writes = [Usage("ada", f"r{n % 4}", n % 4, usd) for n in range(12) for usd in (0.0, 0.5, 0.25)]
    await asyncio.gather(*(store.put_usage([usage]) for usage in writes))
    assert sum(part.usd for part in await store.spent("ada", 5)) == 2.0
    assert sum(row.usd for row in await store.usage("ada", 0)) == 2.0


async def test_lease_is_seen_by_others_until_its_end_or_release(store: Store) -> None:
    assert not await store.leased("c", NOON)
    await store.lease("c", "me", NOON, 60)
    assert await store.leased("c", NOON + 59)
    assert not await store.leased("c", NOON + 60)
    await store.release("c", "me")
    assert not await store.leased("c", NOON)


async def test_concurrent_memo_exchange_has_one_winner_returned_to_all(store: Store) -> None:
    told = await asyncio.gather(*(store.exchange_memo("k", None, f"run{i}", 10) for i in range(5)))
    (first,) = set(told)
    assert await store.memo("k") == first
    assert await store.exchange_memo("k", "somebody else", "late", 20) == first
    assert await store.exchange_memo("k", first, "next", 20) == "next"
    assert await store.exchange_memo("none", "gone", "late", 20) == ""
    assert await store.memo("none") is None
    await store.expire_memos(20)
    assert await store.memo("k") == "next"


async def test_memo_holds_the_last_value_and_expires_from_the_last_write(store: Store) -> None:
    assert await store.memo("k") is None
    await store.put_memo("k", "first", 10)
    await store.put_memo("other", "theirs", 10)
    await store.put_memo("k", "second", 20)
    assert (await store.memo("k"), await store.memo("other")) == ("second", "theirs")
    await store.expire_memos(20)
    assert await store.memo("k") == "second"
    if not isinstance(store, DynamoStore):
        assert await store.memo("other") is None


async def test_hidden_run_leaves_the_lists_and_is_otherwise_unchanged(store: Store) -> None:
    for run, status in (("parked", "parked"), ("ended", "done")):
        await store.create_head(Head(run, "w", "c", 1, private=False))
        ended = Head(run, "w", "c", 1, status, private=False, updated_at=5, reason="why", frames=3, facts=FACTS)
        await store.put_head(ended)
    await store.retain("ended", "due", "kept")
    before = [await store.head(run) for run in ("parked", "ended", "nobody")]
    for run in ("parked", "ended", "nobody", "ended"):
        await store.hide(run)
    after = [await store.head(run) for run in ("parked", "ended", "nobody")]
    assert after == [head and replace(head, private=True, facts="") for head in before]
    assert list(await store.heads(10)) == []
    assert len(await store.heads(10, private=True)) == 2
    assert [head.run for head in await store.ended("kept", 10, 10, private=True)] == ["ended"]


async def test_facts_of_a_run_are_replaced_with_the_head(store: Store) -> None:
    await store.create_head(head("r", 1, private=False))
    await store.put_head(head("r", 1, status="done", private=False, facts=FACTS))
    assert [item.facts for item in await store.heads(9)] == [FACTS]
    await store.put_head(head("r", 1, status="done", private=False))
    assert [item.facts for item in await store.heads(9)] == [""]


async def test_kept_run_keeps_the_facts_and_a_deletion_leaves_only_counts(store: Store) -> None:
    await store.create_head(head("r", 1, status="done", private=False, facts=FACTS))
    await store.retain("r", "due", "kept")
    await store.retain("r", "kept", "due")
    assert [item.facts for item in await store.heads(9)] == [FACTS]
    steps: list[tuple[Retention, Retention]] = [("due", "deleting"), ("deleting", "deleted")]
    for was, becomes in steps:
        await store.retain("r", was, becomes)
        (left,) = await store.heads(9)
        assert decode(left.facts) == HeadFacts(llm_calls=2, tools={"slack_read": ToolCount(3, 1)})


async def test_late_owner_writes_no_tokens_into_the_head_of_a_deleted_run(store: Store) -> None:
    ended = head("r", 1, status="done", private=False, facts=FACTS)
    await store.create_head(ended)
    await store.retain("r", "due", "deleting")
    await store.put_head(ended)
    (left,) = await store.heads(9)
    assert decode(left.facts) == HeadFacts(llm_calls=2, tools={"slack_read": ToolCount(3, 1)})
    assert left.retention == "deleting"


async def test_public_runs_since_a_time_are_listed_page_by_page_and_once(store: Store) -> None:
    count = 3
    for n in range(count):
        await store.create_head(head(f"open{n}", 10 + n, private=False))
        ended = head(f"ended{n}", 10 + n, conversation="c2", status="done", private=False, updated_at=90)
        await store.create_head(ended)
    await store.create_head(head("old", 9, status="done", private=False, updated_at=90))
    await store.create_head(head("private", 50))
    pages = [page async for page in store.listed(10)]
    assert max(map(len, pages)) <= PAGE
    found = sorted(item.run for page in pages for item in page)
    assert found == sorted(f"{kind}{n}" for kind in ("open", "ended") for n in range(count))
    assert [item async for item in store.listed(91)] in ([], [[]])


async def test_sqlite_lists_more_runs_than_a_page_in_the_order_of_their_acceptance(tmp_path: Path) -> None:
    with any_store("sqlite", tmp_path) as store:
        for n in range(PAGE + 2):
            # Several runs of one time stand on both sides of the end of a page.
            await store.create_head(head(f"r{n:04d}", n // 5, private=False))
        pages = [page async for page in store.listed(0)]
        found = [(item.accepted_at, item.run) for page in pages for item in page]
    assert [len(page) for page in pages] == [PAGE, 2]
    assert found == sorted(found, key=lambda item: (-item[0], item[1]))
    assert len(set(found)) == PAGE + 2
