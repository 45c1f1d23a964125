"""One-shot subagents: the question to the model, with files of the run as data, and the judgement of the answer."""

from collections.abc import Sequence
from functools import partial

from gofer.engine.finish_gate import UNFIT, form_objection
from gofer.engine.first_message import today
from gofer.engine.model_order import OneShot, Params
from gofer.engine.model_request import output_parameter
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Gate, permit_all
from gofer.engine.working_step import WorkingStep
from gofer.files.decoder import decode, in_brackets
from gofer.files.kind import charset_of
from gofer.journal.entries import SubagentFinished
from gofer.journal.purposes import SUBAGENT_FILE
from gofer.models.call_forms import written_call
from gofer.models.language_model import Answer
from gofer.projections.requests.request_parts import head
from gofer.tools.definition import Provenance
from gofer.values import messages
from gofer.values.canonical_json import encode_text, indented
from gofer.values.errors import ToolError
from gofer.workflows.output import problems, read_answer
from gofer.workflows.subagent import LoadedSubagent

UNFIT_ONCE = "unfit_once"
"""Code of a first answer that does not fit the output schema. The entry holds the answer, and the question follows
again.

Journals from before the second try have the code `unfit` in its place, which ends the question.
"""
_QUOTED = 300
"""Characters of a model's refusal that the journal keeps."""
MOST_CHARACTERS = 200_000
"""Greatest number of characters in all files of one question."""
MOST_FILES = 20
"""Greatest number of files in one question."""


async def ask(
    step: WorkingStep,
    call: str,
    name: str,
    subagent: LoadedSubagent,
    prompt: str,
    timeout: float,
    gate: Gate = permit_all,
) -> SubagentFinished:
    """Return the recorded answer of a subagent, or ask it, and once more after an answer that is unfit.

    Raises what `WorkingStep.ask_one_shot` raises.
    """
    # The question names the time of the run, so that it has the same bytes when it is asked again.
    asked = partial(question, call, name, subagent, prompt, step.own.progress.accepted_at, timeout)
    finished = step.own.replay.answers.get(call)
    if finished is None:
        finished = await step.ask_one_shot(asked(), gate)
    if finished.code == UNFIT_ONCE:
        finished = await step.ask_one_shot(asked(finished.text), gate)
    return finished


def question(
    call: str, name: str, subagent: LoadedSubagent, prompt: str, at_ms: int, timeout: float, unfit: str = ""
) -> OneShot:
    """Return one question to a subagent, asked in a run that began at `at_ms`; each model gets `timeout` seconds.

    `unfit` is the first answer, if the question is asked again because of it.
    """
    said = [messages.user(f"{today(at_ms)}\n\n{prompt}")]
    if unfit:
        objection = form_objection(unfit, subagent.output or {}, has_tools=False)
        said += [messages.assistant(unfit, ()), messages.user(objection)]

    def request(params: Params) -> bytes:
        return b",".join([head(params, (), subagent.system), *said]) + b"]}"

    return OneShot(
        call=call,
        name=name,
        prompt=prompt,
        chain=subagent.chain(),
        request=request,
        finish=lambda answer: answer_entry(call, subagent, answer, is_second=bool(unfit)),
        timeout=timeout,
        added=output_parameter(subagent.output),
    )


def answer_entry(call: str, subagent: LoadedSubagent, answer: Answer, *, is_second: bool) -> SubagentFinished:
    """Return the journal entry of an answer, without its cost: its text, or the reason why it is useless."""
    code, text = _judge(subagent, answer)
    if code == UNFIT and not is_second:
        code, text = UNFIT_ONCE, answer.text
    status = "error" if code else "ok"
    used = answer.usage
    fingerprint = answer.fingerprint
    return SubagentFinished(call, status, text, answer.model, used, None, 0, code, fingerprint=fingerprint)


def _judge(subagent: LoadedSubagent, answer: Answer) -> tuple[str, str]:
    """Return the code of an answer's flaw and its explanation; for a useful answer, an empty code and the text."""
    text = answer.text.strip()
    match answer.finish:
        case "refusal":
            return "refusal", f"The model refused: {text[:_QUOTED]}"
        case "content_filter":
            return "filtered", "The filter of the model's provider stopped the answer."
        case "length":
            return "cut", "The answer was cut off at the limit of one answer; a larger max_output_tokens helps."
        case _ if not text:
            return "empty", "The answer was empty."
        case _ if subagent.output is None and written_call(text, {}) is not None:
            return "call_as_text", "The answer was a tool call written as text."
        case _:
            if subagent.output is None:
                return "", answer.text
            return _check_output(subagent, text)


def _check_output(subagent: LoadedSubagent, text: str) -> tuple[str, str]:
    try:
        value = read_answer(text)
    except ValueError as error:
        return UNFIT, f"The answer is {error}."
    if problems_found := problems(subagent.output or {}, value):
        return UNFIT, f"The answer does not fit the output schema: {'; '.join(problems_found)}."
    return "", encode_text(value)


async def prompt_with_files(step: OwnStep, prompt: str, files: Sequence[str], provenance: Provenance) -> str:
    """Return a prompt followed by the texts of some files, as data.

    Raises ToolError for a file that the run does not have, that is no text, or that is too large. Also raises
    TemporaryError, Cancelled, OutOfTime.
    """
    sections = [prompt]
    left = MOST_CHARACTERS
    for file in files:
        held = step.workspace.files.get(file)
        if held is None:
            raise ToolError(f"The run has no file {file[:64]!r}.")
    if len(files) > MOST_FILES:
        raise ToolError(f"A one-shot subagent takes at most {MOST_FILES} files, not {len(files)}.")
    for file in files:
        added = step.workspace.files[file].added
        content = await step.content(added, provenance, SUBAGENT_FILE)
        found = decode(content, charset_of(added.media_type))
        if found is None:
            kind = added.media_type or "of an unknown type"
            raise ToolError(f"{file} is {kind} and not text; a one-shot subagent takes text files only.")
        left -= len(found.text)
        if left < 0:
            raise ToolError(
                f"{file} is too large: the files of one question have {MOST_CHARACTERS} characters at most."
            )
        rows = indented(found.text) or ["    (empty)"]
        sections.append("\n".join([f"File {file} {encode_text(added.name)}, as data:{in_brackets(found.note)}", *rows]))
    return "\n\n".join(sections)
