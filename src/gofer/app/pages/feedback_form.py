"""Feedback on the page of a run: the form, the posted form or JSON, and the feedback and the review that are shown."""

from dataclasses import dataclass
from html import escape
from typing import cast, get_args
from urllib.parse import parse_qs

from starlette.requests import Request

from gofer.journal.feedback_entries import LONGEST_WORDS, FeedbackVerdict
from gofer.journal.lineage import root_of
from gofer.projections.words.follow_ups import feedback_lines, offer, review_line
from gofer.runtime.run_record import RunRecord
from gofer.values.canonical_json import as_object, as_text, decode
from gofer.values.errors import BadRequest

MOST_BYTES = 30_000
"""The most bytes of a posted body: the longest words as a form writes them, and the other fields."""
_JSON = "application/json"
_SAYS = "Send `verdict` as good, bad or withdrawn, and `words` as text, in JSON or as a form."


@dataclass(frozen=True, slots=True)
class PostedFeedback:
    """Feedback that a page or a program sent."""

    verdict: FeedbackVerdict
    words: str
    token: str
    """The token of the form; empty for programs."""


async def read_posted(request: Request) -> PostedFeedback:
    """Return the feedback in the body of a request. Raises BadRequest with a sentence for the sender."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise BadRequest(413, f"The body is larger than {MOST_BYTES:,} bytes. Shorten the words.")
    if is_json(request):
        fields = {name: as_text(value) for name, value in as_object(decode(bytes(body))).items()}
    else:
        fields = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
    verdict = fields.get("verdict", "")
    if verdict not in get_args(FeedbackVerdict):
        raise BadRequest(400, _SAYS)
    return PostedFeedback(cast(FeedbackVerdict, verdict), fields.get("words", "").strip(), fields.get("token", ""))


def is_json(request: Request) -> bool:
    """Return whether the body of a request is JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == _JSON


def follow_ups_html(record: RunRecord) -> str:
    """Return the feedback and the review of a run as HTML, with the commands that make test cases of it."""
    follow_ups = record.progress.follow_ups
    lines = [f"feedback: {line}" for line in feedback_lines(follow_ups)]
    if review := review_line(follow_ups):
        lines.append(f"review: {review}")
    shown = [f'<p class="note warning">{escape(line)}' for line in lines]
    given: set[FeedbackVerdict] = {one.verdict for one in follow_ups.feedback.values()}
    offers = [offer(record.run, verdict) for verdict in sorted(given)]
    shown += [f"<p>Make a test of it: <code>{escape(command)}</code>" for command in offers]
    return "".join(shown)


def form_html(record: RunRecord, token: str) -> str:
    """Return the form for feedback on a run as HTML; empty for a run that takes none."""
    progress = record.progress
    if progress.finished is None or progress.private or record.damage or root_of(record.run) != record.run:
        return ""
    return (
        f'<form method="post" action="/runs/{escape(record.run)}/feedback">'
        f'<input type="hidden" name="token" value="{escape(token)}">'
        f'<p><label>What was good or bad? <input name="words" maxlength="{LONGEST_WORDS}" size="60"></label> '
        '<button name="verdict" value="good">Good answer</button> '
        '<button name="verdict" value="bad">Bad answer</button></form>'
    )
