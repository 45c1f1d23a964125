"""The grades of one play of a case, and the run of the case that follows from them."""

from collections.abc import Iterator, Sequence

from gofer.evals.eval_file import Case, Expectations, Rubric
from gofer.evals.grading.check_grades import check_grades
from gofer.evals.grading.decision_grades import decision_grades
from gofer.evals.grading.dimensions import verdicts
from gofer.evals.grading.expected import expected_of
from gofer.evals.grading.output_grades import output_grades
from gofer.evals.grading.play_usage import (
    agent_version,
    cost_with_person,
    models_of_play,
    total_llm_calls,
    total_tool_calls,
)
from gofer.evals.grading.replay_grades import replay_grades
from gofer.evals.grading.rubric_grades import rubric_grades, status_failures
from gofer.evals.grading.tool_grades import tool_grades
from gofer.evals.grading.turn_view import TurnView, answer_status, run_status, turn_view, with_conversation
from gofer.evals.grading.world_grades import world_grades
from gofer.evals.plays import Play
from gofer.evals.prompt_texts import loaded_texts
from gofer.evals.results import CaseRun, Grade, RunOutcome

_UNKNOWN_WORLD = "The tools reached real systems, so the changes that the case expects there cannot be graded."


def graded_case(case: Case, play: Play) -> Sequence[Grade]:
    """Return the grades of a play of a case: of its replay, of each of its turns, and of the rubric.

    A turn that was not played has no run and fails. Grades of a judge are not part of it.
    """
    expected = expected_of(case, play)
    is_decision = case.decision is not None
    grades = graded(expected, case.rubric, play, is_decision=is_decision, is_whole=bool(case.user))
    return [*replay_grades(play), *grades]


def graded(
    expected: Sequence[Expectations], rubric: Rubric, play: Play, *, is_decision: bool = False, is_whole: bool = False
) -> Sequence[Grade]:
    """Return the grades of a play by the expectations of each turn, in their order, and by a rubric.

    `is_decision`: the play ends at a decision point. `is_whole`: its last turn has the calls of the whole conversation.
    """
    turns = [turn_view(play, number) for number in range(1, len(play.turns) + 1)]
    views = turns
    if is_whole:
        views = with_conversation(turns)
    grades: list[Grade] = []
    for number, expectations in enumerate(expected, 1):
        if number > len(turns):
            grades.append(_not_played(number))
        else:
            grades += turn_grades(expectations, views[number - 1], is_decision=is_decision)
    if turns:
        grades += rubric_grades(rubric, play, turns)
    return grades


def turn_grades(expect: Expectations, turn: TurnView, *, is_decision: bool) -> Iterator[Grade]:
    """Yield the grades of one turn.

    A decision point ends in the middle of a run, so its status and its checks are graded only if the file names them.
    """
    if not is_decision or "status" in expect.model_fields_set:
        yield from verdicts("status", status_failures(expect.status, turn), turn.number)
    if expect.next is not None:
        yield from decision_grades(expect.next, turn)
    yield from tool_grades(expect.tools, turn)
    yield from world_grades(expect.world, turn)
    yield from output_grades(expect.output, turn)
    if not is_decision or "checks" in expect.model_fields_set:
        yield from check_grades(expect.checks, turn)


def _not_played(number: int) -> Grade:
    return Grade(
        "status",
        passed=False,
        expected=f"a run for turn {number} of the conversation",
        happened="the play ended before that turn",
        turn=number,
    )


def case_run(number: int, play: Play, grades: Sequence[Grade], attempts: int = 1, *, status_field: str = "") -> CaseRun:
    """Return the run `number` of a case from its play and all its grades; `attempts` counts its plays.

    `status_field` is the field of the answer with its status.
    """
    outcome, problem = _outcome(play, grades)
    status = ""
    answer = ""
    if play.turns:
        last = play.turns[-1]
        status = answer_status(last, status_field) or run_status(last.progress)
        answer = turn_view(play, len(play.turns)).answer
    return CaseRun(
        number=number,
        outcome=outcome,
        runs=[turn.run for turn in play.turns],
        grades=grades,
        evidence=play.evidence,
        status=status,
        problem=problem,
        latency_ms=play.latency_ms,
        cost_usd=cost_with_person(play),
        input_tokens=sum(turn.progress.usage.input_tokens for turn in play.turns),
        output_tokens=sum(turn.progress.usage.output_tokens for turn in play.turns),
        llm_calls=total_llm_calls(play),
        tool_calls=total_tool_calls(play),
        models=models_of_play(play),
        agent_version=agent_version(play),
        attempts=attempts,
        texts=loaded_texts(play),
        answer=answer,
    )


def _outcome(play: Play, grades: Sequence[Grade]) -> tuple[RunOutcome, str]:
    """Return the outcome of a play, and one sentence if it could not be graded."""
    if play.mistake:
        return "failed", play.mistake
    if play.infrastructure:
        return "infrastructure", play.infrastructure
    blocking = [grade for grade in grades if grade.blocks and not grade.passed]
    if any(not grade.missing for grade in blocking):
        return "failed", play.no_evidence
    if play.no_evidence:
        return "no_evidence", play.no_evidence
    for grade in blocking:
        if grade.missing:
            return grade.missing, grade.happened
    if play.live_tools and any(grade.dimension.startswith("world.") for grade in grades):
        return "no_evidence", _UNKNOWN_WORLD
    if not play.turns:
        return "infrastructure", "No run was played."
    return "passed", ""
