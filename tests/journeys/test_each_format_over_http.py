"""Evals and goldens with their recorded answers over HTTP: each format gives the same outcome in the world.

The vendor is a loopback server that refuses what the real ones refuse, and reads each request with the types of the
SDKs. Answers are found by the neutral request.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields

import pytest

from gofer.app.evals.player import Answers, Player, Playing, open_player
from gofer.app.settings import read_settings
from gofer.evals.eval_file import Case
from gofer.evals.goldens.golden_cases import golden_evals
from gofer.evals.grading.grading import graded_case
from gofer.evals.load import LoadedEval, load_evals
from gofer.evals.plays import Play, PlayedTurn
from gofer.journal.entries import LlmResponse, ToolCall, ToolResult, ToolUnknown
from gofer.values.messages import APIS, Api
from support.app.company import ROOT
from support.evals.wired_plays import WiredPlayer
from support.models.refusing_vendor import Vendor, refusing_vendor

pytestmark = pytest.mark.anyio

EVALS = load_evals(ROOT / "evals")
GOLDENS = [one for one in golden_evals(ROOT / "evals") if one.path.stem in ("rfc-review", "ticket-from-a-reaction")]


@asynccontextmanager
async def players(answers: Answers) -> AsyncIterator[tuple[Vendor, dict[Api, WiredPlayer]]]:
    """Yield the vendor, and a player for each format."""
    async with open_player(read_settings({}), ROOT, Playing(answers)) as made, refusing_vendor() as (vendor, url):
        shared = {one.name: getattr(made, one.name) for one in fields(Player)}
        yield vendor, {api: WiredPlayer(**shared, vendor=vendor, base_url=url, api=api) for api in APIS}


async def outcome(player: WiredPlayer, vendor: Vendor, loaded: LoadedEval, case: Case) -> object:
    """Return what a play in one format did, after a check of its evidence and of its expectations."""
    asked = len(vendor.requests)
    play = await player.play(loaded, case, 1)
    assert (vendor.refused, play.no_evidence, play.infrastructure, play.mistake) == ([], "", "", "")
    assert [grade.happened for grade in graded_case(case, play) if grade.blocks and not grade.passed] == []
    answers = [entry.api for entry in entries(play) if isinstance(entry, LlmResponse)]
    given = sum(turn.given_answers for turn in play.turns)
    assert answers[given:] == [player.api] * (len(answers) - given)
    assert len(vendor.requests) - asked >= len(answers) - given
    return play.world, [steps(turn) for turn in play.turns], [turn.seen for turn in play.turns]


def entries(play: Play) -> Sequence[object]:
    return [one.entry for turn in play.turns for journal in turn.journals.values() for one in journal]


def steps(turn: PlayedTurn) -> Sequence[object]:
    """Return the calls of a run with their outcomes, and its end."""
    made = [one.entry for one in turn.entries if isinstance(one.entry, ToolCall | ToolResult | ToolUnknown)]
    return [*made, turn.progress.finished]


def asks(vendor: Vendor, kind: str) -> bool:
    """Return whether any request sent thoughts of this type back."""
    return any(f'"type": "{kind}"' in json.dumps(request) for request in vendor.requests)


@pytest.mark.parametrize("loaded", EVALS, ids=[one.name for one in EVALS])
async def test_recorded_answers_have_the_same_outcome_in_each_format(loaded: LoadedEval) -> None:
    async with players("recorded") as (vendor, each):
        for case in loaded.eval.cases:
            first, *others = [await outcome(player, vendor, loaded, case) for player in each.values()]
            assert others == [first, first], case.name


@pytest.mark.parametrize("loaded", EVALS, ids=[one.name for one in EVALS])
async def test_answers_with_thoughts_have_the_same_outcome_in_each_format(loaded: LoadedEval) -> None:
    async with players("scripted") as (vendor, each):
        for case in loaded.eval.cases:
            first, *others = [await outcome(player, vendor, loaded, case) for player in each.values()]
            assert others == [first, first], case.name
        continued = any("tool_call_id" in json.dumps(request) for request in vendor.requests)
        assert asks(vendor, "reasoning") is asks(vendor, "thinking") is continued


@pytest.mark.parametrize("loaded", GOLDENS, ids=[one.path.stem for one in GOLDENS])
async def test_golden_has_the_same_outcome_in_each_format(loaded: LoadedEval) -> None:
    [case] = loaded.eval.cases
    async with players("recorded") as (vendor, each):
        first, *others = [await outcome(player, vendor, loaded, case) for player in each.values()]
        assert others == [first, first]
        assert asks(vendor, "reasoning")
        assert asks(vendor, "thinking")


def test_two_goldens_and_all_evals_are_played() -> None:
    assert len(GOLDENS) == 2
    shipped = {path.stem for path in (ROOT / "agents").glob("*.yaml")} - {"defaults"}
    assert {one.eval.workflow for one in EVALS} == shipped
