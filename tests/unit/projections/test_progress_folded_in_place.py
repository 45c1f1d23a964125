"""Folding an entry in place gives the same projection as projecting the whole journal, at any cut."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import Recorded
from gofer.projections import (
    calls,
    conversation,
    progress,
    read_addresses,
    repetition,
    run_facts,
    script_replay,
    states,
    workspace,
)
from gofer.projections.checks import named_values, run_checks
from gofer.projections.requests import context, token_account
from gofer.projections.tracing import trace
from support.journal.generated_journals import journals


class Projection(Protocol):
    """A module of projections."""

    def project(self, entries: Sequence[Recorded]) -> Any:
        """Return the view of a journal."""
        ...

    def fold(self, state: Any, recorded: Recorded) -> None:
        """Add an entry to a view, in place."""
        ...


def spans_so_far(entries: Sequence[Recorded]) -> trace.Trace:
    """Return the state of the trace. `trace.project` returns only its spans."""
    state = trace.Trace()
    for recorded in entries:
        trace.fold(state, recorded)
    return state


EVERY: Sequence[tuple[Projection, Callable[[Sequence[Recorded]], object]]] = [
    (projection, projection.project)
    for projection in (
        calls,
        context,
        conversation,
        named_values,
        progress,
        read_addresses,
        repetition,
        run_checks,
        run_facts,
        script_replay,
        states,
        token_account,
        workspace,
    )
] + [(trace, spans_so_far)]


@pytest.mark.parametrize(("projection", "view_of"), EVERY, ids=[one.__name__.rpartition(".")[2] for one, _ in EVERY])
@given(journal=journals(), cut=st.integers(0, 40))
def test_projection_folded_in_place_equals_the_projection_of_the_whole_journal(
    projection: Projection, view_of: Callable[[Sequence[Recorded]], object], journal: list[Recorded], cut: int
) -> None:
    state = view_of(journal[:cut])
    for recorded in journal[cut:]:
        assert projection.fold(state, recorded) is None
    assert state == view_of(journal)


@pytest.mark.parametrize(("projection", "view_of"), EVERY, ids=[one.__name__.rpartition(".")[2] for one, _ in EVERY])
@given(journal=journals(), cut=st.integers(0, 40))
def test_folding_changes_only_the_given_projection_state(
    projection: Projection, view_of: Callable[[Sequence[Recorded]], object], journal: list[Recorded], cut: int
) -> None:
    before, kept, state = repr(journal), view_of(journal[:cut]), view_of(journal[:cut])
    shown = repr(kept)
    for recorded in journal[cut:]:
        projection.fold(state, recorded)
    assert repr(kept) == shown
    assert repr(journal) == before


@given(journal=journals())
def test_trace_projection_returns_the_spans_of_the_folded_trace(journal: list[Recorded]) -> None:
    assert trace.project(journal) == tuple(spans_so_far(journal).spans.values())
