"""Triggers in words: cases that begin with what people of a case write."""

import asyncio
from pathlib import Path

import pytest
import yaml

from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.evals.player import Playing, open_player
from gofer.app.settings import read_settings
from gofer.evals.load import load_evals
from gofer.evals.plays import Play
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio

DEFAULTS = """\
models: {default: gpt-5.4-mini}
limits: {tool_calls: 9, llm_calls: 9, tokens: 90000, minutes: 5, usd: 1}
"""
EVAL = """\
workflow: help
cases:
  - name: two-questions
    world: demo
    trigger: {text: Are deploys blocked?, channel: "#deploys", user: New Colleague}
    then: [{text: Since when?}]
    expect: {output: {contains_all: [checkout]}, world: {counts: {"/slack/channels/deploys/messages/*": 2}}}
"""


def repository(root: Path, evals: str = EVAL) -> Path:
    for folder in ("agents", "evals/scripts"):
        (root / folder).mkdir(parents=True)
    (root / "agents" / "defaults.yaml").write_text(DEFAULTS)
    workflow = {"description": "Help.", "owner": "#help", "when": ["slack.mention"], "tools": ["slack_read_thread"]}
    (root / "agents" / "help.yaml").write_text(yaml.safe_dump(workflow))
    (root / "agents" / "help.md").write_text("Help.")
    (root / "evals" / "help.yaml").write_text(evals)
    scripts = [
        {"name": "second", "when": {"says": "Since when"}, "steps": [{"text": "Since last night."}]},
        {"name": "first", "when": {"says": "Are deploys"}, "steps": [{"text": "Yes, for checkout."}]},
    ]
    (root / "evals" / "scripts" / "help.yaml").write_text(yaml.safe_dump(scripts))
    return root


async def play(root: Path) -> Play:
    (loaded,) = load_evals(root / "evals")
    async with open_player(read_settings({}), root, Playing("scripted", record=True)) as player:
        return await player.play(loaded, loaded.eval.cases[0], 1)


async def test_a_conversation_in_words_needs_no_payload(tmp_path: Path) -> None:
    repository(tmp_path)
    assert eval_mistakes(tmp_path / "agents", SetClock(0)) == []
    played = await play(tmp_path)
    answers = [turn.progress.concluded and turn.progress.concluded.text for turn in played.turns]
    assert answers == ["Yes, for checkout.", "Since last night."]
    # The words of the person are no work of the runs.
    assert all("Since when?" not in str(value) for value in dict(played.world).values())
    (first, second) = [turn.progress.event for turn in played.turns]
    assert first is not None
    assert second is not None
    assert second.conversation == first.conversation


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("#deploys", "#sales", "5:21: The world has no channel 'sales' in Slack"),
        ("user: New Colleague", "payload: {}", "`text` makes the whole delivery, so `payload` means nothing."),
        ("[{text: Since when?}]", "[{expect: {}}]", "A turn needs one delivery. Write either `trigger` or `text`."),
        ("text: Are deploys blocked?, ", "", "`channel` belongs to words. Add `text`, or remove `channel`."),
    ],
)
def test_mistakes_in_words_are_found_by_the_check(tmp_path: Path, old: str, new: str, problem: str) -> None:
    repository(tmp_path, EVAL.replace(old, new))
    assert problem in " ".join(map(str, eval_mistakes(tmp_path / "agents", SetClock(0))))


def test_every_play_of_words_is_the_same(tmp_path: Path) -> None:
    repository(tmp_path)
    one, other = asyncio.run(play(tmp_path)), asyncio.run(play(tmp_path))
    assert [turn.entries for turn in one.turns] == [turn.entries for turn in other.turns]
