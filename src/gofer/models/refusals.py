"""What vendors refuse of a request though it is well formed, by format, host and model.

Sources, as of November 2026: answers of OpenAI with status 400 (openai/openai-openapi 541, BerriAI/litellm 34569), the
request types of the packages `openai` 3.57.0 and `anthropic` 2.14.0, and the notes on Anthropic's version 2026-10-21.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gofer.models.formats.format import native_api
from gofer.models.served_model import DEFAULT, Endpoint
from gofer.values.canonical_json import as_object

_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?![\w.])")
_REFUSES_EFFORT = (5, 4)
"""The first GPT that takes no tools together with an effort on Chat Completions."""
_THINKS = (5, 5)
"""The first GPT that thinks unless a request says otherwise."""
_UNKNOWN: Mapping[str, tuple[str, ...]] = {
    "responses": ("seed",),
    "messages": ("seed", "temperature", "top_p", "top_k"),
    "chat_completions": (),
}
"""The parameters that a format does not have."""
_SAMPLING = ("temperature", "top_p")
"""The parameters that OpenAI refuses of a model that thinks."""
_LEAVE_OUT = "Remove it; a model that takes it may have it under `parameters` in defaults.yaml."


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a request that the vendor refuses."""

    parameter: str
    """The parameter; empty if the model refuses requests without it."""
    message: str
    """What is refused: one sentence."""
    remedy: str
    """What to write instead: one sentence."""


def format_of(at: Endpoint) -> str:
    """Return the format in which the models of an endpoint are asked."""
    return at.api or native_api(at.base_url)


def refusals(model: str, at: Endpoint, params: Mapping[str, object], *, has_tools: bool) -> Iterator[Refusal]:
    """Yield what the vendor refuses of a request to a model with these neutral parameters.

    `at` has the base URL of the default endpoint too. The name of a model counts only at its own vendor, because others
    translate requests.
    """
    api = format_of(at)
    effort = as_object(params.get("reasoning")).get("effort")
    for name in sorted({*params} & {*_UNKNOWN.get(api, ())}):
        yield Refusal(name, f"The format `{api}`, in which `{model[:80]}` is asked, refuses `{name}`.", _LEAVE_OUT)
    version = _version(model)
    if native_api(at.base_url) != "responses" or version is None:
        return
    thinks = effort != "none" and (effort is not None or version >= _THINKS)
    if thinks:
        for name in sorted({*params} & {*_SAMPLING}):
            message = f"OpenAI refuses `{name}` for `{model[:80]}` while the model thinks."
            yield Refusal(name, message, "Remove it, or write `reasoning: {effort: none}`.")
    if thinks and has_tools and api == "chat_completions" and version >= _REFUSES_EFFORT:
        why = "thinks unless told otherwise" if effort is None else "is to think"
        message = f"`{model[:80]}` {why}, and OpenAI then refuses it tools in the format `{api}`."
        yield Refusal("" if effort is None else "reasoning", message, _other_format(at))


def _version(model: str) -> tuple[int, int] | None:
    """Return the version of a GPT; None for every other name."""
    found = _GPT.match(model)
    if found is None:
        return None
    return int(found[1]), int(found[2] or 0)


def _other_format(at: Endpoint) -> str:
    where = f"`api: responses` for the endpoint `{at.name}` in defaults.yaml"
    if at.name == DEFAULT:
        where = "OPENAI_API_FORMAT=responses"
    return f"Write {where}, or `reasoning: {{effort: none}}` for the model."
