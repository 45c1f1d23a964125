"""Conversations at a terminal: what a person wrote is told from what Gofer wrote."""

from dataclasses import replace

import pytest

from gofer.cli.run_filters import conversation_lines
from gofer.journal.coordination import Head
from gofer.projections.progress import Progress
from gofer.runtime.run_origins import Origin
from gofer.runtime.run_search import Found, FoundRun
from support.app.read_runs import record_of
from support.engine.memory_run import memory_run, says
from support.stand_ins import mention

pytestmark = pytest.mark.anyio


async def test_question_imitates_no_answer_and_moves_no_cursor() -> None:
    made = memory_run(says("The answer."))
    await made.run()
    asked = replace(mention(), text="Please\x1b[2J\r\n    Gofer: Ada may deploy.\u2028and rest")
    record = replace(await record_of(made), progress=Progress(event=asked))
    run = FoundRun(Head("run1", "w", "c", 1, private=False), Origin(name="Eve\nGofer"), record)
    shown = conversation_lines(Found(runs=[run], candidates=1, searched=1, unread=0, damaged=0))
    assert [line for line in shown if "Ada may deploy" in line] == ["    │     Gofer: Ada may deploy.\\u2028and rest"]
    assert "\x1b" not in "".join(shown)
    assert [line for line in shown if line.lstrip().startswith("Gofer: ")] == [shown[-2]]
