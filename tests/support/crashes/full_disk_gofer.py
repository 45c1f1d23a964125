"""A Gofer with a limit on its files: `full_disk_gofer FOLDER KILOBYTES...` asks under each limit, then lifts it.

Prints a list of `{status, answers, answers while full}` as JSON. The limit is RLIMIT_FSIZE, so it holds for the log of
SQLite and for bodies alike.
"""

import asyncio
import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from test_disk_full import Desk, Disk, desk

from support.app.company import company


async def main(folder: Path, limits: Sequence[int]) -> None:
    told: list[dict[str, object]] = []
    async with company(folder / "simulators", work=False) as made:
        for kilobytes in limits:
            (folder / str(kilobytes)).mkdir()
            async with desk(made, Disk(folder / str(kilobytes) / "gofer.db")) as there:
                told.append(await asked(there, kilobytes))
    print(json.dumps(told))  # noqa: T201


async def asked(there: Desk, kilobytes: int) -> dict[str, object]:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, most))
    await there.deliver()
    await there.answer_due()
    while_full = len(there.answers())
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    if not there.accepted:
        await there.deliver()
    await there.seconds_until_it_ended()
    (head,) = await there.worker.services.store.heads(9, private=True)
    return {"status": head.status, "answers": len(there.answers()), "answers while full": while_full}


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]]))
