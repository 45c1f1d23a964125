"""The real HTTP server over the embedded state, in a separate process.

It prints its address. At the end of its input it prints the CPU seconds used since then and stops.
"""

import asyncio
import sys
import time
from pathlib import Path

from traffic import ROOT, front_of

from gofer.app.embedded.server import serve
from gofer.app.embedded.state import open_state
from gofer.app.front import front
from gofer.app.pages.run_pages import Pages
from gofer.sources.workflow_files import load_catalog
from gofer.values.outside import SystemClock


async def main(folder: Path) -> None:
    with open_state(folder, SystemClock()) as state:
        pages = Pages(state.stores, load_catalog(ROOT / "agents"), SystemClock())
        async with serve(front(front_of(state.store, state.queue), pages)) as url:
            print(url, flush=True)
            began = time.process_time()
            await asyncio.to_thread(sys.stdin.read)
            print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
