"""Calls of a recorded and a played run, matched with one another within a tolerance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gofer.evals.eval_file import Tolerance
from gofer.evals.judging.quantities import PLACE, Sameness, measured
from gofer.evals.judging.tolerances import same_assignments, same_text
from gofer.evals.judging.turn_facts import CallFacts
from gofer.values.canonical_json import encode_text

FREE_TEXT_WORDS = 3
"""The words from which on an argument is free text; a shorter text is a name and must be equal."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A call with the turn that made it, counted from 1."""

    turn: int
    call: CallFacts


@dataclass(frozen=True, slots=True)
class Match:
    """A recorded call and the played call that corresponds to it; one of them may be missing."""

    recorded: Placed | None
    played: Placed | None
    sameness: Sameness
    reason: str = ""
    """One sentence about a difference."""


def matched(recorded: Sequence[Placed], played: Sequence[Placed], tolerance: Tolerance) -> Sequence[Match]:
    """Return each call of both runs in one match."""
    alike = _alike_tools(recorded, played, tolerance)
    found: list[list[Sameness | None]] = [
        [_same_call(one.call, two.call, tolerance, alike) for two in played] for one in recorded
    ]
    partners = _partners(found)
    matches: list[Match] = []
    for at, one in enumerate(recorded):
        other = partners.get(at)
        if other is None:
            matches.append(Match(one, None, "different", "The call is missing."))
        else:
            matches.append(_match(one, played[other], found[at][other]))
    extra = [two for other, two in enumerate(played) if other not in partners.values()]
    matches += [Match(None, two, "different", "The call was not recorded.") for two in extra]
    matches = _in_order(matches, tolerance)
    if tolerance.tool_only_turns == "free":
        matches = [match for match in matches if not _is_repeat(match, recorded, played)]
    return matches


def same_arguments(recorded: Mapping[str, object], played: Mapping[str, object], tolerance: Tolerance) -> Sameness:
    """Return whether arguments are the same as far as code can tell. None counts as an absent argument."""
    wanted = {name: value for name, value in recorded.items() if value is not None}
    given = {name: value for name, value in played.items() if value is not None}
    if wanted.keys() != given.keys():
        return "different"
    return _worst([_same_value(wanted[name], given[name], tolerance) for name in wanted])


def _alike_tools(recorded: Sequence[Placed], played: Sequence[Placed], tolerance: Tolerance) -> set[str]:
    """Return the tools with calls that assign the same values to alike objects, if the tolerance permits that."""
    if tolerance.instances == "exact":
        return set()
    tools = {one.call.tool for one in recorded}
    return {tool for tool in tools if same_assignments(_arguments(recorded, tool), _arguments(played, tool))}


def _arguments(calls: Sequence[Placed], tool: str) -> Sequence[Mapping[str, object]]:
    return [one.call.arguments for one in calls if one.call.tool == tool]


def _same_call(recorded: CallFacts, played: CallFacts, tolerance: Tolerance, alike: set[str]) -> Sameness | None:
    """Return whether two calls are the same; None for calls of two tools."""
    if recorded.tool != played.tool:
        return None
    if recorded.status != played.status:
        return "different"
    if recorded.tool in alike:
        return "same"
    return same_arguments(recorded.arguments, played.arguments, tolerance)


def _partners(found: Sequence[Sequence[Sameness | None]]) -> Mapping[int, int]:
    """Return the index of the played call for each recorded one: equal calls first, then unclear ones, then others."""
    partners: dict[int, int] = {}
    levels: Sequence[Sameness] = ("same", "unclear", "different")
    for level in levels:
        for at, row in enumerate(found):
            taken = set(partners.values())
            free = [other for other, sameness in enumerate(row) if sameness == level and other not in taken]
            if at not in partners and free:
                partners[at] = free[0]
    return partners


def _match(recorded: Placed, played: Placed, sameness: Sameness | None) -> Match:
    if sameness != "different":
        return Match(recorded, played, sameness or "same")
    reason = "The arguments differ."
    if recorded.call.status != played.call.status:
        reason = f"The call ended with {played.call.status} and not with {recorded.call.status}."
    return Match(recorded, played, "different", reason)


def _in_order(matches: Sequence[Match], tolerance: Tolerance) -> list[Match]:
    """Return the matches, each that is out of order marked as different."""
    ordered: list[Match] = []
    for match in matches:
        late = [earlier for earlier in ordered if _swapped(earlier, match, tolerance)]
        if late and late[0].recorded is not None:
            reason = f"The call happened before {late[0].recorded.call.tool}."
            ordered.append(Match(match.recorded, match.played, "different", reason))
        else:
            ordered.append(match)
    return ordered


def _swapped(earlier: Match, later: Match, tolerance: Tolerance) -> bool:
    """Return whether two calls of different turns happened in the other order although their order counts."""
    if earlier.recorded is None or earlier.played is None or later.recorded is None or later.played is None:
        return False
    if earlier.recorded.turn == later.recorded.turn or earlier.played.turn <= later.played.turn:
        return False
    reads = earlier.recorded.call.effect == "read" and later.recorded.call.effect == "read"
    return tolerance.order == "exact" or not reads


def _is_repeat(match: Match, recorded: Sequence[Placed], played: Sequence[Placed]) -> bool:
    """Return whether a match is a read that only one run made, and made more often than the other one."""
    only = match.recorded or match.played
    if only is None or (match.recorded is not None and match.played is not None) or only.call.effect != "read":
        return False
    return all(any(_is_equal(only.call, one.call) for one in calls) for calls in (recorded, played))


def _is_equal(one: CallFacts, two: CallFacts) -> bool:
    return one.tool == two.tool and one.arguments == two.arguments


def _same_value(wanted: object, given: object, tolerance: Tolerance) -> Sameness:
    if encode_text(wanted) == encode_text(given):
        return "same"
    if isinstance(wanted, str) and isinstance(given, str):
        return _same_words(wanted, given, tolerance)
    if _are_numbers(wanted, given) and (wanted == given or tolerance.numbers == "free"):
        return "same"
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        return same_arguments(cast(Mapping[str, object], wanted), cast(Mapping[str, object], given), tolerance)
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return _same_items(cast(Sequence[object], wanted), cast(Sequence[object], given), tolerance)
    return "different"


def _same_items(wanted: Sequence[object], given: Sequence[object], tolerance: Tolerance) -> Sameness:
    if len(wanted) != len(given):
        return "different"
    pairs = zip(wanted, given, strict=True)
    return _worst([_same_value(one, two, tolerance) for one, two in pairs])


def _same_words(wanted: str, given: str, tolerance: Tolerance) -> Sameness:
    if wanted.strip() == given.strip():
        return "same"
    free_text = min(len(wanted.split()), len(given.split())) >= FREE_TEXT_WORDS
    quantities = {measured(wanted[:100]).rest.strip(), measured(given[:100]).rest.strip()} == {PLACE}
    if free_text or quantities:
        return same_text(wanted, given, tolerance)
    return "different"


def _are_numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _worst(found: Sequence[Sameness]) -> Sameness:
    if "different" in found:
        return "different"
    if "unclear" in found:
        return "unclear"
    return "same"
