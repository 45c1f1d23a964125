"""How the next step of a recorded run differs if a model answers its first request with the current files.

The request is the recorded one with the current parameters, tools and system prompt. Nothing but the model is asked:
no tool is called, and the history is the recorded one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gofer.evals.affected import AffectedRun, RecordedWork
from gofer.evals.golden_works import GoldenWork
from gofer.evals.step_words import declared, in_words, named_calls, whole_calls
from gofer.journal.entries import LlmRequest, LlmResponse
from gofer.models.language_model import Model
from gofer.models.served_model import Endpoint
from gofer.projections.requests.request_parts import head
from gofer.projections.requests.sent_requests import sent_requests
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import ToolAsk
from gofer.workflows.bundle import Bundle

MOST_ASKED = 20
"""The most runs for which a model is asked."""
SECONDS = 60.0
"""How long one answer may take."""


async def with_next_steps(
    affected: Sequence[AffectedRun],
    works: Sequence[RecordedWork],
    current: Mapping[str, Bundle],
    reach: Callable[[Endpoint], Model],
    timeout: float = SECONDS,
) -> Sequence[AffectedRun]:
    """Return the affected runs, with the sentence about the next step for those that change from the first request.

    At most MOST_ASKED requests are sent, one after the other, each with a limit of `timeout` seconds, to the
    first model of the workflow. Sentences about goldens show whole calls; those about runs of a store show names of
    tools and arguments only. `reach` returns the models behind an endpoint, or raises RunStopped.
    """
    by_run = {work.run: work for work in works}
    changed = [run for run in affected if run.first == 1 and run.run in by_run and run.workflow in current]
    sentences: dict[str, str] = {}
    for run in changed[:MOST_ASKED]:
        sentences[run.run] = await _next_step(by_run[run.run], current[run.workflow], reach, timeout)
    return [replace(run, next_step=sentences.get(run.run, "")) for run in affected]


async def _next_step(work: RecordedWork, current: Bundle, reach: Callable[[Endpoint], Model], timeout: float) -> str:
    """Return the sentence about the next step of a run; empty for a run without a first answer."""
    request = first_request(work, current)
    recorded = _first_answer(work)
    if request is None or recorded is None:
        return ""
    try:
        model = reach(current.loaded.models[0].endpoint)
        answer = await model.ask(request, timeout)
    except (TemporaryError, RunStopped):
        return "The model gave no answer, so the next step is not known."
    before = whole_calls(recorded.tool_calls)
    after = whole_calls(answer.asks)
    old = in_words(_shown(recorded.tool_calls, work, work.bundles[work.run]))
    new = in_words(_shown(answer.asks, work, current))
    if before == after:
        return f"The next step stays: {new}."
    if old == new:
        return f"The next step differs in the arguments of {new}."
    return f"The next step differs: {old} before, {new} now."


def _shown(asks: Sequence[ToolAsk], work: RecordedWork, bundle: Bundle) -> Sequence[str]:
    """Return the calls whole for a golden, and for a run of a store only with names that the bundle declares."""
    if isinstance(work, GoldenWork):
        return whole_calls(asks)
    return named_calls(asks, declared(bundle.tools))


def first_request(work: RecordedWork, current: Bundle) -> bytes | None:
    """Return the bytes of the first request as the current files make it; None for a run that asked no model."""
    bundle = work.bundles.get(work.run)
    chain = current.chain()
    if bundle is None or not chain:
        return None
    for sent in sent_requests(work.entries, bundle.loaded.system, bundle.tools):
        beginning = head(chain[0].params, current.tools, current.loaded.system)
        return b",".join([beginning, *sent.parts]) + sent.request.tail.encode()
    return None


def _first_answer(work: RecordedWork) -> LlmResponse | None:
    """Return the recorded answer to the first request; None if it has none."""
    is_asked = False
    for recorded in work.entries:
        match recorded.entry:
            case LlmRequest():
                is_asked = True
            case LlmResponse() as answer if is_asked:
                return answer
            case _:
                pass
    return None
