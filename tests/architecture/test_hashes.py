"""Hash functions: names in rows are tokens of `row_tokens.py`, and every other use is listed here."""

from pathlib import Path

from support.code.syntax import called

SOURCE = Path(__file__).parents[2] / "src" / "gofer"
PLAIN = {
    "evals/judging/labels.py": "tells whether labels changed since a measurement",
    "evals/judging/question.py": "names the judge's prompt and a criterion in grades and measurements",
    "app/new_repository/writing.py": "pins the wheel of Gofer in a lock",
    "app/backup/copied_files.py": "checks files of a backup",
    "app/embedded/integrity.py": "tells whether the installation key, which is random, is another one",
    "app/backup/backup_manifest.py": "checks files of a backup",
    "app/evals/repeatable.py": "draws repeatable values, which open nothing real",
    "app/evals/suite_parts.py": "tells whether the files of an eval changed since its kept runs",
    "evals/reports/html_report.py": "names the place of a case in a page",
    "evals/answers.py": "finds recorded answers by their requests, which hold the contents of simulated worlds only",
    "journal/blob_store.py": "names bodies by their sealed bytes, and bundles by their text",
    "app/functions/aws_http.py": "signs requests to AWS",
    "engine/script_branches.py": "names calls of a script within its journal",
    "engine/model_request.py": "compares prompts within a journal",
    "models/formats/responses.py": "names the cache of a workflow at its provider",
    "models/remote.py": "tells within a journal which bytes were sent",
    "engine/place_rules.py": "names look-ups of places within a journal",
    "engine/approval_question.py": "compares arguments within a journal and a button",
    "stores/aws/items.py": "shortens tokens and names of memos, which hold no name any more",
    "journal/frames.py": "chains sealed frames",
    "stores/sqlite/key_file.py": "tells a whole slot from a torn one",
    "journal/lineage.py": "names the run of a subagent by the run and the call that ask it",
    "projections/checks/checks_of_calls.py": "compares calls within a journal",
    "runtime/reviews/reviewer.py": "names the version of a prompt, which lies in the repository",
    "projections/repetition.py": "compares calls within a journal",
    "projections/requests/sent_requests.py": "compares requests with their journal",
    "sources/jira/write.py": "marks a link in Jira",
    "sources/notion/rich_text.py": "marks texts in Notion",
    "sources/slack/post_file.py": "marks a file in Slack",
    "sources/slack/question.py": "names a text that is cut",
    "workflows/publish/timetable.py": "names a schedule by its workflow and its time",
    "projections/tracing/span_ids.py": "names traces, spans and sessions by ids of runs and tokens",
    "sources/github/receiver.py": "tells changes apart within an identity, which only a run id is made of",
    "sources/webhook/receiver.py": "names a call within its event, which is sealed",
    "evals/goldens/derived_names.py": "names files, calls and runs of a test case as the engine does",
    "learning/suggestions/proposal.py": "names the branch of an edit of files that everybody may read",
    "evals/goldens/golden_file.py": "compares the two files of a golden",
    "evals/goldens/golden_of_runs.py": "names the run of a golden, and compares its files",
    "evals/goldens/redacted_runs.py": "names bundles and requests of a test case as the engine does",
    "workflows/publication.py": "names what is published",
    "workflows/published.py": "checks what is published",
    "workflows/script_source.py": "names the code of a script",
}
"""Modules that hash without a key, with the purpose."""
KEYED = {
    "values/row_tokens.py": "names in rows",
    "app/functions/aws_http.py": "signs requests to AWS",
    "app/pages/sessions.py": "signs cookies",
    "sources/signed_decision.py": "signs buttons",
    "sources/github/receiver.py": "verifies deliveries",
    "sources/jira/receiver.py": "verifies deliveries",
    "sources/notion/receiver.py": "verifies deliveries",
    "sources/webhook/proofs.py": "verifies deliveries",
    "sources/slack/receiver.py": "verifies deliveries",
    "evals/goldens/pseudonyms.py": "makes pseudonyms from a salt that is not kept",
}
"""Modules that hash with a key, with the purpose."""


ELSEWHERE = {"files", "simulators", "tools"}
"""Rooms that write no rows: they hash contents, and marks in other systems."""


def modules(*functions: str) -> set[str]:
    """Return the modules that call one of the functions, in rooms that may write rows."""
    product = (path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ELSEWHERE)
    return {path.relative_to(SOURCE).as_posix() for path in product if called(path) & set(functions)}


def test_modules_with_plain_hashes_are_the_listed_ones() -> None:
    assert modules("hashlib.sha256", "hashlib.sha1", "hashlib.md5", "hashlib.new", "hashlib.blake2b") == set(PLAIN)


def test_modules_with_keyed_hashes_are_the_listed_ones() -> None:
    assert modules("hmac.new", "hmac.digest") == set(KEYED)
