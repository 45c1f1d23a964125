"""The models that the workflows name: each is asked for one call of a small tool, as runs ask."""

import asyncio
from collections.abc import Iterator, Sequence

from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.model_endpoints import ModelAccess
from gofer.check.models import NamedModel, not_served
from gofer.models.failures import provider_error_of, said_by
from gofer.models.language_model import Answer, Unavailable, Unusable
from gofer.models.served_model import ServedModel
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.values.errors import RunStopped
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.mistake import Mistake

SECONDS = 60.0
"""The longest wait for one answer, unless the model has a `timeout`. A local model may have to be loaded first."""
_MOST_TOKENS = 1_000
"""Tokens for the answer: a model may think before it calls a tool."""
SYSTEM = messages.system("You report the status of systems.")
QUESTION = messages.user("Call the tool report_status once, with the status ok.")
REPORT = "report_status"
"""The name of the tool that a model is asked to call."""
TOOL = {
    "type": "function",
    "function": {
        "name": REPORT,
        "description": "Report the status of a system.",
        "parameters": {
            "type": "object",
            "properties": {"status": {"type": "string", "enum": ["ok"]}},
            "required": ["status"],
        },
    },
}
_OTHER_MODEL = "Runs act through tools, so use a model, or a setting of its server, that calls tools."

_AWAY = "Start its server, or correct its address, or look again in some minutes; runs wait meanwhile."


async def models(access: ModelAccess, catalog: Catalog) -> Sequence[Finding]:
    """Return whether each model answers and calls tools, in the order of their names."""
    named = {model.name: model for loaded in catalog.workflows.values() for model in loaded.every_model()}
    acting = {model.name for loaded in catalog.workflows.values() for model in _acting(loaded)}
    return await asyncio.gather(*(_model(access, named[name], acts=name in acting) for name in sorted(named)))


async def unserved(access: ModelAccess, named: Sequence[NamedModel]) -> Sequence[Mistake]:
    """Return a mistake for each model that its endpoint says it does not have. Each is asked for one token."""
    has = await asyncio.gather(*(_has(access, one.model) for one in named))
    return [not_served(one) for one, served in zip(named, has, strict=True) if not served]


async def _has(access: ModelAccess, model: ServedModel) -> bool:
    try:
        await ask(access, model, [QUESTION], max_completion_tokens=1)
    except (Unavailable, Unusable, RunStopped) as error:
        # Any other failure, such as a wrong key, says nothing about the name.
        found = provider_error_of(error)
        return found is None or found.failure != "unknown_model"
    return True


async def ask(access: ModelAccess, model: ServedModel, said: Sequence[bytes], **params: object) -> Answer:
    """Return the answer to a small request of the form that runs send. Raises the errors of `Model.ask`."""
    few = {"max_completion_tokens": _MOST_TOKENS, **model.parameters, **params}
    head = encode({**few, "model": model.name, "stream": model.timeout is not None})[:-1]
    body = head + b',"messages":[' + b",".join([SYSTEM, *said]) + b"]}"
    return await access.of(model.endpoint).ask(body, model.timeout or SECONDS)


def _acting(loaded: Loaded) -> Iterator[ServedModel]:
    """Yield the models that may call tools. The models of the role `search` only choose among names."""
    if loaded.workflow.coordinator == "llm":
        yield from loaded.models
    for subagent in loaded.subagents.values():
        yield from subagent.models


async def _model(access: ModelAccess, model: ServedModel, *, acts: bool) -> Finding:
    subject = f"model {model.name}"
    try:
        answer = await ask(access, model, [QUESTION], **({"tools": [TOOL]} if acts else {}))
    except (Unavailable, Unusable, RunStopped) as error:
        return failed(subject, error)
    return judged(subject, answer, acts=acts)


def failed(subject: str, error: Unavailable | Unusable | RunStopped) -> Finding:
    """Return the finding of a model that gave no answer."""
    # Only the question above was asked, so the provider's words hold nothing of a run.
    said = said_by(error)
    if isinstance(error, Unavailable):
        return Finding(subject, "away", said, _AWAY)
    return wrong(subject, said, "")


def judged(subject: str, answer: Answer, *, acts: bool) -> Finding:
    """Return the finding of an answer to the question above."""
    if not acts:
        return works(subject, "answers")
    if any(one.tool == REPORT for one in answer.asks):
        return works(subject, "answers, and calls tools")
    if answer.finish == "length":
        return works(subject, "answers; the answer was cut off at its limit, so no call of a tool was seen")
    return wrong(subject, "answers in words, and did not call a tool when it was asked to", _OTHER_MODEL)
