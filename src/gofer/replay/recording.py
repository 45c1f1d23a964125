"""One recorded journal during a replay: the counterpart of each replayed entry, and the steps that are left.

A counterpart is found by its key (`entry_keys.py`), so that parallel branches may end in any order. The entries of one
owner are a segment. An owner that crashed made steps that its journal lacks; its segment ends where the replay asks for
more than the segment has.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from gofer.journal import entries as e
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, is_added, is_own
from gofer.projections.script_replay import is_of_a_script
from gofer.replay.causes import cause_of
from gofer.replay.comparison import Difference, difference
from gofer.replay.divergence import Cause, Divergence, Kind, OwnerEnded
from gofer.replay.entry_keys import (
    Key,
    answer_key,
    approval_keys,
    deferred_key,
    follows_from_time,
    intent_keys,
    is_fact,
    is_incidental,
    is_item,
    is_of_added,
    is_shown_media,
    key_of,
    outcome_key,
    step_of,
)
from gofer.replay.replay_progress import ReplayProgress


class Recording:
    """The entries of one recorded run, and which of them the replay has repeated."""

    def __init__(self, run: str, entries: Sequence[e.Recorded], progress: ReplayProgress) -> None:
        self.run = run
        self.progress = progress
        self.current = 0
        """The number of owners so far."""
        self.replayed: list[e.Recorded] = []
        """The entries of the replay so far."""
        self.overridden: set[str] = set()
        """The calls whose recorded outcome the replay replaced."""
        self.is_left_out = False
        """Whether the current owner of the root run crashed before it took over this run."""
        self._entries = entries
        self._taken = bytearray(len(entries))
        self._frontier = 0
        self._added = 0
        self._last_write = -1
        self._last_taken = -1
        self._segments: list[int] = []
        self._versions: list[str] = [""]
        self._indexes: defaultdict[Key, deque[int]] = defaultdict(deque)
        owners = 0
        for index, recorded in enumerate(entries):
            if isinstance(recorded.entry, e.RunOwned):
                owners += 1
                self._versions.append(recorded.entry.gofer)
            self._segments.append(owners)
            self._indexes[key_of(recorded.entry)].append(index)

    @property
    def is_finished(self) -> bool:
        """Whether the recorded run ended."""
        return any(isinstance(recorded.entry, e.RunFinished) for recorded in reversed(self._entries))

    @property
    def in_last_segment(self) -> bool:
        """Whether the current owner is the last of the recording."""
        return not self._segments or self.current >= self._segments[-1]

    def next_recorded(self) -> e.Recorded | None:
        """Return the first recorded entry that the replay has not repeated; None at the end."""
        while self._frontier < len(self._entries) and self._is_passed(self._frontier):
            self._frontier += 1
        if self._frontier == len(self._entries):
            return None
        return self._entries[self._frontier]

    def _is_passed(self, index: int) -> bool:
        """Return whether no step of the replay has to come to an entry any more."""
        entry = self._entries[index].entry
        is_left_out = index < self._last_taken and is_of_added(entry)
        return bool(self._taken[index]) or is_incidental(entry) or is_left_out

    @property
    def next_entry(self) -> e.Entry | None:
        """The next recorded entry of the current owner; None at the end of the segment."""
        recorded = self.next_recorded()
        if recorded is None or self._segments[self._frontier] != self.current:
            return None
        return recorded.entry

    @property
    def next_owner(self) -> e.Recorded | None:
        """The first entry of the next owner; None if the current owner is the last."""
        queue = self._indexes[key_of(e.RunOwned())]
        if not queue:
            return None
        return self._entries[queue[0]]

    @property
    def owner(self) -> str:
        """The id of the current owner."""
        return self.replayed[-1].owner

    @property
    def now(self) -> int:
        """The time of the recorded run at this point, in unix milliseconds."""
        recorded = self.next_recorded()
        if recorded is None:
            return self._entries[-1].at
        if isinstance(recorded.entry, e.RunConcluded) and recorded.entry.status == "limited":
            # The limit was reached after the frame began; the time of the last frame is not before that.
            return self._entries[-1].at
        return recorded.at

    def take(self, entry: e.Entry) -> e.Recorded:
        """Return the entry as the replay records it: the recorded one if both are equal, else the replayed one.

        Raises OwnerEnded if the recorded owner did not come to this entry.
        """
        if self.is_left_out:
            raise OwnerEnded
        index = self._index(key_of(entry))
        if isinstance(entry, e.RunOwned) and index is not None:
            self.end_segment()
            self.current = self._segments[index]
        if index is not None and self._segments[index] == self.current:
            return self._repeat(index, entry)
        is_cut = self.in_last_segment and not self.is_finished
        if index is None and is_of_added(entry) and not is_cut:
            return self._add(entry)
        if not self.progress.has_diverged and not (self.in_last_segment and self.is_finished):
            raise OwnerEnded
        return self._add(entry)

    def lose(self, entry: e.Entry) -> e.Recorded:
        """Return an entry that the recorded owner did not store."""
        return e.Recorded(n=self.replayed[-1].n, i=0, at=self.now, owner=self.owner, entry=entry)

    @property
    def owner_crashed(self) -> bool:
        """Whether the current owner left the run without an entry that says so, and may have lost steps."""
        if self.is_left_out:
            return True
        if self.in_last_segment and self.is_finished:
            return False
        return self._crashed(self.current)

    def _crashed(self, owner: int) -> bool:
        """Return whether an owner left the run without an entry that holds all its steps."""
        entries = [one.entry for one, segment in zip(self._entries, self._segments, strict=True) if segment == owner]
        return not any(isinstance(entry, e.RunParked | e.RunFinished) for entry in entries)

    def adopt(self, index: int) -> e.Recorded:
        """Take an entry of the recording unchanged."""
        recorded = self._entries[index]
        self._mark(index)
        self.replayed.append(recorded)
        return recorded

    def adopt_crashed_owners(self, root: "Recording") -> None:
        """Take the steps of earlier owners that came to this run by steps of the root run that they did not store."""
        while self.next_owner is not None and root.has_lost_steps_of(self.next_owner):
            self.current += 1
            for index, segment in enumerate(self._segments):
                if segment == self.current:
                    self.adopt(index)

    def has_lost_steps_of(self, owned: e.Recorded) -> bool:
        """Return whether the owner of a subagent run was an earlier owner of this run, and crashed."""
        came = max((one.at for one in self.replayed if isinstance(one.entry, e.RunOwned)), default=0)
        segments = {
            segment for one, segment in zip(self._entries, self._segments, strict=True) if one.owner == owned.owner
        }
        return owned.at < came and all(map(self._crashed, segments))

    def incidental_before(self, entry: e.Entry) -> Iterator[e.Entry]:
        """Yield the renewed permits that were recorded before the counterpart of an entry."""
        index = self._index(key_of(entry))
        if index is not None and self._segments[index] == self.current:
            renewed = self._indexes[key_of(e.PermitRenewed())]
            while renewed and renewed[0] < index:
                yield self._entries[renewed[0]].entry

    def items(self, until: int | None = None) -> Sequence[e.Entry]:
        """Return the items of the inbox that were journaled before the next step of the current owner.

        `until` leaves out later ones, in unix milliseconds.
        """
        limit = len(self._entries)
        if self.next_recorded() is not None:
            limit = self._frontier
        return [
            self._entries[index].entry
            for index in range(self._first_open(), limit)
            if self._is_open_item(index) and (until is None or self._entries[index].at <= until)
        ]

    def _is_open_item(self, index: int) -> bool:
        is_here = self._segments[index] == self.current
        return is_here and not self._taken[index] and is_item(self._entries[index].entry)

    def outcome(self, call: str) -> tuple[int, Sequence[e.Entry]] | None:
        """Return the entries of the next outcome of a call, and the index of the first; None if it has none here."""
        index = self._earliest(outcome_key(call), deferred_key(call))
        if index is None:
            return None
        first = index
        while first and not self._taken[first - 1] and is_fact(self._entries[first - 1].entry):
            first -= 1
        last = index + 1
        if last < len(self._entries) and is_shown_media(self._entries[last].entry):
            last += 1
        return first, [recorded.entry for recorded in self._entries[first:last]]

    def was_added(self, call: str) -> bool:
        """Return whether the replay made a call to inform people that the recorded run did not make."""
        return is_added(call) and ("tool.call", call) not in self._indexes

    def answer(self, request: e.Entry) -> e.Entry | None:
        """Return the recorded answer to a request, or its deferral; None if the current owner got none."""
        call = "model"
        if isinstance(request, e.SubagentStarted):
            call = request.call
        index = self._earliest(answer_key(request), deferred_key(call))
        if index is None:
            return None
        return self._entries[index].entry

    def counterpart(self, entry: e.Entry) -> e.Entry | None:
        """Return the recorded entry that an entry of the current owner would be compared with; None without one."""
        index = self._earliest(key_of(entry))
        if index is None:
            return None
        return self._entries[index].entry

    def intent(self, calls: Sequence[str]) -> int | None:
        """Return the index of the first intent with which the current owner begins these calls; None without one."""
        keys = [key for call in calls for key in intent_keys(call)]
        return self._earliest(*keys)

    def refused_at_once(self, call: str) -> int | None:
        """Return the index of a refusal by the current owner that asked no person; None if it did otherwise."""
        index = self._earliest(outcome_key(call), *intent_keys(call), *approval_keys(call))
        if index is None:
            return None
        match self._entries[index].entry:
            case e.ToolResult(status="refused"):
                return index
            case _:
                return None

    def parked(self, reason: e.ParkReason) -> e.RunParked | None:
        """Return the wait with which the current owner left the run; None if it left otherwise."""
        index = self._earliest(key_of(e.RunParked("model", 0)))
        if index is None:
            return None
        entry = self._entries[index].entry
        if isinstance(entry, e.RunParked) and entry.reason == reason:
            return entry
        return None

    def asks_another_model(self, request: e.Entry) -> bool:
        """Return whether the current owner sent a further request for the same answer."""
        return self._earliest(key_of(request)) is not None

    def is_next(self, index: int) -> bool:
        """Return whether all steps before an entry were repeated."""
        return self.next_recorded() is None or self._frontier >= index

    def end_segment(self) -> None:
        """End the steps of the current owner: note those that the replay did not make, and restore their order."""
        for index in range(self._first_open(), len(self._entries)):
            if self._segments[index] > self.current:
                break
            if self._taken[index]:
                continue
            entry = self._entries[index].entry
            if not is_incidental(entry) and not isinstance(
                entry, e.RunHandedOver | e.RunChecked | e.RunGraded | e.FollowUp
            ):
                self._note_lone("missing", self._entries[index].address, entry)
            if self.progress.has_diverged or is_of_added(entry):
                # The replay went another way, so these steps are none of its own.
                self._mark(index)
            else:
                self.adopt(index)
        if not self.progress.has_diverged:
            # The next owner reads what is stored, in which branches may have ended in another order.
            self.replayed.sort(key=lambda one: (one.n, one.i))

    def _repeat(self, index: int, entry: e.Entry) -> e.Recorded:
        recorded = self._entries[index]
        self._check_order(index, entry)
        found = difference(recorded.entry, entry)
        if found is None or follows_from_time(entry):
            return self.adopt(index)
        self._mark(index)
        self.progress.note(self._divergence(index, entry, found))
        kept = replace(recorded, entry=entry)
        self.replayed.append(kept)
        return kept

    def _check_order(self, index: int, entry: e.Entry) -> None:
        """Note a write of a model that comes after one that was recorded later. Branches of a script have no order."""
        if not isinstance(entry, e.ToolCall) or entry.effect == "read":
            return
        if is_own(entry.call) or is_of_a_script(entry.call):
            return
        if index < self._last_write:
            later = step_of(self._entries[self._last_write].entry)
            place = self._place(index)
            cause = self._cause(self._entries[index].entry, entry)
            self.progress.note(Divergence("different", *place, "order", f"before {later}", f"after {later}", cause))
        self._last_write = max(self._last_write, index)

    def _divergence(self, index: int, entry: e.Entry, found: Difference) -> Divergence:
        kind: Kind = found.kind
        if isinstance(entry, e.ToolResult) and entry.call in self.overridden:
            kind = "different"
            self.progress.input_changed = True
        elif kind == "read" and self.progress.input_changed:
            kind = "different"
        elif kind == "different" and self._is_delivered_otherwise(entry):
            kind = "added"
        cause: Cause = ""
        if kind == "read" and self._versions[self._segments[index]] != self.progress.version:
            cause = "upgrade"
        elif kind in ("read", "different"):
            cause = self._cause(self._entries[index].entry, entry)
        return Divergence(kind, *self._place(index), found.field, found.original, found.replayed, cause)

    def _is_delivered_otherwise(self, entry: e.Entry) -> bool:
        """Return whether an entry concerns a message that Gofer adds, or an answer that replaces such a message."""
        if is_of_added(entry):
            return True
        has_added = any(one.kind == "added" for one in self.progress.divergences)
        return has_added and isinstance(entry, e.ToolCall) and entry.call in (ANSWER, ANSWER_ANEW)

    def _cause(self, original: e.Entry | None, replayed: e.Entry | None) -> Cause:
        """Return the cause of a difference. Later differences follow from the first one, and have its cause."""
        if self.progress.first is not None:
            return self.progress.first.cause
        return cause_of(original, replayed, input_changed=self.progress.input_changed)

    def _add(self, entry: e.Entry) -> e.Recorded:
        """Record an entry that the recording lacks."""
        last = self.replayed[-1]
        self._added += 1
        recorded = e.Recorded(n=self._entries[-1].n + self._added, i=0, at=self.now, owner=last.owner, entry=entry)
        if not isinstance(entry, e.RunChecked):
            self._note_lone("extra", last.address, entry)
        self.replayed.append(recorded)
        return recorded

    def _note_lone(self, kind: Literal["missing", "extra"], address: str, entry: e.Entry) -> None:
        """Note an entry without a counterpart: a missing one of the recording, or an extra one of the replay."""
        step = step_of(entry)
        cause = self._cause(entry, None)
        found = Divergence(
            kind, run=self.run, address=address, step=step, field="", original=step, replayed=None, cause=cause
        )
        if kind == "extra":
            found = replace(found, original=None, replayed=step, cause=self._cause(None, entry))
        if is_of_added(entry):
            found = replace(found, kind="added", cause="")
        self.progress.note(found)

    def _place(self, index: int) -> tuple[str, str, str]:
        recorded = self._entries[index]
        return self.run, recorded.address, step_of(recorded.entry)

    def _index(self, key: Key) -> int | None:
        queue = self._indexes.get(key)
        if not queue:
            return None
        return queue[0]

    def _earliest(self, *keys: Key) -> int | None:
        found = [index for key in keys if (index := self._index(key)) is not None]
        here = [index for index in found if self._segments[index] == self.current]
        return min(here, default=None)

    def _mark(self, index: int) -> None:
        self._taken[index] = True
        self._last_taken = max(self._last_taken, index)
        self._indexes[key_of(self._entries[index].entry)].remove(index)
        self.progress.repeated += 1

    def _first_open(self) -> int:
        return max(0, self._taken.find(0))
