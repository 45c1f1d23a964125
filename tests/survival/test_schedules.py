"""Simulated schedules: every promise holds, and breaking a rule that keeps one is detected.

A failing seed is played again with `python -m pytest tests/survival --seed N --store memory|sqlite|dynamodb`.
"""

import asyncio
import base64
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from gofer.engine.effects import Patience
from gofer.journal.entries import Route
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import Click
from gofer.sources.signed_decision import Stamp, token
from gofer.stores.aws.items import FRAMES
from gofer.stores.aws.table import Put, Refused, Write
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.canonical_json import decode
from gofer.values.events import Event
from support.simulation.aws_stores import SharedTable
from support.simulation.judge import Report
from support.simulation.plans import Plan, plan
from support.simulation.schedule import Rules, Schedule
from support.simulation.world import make_tools

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


HAPPENS = (
    *("asked", "ignored", "stopped", "told", "scripted", "cancelled", "takeovers", "handovers", "unknown"),
    *("delegated", "compacted"),
)
"""Events that occur in some of many schedules, beside decisions."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the log lines of thousands of simulated failures."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def played(seeds: Sequence[int], kind: str, rules: Rules | None = None) -> dict[int, Report]:
    return {seed: Schedule(seed, kind, rules).run() for seed in seeds}


def hold(seeds: Sequence[int], kinds: Sequence[str]) -> None:
    """Check that all promises hold on schedules that alternate between stores."""
    accepted, seen = 0, Counter[str]()
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        report = Schedule(seed, kind).run()
        assert report.violations == [], f"replay with --seed {seed} --store {kind}"
        accepted += report.runs
        seen += report.decided + Counter({name: getattr(report, name) for name in HAPPENS})
    # Occasionally each machine that received an event died before it answered: the event was not accepted.
    assert len(seeds) < 100 or accepted > 2.9 * len(seeds)
    # An idle simulation would break no promise.
    missing = {"approved", "denied", "expired", *HAPPENS} - seen.keys()
    assert missing == set() or len(seeds) < 200


def test_schedules_on_memory_and_sqlite_break_no_promise(request: pytest.FixtureRequest) -> None:
    """200 in `make test`, 100,000 in `make test-long`; memory and SQLite alternate."""
    only, count = request.config.getoption("--seed"), request.config.getoption("--schedules")
    if only is None:
        hold(range(count), ("memory", "sqlite"))
    else:
        hold([only], [request.config.getoption("--store")])


def test_schedules_on_dynamodb_break_no_promise(request: pytest.FixtureRequest) -> None:
    """One for every eight others. Each request to the table may fail, its index lags, and SQS duplicates messages."""
    if request.config.getoption("--seed") is None:
        hold(range(request.config.getoption("--schedules") // 8), ["dynamodb"])


def test_seed_gives_the_same_journals_on_every_store(everywhere: bool) -> None:
    for seed in range(15 if everywhere else 8):
        # Any dependence on more than the seed would differ here too.
        assert Schedule(seed).run().journals == Schedule(seed, "sqlite").run().journals


def test_run_during_outages_ends_with_an_answer_or_a_visible_reason(everywhere: bool) -> None:
    """50 schedules, 100 in `make test-long`, all with vendors away for 5 seconds to 40 minutes."""
    seen = Counter[str]()
    for seed in range(100 if everywhere else 50):
        kind = ("memory", "sqlite")[seed % 2]
        report = Schedule(seed, kind, Rules(outages=1.0)).run()
        assert report.violations == [], f"seed {seed} on {kind} with outages"
        seen += report.faults + Counter(waited=report.waited)
    assert min(seen["outage"], seen["waited"]) > 50


def test_schedule_without_faults_has_no_unknown_call_and_no_takeover() -> None:
    for seed in range(5):
        schedule = Schedule(seed)
        schedule.faults.over = True
        report = schedule.run()
        assert (report.violations, report.unknown, report.takeovers) == ([], 0, 0)


class Forwarding:
    """A store that forwards to another; a mutant overrides one promise."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


class WithoutFence(Forwarding):
    """A store that reports every frame as written."""

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        frames = getattr(self._store, "_frames")  # noqa: B009
        if n <= len(frames[run]):
            frames[run][n - 1] = frame
            return None
        return await self._store.create(run, n, frame)


class UnconditionalTable(SharedTable):
    """A table that overwrites existing frames."""

    async def write(self, write: Write) -> Refused | None:
        fenced = isinstance(write, Put) and write.key.sk.startswith(FRAMES)
        return await super().write(replace(write, when=None) if fenced else write)


class WithoutClaim(Ingress):
    """Ingress that treats every delivery as a new event."""

    async def start(self, event: Event, workflow: str, routes: tuple[Route, ...] = ()) -> str:
        own = replace(event, identity=(*event.identity, self.outside.new_id()))
        return await super().start(own, workflow, routes)


class WithoutToken(Ingress):
    """Ingress that accepts every button as its own."""

    async def press(self, click: Click) -> str:
        said = click.token.partition(".")[0]
        run, call, about, sha256, decision = decode(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
        stamp = Stamp(run, call, about, sha256, decision)
        return await super().press(replace(click, token=token(self.installation_key, stamp)))


class WithoutExchange(Forwarding):
    """A store that grants every claim of a one-time effect, after a pause in which others look."""

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        await asyncio.sleep(1)
        await self._store.put_memo(key, value, at)
        return value


def trusting() -> dict[str, Tool]:
    """Return tools that let any person decide."""
    made = make_tools()

    async def may(call: Call, said: object) -> ToolResult:
        return ToolResult("", "", {"allowed": True, "name": "somebody"})

    return {**made, "slack_may_decide": replace(made["slack_may_decide"], act=may)}


def repeating() -> dict[str, Tool]:
    """Return tools that are repeated without a lookup."""

    async def never(call: Call, said: object) -> ToolResult | None:
        return None

    made = make_tools()
    for name, tool in made.items():
        if tool.effect == "lookup":
            made[name] = replace(tool, in_doubt=replace(tool.in_doubt, look=never))
    return made


def races(plan: Plan) -> bool:
    """Whether two runs may attempt the same effect at once: for one message, in two conversations."""
    return bool(plan.once) and len({event.conversation for event in plan.events}) == len(plan.events)


def asks(plan: Plan) -> bool:
    return plan.asks


def any_plan(plan: Plan) -> bool:
    return True


MUTANTS: dict[str, tuple[Rules, int, Callable[[Plan], bool]]] = {
    "the fence": (Rules(store=WithoutFence), 60, any_plan),
    "the claim": (Rules(ingress=WithoutClaim), 5, any_plan),
    "the button's token": (Rules(ingress=WithoutToken), 60, asks),
    "the right person": (Rules(tools=trusting), 60, asks),
    "the claim of what is done once": (Rules(store=WithoutExchange), 1_200, races),
    "the look": (Rules(tools=repeating), 60, any_plan),
    "the quiet time": (Rules(patience=Patience(permit=20, inflight=0, skew=-20), alone=True), 1_500, any_plan),
}
"""The broken rule, the seed before which it must be detected, and the plans that it affects: only those are played."""


def test_table_without_conditions_is_detected() -> None:
    rules = Rules(table=UnconditionalTable)
    assert any(Schedule(seed, "dynamodb", rules).run().violations for seed in range(60))


@pytest.mark.parametrize("rule", MUTANTS)
def test_broken_rule_is_detected_by_the_schedules(rule: str) -> None:
    rules, at_most, matters = MUTANTS[rule]
    for seed in (seed for seed in range(at_most) if matters(plan(seed))):
        if Schedule(seed, "memory", rules).run().violations:
            return
    pytest.fail(f"{at_most} schedules without {rule} had no violation")
