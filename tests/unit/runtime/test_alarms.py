"""Alarms: the operator hears once that a system is away, and once that it is back, also across restarts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from gofer.app.embedded.alarms import observed
from gofer.engine.services import MODEL
from gofer.models.language_model import Unavailable
from gofer.runtime.alarms import DISK, PATIENCE, Alarms
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import TemporaryError, Unsent
from gofer.values.messages import ProviderError
from gofer.values.outside import BadUrl
from support.engine.memory_run import says
from support.runtime.memory_worker import memory_worker
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio
SLACK_AWAY = "Slack does not answer. Runs that need it wait."


class AwayStore(MemoryStore):
    """A store that can be away."""

    away = False

    @override
    async def put_memo(self, key: str, value: str, at: int) -> None:
        self._check()
        await super().put_memo(key, value, at)

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        self._check()
        return await super().exchange_memo(key, was, value, at)

    @override
    async def memo(self, key: str) -> str | None:
        self._check()
        return await super().memo(key)

    def _check(self) -> None:
        if self.away:
            raise TemporaryError("the disk is full")


@dataclass
class Operator:
    """An operator with a Gofer whose alarms are started anew at will."""

    clock: SetClock = field(default_factory=SetClock)
    store: AwayStore = field(default_factory=AwayStore)
    heard: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    """The errors of the next attempts to send."""
    has_room: bool = True

    def started(self) -> Alarms:
        return Alarms(self.store, self.clock, self.hear, lambda: self.has_room)

    async def hear(self, text: str) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.heard.append(text)

    async def later(self, alarms: Alarms, seconds: float = PATIENCE) -> Sequence[str]:
        """Return what the operator hears in a round after some time."""
        before = len(self.heard)
        self.clock.advance(seconds)
        await alarms.look()
        return self.heard[before:]


async def test_operator_hears_once_of_an_absence_and_once_of_its_end() -> None:
    operator = Operator()
    alarms = operator.started()
    alarms.note_away("Slack")
    assert await operator.later(alarms, 60) == []
    alarms.note_away("Slack")
    assert await operator.later(alarms, 60) == [SLACK_AWAY]
    alarms.note_away("Slack")
    assert await operator.later(alarms, 3_600) == []
    alarms.note_answer("Slack")
    assert await operator.later(alarms, 15) == ["Slack answers again. It was away for about 62 min."]
    assert await operator.later(alarms) == []


async def test_short_absence_is_no_alarm() -> None:
    operator = Operator()
    alarms = operator.started()
    for _ in range(10):
        alarms.note_away("Slack")
        assert await operator.later(alarms, PATIENCE - 1) == []
        alarms.note_answer("Slack")
        assert await operator.later(alarms, 15) == []


async def test_restart_repeats_no_alarm_and_reports_the_return() -> None:
    operator = Operator()
    alarms = operator.started()
    alarms.note_away("Jira")
    await operator.later(alarms)
    alarms = operator.started()
    alarms.note_away("Jira")
    assert await operator.later(alarms) == []
    alarms = operator.started()
    alarms.note_answer("Jira")
    assert [text.partition(".")[0] for text in await operator.later(alarms)] == ["Jira answers again"]


async def test_full_disk_is_an_alarm_although_the_store_takes_no_memo() -> None:
    operator = Operator()
    operator.store.away = True
    alarms = operator.started()
    assert await operator.later(alarms, 0) == []
    (heard,) = await operator.later(alarms)
    assert heard.startswith("The disk of Gofer's state is nearly full, or takes no write. Make room")
    alarms.note_away("Slack")
    assert await operator.later(alarms) == [SLACK_AWAY]
    operator.store.away = False
    (heard,) = await operator.later(alarms)
    assert heard.startswith("The disk of Gofer's state has room and takes writes again.")
    alarms = operator.started()
    alarms.note_away("Slack")
    assert await operator.later(alarms) == []


async def test_little_room_is_an_alarm_before_the_disk_is_full() -> None:
    operator = Operator(has_room=False)
    alarms = operator.started()
    await operator.later(alarms, 0)
    assert len(await operator.later(alarms)) == 1
    assert await operator.store.memo(f"alarm:{DISK}")


async def test_unsent_alarm_is_sent_later_and_an_uncertain_one_is_not() -> None:
    operator = Operator(failures=[Unsent("no connection"), BadUrl("it is too long")])
    alarms = operator.started()
    alarms.note_away("Slack")
    assert await operator.later(alarms) == []
    assert await operator.later(alarms, 15) == []
    assert await operator.later(alarms, 15) == [SLACK_AWAY]
    operator.failures = [TemporaryError("no answer within 10 seconds")]
    alarms.note_answer("Slack")
    assert await operator.later(alarms, 15) == []
    assert await operator.later(alarms, 15) == []


STEPS = st.sampled_from(["away", "answer", "round", "wait", "restart", "store away", "store back", "unsent"])


@given(st.lists(STEPS, max_size=40))
async def test_messages_about_a_system_alternate_in_any_order_of_events(steps: Sequence[str]) -> None:
    operator = Operator()
    alarms = operator.started()
    for step in steps:
        match step:
            case "away":
                alarms.note_away("Slack")
            case "answer":
                alarms.note_answer("Slack")
            case "wait":
                await operator.later(alarms)
            # A process does not start while its store is away.
            case "restart" if not operator.store.away:
                await alarms.look()
                alarms = operator.started()
            case "store away":
                operator.store.away = True
            case "store back":
                operator.store.away = False
            case "unsent":
                operator.failures.append(Unsent("no connection"))
            case _:
                await alarms.look()
    about = [text for text in operator.heard if text.startswith("Slack")]
    assert [text == SLACK_AWAY for text in about] == [number % 2 == 0 for number in range(len(about))]


async def test_run_without_a_model_is_an_alarm_until_the_model_answers() -> None:
    away = Unavailable("The model could not be reached.", ProviderError("unreachable"))
    made = memory_worker(*[away] * 3, says("Here you are."))
    operator = Operator(clock=made.clock)
    alarms = operator.started()
    made.worker = observed(made.worker, alarms)
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    assert await operator.later(alarms) == [f"{MODEL.capitalize()} does not answer. Runs that need it wait."]
    await made.work_once_or_crash()
    (heard,) = await operator.later(alarms, 15)
    assert heard.startswith("The model answers again.")
