"""What vendors refuse of a request though it is well formed, by format, host and model.

Sources, as of November 2026: answers of OpenAI with status 400 (openai/openai-openapi 541, BerriAI/litellm 34569,
anomalyco/opencode 26268 and anomalyco/models.dev 2351 for efforts), answers of Anthropic with status 400
(askalf/dario 273), the request types of the packages `openai` 3.57.0 and `anthropic` 2.14.0, and the notes on
Anthropic's version 2026-10-21.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.models.formats.format import is_vendors_own, native_api
from gofer.models.formats.responses import gpt_version
from gofer.models.served_model import DEFAULT, Endpoint
from gofer.values.canonical_json import as_object

_REFUSES_EFFORT = (5, 4)
"""The first GPT that takes no tools together with an effort on Chat Completions."""
_THINKS = (5, 5)
"""The first GPT that thinks unless a request says otherwise."""
_DATED = r"(-\d{4}-\d\d-\d\d)?"
_EFFORTS: Sequence[tuple[re.Pattern[str], tuple[str, ...]]] = [
    (re.compile(names + _DATED), efforts)
    for names, efforts in (
        (r"gpt-(3\.5|4|4\.1|4o)(-turbo|-mini|-nano)?", ()),
        (r"o[134](-mini|-pro)?", ("low", "medium", "high")),
        (r"gpt-5(-mini|-nano)?", ("minimal", "low", "medium", "high")),
        (r"gpt-5-pro", ("high",)),
        (r"gpt-5\.1", ("none", "low", "medium", "high")),
        (r"gpt-5\.[245](-mini|-nano)?", ("none", "low", "medium", "high", "xhigh")),
        (r"gpt-5\.[24]-pro", ("medium", "high", "xhigh")),
    )
]
"""The efforts that the models of OpenAI take, where they are known. One without efforts never thinks."""
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:-(\d)(?!\d))?")
_CHOOSES = (4, 6)
"""The first Claude that decides how much it thinks, which Gofer asks it to. Older ones want a number of tokens."""
_UNKNOWN: Mapping[str, tuple[str, ...]] = {
    "responses": ("seed",),
    "messages": ("seed", "temperature", "top_p", "top_k"),
    "chat_completions": (),
}
"""The parameters that a format does not have."""
_PENALTIES = ("frequency_penalty", "presence_penalty", "logit_bias", "n")
_OF_SERVERS = ("top_k", "min_p", "repetition_penalty")
_NOT_AT_VENDORS: Mapping[str, tuple[str, ...]] = {
    "responses": (*_PENALTIES, *_OF_SERVERS, "stop"),
    "messages": (*_PENALTIES, *_OF_SERVERS, "logprobs", "top_logprobs"),
    "chat_completions": _OF_SERVERS,
}
"""The parameters that the request types of the vendors' packages lack. Other servers take some of them."""
_SAMPLING = ("temperature", "top_p")
"""The parameters that OpenAI refuses of a model that thinks."""
_OR_REST = ", or write `reasoning: {effort: none}`"
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
    lacking = {*_UNKNOWN.get(api, ())}
    if is_vendors_own(at.base_url, api):
        lacking |= {*_NOT_AT_VENDORS[api]}
    for name in sorted({*params} & lacking):
        yield Refusal(name, f"The format `{api}`, in which `{model[:80]}` is asked, refuses `{name}`.", _LEAVE_OUT)
    match native_api(at.base_url):
        case "responses":
            yield from _of_openai(model, at, params, has_tools=has_tools)
        case "messages" if "reasoning" in params and effort != "none":
            yield from _of_claude(model)
        case _:
            pass


def _of_openai(model: str, at: Endpoint, params: Mapping[str, object], *, has_tools: bool) -> Iterator[Refusal]:
    effort = as_object(params.get("reasoning")).get("effort")
    efforts = next((taken for names, taken in _EFFORTS if names.fullmatch(model)), None)
    version = gpt_version(model)
    if effort is not None and efforts is not None and effort not in efforts:
        yield _refused_effort(model, str(effort), efforts)
        return
    if not _thinks(effort, efforts, version):
        return
    may_rest = efforts is None or "none" in efforts
    for name in sorted({*params} & {*_SAMPLING}):
        message = f"OpenAI refuses `{name}` for `{model[:80]}` while the model thinks."
        yield Refusal(name, message, f"Remove it{_OR_REST if may_rest else ''}.")
    api = format_of(at)
    if has_tools and api == "chat_completions" and version is not None and version >= _REFUSES_EFFORT:
        why = "thinks unless told otherwise" if effort is None else "is to think"
        message = f"`{model[:80]}` {why}, and OpenAI then refuses it tools in the format `{api}`."
        yield Refusal("" if effort is None else "reasoning", message, _other_format(at))


def _refused_effort(model: str, effort: str, taken: Sequence[str]) -> Refusal:
    if not taken:
        message = f"`{model[:80]}` does not think, and OpenAI refuses it an effort."
        return Refusal("reasoning", message, "Remove `reasoning`, or name a model that thinks.")
    message = f"OpenAI refuses the effort `{effort}` for `{model[:80]}`."
    return Refusal("reasoning", message, f"Write one of: {', '.join(taken)}.")


def _of_claude(model: str) -> Iterator[Refusal]:
    found = _CLAUDE.match(model)
    if found is not None and (int(found[1]), int(found[2] or 0)) < _CHOOSES:
        message = (
            f"Anthropic refuses `{model[:80]}` the thoughts that `reasoning` asks for, as every Claude before 4.6."
        )
        yield Refusal("reasoning", message, "Remove `reasoning`, or name a newer model.")


def _thinks(effort: object, efforts: Sequence[str] | None, version: tuple[int, int] | None) -> bool:
    """Return whether a model thinks for a request. One that does not take the effort `none` thinks without any."""
    if not efforts and (efforts is not None or version is None):
        return False
    if effort is not None:
        return effort != "none"
    return (efforts is not None and "none" not in efforts) or (version is not None and version >= _THINKS)


def _other_format(at: Endpoint) -> str:
    where = f"`api: responses` for the endpoint `{at.name}` in defaults.yaml"
    if at.name == DEFAULT:
        where = "OPENAI_API_FORMAT=responses"
    return f"Write {where}, or `reasoning: {{effort: none}}` for the model."
