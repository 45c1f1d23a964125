"""Imported by the fork server of the tests: one mention is answered there, before any process is forked.

The models of pydantic, the compiled patterns and the libraries that load late are then in the memory of each forked
process, which would otherwise make them anew: 0.3 seconds each time.
"""

import asyncio
import sys
import tempfile
import threading
from pathlib import Path

# The fork server has the folder of its caller in its path, and not the folders that pytest adds.
sys.path.insert(0, str(Path(__file__).parents[2]))

from support.app.company import ask_about_the_decision, company


async def _play(folder: Path) -> None:
    async with company(folder) as made:
        await ask_about_the_decision(made)
        await made.ended()


with tempfile.TemporaryDirectory() as _folder:
    asyncio.run(_play(Path(_folder)))
# A forked process has only the thread that forked it, so no other one may hold a lock now; the one that watches slow
# tools holds none while it sleeps.
assert {one.name for one in threading.enumerate()} <= {"MainThread", "gofer-held-up"}, threading.enumerate()
