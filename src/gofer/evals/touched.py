"""The cases that a change touches, from the paths of its files.

Files of a workflow touch the cases of this workflow, and files of `evals/` the cases that use them. Documents and tests
touch none. Every other file, such as code of Gofer or settings, touches every case.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from gofer.evals.eval_file import Case, Eval
from gofer.evals.references import GOLDENS
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.load import DEFAULTS, Catalog, Loaded

EVALS = "evals"
"""The folder of evals."""
SMOKE = "smoke"
"""The tag of the cases that every change touches."""
_HARMLESS = frozenset(("docs", "tests"))
"""Folders with files that no run reads. Hidden folders have none either."""
_DOCUMENT = ".md"
"""The ending of documents at the root of the repository. A text may be a list of dependencies."""
_EDITOR_SCHEMA = ".schema.json"
"""The ending of schemas that only editors read."""


@dataclass(frozen=True, slots=True)
class Repository:
    """What decides which cases a file touches."""

    evals: Mapping[str, Eval]
    """The evals by the names of their files, without suffix."""
    catalog: Catalog
    company_tools: Sequence[str] = ()
    """The names of the tools of `tools/`."""

    def touched(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the touched cases as `<eval>/<case>`, each with the first path that touches it, or with `smoke`.

        The paths are relative to the root of the repository, with `/`.
        """
        places = [PurePosixPath(path) for path in paths]
        found: dict[str, str] = {}
        for name, of in self.evals.items():
            workflow_path = self._path_of_workflow(places, of.workflow)
            for case in of.cases:
                if reason := workflow_path or _reason(places, name, of, case):
                    found[f"{name}/{case.name}"] = reason
        return found

    def _path_of_workflow(self, places: Sequence[PurePosixPath], workflow: str) -> str:
        """Return the first path that may change the runs of a workflow; empty if there is none."""
        for place in places:
            if self._changes(place, workflow):
                return str(place)
        return ""

    def _changes(self, place: PurePosixPath, workflow: str) -> bool:
        folder = place.parts[0]
        if folder == EVALS or folder in _HARMLESS or place.name.endswith(_EDITOR_SCHEMA):
            return False
        if len(place.parts) == 1:
            return place.suffix != _DOCUMENT
        if folder.startswith("."):
            return False
        loaded = self.catalog.workflows.get(workflow)
        if loaded is None:
            return True
        match folder:
            case "agents":
                return self._is_of_agent(place, loaded)
            case "skills":
                return not _skills(loaded).isdisjoint(place.parts)
            case "subagents":
                return _is_of_subagents(place, loaded)
            case "coordinators":
                return self._is_of_script(place, loaded)
            case "tools":
                # Modules of `tools/` import each other, so each file may change every tool of the company.
                return not set(self.company_tools).isdisjoint(_tools(loaded))
            case _:
                return True

    def _is_of_agent(self, place: PurePosixPath, loaded: Loaded) -> bool:
        """Return whether a file of `agents/` is of a workflow. A file of no workflow may be of all of them."""
        shared = (DEFAULTS, self.catalog.defaults.preamble)
        if place.name in shared:
            return True
        owners = {name for name, one in self.catalog.workflows.items() if _owns(place, one)}
        return not owners or loaded.name in owners

    def _is_of_script(self, place: PurePosixPath, loaded: Loaded) -> bool:
        """Return whether a module of `coordinators/` is the script of a workflow, or imported by it."""
        script = self.catalog.scripts.get(loaded.workflow.coordinator_script)
        return script is not None and place.stem in script.sources


def _owns(place: PurePosixPath, loaded: Loaded) -> bool:
    """Return whether a file of `agents/` is the YAML file or the prompt of a workflow, or has its name."""
    return place.stem == loaded.name or str(place) == loaded.prompt_file


def _skills(loaded: Loaded) -> set[str]:
    """Return the names of all skills that runs of a workflow or their subagents may read."""
    names = set(loaded.skills)
    for subagent in loaded.subagents.values():
        names |= set(subagent.skills)
    return names


def _tools(loaded: Loaded) -> set[str]:
    """Return the names of all tools that runs of a workflow or their subagents may call."""
    names = set(loaded.workflow.tool_names)
    for one in loaded.subagents.values():
        if isinstance(one.subagent.tools, tuple):
            names |= set(one.subagent.tools)
    return names


def _is_of_subagents(place: PurePosixPath, loaded: Loaded) -> bool:
    """Return whether a file of `subagents/` is of a subagent of the workflow. Prompts may have any name."""
    if place.suffix == ".yaml":
        return place.stem in loaded.subagents
    return bool(loaded.subagents)


def _reason(places: Sequence[PurePosixPath], name: str, of: Eval, case: Case) -> str:
    """Return the first path of `evals/` that a case uses, or `smoke` for a case with this tag; else an empty text."""
    for place in places:
        if place.parts[0] == EVALS and _is_of_case(PurePosixPath(*place.parts[1:]), name, of, case):
            return str(place)
    if SMOKE in (*of.tags, *case.tags):
        return SMOKE
    return ""


def _is_of_case(inside: PurePosixPath, name: str, of: Eval, case: Case) -> bool:
    """Return whether a file is the eval file, a file with its name, the golden, or a file that the case names."""
    stems = {part.partition(".")[0] for part in inside.parts}
    if inside.name.partition(".")[0] == name or (case.golden and case.golden in stems):
        return True
    if name != GOLDENS and name in stems:
        return True
    if case.grade and inside.suffix == ".py":
        # Modules of `evals/` import each other, so each file may change every grader.
        return True
    shared = of.model_dump(mode="json", exclude={"cases"})
    texts = (*_texts(shared), *_texts(case.model_dump(mode="json")))
    return str(inside) in {posixpath.normpath(text) for text in texts}


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    for item in (*as_object(value).values(), *as_list(value)):
        yield from _texts(item)
