"""Asks up to two people to review a pull request: those who know its files, and whom one model call prefers."""

import json
from collections import Counter

from gofer.coordinator import Run

FILES = 8
"""Files whose history is looked at, those the pull request changes first."""
CANDIDATES = 6
REVIEWERS = 2


async def coordinate(run: Run) -> str | None:
    """Requests reviews, unless somebody was asked already."""
    where = {"repository": run.event.place["repository"], "number": int(run.event.place["number"])}
    pull = await run.call("github_get_pull_request", **where)
    if pull["draft"] or pull["reviewers"] or pull["state"] != "open":
        return None
    candidates = await _who_knows(run, where["repository"], pull["files"][:FILES], pull["author"])
    chosen = await _choose(run, pull["title"], pull["files"], candidates)
    if chosen:
        await run.call("github_request_reviewers", reviewers=chosen, **where)
    return f"Asked {' and '.join(chosen)}." if chosen else "Nobody but the author has worked on these files."


async def _who_knows(run: Run, repository: object, files: list[str], author: str) -> list[tuple[str, int]]:
    """People with an account who committed to the files, most commits first; never the author, never a bot."""
    asked = [run.call("github_list_commits", repository=repository, path=path) for path in files]
    counts: Counter[str] = Counter()
    for found in await run.gather(*asked):
        counts.update(found["authors"])
    people = {name: count for name, count in counts.items() if name != author and "[" not in name and " " not in name}
    return sorted(people.items(), key=lambda person: (-person[1], person[0]))[:CANDIDATES]


async def _choose(run: Run, title: str, files: list[str], candidates: list[tuple[str, int]]) -> list[str]:
    """Up to two of the candidates; nobody is asked about a choice that is none."""
    names = [name for name, _ in candidates]
    if len(names) <= REVIEWERS:
        return names
    question = {"title": title, "files": files, "candidates": [{"login": n, "commits": c} for n, c in candidates]}
    answer = json.loads(await run.subagent("choose-reviewers", json.dumps(question, indent=1)))
    # The choice is the model's, who can be chosen is not.
    return [name for name in answer["reviewers"] if name in names][:REVIEWERS] or names[:REVIEWERS]
