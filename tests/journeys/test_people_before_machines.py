"""A colleague asks while 1,500 webhooks wait: the first sign comes before the backlog, and machines go on."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gofer.app.embedded.integrity import DATABASE
from gofer.app.embedded.state import read_state
from gofer.journal.entries import ToolResult
from gofer.journal.log import read_journal
from gofer.values.outside import SystemClock
from support.app.serve_process import SECRET, OperatorFolder, Running, free_port, operator_folder
from support.http import loopback
from support.sources.webhook_calls import KEY, WHSEC, as_json, signed

pytestmark = pytest.mark.anyio
HOOKS = 1_500
IMPORT = """\
description: The shop calls the webhook orders; the run says what is unusual about an order.
owner: "#dev-experience"
when:
  - webhook: {name: orders, key: /id}
reply: none
limits: {tool_calls: 2, llm_calls: 3, usd: 0.05}
"""


async def started(made: OperatorFolder, **settings: str) -> tuple[Running, str]:
    """Start `gofer serve` with a webhook; return it and the address of the webhook."""
    (made.folder / "agents" / "import-order.yaml").write_text(IMPORT)
    (made.folder / "agents" / "import-order.md").write_text("# An order\n\nSay what is unusual about it.\n")
    port = free_port()
    made.slack.install(json.loads(made.manifest("--url", "https://gofer.example.com", "--json")))
    made.write_env(
        SLACK_BOT_TOKEN="xoxb-simulated", SLACK_SIGNING_SECRET=SECRET, WEBHOOK_SECRET_ORDERS=WHSEC, **settings
    )
    running = await made.start("serve", "--port", str(port))
    await running.says("/runs")
    made.slack.subscribe(f"http://127.0.0.1:{port}/slack/events")
    return running, f"http://127.0.0.1:{port}/hooks/orders"


async def call(url: str, numbers: Sequence[int]) -> None:
    """Call the webhook once for each number, and again while there is no room for a call."""
    async with loopback.client() as http:
        for number in numbers:
            body = as_json(id=f"order-{number}")
            headers = dict(signed(body, f"msg_{number}", SystemClock().now(), KEY))
            while (await http.post(url, content=body, headers=headers)).status_code != 200:
                await asyncio.sleep(0.05)


async def call_all(url: str, count: int) -> None:
    await asyncio.gather(*(call(url, range(first, count, 20)) for first in range(20)))


def frames(folder: Path) -> Sequence[tuple[str, int]]:
    """Return run and number of each stored frame in the order of the commits."""
    with sqlite3.connect(folder / ".gofer" / DATABASE) as connection:
        return connection.execute("SELECT run, n FROM frames ORDER BY rowid").fetchall()


async def probe(url: str) -> Mapping[str, object]:
    """Return the answer of `/readyz` of the process with this webhook."""
    async with loopback.client() as http:
        response = await http.get(url.replace("/hooks/orders", "/readyz"))
    assert response.status_code == 200
    return response.json()


async def first_sign(folder: Path) -> tuple[str, int]:
    """Return the run of the mention and the number of the frame with the outcome of its first post."""
    with read_state(folder / ".gofer", SystemClock()) as state:
        (head,) = [head for head in await state.store.heads(5_000) if head.workflow == "answer-here"]
        journal = await read_journal(head.run, state.store, state.blobs)
    outcomes = [one for one in journal if isinstance(one.entry, ToolResult) and one.entry.call == "status/1"]
    return head.run, int(str(outcomes[0].address).partition(".")[0])


@pytest.mark.rehearsal(
    "tests/unit/stores/test_queue.py::test_message_of_a_person_waits_for_one_machine_at_most_in_so_many_turns",
    "tests/contracts/test_queue.py::test_people_come_first_and_each_workflow_of_machines_has_turns",
)
async def test_mention_behind_1500_webhooks_gets_its_first_sign_before_the_backlog(tmp_path: Path) -> None:
    async with operator_folder(tmp_path) as made:
        running, url = await started(made)
        await call_all(url, HOOKS)
        waiting = HOOKS - len({run for run, n in frames(tmp_path) if n == 2})
        ready = await probe(url)
        await made.answer(await made.ask("@Gofer hello"))
        await running.stop()
    assert re.search("[0-9,]+ runs wait for a free worker, the oldest since", str(ready["backlog"]))
    order = frames(tmp_path)
    run, sign = await first_sign(tmp_path)
    between = order[order.index((run, 1)) : order.index((run, sign))]
    begun = [one for one, n in between if n == 2 and one != run]
    assert waiting > 500, "the machine was too fast for a backlog"
    # Those that had a slot may end meanwhile, and each is followed by one; the others wait behind the mention.
    assert len(begun) < waiting / 4
    after = order[order.index((run, 1)) :]
    assert any(n == 2 and one != run for one, n in after), "machines make no progress beside a person"
