"""Verdicts of `notion.status`: one match per real change, for any order, number and time of the events."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.notion.status_memory import Seen, Verdict, judge

STATUS, OTHER = "St%3D1", "title"
VALUES = ("Draft", "Review", "Done", None)


@dataclass(frozen=True)
class Delivery:
    """A delivered event and its time."""

    at: int
    """How many edits had happened by then."""
    listed: frozenset[str]


@dataclass(frozen=True)
class History:
    """The edits of one page and the events about them."""

    values: tuple[str | None, ...]
    """The status before the first edit and after each."""
    deliveries: tuple[Delivery, ...]

    @property
    def changes(self) -> int:
        return sum(before != after for before, after in zip(self.values, self.values[1:], strict=False))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Edits of the status or of another property, grouped into events that arrive late, repeated and in any order."""
    values: list[str | None] = [draw(st.sampled_from(VALUES))]
    events: list[tuple[int, set[str]]] = []
    for number in range(1, draw(st.integers(0, 12)) + 1):
        status = draw(st.booleans())
        following = draw(st.sampled_from(VALUES)) if status else values[-1]
        touched = {STATUS} if following != values[-1] else {OTHER}
        values.append(following)
        if events and draw(st.booleans()):
            events[-1] = (number, events[-1][1] | touched)
        else:
            events.append((number, touched))
    deliveries = [
        Delivery(draw(st.integers(number, len(values) - 1)), frozenset(touched))
        for number, touched in events
        for _ in range(draw(st.integers(1, 3)))
    ]
    shuffled = draw(st.permutations(deliveries))
    return History(tuple(values), tuple(sorted(shuffled, key=lambda delivery: delivery.at)))


def played(
    history: History, seen: Seen | None, from_: Sequence[str] = (), to: Sequence[str] = ()
) -> tuple[list[tuple[Seen | None, str | None]], Seen | None]:
    """Return the changes that matched, as (before, after), and the last value seen."""
    fired: list[tuple[Seen | None, str | None]] = []
    for delivery in history.deliveries:
        now = history.values[delivery.at]
        verdict = judge(seen, delivery.listed, STATUS, now, from_, to)
        assert verdict.reason
        if verdict.fires:
            fired.append((seen, now))
        seen = verdict.remember or seen
    return fired, seen


@given(histories())
def test_status_verdict_matches_at_most_once_per_real_change(history: History) -> None:
    fired, seen = played(history, Seen(history.values[0]))
    assert len(fired) <= history.changes
    assert all(before != Seen(after) for before, after in fired)
    if history.changes:
        assert seen == Seen(history.values[-1])


@given(histories())
def test_status_verdicts_form_one_chain_from_the_first_value_to_the_last(history: History) -> None:
    fired, _ = played(history, Seen(history.values[0]))
    befores = [before.value if before else "?" for before, _ in fired]
    assert befores == [history.values[0], *(after for _, after in fired)][: len(fired)]
    assert (fired[-1][1] if fired else history.values[0]) == history.values[-1]


@given(histories())
def test_status_verdict_matches_each_change_when_events_arrive_in_time(history: History) -> None:
    edits = enumerate(zip(history.values, history.values[1:], strict=False), start=1)
    prompt = [Delivery(at, frozenset({STATUS if before != after else OTHER})) for at, (before, after) in edits]
    fired, _ = played(History(history.values, tuple(prompt)), Seen(history.values[0]))
    assert len(fired) == history.changes


@given(histories(), st.sets(st.sampled_from(VALUES[:3])), st.sets(st.sampled_from(VALUES[:3])))
def test_status_condition_selects_changes_and_leaves_the_memory_unchanged(
    history: History, from_: set[str], to: set[str]
) -> None:
    start = Seen(history.values[0])
    narrowed, seen = played(history, start, sorted(from_), sorted(to))
    fired, last = played(history, start)
    wanted = [(b, a) for b, a in fired if (not from_ or (b and b.value in from_)) and (not to or a in to)]
    assert (narrowed, seen) == (wanted, last)


@given(histories(), st.data())
def test_status_verdict_ignores_a_repeated_event(history: History, data: st.DataObject) -> None:
    doubled: list[Delivery] = []
    for delivery in history.deliveries:
        doubled += [delivery] * data.draw(st.integers(1, 4))
    for start in (None, Seen(history.values[0])):
        assert played(History(history.values, tuple(doubled)), start) == played(history, start)


@given(histories())
def test_status_verdict_counts_the_first_read_as_one_change(history: History) -> None:
    fired, _ = played(history, None)
    listed = any(STATUS in delivery.listed for delivery in history.deliveries)
    assert [before for before, _ in fired].count(None) == listed
    assert len(fired) <= history.changes + 1


@pytest.mark.parametrize(
    ("seen", "listed", "now", "from_", "to", "verdict"),
    [
        (None, [OTHER], "Done", [], [], (False, None, "the event does not list it")),
        (Seen("Done"), [STATUS], "Done", [], [], (False, None, "it has not changed since the last look")),
        (Seen("Draft"), [STATUS], "Done", [], [], (True, "Done", "it changed")),
        (Seen(None), [STATUS], "Done", [], [], (True, "Done", "it changed")),
        (Seen("Draft"), [STATUS], "Done", ["Review"], [], (False, "Done", "it changed from another value")),
        (Seen("Draft"), [STATUS], "Done", [], ["Review", "Draft"], (False, "Done", "it changed to another value")),
        (None, [STATUS], "Done", ["Review"], ["Done"], (True, "Done", "it changed; its earlier value is not known")),
        (None, [STATUS], "Review", ["Review"], [], (False, "Review", "it still has the value it should change from")),
        (Seen("Draft", by_bot=True), [STATUS], "Done", ["Draft"], [], (True, "Done", "it changed")),
        (
            Seen("Done", by_bot=True), [STATUS], "Done", [], [],
            (True, "Done", "it changed; its earlier value is not known"),
        ),
    ],
)  # fmt: skip
def test_status_verdict_says_why(seen, listed, now, from_, to, verdict) -> None:
    fires, remember, reason = verdict
    expected = Verdict(fires, Seen(remember) if remember else None, reason)
    assert judge(seen, listed, STATUS, now, from_, to) == expected


def test_status_change_is_left_to_the_event_that_lists_the_property() -> None:
    seen = Seen("Draft")
    assert judge(seen, [OTHER], STATUS, "Done").remember is None
    assert judge(seen, [STATUS], STATUS, "Done").fires


@given(st.lists(st.tuples(st.sampled_from(VALUES), st.booleans()), max_size=8))
def test_status_verdict_loses_no_change_of_a_person_between_changes_of_bots(
    edits: list[tuple[str | None, bool]],
) -> None:
    seen, value, fired, real = Seen("Draft"), "Draft", 0, 0
    for following, by_bot in edits:
        if following != value:
            verdict = judge(seen, [STATUS], STATUS, following, by_bot=by_bot)
            assert verdict.fires is not by_bot
            seen, real, fired = verdict.remember or seen, real + (not by_bot), fired + verdict.fires
        value = following
    assert fired == real


@given(st.sampled_from(VALUES), st.sampled_from(VALUES))
def test_status_verdict_finds_a_change_of_a_person_after_an_event_of_a_bot(before: str | None, now: str | None) -> None:
    looked = judge(Seen(before), [STATUS], STATUS, now, by_bot=True)
    assert not looked.fires
    assert judge(looked.remember, [STATUS], STATUS, now).fires
