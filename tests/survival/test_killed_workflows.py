"""Every shipped workflow, killed with SIGKILL before or after a sample of its writes to the journal.

With `--everywhere`, as in `make test-long`, right before and right after each.

The simulated systems survive in this process; their final state must equal that after an undisturbed run.
"""

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from gofer.app.settings import child_environment
from support.app.company import ROOT, company
from support.app.shipped_workflows import ACTS
from support.crashes.forked_gofer import gofer, writes
from support.crashes.runs_accepted import accepted
from support.crashes.spread import sides, spread

pytestmark = pytest.mark.anyio
TOGETHER = 3
"""Kills in parallel: each spends most of its time waiting."""
MANY = 24
"""With this many writes or more, `make test` samples fewer of them."""


def without_notices(state: object) -> object:
    """Return a state without the notices about earlier issues.

    Slack confirms nothing about a message that only one person sees: after a kill it may be shown to all instead.
    """
    match state:
        case dict():
            return {name: without_notices(value) for name, value in state.items()}
        case list():
            return [without_notices(one) for one in state if not _is_notice(one)]
        case _:
            return state


def _is_notice(one: object) -> bool:
    return isinstance(one, dict) and str(one.get("text", "")).startswith("Already filed: ")


def plain(state: object) -> str:
    """Return a state without run ids, times and addresses, which differ between undisturbed runs."""
    text = json.dumps(without_notices(state), indent=1, sort_keys=True, ensure_ascii=False)
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://here", text)
    text = re.sub(r"\b[0-9a-f]{24}\b|(?<=run )[0-9a-f]{8}\b", "RUN", text)
    text = re.sub(r"\bref [0-9a-f]{12}\b", "REF", text)
    text = re.sub(r'"block_id": "[^"]*"', '"block_id": "ID"', text)
    text = re.sub(r"/p\d{16}", "/pTS", text)
    moments: dict[str, str] = {}
    edited = re.sub(r'"edited_ts": "[^"]*"', '"edited_ts": true', text)
    # Numbered by first appearance, so that replies keep their parents.
    return re.sub(r"\b\d{10}\.\d{6}\b", lambda found: moments.setdefault(found[0], f"ts {len(moments)}"), edited)


async def world_after(folder: Path, what: str, when: str = "never", n: int = 0) -> tuple[int, str]:
    """Return the exit code of the first Gofer, and the state after a second one has continued."""
    workflow, act = ACTS[what]
    async with company(folder, work=False) as made:
        await act(made)
        happened, environment = await accepted(made, workflow), child_environment(made.embedded.settings)
        assert happened
        before = plain(made.embedded.simulated.state())
        code = await gofer(folder / "mortal", environment, happened, when, n)
        if code:
            assert await gofer(folder / "mortal", environment, happened) == 0
        after = plain(made.embedded.simulated.state())
        assert after != before
        return code, after


def test_every_shipped_workflow_is_covered() -> None:
    shipped = {file.stem for file in (ROOT / "agents").glob("*.yaml")} - {"defaults"}
    assert {workflow for workflow, _ in ACTS.values()} == shipped


@pytest.mark.parametrize("what", ACTS)
async def test_killed_workflow_leaves_the_state_of_an_undisturbed_run(
    everywhere: bool, tmp_path: Path, what: str
) -> None:
    code, undisturbed = await world_after(tmp_path / "never", what)
    assert code == 0
    few = asyncio.Semaphore(TOGETHER)

    async def killed(when: str, n: int) -> None:
        async with few:
            code, world = await world_after(tmp_path / f"{when}{n}", what, when, n)
        # Calls at the same time may share a frame, so this run may have ended before its n-th write.
        assert code == -signal.SIGKILL or writes(tmp_path / f"{when}{n}" / "mortal") < n
        assert world == undisturbed, f"killed {when} write {n}"

    count = writes(tmp_path / "never" / "mortal")
    assert count >= 5
    # Each workflow starts with another write and another side.
    shift = list(ACTS).index(what)
    places = spread(everywhere, range(1, count + 1), 3 if count < MANY else 6, shift % 3)
    await asyncio.gather(*(killed(when, n) for n in places for when in sides(everywhere, (n + shift) // 3)))
