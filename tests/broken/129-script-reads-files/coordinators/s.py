import shutil
from pathlib import Path, PurePosixPath

from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    with open("notes") as file:
        shutil.copy("a", "b")
        return Path("notes").read_text() + file.read() + PurePosixPath("a/b").name
