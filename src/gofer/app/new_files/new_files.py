"""The files of a new workflow, tool, skill or eval. No file is overwritten."""

import re
import shutil
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from gofer.app.catalog import mistakes
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.new_files.triggers import Example, example_of, trigger
from gofer.app.whole_files import write_all
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.values.outside import SystemClock
from gofer.workflows.load import Loaded

Kind = Literal["workflow", "tool", "skill", "eval"]
KINDS: Sequence[Kind] = get_args(Kind)
_TEMPLATES = Path(__file__).with_name("templates")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_NAME = 60
_MOST_CALLS = 6
"""The most model calls of a good run in a new eval."""
CHECK = "gofer check"
_GOLDEN = "gofer golden RUN, with the id of a run of it, for a test"
_TESTS = ".ci/tests"
"""The program of a company's repository that installs pytest and runs its tests."""
FOLDERS = ("agents", "subagents", "skills", "coordinators", "tools", "evals")
"""The folders that `gofer check` reads."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person wants to begin."""

    kind: Kind
    name: str
    trigger: str = ""
    """The kind of event that starts a workflow."""
    script: bool = False
    """Whether the coordinator of a workflow is a script."""
    workflow: str = ""
    """The workflow that an eval is about."""
    owner: str = ""
    """The owner of a workflow; empty for the one that most workflows have."""


@dataclass(frozen=True, slots=True)
class Made:
    """The new files, and the commands to go on with."""

    files: Sequence[str]
    next: Sequence[str]


def write_new(wanted: Wanted, root: Path) -> Made:
    """Write the files below a folder. Raises ConfigError, before it writes, for a wrong name or a file that exists.

    It is also raised if `gofer check` would find a mistake in them, such as a trigger that another workflow has.
    """
    if wanted.kind == "tool":
        # Tools are called by names of Python.
        wanted = replace(wanted, name=wanted.name.replace("_", "-"))
    if not _NAME.fullmatch(wanted.name) or len(wanted.name) > _LONGEST_NAME:
        raise ConfigError(
            f"{wanted.name!r} cannot be a name. Write at most {_LONGEST_NAME} lower-case letters, digits and single "
            "hyphens, beginning with a letter, such as sum-up."
        )
    begun = _content(wanted, root)
    existing = [path for path in {**begun.files, **begun.evals} if (root / path).exists()]
    if existing:
        raise ConfigError(f"{existing[0]} exists already, and `gofer new` overwrites nothing. Choose another name.")
    files = {**begun.files, **begun.evals}
    commands = [*begun.next, *begun.next_with_evals]
    with _copied(root) as copy:
        before = _mistakes(copy)
        if found := _new_mistakes(copy, before, begun.files):
            raise ConfigError(f"Nothing was written, because `gofer check` would refuse it: {found[0]}")
        if begun.evals and _new_mistakes(copy, before, files):
            files = begun.files
            commands = [*begun.next, *begun.next_without_evals]
    write_all({root / path: content.encode() for path, content in files.items()})
    return Made(list(files), commands)


@contextmanager
def _copied(root: Path) -> Generator[Path]:
    """Yield a copy of the folders that `gofer check` reads."""
    with TemporaryDirectory() as name:
        for folder in FOLDERS:
            if (root / folder).is_dir():
                shutil.copytree(root / folder, Path(name, folder))
        try:
            yield Path(name)
        except PermissionError as error:
            # The copy has the rights of the repository, whose files people know.
            path = str(error.filename).replace(f"{name}/", "")
            raise PermissionError(error.errno, error.strerror, path) from error


def _new_mistakes(copy: Path, before: Sequence[str], files: Mapping[str, str]) -> Sequence[str]:
    """Write these files into a copy, and return the mistakes that it has now and did not have before."""
    for path, content in files.items():
        _write(copy / path, content)
    return [one for one in _mistakes(copy) if one not in before]


def _mistakes(folder: Path) -> Sequence[str]:
    """Return what `gofer check` finds in a folder, without hints, in one line each."""
    agents = folder / "agents"
    found = [*mistakes(agents), *eval_mistakes(agents, SystemClock())]
    return [str(one).replace(f"{folder}/", "") for one in found if not one.is_hint]


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Begun:
    """The files to begin with, and commands to go on with."""

    files: Mapping[str, str]
    next: Sequence[str]
    evals: Mapping[str, str] = field(default_factory=dict[str, str])
    """The evals, which are left out if their example starts another workflow."""
    next_with_evals: Sequence[str] = ()
    next_without_evals: Sequence[str] = ()


def _content(wanted: Wanted, root: Path) -> _Begun:
    match wanted.kind:
        case "workflow":
            return _workflow(wanted, root)
        case "tool":
            return _tool(wanted, root)
        case "skill":
            return _Begun({f"skills/{wanted.name}/SKILL.md": _filled("skill.md", wanted.name)}, [CHECK])
        case "eval":
            return _eval(wanted, root)


def _workflow(wanted: Wanted, root: Path) -> _Begun:
    name = wanted.name
    values = {
        "owner": wanted.owner or _usual_owner(load_catalog(root / "agents").workflows.values()),
        "trigger": trigger(wanted.trigger, name),
        "script": name.replace("-", "_"),
    }
    if wanted.script:
        files = {
            f"agents/{name}.yaml": _filled("scripted_workflow.yaml", name, **values),
            f"coordinators/{values['script']}.py": _filled("script.py.txt", name, **values),
        }
    else:
        files = {
            f"agents/{name}.yaml": _filled("workflow.yaml", name, **values),
            f"agents/{name}.md": _filled("prompt.md", name, **values),
        }
    example = example_of(wanted.trigger)
    if example is None:
        return _Begun(files, [CHECK, _GOLDEN])
    evals = _cases(f"evals/{name}.yaml", name, example, root, most=0 if wanted.script else _MOST_CALLS)
    play = f"gofer eval {name}"
    if not wanted.script:
        play = f"{play} --live"
    return _Begun(files, [CHECK], evals, [play], [_GOLDEN])


def _usual_owner(workflows: Iterable[Loaded]) -> str:
    owners = [loaded.workflow.owner for loaded in workflows]
    return max(owners, key=owners.count, default="#my-team")


def _cases(file: str, workflow: str, example: Example, root: Path, *, most: int) -> Mapping[str, str]:
    """Return an eval of a workflow, with the files that it names and the folder does not have yet."""
    values = {"example": example.trigger, "world": example.world, "most": str(most)}
    absent = {f"evals/{path}": content.decode() for path, content in example.files.items()}
    needed = {path: content for path, content in absent.items() if not (root / path).exists()}
    return {file: _filled("eval.yaml", workflow, **values), **needed}


def _tool(wanted: Wanted, root: Path) -> _Begun:
    module = wanted.name.replace("-", "_")
    form = "".join(word.capitalize() for word in wanted.name.split("-"))
    values = {"module": module, "form": form}
    files = {
        f"tools/{module}.py": _filled("tool.py.txt", wanted.name, **values),
        f"tests/test_{module}.py": _filled("test_tool.py.txt", wanted.name, **values),
    }
    if (root / _TESTS).exists():
        return _Begun(files, [CHECK, f"bash {_TESTS}"])
    return _Begun(files, [CHECK, f"python -m pytest tests/test_{module}.py"])


def _eval(wanted: Wanted, root: Path) -> _Begun:
    workflows = load_catalog(root / "agents").workflows
    about = workflows.get(wanted.workflow)
    if about is None:
        known = ", ".join(workflows) or "none"
        raise ConfigError(f"--workflow names the workflow of the eval. This folder has: {known}.")
    kind = about.workflow.when[0].kind
    example = example_of(kind)
    if example is None:
        raise ConfigError(
            f"Gofer ships no example of {kind}. Make a case of a recorded run of {wanted.workflow}: gofer golden RUN."
        )
    files = _cases(f"evals/{wanted.name}.yaml", wanted.workflow, example, root, most=_MOST_CALLS)
    return _Begun(files, [CHECK, f"gofer eval {wanted.name} --live"])


def _filled(template: str, name: str, **values: str) -> str:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    return Template(text).substitute(name=name, title=name.replace("-", " ").capitalize(), **values)
