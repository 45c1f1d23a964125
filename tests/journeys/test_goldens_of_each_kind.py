"""Goldens of runs of each kind: no word of a person is left in any byte, and each replays identically."""

import base64
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

from gofer.app.evals.current_files import current_files
from gofer.app.evals.golden_replays import GoldenReplays
from gofer.app.replay import open_replayer
from gofer.app.settings import read_settings
from gofer.evals.affected import affected_runs
from gofer.evals.goldens.golden_file import golden_text
from gofer.evals.goldens.golden_of_runs import MadeGolden, Wish, golden_of
from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.playing import events_of, play_recorded
from gofer.evals.goldens.usable_runs import usable_runs
from gofer.evals.plays import Play
from gofer.runtime.run_reader import RunReader
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company
from support.app.runs_of_each_kind import Kind, Played, prompt, reopened

pytestmark = pytest.mark.anyio

KINDS: Sequence[Kind] = ("answered", "refused", "waited", "approved", "delegated", "scripted", "compacted")
ORIGINALS = ("release captain", "release.captain", "support lead", "u0captn0", "u0suppt0", "t0acme00", "acme")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")


async def golden(stores: Stores, run: str, repository: Path, *, thread: bool = False, **wish: object) -> MadeGolden:
    runs = await usable_runs(RunReader(stores, SystemClock(), {}), run, thread=thread)
    async with open_replayer(read_settings({}), repository, live=False) as replayer:
        wanted = Wish(name="one", **wish)  # pyright: ignore[reportArgumentType]
        tools = replayer.services.tools
        return await golden_of(runs, wanted, replayer.replay, tools, salt=b"salt", now=1_700_000_000.0)


def left(made: MadeGolden, words: Sequence[str]) -> list[str]:
    """Return the words that a golden still holds, also within base64."""
    text = (made.recording.decode() + golden_text(made.golden)).lower()
    tokens = [token.rstrip("=") for token in _BASE64.findall(made.recording.decode())]
    inner = [base64.urlsafe_b64decode(token[: len(token) // 4 * 4]) for token in tokens]
    return [word for word in words if word in text or any(word.encode() in one.lower() for one in inner)]


@pytest.mark.parametrize("kind", KINDS)
async def test_golden_of_each_kind_holds_no_person_and_replays_identically(of_each_kind: Played, kind: Kind) -> None:
    run = of_each_kind.runs[kind]
    repository = of_each_kind.folder / "repository"
    async with reopened(of_each_kind) as opened:
        made = await golden(opened.embedded.state.stores, run, repository)
    assert left(made, [*ORIGINALS, run, run[:8]]) == []
    async with open_replayer(read_settings({}), repository, live=False) as replayer:
        read = ReadGolden(Path("one.yaml"), made.golden, made.turns)
        played = await play_recorded(read, replayer.replay, replayer.services.tools)
    assert [replay.outcome for replay in played.replays] == ["identical"]
    assert played.differs == ""
    assert played.play.turns[0].progress.finished is not None


CHANGED: Mapping[Kind, Collection[str]] = {
    "delegated": {"subagent read-file"},
    "scripted": {"script coordinators/count_words.py"},
}
"""The causes of a change of every subagent and of every script."""


def with_prompts_of_the_runs(of_each_kind: Played, folder: Path) -> Path:
    """Return a copy of the repository with the prompts with which the runs began."""
    copied = shutil.copytree(of_each_kind.folder / "repository", folder / "repository")
    for kind in KINDS:
        (copied / "agents" / f"{kind}.md").write_text(prompt(kind))
    return copied


def lengthen(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n{line}\n")


@pytest.mark.parametrize("kind", KINDS)
async def test_golden_of_each_kind_is_affected_by_its_own_texts_only(
    of_each_kind: Played, kind: Kind, tmp_path: Path
) -> None:
    async with reopened(of_each_kind) as opened:
        made = await golden(opened.embedded.state.stores, of_each_kind.runs[kind], of_each_kind.folder / "repository")
    repository = with_prompts_of_the_runs(of_each_kind, tmp_path)
    runs = [turn.recorded() for turn in made.turns]
    assert [run.causes for run in affected_runs(runs, current_files(repository))] == [[]]
    for path in (*repository.glob("subagents/*.md"), *repository.glob("coordinators/*.py")):
        lengthen(path, "# Another line.")
    (found,) = affected_runs(runs, current_files(repository))
    assert {cause.title for cause in found.causes} == CHANGED.get(kind, set())


async def test_changed_script_takes_the_evidence_away_only_by_doing_another_step(
    of_each_kind: Played, tmp_path: Path
) -> None:
    async with reopened(of_each_kind) as opened:
        stores = opened.embedded.state.stores
        made = await golden(stores, of_each_kind.runs["scripted"], of_each_kind.folder / "repository")
    read = ReadGolden(Path("one.yaml"), made.golden, made.turns)
    repository = with_prompts_of_the_runs(of_each_kind, tmp_path)
    script = repository / "coordinators" / "count_words.py"
    lengthen(script, "# Another line.")
    play = await replayed(read, repository)
    assert (play.no_evidence, play.difference, play.is_replay) == ("", None, True)
    again = 'thread = await run.call("slack_read_thread")'
    script.write_text(script.read_text().replace(again, f"{again}\n    {again}"))
    play = await replayed(read, repository)
    changed = "Changed since the recording, in scripted: script coordinators/count_words.py. Turn 1: "
    assert play.no_evidence.startswith(changed)


async def replayed(read: ReadGolden, repository: Path) -> Play:
    """Return the play of a golden without a model, with the files of a repository."""
    async with open_replayer(read_settings({}), repository, live=False) as replayer:
        return await GoldenReplays(replayer, current_files(repository)).play(read)


REFUSED: dict[Kind, str] = {
    "damaged": "is damaged, so it cannot become a golden",
    "private": "There is no run",
    "waiting": "There is no run",
}


@pytest.mark.parametrize("kind", REFUSED)
async def test_run_that_may_be_no_golden_is_refused_with_its_reason(of_each_kind: Played, kind: Kind) -> None:
    async with reopened(of_each_kind) as opened:
        with pytest.raises(ConfigError, match=REFUSED[kind]):
            await golden(opened.embedded.state.stores, of_each_kind.runs[kind], of_each_kind.folder / "repository")


async def test_conversation_becomes_a_golden_with_a_turn_for_each_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        first, message = await _run(made, "@Gofer hello, are you there?", 1)
        second, _ = await _run(made, "@Gofer and what was decided in the end?", 2, message)
        repository = Path(__file__).parents[2]
        stores = made.embedded.state.stores
        whole = await golden(stores, second, repository, thread=True)
        alone = await golden(stores, second, repository)
    assert first != second
    assert [turn.input.partition("> ")[2] for turn in whole.golden.turns] == [
        "hello, are you there?",
        "and what was decided in the end?",
    ]
    assert len({event.conversation for event in events_of(ReadGolden(Path(), whole.golden, whole.turns))}) == 1
    assert len(alone.golden.turns) == 1
    assert [*alone.turns[0].earlier] == [*whole.turns[1].earlier] != []
    assert [*whole.turns[1].earlier] == [whole.turns[0].run]
    assert left(whole, [*ORIGINALS, first, second]) == []


async def _run(made: Company, text: str, runs: int, thread: Message | None = None) -> tuple[str, Message]:
    message = await made.ask(text, "general", thread)
    heads = await made.ended(runs)
    return max(heads, key=lambda head: head.accepted_at).run, message
