"""The page of one run: its words from the event to the answer, with long parts folded.

All texts of people, models and tools are escaped and shown as preformatted data. The page has at most PAGE_BYTES, so
that a long run opens fast; the JSON of the run has everything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from gofer.app.pages.feedback_form import follow_ups_html, form_html
from gofer.app.pages.grade_table import grade_table
from gofer.app.pages.run_api import links
from gofer.journal.purposes import is_own
from gofer.projections.tracing.trace import timestamp
from gofer.projections.words.step_details import checks_of, usage_of
from gofer.projections.words.step_headlines import headline, used
from gofer.projections.words.step_texts import BY_ROLE, ShownStep, StepText, shown_steps
from gofer.projections.words.steps import Step, StepKind, cut
from gofer.runtime.run_record import RunRecord
from gofer.values.canonical_json import as_object

PAGE_BYTES = 1_800_000
"""The most bytes of the steps on a page."""
_ROW_BYTES = 150_000
"""The most bytes of one step on a page."""
_TEXT = 20_000
"""The most characters of one text on the page."""
_AFTERWARDS = 300
"""The most characters of one text after half of the bytes are used."""
_OPEN = 700
"""The most characters of a text that is shown unfolded."""
_OPEN_LINES = 12
_FINE_CONTEXT = ("context.snapshot", "ok")
_LABEL = 110
"""The characters of a folded text that its line shows."""

_QUIET: frozenset[StepKind] = frozenset(
    {"run.owned", "permit.renewed", "state.transition", "file.read", "run.handed_over", "value.recorded", "llm.request"}
)
"""The bookkeeping of a run, which the page shows only on request."""
_SPEAKERS: Mapping[StepKind, str] = {
    "run.accepted": "person",
    "message.received": "person",
    "approval.clicked": "person",
    "approval.decided": "person",
    "thought": "model",
    "llm.response": "model",
    "context.compacted": "model",
    "run.concluded": "answer",
}
_FOLDED: frozenset[StepKind] = frozenset({"agent.start", "llm.request", "thought", "message.received"})
"""The steps with texts that are folded even if they are short."""

STYLE = """
.facts { margin: 0 0 1rem; color: var(--soft) } .facts b { color: var(--text); font-weight: 500 }
.facts a { margin-right: 1rem }
.note { border-left: 3px solid var(--bad); padding: .3rem .8rem; margin: .6rem 0; background: var(--block) }
.note.warning { border-color: var(--warn) }
ol.steps { list-style: none; margin: 1rem 0; padding: 0 }
.steps li { display: grid; grid-template-columns: 6.5rem 8.5rem minmax(0, 1fr); gap: 0 .8rem; padding: .35rem 0;
  border-top: 1px solid var(--line) }
.steps li:target { background: var(--block) }
.steps .when { color: var(--soft); font-size: 13px; text-align: right; font-variant-numeric: tabular-nums }
.steps .when a { color: inherit; text-decoration: none; opacity: .7 }
.steps .kind { color: var(--soft); font-size: 13px; overflow-wrap: anywhere } .steps .what { min-width: 0 }
.steps .head { overflow-wrap: anywhere }
.steps .person .kind { color: var(--person) } .steps .model .kind { color: var(--model) }
.steps .answer .kind { color: var(--good) } .steps .person pre, .steps .model pre, .steps .answer pre
  { border-left: 3px solid var(--person) } .steps .model pre { border-color: var(--model) }
.steps .answer pre { border-color: var(--good) } .state { font-size: 12px; color: var(--soft) }
.state::before { content: "→ " } .said { margin: .8rem 0 } .said b { font-weight: 500; color: var(--soft) }
.said pre { font: inherit; border-left: 3px solid var(--person) } .said.answered pre { border-color: var(--good) }
.steps li.bad { background: color-mix(in srgb, var(--bad) 8%, transparent) } .steps .badge { font-weight: 600 }
details { margin: .2rem 0 }
summary { cursor: pointer; color: var(--soft); white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.bar { display: flex; height: .5rem; max-width: 30rem; margin: .45rem 0 .2rem; border-radius: 3px; overflow: hidden;
  background: var(--line) } .bar i { display: block }
.key { font-size: 13px; color: var(--soft) } .key span { white-space: nowrap; margin-right: .8rem }
.key i { display: inline-block; width: .6rem; height: .6rem; border-radius: 2px; margin-right: .3rem }
.system { background: #6b7a90 } .tools { background: #b08a3c } .skills { background: #8f6bb8 }
.files { background: #3f8f83 } .history { background: #3d7fc4 } .tail { background: #a86a6a }
body:has(#every:not(:checked)) .quiet { display: none }
@media (max-width: 40rem) { .steps li { grid-template-columns: 1fr } .steps .when { text-align: left } }
"""


@dataclass(slots=True)
class _Space:
    """The bytes that the steps of a page have used."""

    used: int = 0

    @property
    def text(self) -> int:
        """The most characters of the next text."""
        if self.used < PAGE_BYTES // 2:
            return _TEXT
        return _AFTERWARDS


def heading(record: RunRecord) -> str:
    """Return the title of the page as HTML: the workflow and the status."""
    status = record.status
    return f'{escape(record.progress.workflow)} <span class="{status}">{escape(status)}</span>'


def body(record: RunRecord, token: str = "") -> str:
    """Return the page of a run as HTML, without its frame. `token` goes into the form for feedback."""
    parts = [
        _facts(record),
        _notes(record),
        follow_ups_html(record),
        form_html(record, token),
        grade_table(record),
        _asked_and_answered(record),
        _switch(),
        _steps(record),
        _replay(record),
    ]
    return "".join(parts)


def _facts(record: RunRecord) -> str:
    progress = record.progress
    usage = usage_of(progress, progress.last_at)
    seconds = (progress.last_at - progress.accepted_at) / 1000
    known = [
        f"run <code>{escape(record.run)}</code>",
        f"<b>{timestamp(progress.accepted_at)}</b>",
        f"<b>{seconds:,.1f} s</b>",
        escape(used(usage)),
    ]
    paths = links(record)
    names = {"trace": "steps as JSON", "prompt": "prompt of this run", "continues": "continues an earlier run"}
    linked = [f'<a href="{escape(paths[name])}">{label}</a>' for name, label in names.items() if paths[name]]
    return f'<p class="facts">{" · ".join(known)}<br>{"".join(linked)}'


def _notes(record: RunRecord) -> str:
    """Return the damage, the reason of the end and the failed checks of a run as HTML."""
    notes: list[str] = []
    progress = record.progress
    if record.damage:
        notes.append(f'<p class="note">{escape(record.damage)} The steps before the damage are below.')
    if progress.finished is not None and progress.finished.reason:
        notes.append(f'<p class="note warning">{escape(cut(progress.finished.reason, _TEXT))}')
    elif progress.parked is not None:
        notes.append(f'<p class="note warning">{escape(cut(progress.parked_reason or progress.parked.reason, _TEXT))}')
    for check in checks_of(progress):
        if not check["passed"]:
            said = " ".join(filter(None, [str(check["summary"]), str(check["detail"])]))
            name = f"<b>{escape(str(check['check']))}</b> ({escape(str(check['severity']))})"
            notes.append(f'<p class="note {escape(str(check["severity"]))}">{name}: {escape(cut(said, _TEXT))}')
    return "".join(notes)


def _asked_and_answered(record: RunRecord) -> str:
    """Return the event and the answer of a run as HTML: what its colleagues saw."""
    parts: list[str] = []
    if record.progress.event is not None and record.progress.event.text:
        parts.append(_said("asked", record.progress.event.text))
    if record.progress.concluded is not None and record.progress.concluded.text:
        parts.append(_said("answered", record.progress.concluded.text))
    return "".join(parts)


def _said(how: str, text: str) -> str:
    return f'<section class="said {how}"><b>{how}</b><pre>{escape(cut(text, _TEXT))}</pre></section>'


def _switch() -> str:
    return '<p><label><input type="checkbox" id="every"> also show requests, states and bookkeeping</label>'


def _steps(record: RunRecord) -> str:
    space = _Space()
    rows: list[str] = []
    beginning = record.progress.accepted_at
    for shown in shown_steps(record.steps()):
        row = "".join(_row(shown, beginning, space))
        if len(row.encode()) > _ROW_BYTES:
            row = _link_to_step(record, shown.step)
        space.used += len(row.encode())
        if space.used > PAGE_BYTES:
            path = f"{links(record)['trace']}?after={shown.step.step - 1}"
            rows.append(f'<li><span></span><span></span><a href="{escape(path)}">more steps, as JSON</a>')
            break
        rows.append(row)
    return f'<ol class="steps">{"".join(rows)}</ol>'


def _replay(record: RunRecord) -> str:
    if not record.replay_command:
        return ""
    return f"<p>Replay it with today's code: <code>{escape(record.replay_command)}</code></p>"


def _link_to_step(record: RunRecord, step: Step) -> str:
    """Return the row of a step that is too large for the page, such as an answer with thousands of calls."""
    path = f"{links(record)['trace']}?full=1&after={step.step - 1}"
    link = f'<a href="{escape(path)}">too large for this page, as JSON</a>'
    return f'<li id="s{step.step}"><span class="when">{step.step}</span><span class="kind">{step.kind}</span>{link}'


def _row(shown: ShownStep, beginning: int, space: _Space) -> Iterator[str]:
    step = shown.step
    indent = ""
    if step.depth:
        indent = f' style="margin-left: {1.6 * step.depth:g}rem"'
    yield f'<li id="s{step.step}" class="{_class(step)}"{indent}>'
    yield f'<span class="when"><a href="#s{step.step}">{step.step}</a> {(step.at - beginning) / 1000:,.3f} s</span>'
    marks = "".join(f'<br><span class="state">{escape(state)}</span>' for state in shown.states)
    yield f'<span class="kind">{step.kind}{marks}</span><div class="what"><div class="head">{escape(headline(step))}'
    yield f"{_outcome(step)}</div>"
    if step.kind == "context.snapshot":
        yield _context(step)
    for text in shown.texts:
        if text.label != BY_ROLE:
            yield _text(step, text, space.text)
    yield "</div>"


def _class(step: Step) -> str:
    names = [_SPEAKERS.get(step.kind, "")]
    if step.own_status in ("violation", "error", "refused", "unknown") or _failed_its_case(step):
        names.append("bad")
    elif step.kind in _QUIET or is_own(step.call):
        names.append("quiet")
    return " ".join(filter(None, names))


def _failed_its_case(step: Step) -> bool:
    return step.kind == "run.graded" and step.status == "failed"


def _outcome(step: Step) -> str:
    """Return the status, the duration and the attempts of a step as HTML."""
    parts: list[str] = []
    status = step.own_status
    if status not in ("", "open", "stop", "tool_calls") and (step.kind, status) != _FINE_CONTEXT:
        parts.append(f'<span class="badge {escape(status)}">{escape(status)}</span>')
    if step.duration_ms is not None:
        parts.append(f'<span class="soft">{step.duration_ms:,} ms</span>')
    if step.retries:
        parts.append(f'<span class="soft">attempt {step.retries + 1}</span>')
    return "".join(f" {part}" for part in parts)


def _context(step: Step) -> str:
    """Return the share of each role in the window as a bar."""
    window = step.details.get("window")
    roles = {role: tokens for role, tokens in as_object(step.details.get("roles")).items() if isinstance(tokens, int)}
    if not isinstance(window, int) or window <= 0:
        return ""
    shares = "".join(
        f'<i class="{escape(role)}" style="width:{min(100.0, 100 * tokens / window):.2f}%"></i>'
        for role, tokens in roles.items()
    )
    names = "".join(
        f'<span><i class="{escape(role)}"></i>{escape(role)} {tokens:,}</span>' for role, tokens in roles.items()
    )
    return f'<div class="bar">{shares}</div><div class="key">{names}</div>'


def _text(step: Step, text: StepText, most: int) -> str:
    label = escape(text.label)
    if text.same_as:
        return f'<div class="soft">{label}: <a href="#s{text.same_as}">step {text.same_as}</a></div>'
    if step.kind == "context.snapshot" and step.output != text.text:
        return f'<div class="key">{label}: {escape(cut(text.text, most))}</div>'
    block = f"<pre>{escape(cut(text.text, most))}</pre>"
    is_short = len(text.text) <= _OPEN and text.text.count("\n") < _OPEN_LINES
    if is_short and step.kind not in _FOLDED and text.label != "event fields":
        return block
    first = " ".join(text.text[: 2 * _LABEL].split())[:_LABEL]
    return f"<details><summary>{label} ({len(text.text):,} characters): {escape(first)}…</summary>{block}</details>"
