"""The turns of lines: nobody's messages wait forever, whatever arrives beside them."""

from collections import deque
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gofer.stores.queue import SHARE, QueueLine, Turns

PEOPLE = [QueueLine(True, "answer"), QueueLine(True, "triage")]
MACHINES = [QueueLine(False, "imports"), QueueLine(False, "reports"), QueueLine(False, "alerts")]
ARRIVALS = st.lists(st.tuples(st.sampled_from([*PEOPLE, *MACHINES]), st.integers(1, 40)), max_size=12)
STEPS = st.lists(st.tuples(ARRIVALS, st.integers(1, 20)), min_size=1, max_size=8)


def serve(steps: list[tuple[list[tuple[QueueLine, int]], int]]) -> list[tuple[QueueLine, frozenset[QueueLine]]]:
    """Return the line of each message that is taken, with the lines that had due messages then."""
    turns = Turns()
    waiting: dict[QueueLine, deque[int]] = {}
    served: list[tuple[QueueLine, frozenset[QueueLine]]] = []
    for arrivals, takes in steps:
        for line, count in arrivals:
            waiting.setdefault(line, deque()).extend(range(count))
        for _ in range(takes):
            due = frozenset(line for line, messages in waiting.items() if messages)
            lines = {line: [line] for line in due}
            taken = turns.take(lines, 1)
            assert len(taken) == bool(due)
            for line in taken:
                waiting[line].popleft()
                served.append((line, due))
    return served


def longest(served: list[tuple[QueueLine, frozenset[QueueLine]]], line: QueueLine, among: list[QueueLine]) -> int:
    """Return how many messages of `among` were taken in a row while `line` had a due message and was not served."""
    most = count = 0
    for taken, due in served:
        count += taken in among
        if taken == line or line not in due:
            count = 0
        most = max(most, count)
    return most


@given(STEPS)
def test_message_of_a_person_waits_for_one_machine_at_most_in_so_many_turns(
    steps: list[tuple[list[tuple[QueueLine, int]], int]],
) -> None:
    served = serve(steps)
    overtaking = [i for i, (line, due) in enumerate(served) if not line.people and any(one.people for one in due)]
    assert all(later - earlier >= SHARE for earlier, later in pairwise(overtaking))
    assert all(longest(served, line, PEOPLE) < len(PEOPLE) for line in PEOPLE)


@given(STEPS)
def test_machines_and_each_of_their_workflows_always_progress(
    steps: list[tuple[list[tuple[QueueLine, int]], int]],
) -> None:
    served = serve(steps)
    for line in MACHINES:
        assert longest(served, line, MACHINES) < len(MACHINES)
        assert longest(served, line, PEOPLE) <= len(MACHINES) * (SHARE - 1)


@given(ARRIVALS, st.integers(0, 60), st.integers(0, 60))
def test_no_more_machines_are_taken_than_there_is_room_for(
    arrivals: list[tuple[QueueLine, int]], limit: int, machines: int
) -> None:
    due = {line: [line] * count for line, count in arrivals}
    taken = Turns().take(due, limit, machines)
    people = sum(len(messages) for line, messages in due.items() if line.people)
    others = sum(len(messages) for line, messages in due.items() if not line.people)
    assert len(taken) == min(limit, people + min(others, machines))
    assert sum(not line.people for line in taken) <= machines
