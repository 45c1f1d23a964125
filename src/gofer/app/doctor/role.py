"""The models of one role, each asked what runs need of it: calls of tools, several messages of one role, parameters."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.doctor.models import QUESTION, TOOL, ask, failed, judged
from gofer.app.doctor.served_window import ServedWindows
from gofer.app.model_endpoints import ModelAccess
from gofer.models.abilities import LEAST_WINDOW, UNKNOWN_WINDOW
from gofer.models.failures import said_by
from gofer.models.language_model import Answer, Refused, Unavailable, Unusable
from gofer.models.served_model import ServedModel
from gofer.values import messages
from gofer.values.errors import ConfigError, RunStopped
from gofer.workflows.model_roles import Roles

_OPTIONS: Mapping[str, Mapping[str, object]] = {
    "`reasoning: {effort: low}`": {"reasoning": {"effort": "low"}},
    "`temperature` and `seed`": {"temperature": 0, "seed": 1},
}
"""What workflow files may set, and a model or its server may refuse; each is asked for together with a tool."""
_SIZE = "Write `window: {}` for it in agents/defaults.yaml: the tokens that its server is started with."
_LARGER = "Start its server with a larger window, as docs/own-model.md says."


def models_of_role(roles: Roles, name: str) -> Sequence[ServedModel]:
    """Return the models of a role. Raises ConfigError for a name that is no role."""
    if name not in roles.models:
        known = ", ".join(roles.models) or "none"
        raise ConfigError(f"agents/defaults.yaml has no role {name[:80]!r}; write one of its roles: {known}.")
    return roles.of(name)


async def abilities(access: ModelAccess, windows: ServedWindows, models: Sequence[ServedModel]) -> Sequence[Finding]:
    """Return what each model can do, from at most four small requests, and the window that its server names."""
    # One after the other, because a server on one machine may have to load each model in place of the one before.
    return [finding for model in models for finding in await _model(access, windows, model)]


async def _model(access: ModelAccess, windows: ServedWindows, model: ServedModel) -> Sequence[Finding]:
    subject = f"model {model.asked_at}"
    where = model.endpoint.base_url or access.default_url
    try:
        answer = await ask(access, model, [QUESTION], tools=[TOOL])
    except (Unavailable, Unusable, RunStopped) as error:
        found = failed(subject, error)
        return [Finding(subject, found.state, f"asked at {where}: {found.text}", found.remedy)]
    return [
        judged(subject, answer, acts=True),
        await _conversation(access, model, answer),
        *[await _option(access, model, words, params) for words, params in _options(model)],
        _window(model, await windows.of(model, where)),
    ]


async def _conversation(access: ModelAccess, model: ServedModel, answer: Answer) -> Finding:
    """Return whether the model takes a conversation as runs send it: two messages at first, and one after results."""
    subject = f"model {model.asked_at}"
    said = [messages.user("The status is ok."), QUESTION]
    taken = "two messages of one role in a row"
    if answer.asks:
        by = {"api": answer.api, "model": model.asked_at}
        results = (messages.tool(one.id, "Reported.") for one in answer.asks)
        said += [messages.assistant(answer.text, answer.asks, answer.extra, by), *results]
        said.append(messages.user("Say in one word that it is done."))
        taken = f"{taken}, and results of tools"
    try:
        await ask(access, model, said, tools=[TOOL])
    except (Unavailable, Unusable, RunStopped) as error:
        return failed(subject, error)
    joined = ", which `alternate_roles` joins" if model.parameters.get("alternate_roles") else ""
    return works(subject, f"takes {taken}{joined}")


def _options(model: ServedModel) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the options that the first request did not have."""
    for words, params in _OPTIONS.items():
        if not params.keys() & model.parameters.keys():
            yield words, params


async def _option(access: ModelAccess, model: ServedModel, words: str, params: Mapping[str, object]) -> Finding:
    subject = f"model {model.asked_at}"
    try:
        await ask(access, model, [QUESTION], tools=[TOOL], **params)
    except Refused as error:
        return Finding(subject, "off", f"refuses {words}: {said_by(error)}", "Leave it out for this model.")
    except (Unavailable, Unusable, RunStopped) as error:
        return failed(subject, error)
    return works(subject, f"takes {words}")


def _window(model: ServedModel, served: int) -> Finding:
    """Return the window that counts beside the one that the server names, which is 0 if it names none."""
    subject = f"model {model.asked_at}"
    told = f", and its server runs it with {served:,}" if served else ""
    if 0 < served < LEAST_WINDOW:
        return wrong(
            subject, f"its server runs it with a window of {served:,} tokens, and runs need {LEAST_WINDOW:,}", _LARGER
        )
    if not (model.ability and model.ability.window):
        counts = f"its window is not known, so {UNKNOWN_WINDOW:,} tokens count{told}"
        return Finding(subject, "wrong" if 0 < served < UNKNOWN_WINDOW else "off", counts, _SIZE.format(served or "…"))
    counts = f"counts with a window of {model.ability.window:,} tokens{told}"
    if 0 < served < model.ability.window:
        return wrong(subject, counts, _SIZE.format(served))
    return works(subject, counts)
