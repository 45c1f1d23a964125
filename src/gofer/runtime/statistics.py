"""Statistics of runs: their ends, tools, skills, cost, tokens and times, in total and by group.

They are computed from heads, page by page. Private runs enter no statistic. An event that matched no workflow (a run
with the status `ignored`) counts as a status only.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, assert_never, get_args

from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import HeadFacts, ToolCount
from gofer.runtime.reviews.agreement import Pair, pair_of
from gofer.runtime.reviews.daily_budget import stopped_days
from gofer.runtime.run_readings import RunReadings

By = Literal["workflow", "person", "week", "tool", "skill", "prompt"]
"""The groups of runs."""
Measure = Literal["llm_calls", "owned_ms", "plan_calls", "equal_calls"]
"""The facts of a run that checks limit."""
MEASURES: Sequence[Measure] = get_args(Measure)
MOST_READ = 1_000
"""The most runs without facts whose journals are read."""


@dataclass(slots=True)
class Tally:
    """Counts over runs. Runs without facts count in `statuses` and `unmeasured` only."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    unmeasured: int = 0
    """The runs whose facts are not known."""
    causes: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """The failed ends by cause and system."""
    checks: Counter[str] = field(default_factory=Counter[str])
    """The runs that failed a check, by its name."""
    skills: Counter[str] = field(default_factory=Counter[str])
    """The runs that loaded a skill."""
    tools: dict[str, ToolCount] = field(default_factory=dict[str, ToolCount])
    llm_calls: int = 0
    tool_calls: int = 0
    subagents: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    usd: float = 0.0
    """The cost of the runs with a known cost."""
    unpriced: int = 0
    """The runs whose cost is not known."""
    good: int = 0
    bad: int = 0
    """The persons who gave good and bad feedback, counted once for each run."""
    reviewed: int = 0
    """The runs with the verdict of a review."""
    effective: int = 0
    """The reviewed runs that were effective."""
    pairs: Counter[Pair] = field(default_factory=Counter[Pair])
    """The runs by what people and the review say about them, if both do."""
    review_usd: float = 0.0
    """The known cost of reviews, which is in no other cost."""
    owned_ms: int = 0
    measured: "dict[Measure, array[int]]" = field(default_factory=lambda: {name: array("q") for name in MEASURES})
    """What the limits of checks are set by, one value for each run."""
    sign_ms: "array[int]" = field(default_factory=lambda: array("q"))
    """The times to the first sign in milliseconds, one for each run that gave one."""
    answer_ms: "array[int]" = field(default_factory=lambda: array("q"))
    """The times to the answer in milliseconds, one for each answered run."""

    @property
    def runs(self) -> int:
        """The number of runs, without ignored events."""
        return self.statuses.total() - self.statuses["ignored"]

    @property
    def failed(self) -> int:
        """The number of runs that ended without their work done."""
        return self.statuses["failed"] + self.statuses["limited"] + self.statuses["needs_attention"]

    def add(self, head: Head, facts: HeadFacts | None) -> None:
        """Count one run."""
        self.statuses[head.status] += 1
        if head.status == "ignored":
            return
        if facts is None:
            self.unmeasured += 1
            return
        if facts.cause:
            self.causes[facts.cause, facts.system] += 1
        self.checks.update(facts.checks)
        self.skills.update(facts.skills)
        self._add_tools(facts.tools)
        self._add_use(facts)
        self._add_follow_ups(facts)
        if facts.sign_ms is not None:
            self.sign_ms.append(facts.sign_ms)
        if facts.answer_ms is not None:
            self.answer_ms.append(facts.answer_ms)

    def _add_follow_ups(self, facts: HeadFacts) -> None:
        self.good += facts.good
        self.bad += facts.bad
        self.reviewed += facts.is_reviewed
        self.effective += facts.effective is True
        if pair := pair_of(facts):
            self.pairs[pair] += 1
        self.review_usd += facts.review_usd or 0.0

    def _add_tools(self, tools: Mapping[str, ToolCount]) -> None:
        for name, count in tools.items():
            before = self.tools.get(name, ToolCount())
            self.tools[name] = ToolCount(before.calls + count.calls, before.errors + count.errors)

    def _add_use(self, facts: HeadFacts) -> None:
        self.llm_calls += facts.llm_calls
        self.tool_calls += facts.tool_calls
        self.subagents += facts.subagents
        self.input_tokens += facts.input_tokens
        self.output_tokens += facts.output_tokens
        self.cached_tokens += facts.cached_tokens
        self.written_tokens += facts.written_tokens
        self.owned_ms += facts.owned_ms
        for name, values in self.measured.items():
            values.append(getattr(facts, name))
        if facts.usd is None:
            self.unpriced += 1
        else:
            self.usd += facts.usd


@dataclass(slots=True)
class Day:
    """The runs of one day in UTC and their known cost."""

    runs: int = 0
    usd: float = 0.0


@dataclass(slots=True)
class Statistics:
    """The statistics of the runs since a time."""

    since: int
    """Unix milliseconds."""
    until: int
    by: By
    total: Tally = field(default_factory=Tally)
    groups: dict[str, Tally] = field(default_factory=dict[str, Tally])
    """The runs by group: the name of a workflow, tool or skill, a week such as `2026-W48`, the token of a person, or
    a workflow and the version of its prompt."""
    newest: dict[str, Head] = field(default_factory=dict[str, Head])
    """The newest run of each group."""
    oldest: dict[str, Head] = field(default_factory=dict[str, Head])
    """The oldest run of each group."""
    days: dict[int, Day] = field(default_factory=dict[int, Day])
    """The days with runs, by their number since 1970."""
    reviews_stopped: Sequence[str] = ()
    """The days such as `2026-11-23` on which reviews reached their limit in US dollars."""

    def add(self, head: Head, facts: HeadFacts | None) -> None:
        """Count one run in the total and in its groups."""
        self.total.add(head, facts)
        for group in groups_of(self.by, head, facts):
            self.groups.setdefault(group, Tally()).add(head, facts)
            newest = self.newest.setdefault(group, head)
            if head.accepted_at > newest.accepted_at:
                self.newest[group] = head
            oldest = self.oldest.setdefault(group, head)
            if head.accepted_at < oldest.accepted_at:
                self.oldest[group] = head
        if head.status != "ignored":
            day = self.days.setdefault(head.accepted_at // DAY_MS, Day())
            day.runs += 1
            if facts is not None:
                day.usd += facts.usd or 0.0


async def statistics(readings: RunReadings, since: int, until: int, by: By) -> Statistics:
    """Return the statistics of the runs accepted from `since` to `until` (unix ms). Raises TemporaryError."""
    found = Statistics(since, until, by)
    async for page in readings.runs.stores.journals.listed(since):
        for head in page:
            if head.accepted_at <= until:
                found.add(head, await readings.facts(head))
    if found.total.review_usd:
        found.reviews_stopped = await stopped_days(readings.runs.stores.journals, since, until)
    return found


def groups_of(by: By, head: Head, facts: HeadFacts | None) -> Sequence[str]:
    """Return the groups that a run counts in: several for tools and skills, and none if it is not known."""
    match by:
        case "workflow":
            return [head.workflow]
        case "week":
            return [week_of(head.accepted_at)]
        case _ if facts is None:
            return ()
        case "person":
            return [token for token in [facts.person] if token]
        case "tool":
            return list(facts.tools)
        case "skill":
            return facts.skills
        case "prompt":
            # Only a review knows the version of the prompt.
            return [f"{head.workflow} {facts.prompt}"] if facts.prompt else ()
        case _:
            assert_never(by)


def week_of(at: int) -> str:
    """Return the ISO week of unix milliseconds in UTC, such as `2026-W48`."""
    year, week, _ = datetime.fromtimestamp(at / 1000, UTC).isocalendar()
    return f"{year}-W{week:02d}"


def percentile(values: Sequence[int], share: float) -> int | None:
    """Return the smallest value that at least a share of all values does not exceed; None without values."""
    if not values:
        return None
    ranked = sorted(values)
    rank = math.ceil(share * len(ranked))
    return ranked[max(0, rank - 1)]
