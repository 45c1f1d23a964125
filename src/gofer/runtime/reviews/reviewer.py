"""The reviewer: asks a model about each ended run that another model decided, and sends the verdict to the run."""

import hashlib
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from gofer.engine.owned_run import Deadline
from gofer.engine.services import Services
from gofer.journal import inbox
from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.entries import RunReviewed
from gofer.journal.head_facts import decode
from gofer.models.language_model import Answer, Model, Unusable
from gofer.models.served_model import LookUp, ServedModel, unlisted
from gofer.runtime.reviews import daily_budget
from gofer.runtime.reviews.question import VERSION, Unreadable, Verdict, goal_of, material_of, request, verdict_of
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.stores.queue import QueueLine
from gofer.values.errors import Corrupt, Gone, RunStopped, TemporaryError
from gofer.values.messages import Usage
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.review_form import REVIEWER_ROLE

ITEM = "review"
"""The id of the inbox item: a run gets one review."""
SECONDS = 60.0
"""How long one answer may take."""
ATTEMPTS = 2
"""The requests for one review: an unreadable answer is asked for once more."""
LONGEST_WAIT_MS = DAY_MS
"""How long after the end of a run its review is tried; unix milliseconds."""
_SHORTEST_DELAY = 60.0
_LONGEST_DELAY = 900.0
"""The longest delay of a queue message in seconds, which every queue takes."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The reviewer of one worker."""

    look_up: LookUp = unlisted
    """Finds the published price of a model."""

    async def review_each(
        self, runs: Iterable[str], holding: Callable[[str], Awaitable[Catalog]], services: Services, deadline: Deadline
    ) -> None:
        """Review the runs with a due review; an empty id is no run. `holding` gives the workflows by name.

        Too little time of the worker leaves the review to another receipt. Raises TemporaryError if a store or the
        queue does not answer; then the queue message comes back, and the review is made then.
        """
        for run in dict.fromkeys(filter(None, runs)):
            head = await services.store.head(run)
            if head is None or not is_due(head):
                continue
            if deadline.left < SECONDS:
                await services.stores.queue.enqueue(run, line=QueueLine(people=False, workflow=head.workflow))
                continue
            catalog = await holding(head.workflow)
            await self.review(run, catalog, services.of(catalog))

    async def review(self, run: str, catalog: Catalog, services: Services) -> None:
        """Review a run if its review is due. Raises TemporaryError only if a store or the queue does not answer.

        A run whose review could not be made now is enqueued again. Runs above the limit of the day stay without one.
        """
        head = await services.store.head(run)
        if head is None or not is_due(head) or not is_sampled(run, catalog.review_share(head.workflow)):
            return
        served = next(iter(catalog.defaults.roles(self.look_up).playing(REVIEWER_ROLE)), None)
        if served is None:
            return
        record = await self._read(run, services)
        if record is None:
            return
        now_ms = int(services.outside.clock.now() * 1000)
        if await daily_budget.is_spent(services.store, now_ms, catalog.defaults.review.usd_per_day):
            return
        try:
            reviewed = await reviewed_by(served, _open(served, services), record)
        except TemporaryError as error:
            age = services.outside.clock.now() - head.updated_at / 1000
            if age * 1000 < LONGEST_WAIT_MS:
                delay = min(max(age / 2, _SHORTEST_DELAY), _LONGEST_DELAY)
                await services.stores.queue.enqueue(run, delay, line=QueueLine(people=False, workflow=head.workflow))
                return
            reviewed = _without_verdict(served, record, f"The reviewer did not answer for a day: {error}")
        await daily_budget.add(services.store, now_ms, reviewed.usd or 0.0, services.outside.new_id())
        try:
            await inbox.put(services.store, run, ITEM, reviewed)
        except Gone:
            return
        await services.stores.queue.enqueue(run, line=QueueLine(people=False, workflow=head.workflow))

    async def _read(self, run: str, services: Services) -> RunRecord | None:
        """Return a public run; None for a private, deleted or damaged one."""
        try:
            record = await RunReader(services.stores, services.outside.clock, {}).read(run, OPERATOR)
        except (Gone, Corrupt):
            return None
        if record is None or record.error is not None or record.progress.finished is None:
            return None
        return record


def is_due(head: Head) -> bool:
    """Return whether a run is one to review: it ended, is public, asked a model and has no review yet."""
    facts = decode(head.facts)
    if facts is None or head.private or not head.ended or head.status == "ignored":
        return False
    if head.retention in ("deleting", "deleted"):
        return False
    return facts.llm_calls > 0 and not facts.prompt


def is_sampled(run: str, sample: float) -> bool:
    """Return whether a run is in the sample, a share from 0 to 1. The same run always gives the same answer."""
    return zlib.crc32(run.encode()) / 2**32 < sample


async def reviewed_by(served: ServedModel, model: Model | RunStopped, record: RunRecord) -> RunReviewed:
    """Return the review of a run by a model. Raises TemporaryError if the model does not answer now.

    A model that may not be asked, that reviews its own run or that gives no readable answer leads to no verdict.
    """
    if isinstance(model, RunStopped):
        return _without_verdict(served, record, f"The reviewer {served.name} may not be asked: {model}")
    if served.name in record.progress.models:
        problem = f"The model {served.name} decided the run, and no model reviews itself."
        return _without_verdict(served, record, problem)
    material = material_of(record)
    spent = Usage()
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            answer = await model.ask(request(served, material, problem), SECONDS)
        except Unusable as error:
            problem = str(error)
            continue
        except RunStopped as error:
            return _without_verdict(served, record, f"The reviewer {served.name} gave no answer: {error}", spent)
        spent = spent.plus(answer.usage)
        try:
            return _with_verdict(served, record, verdict_of(answer.text), answer, spent)
        except Unreadable as error:
            problem = str(error)
    return _without_verdict(served, record, f"The reviewer {served.name} gave no readable answer. {problem}", spent)


def _open(served: ServedModel, services: Services) -> Model | RunStopped:
    """Return the model behind the endpoint of the reviewer, or why this deployment does not allow it."""
    try:
        return services.model if served.endpoint.is_default else services.reach(served.endpoint)
    except RunStopped as error:
        return error


def _with_verdict(
    served: ServedModel, record: RunRecord, verdict: Verdict, answer: Answer, spent: Usage
) -> RunReviewed:
    return RunReviewed(
        effective=verdict.effective,
        why=verdict.why,
        next_step=verdict.next_step,
        goal_drift=verdict.goal_drift,
        drift=verdict.drift,
        model=answer.model,
        fingerprint=answer.fingerprint,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        usd=_cost(served, spent),
        prompt_sha256=prompt_sha256(record),
        rules=VERSION,
        item=ITEM,
    )


def _without_verdict(served: ServedModel, record: RunRecord, problem: str, spent: Usage | None = None) -> RunReviewed:
    spent = spent or Usage()
    return RunReviewed(
        effective=None,
        model=served.name,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        usd=_cost(served, spent),
        prompt_sha256=prompt_sha256(record),
        rules=VERSION,
        problem=problem,
        item=ITEM,
    )


def prompt_sha256(record: RunRecord) -> str:
    """Return the hash of the prompt with which a run began; the system prompt of an older bundle without its place."""
    if record.bundle is None:
        return hashlib.sha256(b"").hexdigest()
    return hash_of_goal(record.bundle.loaded)


def hash_of_goal(loaded: Loaded) -> str:
    """Return the hash of the prompt of a workflow, which identifies its version."""
    return hashlib.sha256(goal_of(loaded).encode()).hexdigest()


def _cost(served: ServedModel, spent: Usage) -> float | None:
    if not spent.input_tokens:
        return 0.0
    if served.price is None:
        return None
    return served.price.cost(spent)
