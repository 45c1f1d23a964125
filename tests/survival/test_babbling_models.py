"""Runs of the shipped workflows with a model that babbles: each ends with a listed reason, and acts once.

A failing seed is played again with `python -m pytest tests/survival/test_babbling_models.py --seed N`.
"""

import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from typing import Any

import pytest

from gofer.app.evals.answer_book import AnswerBook
from gofer.app.evals.player import Player, Playing, open_player
from gofer.app.settings import read_settings
from gofer.evals.load import load_evals
from gofer.evals.plays import Play
from gofer.journal.entries import RunFinished
from gofer.values.visible import Visible
from support.app.company import ROOT
from support.evals.babbling_plays import BabblingPlayer, broken_promises
from support.models.babbling import KINDS, Babble

pytestmark = pytest.mark.anyio

BOOK = AnswerBook(ROOT / "evals")
CASES = [
    (loaded, case)
    for loaded in load_evals(ROOT / "evals")
    for case in loaded.eval.cases
    if BOOK.plays(loaded.name, case.name) and case.decision is None
]
"""The cases that ask a model, and whose runs go on to their end."""
RUNS = 200
RUNS_AT_NIGHT = 1_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the log lines of hundreds of failures of models."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@asynccontextmanager
async def babbling_player() -> AsyncIterator[BabblingPlayer]:
    async with open_player(read_settings({}), ROOT, Playing()) as made:
        shared = {one.name: getattr(made, one.name) for one in fields(Player)}
        yield BabblingPlayer(**shared, babble=Babble(random.Random(0), {}))


async def test_runs_of_a_babbling_model_end_with_a_listed_reason_and_act_once(
    request: pytest.FixtureRequest, everywhere: bool
) -> None:
    """200 runs in `make test`, 1,000 in `make test-long`."""
    only = request.config.getoption("--seed")
    most = RUNS_AT_NIGHT if everywhere else RUNS
    said, statuses, runs, seed = Counter[str](), Counter[str](), 0, 0
    async with babbling_player() as player:
        while runs < most:
            seed = seed if only is None else only
            play, babble = await player.babble_once(*CASES[seed % len(CASES)], seed)
            assert broken_promises(play, babble) == [], f"play it again with --seed {seed}"
            said += Counter(babble.said)
            statuses += Counter(turn.progress.finished.status for turn in play.turns if turn.progress.finished)
            runs += len(play.turns) if only is None else most
            seed += 1
    # Runs that nothing disturbs would break no promise.
    assert only is not None or said.keys() == {kind.__name__ for kind, _ in KINDS}
    assert only is not None or min(statuses[status] for status in ("done", "failed", "limited", "needs_attention")) > 3


def test_babbling_model_plays_each_shipped_workflow_that_asks_one() -> None:
    asking = {path.stem for path in (ROOT / "agents").glob("*.yaml") if "coordinator: script" not in path.read_text()}
    assert {loaded.eval.workflow for loaded, _ in CASES} == {*asking - {"defaults"}, "assign-reviewers"}


async def test_each_broken_promise_is_found() -> None:
    [chosen] = [(one, case) for one, case in CASES if case.name == "one-ticket"]
    async with babbling_player() as player:
        plays = [await player.babble_once(*chosen, seed) for seed in range(20)]
    play, babble = next((play, babble) for play, babble in plays if "PAY-18" in play.after["jira"])
    assert broken_promises(play, replace(babble, refused=["no"])) == ["a vendor refuses: no"]
    for broken, found in planted(play):
        promises = broken_promises(broken, babble)
        assert [promise[: len(found)] for promise in promises] == [found]


def planted(play: Play) -> Iterator[tuple[Play, str]]:
    """Yield the play with one broken promise after the other, and how the message about it begins."""
    [turn] = play.turns
    yield finished(play, None), f"run {turn.run} did not end"
    wrong = RunFinished("failed", "Gofer itself failed (KeyError at loop.py:1)")
    yield finished(play, wrong), "an unlisted reason: failed, Gofer itself failed"
    for text in (
        'See {"name": "fly", "arguments": {}}',
        "[TOOL_CALLS]jira_search",
        '{"name": "jira_search", "args": {}}',
    ):
        seen = [*turn.seen, Visible("message", "general", text)]
        yield replace(play, turns=[replace(turn, seen=seen)]), "people read a call: "
    yield in_world(play, "notion", {"page": {"title": "Hm.</think>"}}), "people read thoughts: "
    jira: Any = play.after["jira"]
    twin = {name: value for name, value in jira["PAY-18"].items() if name != "remote_links"}
    yield in_world(play, "jira", {**jira, "PAY-19": twin}), "2 of jira issue in the world, 1 in the journals"
    slack: Any = play.after["slack"]
    posted = next(one for one in slack["channels"]["general"]["messages"] if "metadata" in one)
    slack["channels"]["deploys"]["messages"][0]["metadata"] = posted["metadata"]
    yield play, "the effect "


def finished(play: Play, finished: RunFinished | None) -> Play:
    turns = [replace(turn, progress=replace(turn.progress, finished=finished)) for turn in play.turns]
    return replace(play, turns=turns)


def in_world(play: Play, system: str, state: Mapping[str, object]) -> Play:
    return replace(play, after={**play.after, system: state})
