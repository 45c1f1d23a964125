"""A script with branches that are under way at once, for the simulation."""

from gofer.workflows.schema import Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.models.served import served

CODE = """
from gofer.coordinator import Run, ToolFailed


async def attempt(run, tool, text):
    try:
        await run.call(tool, text=text)
    except ToolFailed:
        pass


async def pair(run, word):
    await attempt(run, "search", word)
    await attempt(run, "ticket", "same")
    await attempt(run, "page", word)


async def ask(run):
    try:
        return await run.subagent("s", f"{run.now():%H}?")
    except ToolFailed:
        return ""


async def coordinate(run):
    lots = run.random()
    words = [str(lots.randrange(10**9)) for _ in range(4)]
    await attempt(run, "ticket", words[0])
    await run.gather(pair(run, words[1]), ask(run), pair(run, words[2]), attempt(run, "mail", words[3]))
    await attempt(run, "mail", words[1] + await ask(run))
    return "Done."
"""
SCRIPT = Script("coordinators/s.py", {"s": CODE})
ASKED = LoadedSubagent(Subagent(description="d"), "Be brief.", served("m", "n"))
