"""Plays of the shipped evals in which a model babbles, and the promises that each of them keeps."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from typing_extensions import override

from gofer.app.evals.answering import Asked
from gofer.app.evals.case_world import CaseWorld, GoldenWorld
from gofer.app.evals.golden_world import GoldenInWorld
from gofer.app.evals.player import Player
from gofer.app.evals.repeatable import VirtualClock
from gofer.app.model_endpoints import ModelAccess, only
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.evals.eval_file import Case
from gofer.evals.load import LoadedEval
from gofer.evals.plays import Play, PlayedTurn
from gofer.journal import entries as e
from gofer.models.call_forms import written_call
from gofer.models.failures import RULES
from gofer.tools.definition import AnyTool
from gofer.values.messages import APIS
from support.models.babbling import Babble, BabblingModel

_USELESS = (
    "was empty; use another model",
    "was cut off before its first word; a larger max_output_tokens helps",
    "was cut off in the middle of a tool call; a larger max_output_tokens helps",
    "was a tool call written as text; use a model that is better at calling tools",
    "called a tool in the deprecated function_call; use a model that is better at calling tools",
    "called a tool with arguments that it does not take; use a model that is better at calling tools",
    "called a tool that does not exist; use a model that is better at calling tools",
    "asked for tools in a way that cannot be carried out; use a model that is better at calling tools",
    "did not fit the `output` schema of its workflow; use a better model, or simplify the schema",
)
_FIXED = (
    "",
    "the model refused",
    "the filter of the model's provider stopped its answer; ask in other words",
    "stopped after 3 useless answers in a row, the last one cut off at its limit; a larger max_output_tokens helps",
    "stopped after 3 answers in a row that repeated the same calls, with nothing new since; use another model",
    "stopped after 3 answers in a row that came before the plan was done; use another model",
    *(f"3 answers of the model in a row were useless: the last one {useless}" for useless in _USELESS),
)
_FACTS = r"( \((HTTP|code|type|parameter) [^)]*\))?"
_FAILED = "|".join(re.escape(rule.reason) + _FACTS + r"; .+\." for rule in RULES.values())
_UNUSABLE = r"The model's answer (was|held) [^;]+; check OPENAI_BASE_URL( and the model's name)?\."
_PATTERNS = (
    r"stopped after \d+ model calls",
    r"stopped at \d+ tool calls",
    r"stopped at [\d.]+ (USD|tokens)",
    r"stopped after [\d.]+ minutes",
    _FAILED,
    _UNUSABLE,
    r"no tool that it requires has succeeded: [a-z_]+( or [a-z_]+)*",
    r"coordinators/[a-z_]+\.py:\d+: subagent\.[a-z-]+ failed \((refusal|filtered|cut|empty|unfit)\)",
    rf"the model's provider did not answer for 30 minutes: ({_FAILED})",
)
REASON = re.compile("|".join([*map(re.escape, _FIXED), *_PATTERNS]))
"""The reasons with which a run may end whose model babbles."""
_SHAPED = re.compile(
    r'"arguments"|"parameters"|"tool_calls"|<\|?tool_call|<function=|<invoke|\[TOOL_CALLS\]|python_tag'
)
_THOUGHTS = re.compile(r"</?think|\[/?THINK\]")
_MAKES: Mapping[str, str] = {
    "slack_post_message": "slack message",
    "slack_post_file": "slack message",
    "jira_create_issue": "jira issue",
    "jira_add_comment": "jira comment",
    "jira_link_url": "jira link",
    "notion_add_comment": "notion comment",
}
"""The thing that a call makes outside, by its tool."""
_WAIT = (*_MAKES, "slack_add_reaction")
"""The tools whose calls may wait for a person."""
_REMOVES = {"slack_delete_message": "slack message"}


@dataclass(frozen=True)
class BabblingPlayer(Player):
    """A player whose model babbles."""

    babble: Babble = field(kw_only=True)

    @override
    def _models(
        self,
        loaded: LoadedEval,
        case: Case,
        number: int,
        world: CaseWorld | GoldenWorld | GoldenInWorld,
        asked: Asked,
        clock: VirtualClock,
    ) -> ModelAccess:
        return only(BabblingModel(self.babble, self.babble.chance.choice(APIS)))

    async def babble_once(self, loaded: LoadedEval, case: Case, seed: int) -> tuple[Play, Babble]:
        """Play a case with the model of a seed. Calls that wait for a person are all approved or all denied."""
        known: dict[str, list[str]] = {}
        for answer in self.book.by_request(loaded).values():
            for call in answer.calls:
                known.setdefault(call.tool, []).append(call.arguments)
        babble = Babble(random.Random(seed), known)
        approve = dict.fromkeys(_WAIT, babble.chance.random() < 0.5)
        play = await replace(self, babble=babble).play(loaded, case.model_copy(update={"approve": approve}), 1)
        return play, babble


def broken_promises(play: Play, babble: Babble) -> list[str]:
    """Return every promise that a play broke; empty if it kept all."""
    refused = [f"a vendor refuses: {words}" for words in babble.refused]
    return [*refused, *_ends(play.turns), *_read_by_people(play, babble), *_effects(play)]


def _ends(turns: Sequence[PlayedTurn]) -> Iterator[str]:
    for turn in turns:
        finished = turn.progress.finished
        if finished is None:
            yield f"run {turn.run} did not end"
        elif not REASON.fullmatch(finished.reason):
            yield f"an unlisted reason: {finished.status}, {finished.reason}"


def _read_by_people(play: Play, babble: Babble) -> Iterator[str]:
    texts = {seen.text for turn in play.turns for seen in turn.seen} | set(_texts(play.after)) - set(
        _texts(play.before)
    )
    offered = {name: tool for name, tool in _tools().items() if name in babble.offered}
    for text in texts:
        if _SHAPED.search(text) or written_call(text, offered) is not None:
            yield f"people read a call: {text[:300]!r}"
        if _THOUGHTS.search(text):
            yield f"people read thoughts: {text[:300]!r}"


@cache
def _tools() -> Mapping[str, AnyTool]:
    return build_tools(read_settings({}))


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a JSON value."""
    match value:
        case str():
            yield value
        case Mapping():
            for one in value.values():
                yield from _texts(one)
        case list() | tuple():
            for one in value:
                yield from _texts(one)
        case _:
            pass


def _effects(play: Play) -> Iterator[str]:
    """Compare the things that were made in the world with the calls that the journals hold as made."""
    made = Counter(_things(play.after))
    made.subtract(_things(play.before))
    told = Counter[str]()
    for turn in play.turns:
        for journal in turn.journals.values():
            entries = [one.entry for one in journal]
            called = {one.call: one.tool for one in entries if isinstance(one, e.ToolCall)}
            done = [one.call for one in entries if isinstance(one, e.ToolResult) and one.status == "ok"]
            if len(done) != len(set(done)):
                yield f"two outcomes of one call: {done}"
            told.update(_MAKES[called[call]] for call in done if called.get(call) in _MAKES)
            told.subtract(_REMOVES[called[call]] for call in done if called.get(call) in _REMOVES)
    for kind in {*_MAKES.values()}:
        # A mock answers in place of a system that the world lacks.
        if kind.split()[0] in play.after and made[kind] != told[kind]:
            yield f"{made[kind]} of {kind} in the world, {told[kind]} in the journals"
    keys = Counter(_keys(play.after))
    yield from (f"the effect {key} twice" for key, times in keys.items() if times > 1)


def _things(world: Mapping[str, Any]) -> Iterator[str]:
    """Yield each thing of Gofer in a world."""
    for channel in world.get("slack", {}).get("channels", {}).values():
        yield from ("slack message" for message in channel["messages"] if message["user"] == "U0GOFER0")
    for issue in world.get("jira", {}).values():
        if issue["reporter"] == "712020:gofer":
            yield "jira issue"
        yield from ("jira comment" for one in issue.get("comments", ()) if one["author"] == "712020:gofer")
        yield from ("jira link" for _ in issue.get("remote_links", ()))
    for page in world.get("notion", {}).values():
        yield from ("notion comment" for one in page.get("comments", ()) if one["by"] == "Gofer")


def _keys(world: Mapping[str, Any]) -> Iterator[str]:
    for channel in world.get("slack", {}).get("channels", {}).values():
        for message in channel["messages"]:
            if "metadata" in message:
                yield message["metadata"]["event_payload"]["key"]
    for page in world.get("notion", {}).values():
        yield from (one["text"].rpartition("\nref ")[2] for one in page.get("comments", ()) if "\nref " in one["text"])
