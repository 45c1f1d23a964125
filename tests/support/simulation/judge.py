"""The judge of a schedule: its journals against the effects in the world and the presses of people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal import entries as e
from gofer.projections import conversation, progress
from gofer.projections.tracing import trace
from gofer.values.events import Event
from support.simulation.approvals_kept import approvals
from support.simulation.machines import Faults
from support.simulation.people import People
from support.simulation.plans import Plan
from support.simulation.virtual_time import START
from support.simulation.world import World

Journal = Sequence[e.Recorded]


@dataclass
class Report:
    """The result of one schedule."""

    violations: list[str]
    faults: Counter[str]
    runs: int
    duplicates: int = 0
    """Repeated deliveries."""
    journals: list[bytes] = field(default_factory=list)
    unknown: int = 0
    calls: int = 0
    takeovers: int = 0
    handovers: int = 0
    cancelled: int = 0
    needless: int = 0
    """Calls with an unknown outcome, although no fault happened while they were under way."""
    asked: int = 0
    """Questions that people were asked."""
    decided: Counter[str] = field(default_factory=Counter)
    """What came of them."""
    ignored: int = 0
    """Presses without effect: by the wrong person, too late, forged, or after the decision."""
    stopped: int = 0
    """Runs that were cancelled while they waited for a decision."""
    scripted: int = 0
    """Calls of scripts that have an outcome."""
    told: int = 0
    """Calls that were answered from the result of another call for the same message."""
    waited: int = 0
    """Times that a run was parked because a vendor was away."""
    delegated: int = 0
    """Subagents that worked in runs of their own."""
    compacted: int = 0
    """Times that the beginning of a history left its window."""


@dataclass
class Judge:
    """What is known of a schedule apart from its journals."""

    world: World
    people: People
    faults: Faults
    plan: Plan
    cancelled: set[str]
    """Runs whose cancel was accepted."""

    def judge(self, journals: Mapping[str, Journal], report: Report) -> None:
        """Add the findings in the journals, by run, to a report."""
        entries = [recorded.entry for journal in journals.values() for recorded in journal]
        # After a refusal, another run may make the call later under the same key, with its own text.
        lent = {entry.key for entry in entries if isinstance(entry, e.ToolCall)}
        for run, journal in journals.items():
            self._judge(run, journal, lent, report)
            report.violations += approvals(run, journal, self.plan, self.people)
        report.violations += self._once(journals) + self._stray(journals)
        report.asked += len(self.people.asked)
        presses = len(self.people.made) + self.people.forged
        report.ignored += presses - report.decided["approved"] - report.decided["denied"]

    def _judge(self, run: str, journal: Journal, lent: set[str], report: Report) -> None:
        entries = [recorded.entry for recorded in journal]
        left = sum(isinstance(entry, e.RunParked | e.RunHandedOver) for entry in entries)
        ended = any(isinstance(entry, e.RunFinished) for entry in entries)
        report.takeovers += sum(isinstance(entry, e.RunOwned) for entry in entries) - ended - left
        report.handovers += sum(isinstance(entry, e.RunHandedOver) for entry in entries)
        report.cancelled += any(isinstance(entry, e.RunCancelled) for entry in entries)
        decided = [entry for entry in entries if isinstance(entry, e.ApprovalDecided)]
        report.decided.update(one.decision if one.item or one.decision == "expired" else "nobody" for one in decided)
        report.violations += _outcomes(entries)
        report.violations += _after_cancel(entries, accepted=run in self.cancelled)
        report.needless += self._needless(journal)
        report.violations += self._effects(run, journal, lent, report)
        # Both projections fold entry by entry, so this covers every prefix of the journal.
        trace.project(journal)

    def _needless(self, journal: Journal) -> int:
        """Count unknown outcomes of calls during which no machine of the run had a fault."""
        begun = {r.entry.call: r for r in journal if isinstance(r.entry, e.ToolCall)}
        needless = 0
        for ended in (r for r in journal if isinstance(r.entry, e.ToolUnknown)):
            call = begun.get(ended.entry.call)
            if call is None or call.entry.key:
                # A call that another run made or tried, whose outcome cannot be determined any more.
                continue
            between = {r.owner for r in journal if call.n <= r.n <= ended.n}
            machines = {int(owner[1:].partition("-")[0]) for owner in between}
            since, until = (at / 1000 - START for at in (call.at, ended.at))
            trouble = (t for number in machines for t in self.faults.when.get(number, ()))
            away = any(outage.begins <= until and since <= outage.ends for outage in self.world.vendors.outages)
            needless += not away and not any(since - 1 <= t <= until + 1 for t in trouble)
        return needless

    def _effects(self, run: str, journal: Journal, lent: set[str], report: Report) -> list[str]:
        """Compare the journaled outcome of each call with its effects in the world."""
        found: list[str] = []
        state = progress.project(journal)
        asked = _asked(journal)
        undecided = any(one.decided is None for one in state.approvals.values())
        report.stopped += state.cancelled is not None and undecided
        tools = {r.entry.call: r.entry for r in journal if isinstance(r.entry, e.ToolCall)}
        for call, outcome in state.outcomes.items():
            tool = tools.get(call)
            report.calls += 1
            report.scripted += _scripted(call)
            report.unknown += isinstance(outcome, e.ToolUnknown)
            report.told += tool is None and isinstance(outcome, e.ToolResult) and outcome.status == "ok"
            if tool is None or tool.effect == "read":
                continue
            landed = self.world.landed[tool.key or f"{run}/{call}"]
            if len(landed) > 1:
                found.append(f"a {tool.effect} effect happened {len(landed)} times")
            if isinstance(outcome, e.ToolResult) and outcome.status == "ok" and len(landed) != 1:
                found.append(f"a {tool.effect} call is said to have happened, and did {len(landed)} times")
            if f"{run}/{call}" in lent:
                continue
            if isinstance(outcome, e.ToolResult) and outcome.status == "error" and landed:
                found.append(f"a {tool.effect} call is said to be refused, and happened")
            if landed and call in asked and landed[0] != asked[call] and not tool.key:
                found.append("an effect with words that are not in the journal")
        return found

    def _stray(self, journals: Mapping[str, Journal]) -> list[str]:
        """Check that every sent call has an intent, in the journal of the run of its key or of a later run."""
        entries = [(run, recorded.entry) for run, journal in journals.items() for recorded in journal]
        known = {_key(run, entry) for run, entry in entries if isinstance(entry, e.ToolCall)}
        stray = [key for key in self.world.sent if key not in known]
        return [f"{len(stray)} effects without an intent"] if stray else []

    def _once(self, journals: Mapping[str, Journal]) -> list[str]:
        """Check that a once-per-message call happened at most once, and exactly once where a journal records it."""
        keys: dict[str, set[str]] = {}
        done: set[str] = set()
        for run, journal in journals.items():
            message = _message(journal)
            outcomes = progress.project(journal).outcomes
            asked = {call: tool for call, (tool, _) in _wanted(journal).items() if tool == self.plan.once}
            intents = [r.entry for r in journal if isinstance(r.entry, e.ToolCall) and r.entry.tool == self.plan.once]
            keys.setdefault(message, set()).update(_key(run, one) for one in intents)
            if any(isinstance(one := outcomes.get(call), e.ToolResult) and one.status == "ok" for call in asked):
                done.add(message)
        found: list[str] = []
        for message, group in keys.items():
            times = sum(len(self.world.landed[key]) for key in group)
            if times > 1 or (message in done and times != 1):
                found.append(f"what is done once for a message happened {times} times")
        return found if self.plan.once else []


NOTICES = ("answer/", "turned-away/", "decision/", "status-deleted/")
"""How the ids of calls begin that say how a run ended."""


def _key(run: str, call: e.ToolCall) -> str:
    return call.key or f"{run}/{call.call}"


def _event(journal: Journal) -> Event:
    """Return the event of a run."""
    (accepted,) = [r.entry for r in journal if isinstance(r.entry, e.RunAccepted)]
    return accepted.event


def _message(journal: Journal) -> str:
    place = _event(journal).place
    return f"{place['channel']} {place['ts']}"


def _wanted(journal: Journal) -> dict[str, tuple[str, str]]:
    """Return tool and text of every call of the model or the script, by call id."""
    wanted: dict[str, tuple[str, str]] = {}
    state = conversation.Conversation()
    for recorded in journal:
        conversation.fold(state, recorded)
        if isinstance(recorded.entry, e.ToolCall) and _scripted(recorded.entry.call):
            wanted[recorded.entry.call] = recorded.entry.tool, str((recorded.entry.arguments or {})["text"])
        if isinstance(recorded.entry, e.LlmResponse):
            wanted |= {call: (ask.tool, ask.arguments.split('"')[3]) for call, ask in state.asks.items()}
    return wanted


def _scripted(call: str) -> bool:
    """Return whether a script made a call: its id names the branch; a run's own calls have a slash."""
    return ":" in call and "/" not in call


def _asked(journal: Journal) -> dict[str, str]:
    return {call: words for call, (_, words) in _wanted(journal).items()}


def _after_cancel(entries: Sequence[e.Entry], *, accepted: bool) -> list[str]:
    """Check that only notices follow a cancel, and that an accepted one is journaled unless the run had ended."""
    found = [place for place, entry in enumerate(entries) if isinstance(entry, e.RunCancelled)]
    concluded = [place for place, entry in enumerate(entries) if isinstance(entry, e.RunConcluded)]
    if not found:
        over = any(isinstance(entry, e.RunFinished) for entry in entries)
        return ["an accepted cancel was lost"] if accepted and not over else []
    if concluded and concluded[0] < found[0]:
        return []
    later = [entry for entry in entries[found[0] :] if isinstance(entry, e.ToolCall | e.LlmRequest | e.SubagentStarted)]
    # Notices are posted in the thread and at open questions, and the status message is deleted.
    # A resumed subagent began before.
    begun = [one for one in later if not (isinstance(one, e.ToolCall) and one.call.startswith(NOTICES))]
    begun = [one for one in begun if not (isinstance(one, e.SubagentStarted) and one.resumed)]
    ends = [entry.status for entry in entries if isinstance(entry, e.RunFinished)]
    wrong = [status for status in ends if status not in ("cancelled", "failed", "needs_attention")]
    return (["something began after a cancel"] if begun else []) + (["a cancelled run went on"] if wrong else [])


def _outcomes(entries: Sequence[e.Entry]) -> list[str]:
    calls = Counter(entry.call for entry in entries if isinstance(entry, e.ToolResult | e.ToolUnknown))
    return [f"{count} outcomes of one call" for count in calls.values() if count > 1]
