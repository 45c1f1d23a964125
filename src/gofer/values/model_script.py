"""The answers of a scripted model, step by step.

The offline model server and the in-process scripted model share this module. It keeps no state: the first user message
and the offered tools choose the script, and the number of assistant messages since then chooses the step.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, cast

import yaml

from gofer.values.errors import ConfigError

_SCRIPT_KEYS = frozenset({"name", "when", "results", "needs", "steps"})
_WHEN_KEYS = frozenset({"says", "tools", "results"})
_STEP_KEYS = frozenset({"text", "calls"})
_SHOWN = 200
"""The most characters of tool results that a mismatch shows."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One tool call of an assistant turn."""

    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Step:
    """One assistant turn as written, with placeholders such as `{name}` in its strings."""

    text: str
    calls: tuple[ScriptedCall, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A named conversation: the conditions under which it applies, and the model's turns."""

    name: str
    steps: tuple[Step, ...]
    says: re.Pattern[str] = field(default_factory=lambda: re.compile(""))
    """The pattern that the first user message must contain; the empty pattern matches all."""
    tools: frozenset[str] = frozenset()
    """The tools that the request must offer."""
    results: tuple[re.Pattern[str], ...] = ()
    """The patterns searched in tool results. Their named groups fill the placeholders of later steps."""
    found: re.Pattern[str] = field(default_factory=lambda: re.compile(""))
    """The pattern that the tool results must contain; the empty pattern matches all.

    Before its results are there, a later script with the same first calls answers.
    """
    needs: tuple[re.Pattern[str], ...] = ()
    """The patterns that the tool results must contain at the last step, because its answer relies on them."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The model's answer to one request. Steps are counted from 1."""

    script: str | None
    step: int
    text: str
    calls: tuple[ScriptedCall, ...] = ()
    mismatch: str = ""
    """Why no step fits the conversation, in one sentence; empty if a step answers."""

    def call_id(self, index: int) -> str:
        """Return the id of the call at `index`, counted from 1. Equal requests get equal ids."""
        return f"call_{self.step}_{index}"


def load_scripts(text: str, source: str) -> tuple[Script, ...]:
    """Return the scripts of a YAML file. `source` names the file in errors. Raises ConfigError."""
    try:
        data: object
        if yaml.__with_libyaml__:
            data = yaml.load(text, Loader=yaml.CSafeLoader)
        else:
            data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {' '.join(str(error).split())}.") from error
    if not _is_list(data):
        raise ConfigError(f"{source}: a script file is a list of scripts, each with name and steps.")
    scripts = tuple(_script(item, f"{source}: script {number}") for number, item in enumerate(data, start=1))
    names = [script.name for script in scripts]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{source}: two scripts are named {name!r}; give each its own name.")
    return scripts


def choose(scripts: Sequence[Script], request: Mapping[str, object]) -> Turn:
    """Return the answer to a Chat Completions request body."""
    first_message, turns, tool_results = _conversation(request)
    offered = _offered(request)
    number = turns + 1
    for script in scripts:
        found = script.says.search(first_message)
        if found and script.tools <= offered and script.found.search(tool_results):
            return _turn(script, number, found, tool_results)
    known = ", ".join(script.name for script in scripts) or "none"
    return Turn(None, number, "", mismatch=f"No script matches this conversation. Scripts loaded: {known}.")


def _turn(script: Script, number: int, asked: re.Match[str], tool_results: str) -> Turn:
    last = len(script.steps)
    if number > last:
        mismatch = f"The script {script.name} has no step {number}; it ends after step {last}."
        return Turn(script.name, number, "", mismatch=mismatch)
    for pattern in script.needs:
        if number == last and not pattern.search(tool_results):
            return Turn(script.name, number, "", mismatch=_missing(script, pattern, tool_results))
    matches = [asked, *(match for result in script.results if (match := result.search(tool_results)))]
    groups = {key: value or "" for match in matches for key, value in match.groupdict().items()}
    step = script.steps[number - 1]
    calls = tuple(
        ScriptedCall(call.tool, {key: _filled(value, groups) for key, value in call.arguments.items()})
        for call in step.calls
    )
    return Turn(script.name, number, _fill(step.text, groups), calls)


def _missing(script: Script, pattern: re.Pattern[str], tool_results: str) -> str:
    """Return the sentence about tool results without a pattern that the answer of a script relies on."""
    ended = " ".join(tool_results[-_SHOWN:].split()) or "nothing"
    return (
        f"The answer of the script {script.name} relies on tool results that contain {pattern.pattern!r}, and these do "
        f"not. They end with: {ended}"
    )


def _conversation(request: Mapping[str, object]) -> tuple[str, int, str]:
    """Return the first user message, the number of answers since, and the tool results since, in order."""
    messages = request.get("messages")
    first_message: str | None = None
    turns = 0
    tool_results: list[str] = []
    for message in messages if _is_list(messages) else []:
        if not _is_mapping(message):
            continue
        if first_message is None and message.get("role") == "user":
            first_message = _plain(message.get("content"))
        elif first_message is not None and message.get("role") == "assistant":
            turns += 1
        elif first_message is not None and message.get("role") == "tool":
            tool_results.append(_plain(message.get("content")))
    return first_message or "", turns, "\n".join(tool_results)


def _plain(content: object) -> str:
    if isinstance(content, str):
        return content
    if _is_list(content):
        parts = [part.get("text") for part in content if _is_mapping(part)]
    else:
        parts = []
    return "\n".join(part for part in parts if isinstance(part, str))


def _offered(request: Mapping[str, object]) -> frozenset[str]:
    tools = request.get("tools")
    if _is_list(tools):
        functions = [tool.get("function") for tool in tools if _is_mapping(tool)]
    else:
        functions = []
    names = [function.get("name") for function in functions if _is_mapping(function)]
    return frozenset(name for name in names if isinstance(name, str))


def _fill(text: str, groups: Mapping[str, str]) -> str:
    # Fill named groups only, because JSON and jq in arguments have braces of their own.
    return re.sub(r"\{(\w+)\}", lambda found: groups.get(found[1], found[0]), text)


def _filled(value: object, groups: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _fill(value, groups)
    if _is_list(value):
        return [_filled(item, groups) for item in value]
    if _is_mapping(value):
        return {key: _filled(item, groups) for key, item in value.items()}
    return value


def _script(item: object, where: str) -> Script:
    if not _is_mapping(item):
        raise ConfigError(f"{where} is not a mapping; write name, when and steps.")
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{where} has no name; give it one as text.")
    where = f"{where} ({name})"
    _refuse_unknown(item, _SCRIPT_KEYS, where)
    steps = item.get("steps")
    if not _is_list(steps) or not steps:
        raise ConfigError(f"{where} has no steps; write a list of answers.")
    says, tools, found = _when(item.get("when"), where)
    patterns = _patterns(item, "results", where)
    needs = _patterns(item, "needs", where)
    turns = tuple(_step(step, f"{where} step {number}") for number, step in enumerate(steps, start=1))
    return Script(name, turns, says, tools, patterns, found, needs)


def _patterns(item: Mapping[str, object], key: str, where: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a list under a key. Raises ConfigError."""
    found = item.get(key, [])
    if not _is_list(found) or not all(isinstance(one, str) for one in found):
        raise ConfigError(f"{where}: {key} is not a list of regular expressions; write each in quotes.")
    return tuple(_pattern(str(one), f"{where}: {key}") for one in found)


def _when(item: object, where: str) -> tuple[re.Pattern[str], frozenset[str], re.Pattern[str]]:
    """Return the pattern of the first message, the offered tools, and the pattern of the results."""
    where = f"{where}: when"
    if item is None:
        item = {}
    if not _is_mapping(item):
        raise ConfigError(f"{where} is not a mapping; write says, tools and results under it.")
    _refuse_unknown(item, _WHEN_KEYS, where)
    tools = item.get("tools", [])
    names = [tool for tool in tools if isinstance(tool, str)] if _is_list(tools) else []
    if not _is_list(tools) or len(names) < len(tools):
        raise ConfigError(f"{where}.tools is not a list of tool names.")
    return _pattern_at(item, "says", where), frozenset(names), _pattern_at(item, "results", where)


def _pattern_at(item: Mapping[str, object], key: str, where: str) -> re.Pattern[str]:
    text = item.get(key, "")
    if not isinstance(text, str):
        raise ConfigError(f"{where}.{key} is not text; write a regular expression in quotes.")
    return _pattern(text, f"{where}.{key}")


def _pattern(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{where} is not a regular expression: {error}.") from error


def _step(item: object, where: str) -> Step:
    if not _is_mapping(item):
        raise ConfigError(f"{where} is not a mapping; write text or calls.")
    _refuse_unknown(item, _STEP_KEYS, where)
    text = item.get("text", "")
    calls = item.get("calls", [])
    if not isinstance(text, str):
        raise ConfigError(f"{where}: text is not text; put it in quotes.")
    if not _is_list(calls):
        raise ConfigError(f"{where}: calls is not a list; write one '- tool_name: {{arguments}}' a line.")
    if not text and not calls:
        raise ConfigError(f"{where} has neither text nor calls; write at least one.")
    return Step(text.strip(), tuple(_call(call, where) for call in calls))


def _call(item: object, where: str) -> ScriptedCall:
    if not _is_mapping(item) or len(item) != 1:
        raise ConfigError(f"{where}: a call is one tool name with its arguments under it.")
    tool, arguments = next(iter(item.items()))
    if arguments is None:
        return ScriptedCall(tool, {})
    if not _is_mapping(arguments):
        raise ConfigError(f"{where}: the arguments of {tool} are not a mapping from names; quote a name like on.")
    if not _is_json(arguments):
        raise ConfigError(f"{where}: an argument of {tool} is not a JSON value; put dates and times in quotes.")
    return ScriptedCall(tool, arguments)


def _refuse_unknown(item: Mapping[str, object], known: frozenset[str], where: str) -> None:
    unknown = sorted(str(key) for key in item if key not in known)
    if unknown:
        raise ConfigError(f"{where} has an unknown key {unknown[0]!r}; it may have {', '.join(sorted(known))}.")


def _is_json(value: object) -> bool:
    if _is_list(value):
        return all(_is_json(item) for item in value)
    if _is_mapping(value):
        return all(_is_json(item) for item in value.values())
    return value is None or isinstance(value, bool | int | float | str)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_mapping(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[object, object]", value))
