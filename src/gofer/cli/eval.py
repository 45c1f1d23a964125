"""`gofer eval`: plays the cases of evals/, grades each run, and says whether the workflows are still good."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gofer.app.catalog import worst_cases
from gofer.app.embedded.integrity import DATABASE
from gofer.app.embedded.worlds import EVALS
from gofer.app.evals.affected_by_files import affected_by_files
from gofer.app.evals.judge_calibration import calibrated
from gofer.app.evals.player import Playing
from gofer.app.evals.repository import changed_paths
from gofer.app.evals.suite_session import Choices, play_suite
from gofer.app.settings import process_settings
from gofer.cli.arguments import chosen_place, nonempty, number, operations, place_options
from gofer.cli.eval_progress import Progress
from gofer.cli.terminal import only_errors_logged, print_lines
from gofer.evals.affected import AffectedRun, summary
from gofer.evals.history import read
from gofer.evals.history_report import history_json, history_lines
from gofer.evals.judging.calibration import agreement_lines
from gofer.evals.load import FOLDER
from gofer.evals.reports.html_report import html_report
from gofer.evals.reports.json_report import read_report, report_json
from gofer.evals.reports.junit import junit_xml
from gofer.evals.reports.markdown import markdown_report
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.reports.terminal import terminal_lines
from gofer.evals.results import FAILED, INFRASTRUCTURE, NO_EVIDENCE, PASSED, SuiteResult
from gofer.values.errors import ConfigError

MOST_REPEATS = 100
FEWEST_RECORDED = 3
"""How often a case is played, at least, to record answers of a model. One good play may be luck."""
BASELINE = Path(FOLDER) / "baseline.json"
"""The baseline that is used if it exists and --baseline names no other."""
_STDOUT = "-"

_EXAMPLES = """\
examples:
  gofer eval                          all cases, with the recorded answers of evals/answers/
  gofer eval file-ticket              the cases of evals/file-ticket.yaml
  gofer eval file-ticket/no-project   one case
  gofer eval --live --repeat 10       ask the model, and play each case ten times
  gofer eval --live --record          ask the model in three plays of each case, and record its answers
  gofer eval --live --record --repeat 10
                                      the same with ten plays; first it says what that is likely to cost
  gofer eval --record                 record the answers that evals/scripts/ holds; they only test the harness
  gofer eval --changed main           the cases that this branch touches, and those tagged smoke
  gofer eval --changed main --affected --stage prod
                                      also which recorded runs the change affects
  gofer eval --live --baseline main.json --json report.json
  gofer eval --history file-ticket/no-project
                                      the earlier scores of a case
  gofer eval --calibrate              measure how well the judge agrees with the labels of people
  gofer eval --resume                 continue after Ctrl-C; finished runs count if no file changed

A case is played as often as its `runs` say, and no further once its outcome is clear; --repeat plays every run. With
recorded answers of a model, each recorded play is one run, and `require` is the share of them that must pass. A
baseline is a report that --json wrote, by default evals/baseline.json if that exists. The report shows passes, cost and
latency beside it, and they change no exit code. Only --live says something about a changed prompt: a request without a
recorded answer is no evidence.

Exit codes: 0 fine, 1 a case failed, 2 the input was wrong, 3 no evidence (--inconclusive changes it to 0 or 1),
4 infrastructure failed after all retries, 5 over a `budget_usd`, 130 interrupted (--resume continues). Of several the
first in the order 130, 1, 5, 4, 3. docs/evals.md explains the files.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer eval`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "names", nargs="*", metavar="CASE", help="an eval file or its name, or a case, also as FILE/CASE (default all)"
    )
    parser.add_argument("--live", action="store_true", help="ask the models instead of using recorded answers")
    parser.add_argument("--live-tools", action="store_true", help="tools reach the real systems; needs --live")
    parser.add_argument(
        "--record", action="store_true", help="record the answers of --live, or else those of evals/scripts/"
    )
    parser.add_argument(
        "--repeat", type=number(1, MOST_REPEATS), metavar="N", help="play each case N times, all of them"
    )
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="only cases with one of these tags")
    parser.add_argument(
        "--changed", type=nonempty, metavar="REF", help="only cases that changed since REF, and those tagged smoke"
    )
    parser.add_argument(
        "--affected",
        action="store_true",
        help="say which goldens and public runs of seven days have other requests with the present files",
    )
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="show the figures of this JSON report too")
    parser.add_argument("--history", metavar="FILE/CASE", help="play nothing, and print the earlier scores of a case")
    parser.add_argument(
        "--calibrate", action="store_true", help="play nothing, and measure the judge on the labels of its criteria"
    )
    parser.add_argument("--resume", action="store_true", help="continue the suite that was broken off last")
    parser.add_argument("--inconclusive", choices=("pass", "fail"), help="exit with 0 or 1 instead of 3")
    parser.add_argument(
        "--json", nargs="?", const=_STDOUT, metavar="FILE", help="write the report as JSON, without FILE on stdout"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit XML")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report as one HTML file")
    place_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Play the cases, print and write their reports, and return the exit code."""
    if arguments.history:
        return _print_history(arguments)
    choices, problem = _choices(arguments)
    if arguments.calibrate:
        return asyncio.run(_calibrate(choices))
    _check_folders(arguments)
    with only_errors_logged(), Progress() as progress:
        result = asyncio.run(play_suite(process_settings(), Path.cwd(), choices, progress))
    if problem:
        result = replace(result, remarks=[*result.remarks, problem])
    affected = _affected(arguments)
    # The files come first, because the reader of the output may leave early, as `head` does.
    _write_reports(arguments, result, choices.baseline, affected)
    if not result.cases:
        print("The change touches no case, so no case was played.", file=sys.stderr)
    if arguments.json == _STDOUT:
        print(report_json(result), end="")
    elif result.cases:
        print_lines(terminal_lines(result))
    else:
        print_lines(suite_notes(result))
    if affected is not None and arguments.json != _STDOUT:
        print_lines([summary(affected)])
    if result.interrupted:
        print("Interrupted; `gofer eval --resume` with the same options plays the rest.", file=sys.stderr)
    return _exit_code(result, arguments.inconclusive)


async def _calibrate(choices: Choices) -> int:
    """Measure the judge on the labels of the chosen cases, and print each measurement."""
    code = PASSED
    async for agreement, problem in calibrated(process_settings(), Path.cwd(), choices):
        print_lines(agreement_lines(agreement, problem))
        if problem:
            code = INFRASTRUCTURE
    return code


def _print_history(arguments: argparse.Namespace) -> int:
    """Print the earlier scores of a case."""
    past = read(process_settings().data / EVALS, arguments.history)
    if arguments.json is not None:
        print(json.dumps(history_json(arguments.history, past), indent=2))
    else:
        print_lines(history_lines(arguments.history, past))
    return PASSED


def _choices(arguments: argparse.Namespace) -> tuple[Choices, str]:
    """Return the choices that the options make, and why the baseline is not compared; empty if it is.

    Raises ConfigError for contradictory options, and for a baseline that does not exist.
    """
    before, problem = _baseline(arguments.baseline)
    choices = Choices(
        playing=_playing(arguments),
        names=arguments.names,
        tags=arguments.tag,
        changed_since=arguments.changed or "",
        repeat=arguments.repeat,
        baseline=before,
        resume=arguments.resume,
    )
    return choices, problem


def _baseline(named: Path | None) -> tuple[SuiteResult | None, str]:
    """Return the baseline, and why there is none although there is a file; a comparison changes no exit code."""
    path = named or BASELINE
    if not path.is_file():
        if named is None:
            return None, ""
        raise ConfigError(f"There is no report {path}; write one with `gofer eval --json {path}`.")
    try:
        return read_report(path), ""
    except ConfigError as error:
        return None, f"Nothing was compared with the baseline: {error}"


def _affected(arguments: argparse.Namespace) -> Sequence[AffectedRun] | None:
    """Return the recorded runs that the files affect; None if they are not asked for."""
    if not arguments.affected:
        return None
    live = None
    if arguments.live:
        live = process_settings()
    place = chosen_place(arguments)
    if not place.away and not (place.data / DATABASE).exists():
        return asyncio.run(affected_by_files(Path.cwd(), None, live))
    with operations(arguments) as opened:
        return asyncio.run(affected_by_files(Path.cwd(), opened, live))


def _playing(arguments: argparse.Namespace) -> Playing:
    if arguments.live:
        return Playing("live", record=arguments.record, fewest=FEWEST_RECORDED, live_tools=arguments.live_tools)
    if arguments.record:
        return Playing("scripted", record=True, live_tools=arguments.live_tools)
    return Playing("recorded", live_tools=arguments.live_tools)


def _files(arguments: argparse.Namespace) -> Sequence[Path]:
    """Return the files of reports that the options name."""
    named = [arguments.junit, arguments.markdown, arguments.html]
    if arguments.json not in (None, _STDOUT):
        named.append(Path(arguments.json))
    return [path for path in named if path is not None]


def _check_folders(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for a report that cannot be written, before anything is played and paid."""
    for path in _files(arguments):
        if path.is_dir() or not path.parent.is_dir():
            raise ConfigError(f"{path} cannot be written: name a file in an existing folder.")


def _write_reports(
    arguments: argparse.Namespace,
    result: SuiteResult,
    before: SuiteResult | None,
    affected: Sequence[AffectedRun] | None,
) -> None:
    worst: Sequence[str] = ()
    if arguments.markdown and arguments.changed:
        worst = _worst_lines(result, arguments.changed)
    writers: Sequence[tuple[Path | None, Callable[[], str]]] = (
        (_path(arguments.json), lambda: report_json(result)),
        (arguments.junit, lambda: junit_xml(result)),
        (arguments.markdown, lambda: markdown_report(result, before=before, affected=affected, notes=worst)),
        (arguments.html, lambda: html_report(result, affected)),
    )
    for path, written in writers:
        if path is not None:
            path.write_text(written(), encoding="utf-8")


def _worst_lines(result: SuiteResult, since: str) -> Sequence[str]:
    """Return Markdown that says what the played workflows, and workflows with changed files, could do at worst."""
    named = {case.workflow for case in result.cases}
    named |= {Path(path).stem for path in changed_paths(Path.cwd(), since) if path.startswith("agents/")}
    paragraphs = [f"- **{name}** {text}" for name, text in worst_cases(Path.cwd() / "agents").items() if name in named]
    if not paragraphs:
        return ()
    opening = "<details><summary>If a model obeyed an attacker, these workflows could at worst:</summary>"
    return (opening, "", *paragraphs, "", "</details>", "")


def _path(name: str | None) -> Path | None:
    if name is None or name == _STDOUT:
        return None
    return Path(name)


def _exit_code(result: SuiteResult, inconclusive: str | None) -> int:
    code = result.exit_code
    if code != NO_EVIDENCE or inconclusive is None:
        return code
    if inconclusive == "pass":
        return PASSED
    return FAILED
