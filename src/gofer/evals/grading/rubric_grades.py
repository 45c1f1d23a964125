"""The grades of a rubric: fixed criteria of a whole play.

The status, the confidence, the evidence and the schema are those of the last turn. Calls, cost and phrases are those
of all turns together.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from gofer.evals.eval_file import Rubric
from gofer.evals.grading.call_words import called_instead, joined, missing_tool, outcome
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.output_grades import answer_in_words, unwanted_failures
from gofer.evals.grading.play_usage import cost_of_play, total_llm_calls, total_tool_calls
from gofer.evals.grading.read_material import names_material, read_material
from gofer.evals.grading.turn_view import TurnView, answer_status
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.projections.checks.check_settings import quoted, shortened
from gofer.values.amounts import counted, money
from gofer.values.canonical_json import as_object
from gofer.workflows.output import problems
from gofer.workflows.output_schema import flaws

_ENDS = {"parked": "is parked", "running": "is running", "queued": "is queued"}
"""The words for a run that has not ended."""


def rubric_grades(rubric: Rubric, play: Play, turns: Sequence[TurnView]) -> Iterator[Grade]:
    """Yield the grades of the criteria that are written. `turns` are those of the play, one or more."""
    last = turns[-1]
    if rubric.expected_status:
        failures = _expected_status(rubric, last)
        yield from verdicts("rubric.expected_status", failures, last.number)
    if rubric.min_confidence is not None:
        yield from verdicts("rubric.min_confidence", _confidence(rubric.min_confidence, last), last.number)
    if rubric.require_actions:
        failures = _actions(rubric.require_actions, turns)
        yield from verdicts("rubric.require_actions", failures, last.number)
    if rubric.require_runbook_evidence:
        yield from verdicts("rubric.require_runbook_evidence", _evidence(last), last.number)
    if rubric.forbidden_phrases:
        failures = chain.from_iterable(unwanted_failures(rubric.forbidden_phrases, turn) for turn in turns)
        yield from verdicts("rubric.forbidden_phrases", failures, last.number)
    if rubric.output_schema is not None:
        yield from verdicts("rubric.schema", _schema(rubric.output_schema, last), last.number)
    if rubric.max_latency_ms is not None:
        yield from _latency_grades(rubric.max_latency_ms, play, turns)
    if rubric.max_cost_usd is not None:
        yield from verdicts("rubric.max_cost_usd", _cost(rubric.max_cost_usd, play, last), last.number)
    if rubric.max_llm_calls is not None:
        yield from verdicts("rubric.max_llm_calls", _llm_calls(rubric.max_llm_calls, play, turns), last.number)
    if rubric.max_tool_calls is not None:
        yield from verdicts("rubric.max_tool_calls", _tool_calls(rubric.max_tool_calls, play, turns), last.number)


def status_failures(expected: Sequence[str], turn: TurnView) -> Iterator[Failure]:
    """Yield the failure of a run that ended otherwise, or that did not end."""
    if turn.status not in expected:
        happened, step = _end(turn)
        wanted = joined([_ENDS.get(status, f"ends as {status}") for status in expected], "or")
        yield Failure(f"the run {wanted}", happened, step, turn.number)


def _expected_status(rubric: Rubric, turn: TurnView) -> Iterator[Failure]:
    status = answer_status(turn.played, rubric.status_field, rubric.expected_status)
    if status is None:
        yield from status_failures(rubric.expected_status, turn)
    elif status not in rubric.expected_status:
        field = rubric.status_field or "status"
        expected = f"{joined(rubric.expected_status, 'or')} in the field {field} of the answer"
        happened = f"the field {field} is {quoted(status)}"
        if not status:
            happened = f"the answer has no field {field}; {answer_in_words(turn)}"
        yield Failure(expected, happened, turn.last_step, turn.number)


def _end(turn: TurnView) -> tuple[str, str]:
    """Return how a run ended, or what it waits for, and the step."""
    progress = turn.progress
    step = turn.last_step
    happened = f"the run {_ENDS.get(turn.status, f'ended as {turn.status}')}"
    reason = progress.parked_reason
    if progress.finished is not None:
        reason = progress.finished.reason
    elif progress.parked is not None and progress.waiting is not None:
        step = progress.waiting.requested.call
    if not reason and progress.finished is None and progress.concluded is not None:
        reason = "its answer was not delivered"
    if reason:
        happened = f"{happened}: {shortened(reason)}"
    return happened, step


def _confidence(least: float, turn: TurnView) -> Iterator[Failure]:
    concluded = turn.progress.concluded
    expected = f"a confidence of {least:g} or more"
    if concluded is None or concluded.output is None:
        happened = f"the answer has no confidence, because it has no fields; {answer_in_words(turn)}"
        yield Failure(expected, happened, turn.last_step, turn.number)
        return
    confidence = concluded.output.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        fields = joined(list(concluded.output)) or "none"
        happened = f"the answer has no number in `confidence`; its fields are {shortened(fields)}"
        yield Failure(expected, happened, turn.last_step, turn.number)
    elif not confidence >= least:
        yield Failure(expected, f"the confidence is {confidence:g}", turn.last_step, turn.number)


def _actions(tools: Sequence[str] | bool, turns: Sequence[TurnView]) -> Iterator[Failure]:
    if isinstance(tools, bool):
        made = [call.call for turn in turns for call in turn.calls]
        if not any(call.status == "ok" and call.effect not in (None, "read") for call in made):
            last = turns[-1]
            yield Failure("a call that writes, with success", called_instead(last), last.last_step, last.number)
        return
    for tool in tools:
        made = [(turn, call) for turn in turns for call in turn.by_tool.get(tool, ())]
        if any(call.call.status == "ok" for _, call in made):
            continue
        last = turns[-1]
        sentences = [missing_tool(last, tool), called_instead(last)]
        step = last.last_step
        if made:
            last, call = made[-1]
            sentences = [missing_tool(last, tool), outcome(call)]
            step = call.step
        happened = "; ".join(filter(None, sentences))
        yield Failure(f"a call of {tool} with success", happened, step, last.number)


def _evidence(turn: TurnView) -> Iterator[Failure]:
    read = read_material(turn.played)
    if not read:
        expected = "the name of a skill or file that the run has read in the answer"
        happened = "the run read no skill and no file"
        yield Failure(expected, happened, turn.last_step, turn.number)
    elif not names_material(turn, read):
        expected = f"the name of a skill or file that the run has read in the answer: {joined(read, 'or')}"
        yield Failure(expected, answer_in_words(turn), turn.last_step, turn.number)


def _schema(schema: object, turn: TurnView) -> Iterator[Failure]:
    expected = "an answer that is valid under the schema of the rubric"
    concluded = turn.progress.concluded
    if wrong := flaws(schema):
        happened = f"the schema cannot be used: {shortened(wrong[0].reason)}"
        yield Failure(expected, happened, turn.last_step, turn.number)
    elif concluded is None or concluded.output is None:
        yield Failure(expected, f"the answer has no fields; {answer_in_words(turn)}", turn.last_step, turn.number)
    else:
        for problem in problems(as_object(schema), concluded.output):
            yield Failure(expected, shortened(problem), turn.last_step, turn.number)


def _latency_grades(most: int, play: Play, turns: Sequence[TurnView]) -> Sequence[Grade]:
    number = turns[-1].number
    if play.evidence == "live":
        return verdicts("rubric.max_latency_ms", _latency(most, play, turns), number)
    why = "recorded answers come at once, so only a play with a live model has a latency"
    grade = Grade(
        "rubric.max_latency_ms", passed=False, blocks=False, missing="no_evidence", explanation=why, turn=number
    )
    return [grade]


def _latency(most: int, play: Play, turns: Sequence[TurnView]) -> Iterator[Failure]:
    if play.latency_ms <= most:
        return
    steps = [(call.call.duration_ms, call.name, call.step, turn) for turn in turns for call in turn.calls]
    steps += [
        (answer.entry.duration_ms, f"the answer of the model at {answer.address}", answer.step, turn)
        for turn in turns
        for answer in turn.answers
    ]
    happened = f"the play took {play.latency_ms:,} ms"
    duration, name, step, turn = max(steps, key=lambda one: one[0], default=(0, "", "", turns[-1]))
    if duration:
        happened = f"{happened}; the longest step was {name} with {duration:,} ms"
    yield Failure(f"at most {most:,} ms", happened, step, turn.number)


def _cost(most: float, play: Play, turn: TurnView) -> Iterator[Failure]:
    cost = cost_of_play(play)
    expected = f"at most {money(most)}"
    if cost is None:
        models = joined(turn.progress.models) or "its models"
        yield Failure(expected, f"the cost is unknown, because {models} has no price", turn.last_step, turn.number)
    elif cost > most:
        yield Failure(expected, f"the play cost {money(cost)}", turn.last_step, turn.number)


def _llm_calls(most: int, play: Play, turns: Sequence[TurnView]) -> Iterator[Failure]:
    made = total_llm_calls(play)
    if made > most:
        steps = [(turn, answer.step) for turn in turns for answer in turn.answers]
        turn, step = (steps[most:] or [(turns[-1], turns[-1].last_step)])[0]
        expected = f"at most {counted(most, 'answer')} of models"
        yield Failure(expected, f"models answered {counted(made, 'time')}", step, turn.number)


def _tool_calls(most: int, play: Play, turns: Sequence[TurnView]) -> Iterator[Failure]:
    made = total_tool_calls(play)
    if made > most:
        counting = [
            (turn, call.step)
            for turn in turns
            for call in turn.calls
            if call.call.attempts and call.call.tool not in BOOKKEEPING
        ]
        turn, step = (counting[most:] or [(turns[-1], turns[-1].last_step)])[0]
        expected = f"at most {counted(most, 'tool call')}"
        yield Failure(expected, f"the run made {counted(made, 'tool call')}", step, turn.number)
