"""Results of suites for tests of reports: a pull request that broke something, a large suite, and hostile texts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from gofer.evals.affected import AffectedRun, Cause
from gofer.evals.plays import Evidence
from gofer.evals.results import CaseResult, CaseRun, Comparison, Figures, Grade, Interval, RunOutcome, SuiteResult

FORBIDDEN = Grade(
    "tools.forbidden",
    passed=False,
    expected="no call of jira_create_issue",
    happened="jira_create_issue was called with project OPS",
    step="2.0",
)
"""A forbidden call."""
STATUS = Grade("status", passed=True)
JUDGE = Grade(
    "judge.faithful",
    passed=False,
    expected="4 of 5 votes say yes",
    happened="1 of 5 votes say yes",
    blocks=False,
    score=0.2,
    explanation='The ticket says "checkout is down since 9:40", and the thread says 9:14.',
)
HOSTILE = (
    "` `` ``` </code></details><script>alert(1)</script><!-- gofer-evals --> | a | b |\n\n# Title\n"
    "@everyone #1 [link](https://example.com) ![x](https://example.com/x.png) &amp; \x1b[2J\u202e\x00 <details>"
)
"""A text that tries to be Markdown, HTML, a mention, a link, a control sequence and a table."""


def case_run(number: int = 1, *grades: Grade, outcome: RunOutcome = "passed", evidence: Evidence = "live") -> CaseRun:
    """Return a graded run of one and a half seconds."""
    return CaseRun(
        number=number,
        outcome=outcome,
        runs=[f"{number:x}" * 24],
        grades=[*grades, STATUS],
        evidence=evidence,
        status="done",
        latency_ms=1_500,
        cost_usd=0.0034,
        input_tokens=4_210,
        output_tokens=312,
        llm_calls=3,
        tool_calls=4,
        models=["gpt-5-mini"],
        agent_version="5b1e77aa",
    )


def beside(passed: int, runs: int, passed_before: int, runs_before: int) -> Comparison:
    """Return a comparison of runs that cost and take as much as before."""
    return Comparison(Figures(passed_before, runs_before, 0.0034, 1_500), Figures(passed, runs, 0.0034, 1_500))


def passed_case(name: str, workflow: str = "answer-here", evidence: Evidence = "live") -> CaseResult:
    """Return a case of which all three runs passed, now and before."""
    return CaseResult(
        case=name,
        workflow=workflow,
        outcome="passed",
        runs=[case_run(number, evidence=evidence) for number in (1, 2, 3)],
        required=2,
        planned=3,
        interval=Interval(0.44, 1.0),
        consistency=1.0,
        comparison=beside(3, 3, 3, 3),
    )


def failed_case(name: str, *grades: Grade, workflow: str = "file-ticket") -> CaseResult:
    """Return a case of which one run of three passed, and all three before."""
    failed = [case_run(number, *(grades or (FORBIDDEN,)), outcome="failed") for number in (2, 3)]
    return replace(
        passed_case(name, workflow),
        outcome="failed",
        runs=[case_run(1), *failed],
        interval=Interval(0.06, 0.79),
        comparison=beside(1, 3, 3, 3),
    )


def pull_request() -> SuiteResult:
    """Return the result of a change that broke one case, with a case of each other state."""
    failed = failed_case("file-ticket/outage-thread", FORBIDDEN, JUDGE)
    quarantined = replace(
        failed_case("weekly-digest/many-channels", workflow="weekly-digest"),
        outcome="quarantined",
        quarantined_until=date(2026, 12, 15),
    )
    unproved = replace(
        passed_case("review-rfc/short-rfc", "review-rfc"),
        outcome="no_evidence",
        runs=[replace(case_run(outcome="no_evidence", evidence="recorded"), problem="Request 1.1 has no answer.")],
        comparison=None,
        interval=None,
    )
    unreached = replace(
        passed_case("answer-in-jira/comment", "answer-in-jira"),
        outcome="infrastructure",
        runs=[replace(case_run(outcome="infrastructure"), problem="The provider answered 503 three times.")],
        comparison=None,
        interval=None,
        consistency=None,
    )
    better = replace(passed_case("answer-here/question"), comparison=beside(3, 3, 1, 3))
    passed = [passed_case(f"answer-here/case-{number}") for number in range(36)]
    harness = [passed_case("welcome-channel/new-channel", "welcome-channel", "scripted")]
    return SuiteResult(
        cases=[better, *passed, *harness, unproved, quarantined, unreached, failed],
        at=1_795_000_000.0,
        seconds=38.4,
        commit="4e01c9ab77aa4e01c9ab77aa4e01c9ab77aa4e01",
        gofer="0.9.0",
        comparison=beside(119, 126, 125, 126),
    )


def large_suite(cases: int, *, failing: bool = False) -> SuiteResult:
    """Return the result of many cases of several workflows, one of five failed, or all."""
    made = [
        failed_case(f"suite/case-{number}", workflow=f"workflow-{number % 30}")
        if failing or number % 5 == 0
        else passed_case(f"suite/case-{number}", f"workflow-{number % 30}")
        for number in range(cases)
    ]
    return SuiteResult(cases=made, at=1_795_000_000.0, seconds=120.0)


def hostile_suite(cases: int = 1) -> SuiteResult:
    """Return a result with texts of a model and names of files that try to be markup."""
    grade = replace(FORBIDDEN, expected=HOSTILE, happened=HOSTILE * 20, step=HOSTILE)
    judged = replace(JUDGE, dimension=f"judge.{HOSTILE}", explanation=HOSTILE * 20)
    made = [failed_case(f"{HOSTILE}/{number}", grade, judged, workflow=HOSTILE) for number in range(cases)]
    return SuiteResult(cases=made, at=1_795_000_000.0, seconds=1.0, commit=HOSTILE, gofer=HOSTILE)


def affected() -> Sequence[AffectedRun]:
    """Return 214 recorded runs, 11 of which a change affects."""
    prompt = Cause("prompt", "", 1, ("-Create a ticket only after a person agreed.", "+Create a ticket at once."))
    tool = Cause("tool", "jira_create_issue", 1, ('-summary: {"type":"string"}', '+title: {"type":"string"}'))
    skill = Cause("skill", "jira-formatting", 3, ("-Use bullet points.", "+Use headings."))
    changed = [AffectedRun(f"{number:024x}", "file-ticket", 4, (prompt, tool)) for number in range(8)]
    later = [AffectedRun(f"{number:024x}", "answer-here", 5, (skill,)) for number in range(8, 11)]
    same = [AffectedRun(f"{number:024x}", "answer-here", 2, ()) for number in range(11, 214)]
    return [*changed, *later, *same]
