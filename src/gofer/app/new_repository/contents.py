"""The shipped files that a new repository needs: the chosen workflows with everything that they use."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gofer.sources.workflow_files import load_catalog
from gofer.values.canonical_json import as_list, as_object
from gofer.values.errors import ConfigError
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.script_module import file_of
from gofer.workflows.yaml_source import read_source

STARTERS = ("answer-here", "file-ticket")
"""The workflows of a new repository that names no others."""
_SHARED = (
    "agents/defaults.yaml",
    "agents/preamble.md",
    "agents/defaults.schema.json",
    "agents/workflow.schema.json",
    "subagents/subagent.schema.json",
    "evals/eval.schema.json",
)
_PIPELINE = (
    ".agents/bin/*",
    ".agents/environments",
    ".agents/read_only.sh",
    ".agents/skills/*/*",
    ".agents/tmp/.gitignore",
    ".ci/accepted.py",
    ".ci/eval*",
    ".ci/suggest",
    ".github/workflows/evals.yml",
    ".github/workflows/suggest.yml",
)
"""What plays evals and suggests edits on GitHub, and the runbooks of coding agents."""
_DEPLOYMENT = ("template.yaml", "deploy/*.sh", "deploy/*.toml", "deploy/*.yaml", "handlers/*.py")
_REFERENCE = re.compile(r"\b(?:payloads|worlds|scripts|answers)/[\w.-]+\.(?:json|ya?ml)\b")


def shipped_files(folder: Path, workflows: Sequence[str]) -> Mapping[str, bytes]:
    """Return the files for these workflows by their path, from the folder that Gofer ships. Raises ConfigError."""
    catalog = load_catalog(folder / "agents")
    unknown = [name for name in workflows if name not in catalog.workflows]
    if unknown:
        known = ", ".join(sorted(catalog.workflows))
        raise ConfigError(f"Gofer ships no workflow {unknown[0]!r}. It ships: {known}.")
    paths = {*_SHARED}
    for name in workflows:
        paths.update(_parts(folder, catalog, catalog.workflows[name]))
        paths.update(_evals(folder, name))
    return {path: (folder / path).read_bytes() for path in sorted(paths)}


def pipeline_files(folder: Path) -> Mapping[str, bytes]:
    """Return the files of pipelines and coding agents by their path, from the folder that Gofer ships."""
    return _found(folder, _PIPELINE)


def aws_files(folder: Path) -> Mapping[str, bytes]:
    """Return the files that deploy to AWS by their path, from the folder that Gofer ships."""
    return _found(folder, _DEPLOYMENT)


def _found(folder: Path, patterns: Sequence[str]) -> Mapping[str, bytes]:
    found = [path for pattern in patterns for path in _relative(folder, folder.glob(pattern))]
    return {path: (folder / path).read_bytes() for path in sorted(found)}


def _parts(folder: Path, catalog: Catalog, loaded: Loaded) -> Iterator[str]:
    """Yield the files of a workflow, of its skills, and of the subagents that either may ask."""
    yield f"agents/{loaded.name}.yaml"
    yield loaded.prompt_file
    if loaded.workflow.coordinator_script:
        yield from map(file_of, catalog.scripts[loaded.workflow.coordinator_script].sources)
    texts = [loaded.system]
    for name in loaded.skills:
        found = list(_relative(folder, (folder / "skills" / name).rglob("*")))
        yield from found
        texts += [(folder / path).read_text(encoding="utf-8") for path in found if path.endswith(".md")]
    for name in {*loaded.subagents, *_named_subagents(folder, texts)}:
        yield from _subagent(folder, name)


def _named_subagents(folder: Path, texts: Sequence[str]) -> Iterator[str]:
    """Yield the subagents that texts name in backticks."""
    for path in (folder / "subagents").glob("*.yaml"):
        if any(f"`{path.stem}`" in text for text in texts):
            yield path.stem


def _subagent(folder: Path, name: str) -> Iterator[str]:
    """Yield the files of a subagent, of its skills and of its subagents."""
    path = folder / "subagents" / f"{name}.yaml"
    yield from _relative(folder, [path, path.with_suffix(".md")])
    written = read_source(path).fields
    skills = as_object(written.get("skills"))
    for skill in [*as_list(skills.get("required")), *as_list(skills.get("allowed"))]:
        yield from _relative(folder, (folder / "skills" / str(skill)).rglob("*"))
    for further in as_list(written.get("subagents")):
        yield from _subagent(folder, str(further))


def _evals(folder: Path, name: str) -> Iterator[str]:
    """Yield the evals of a workflow, with what they name."""
    evals = folder / "evals"
    texts: list[str] = []
    own = [evals / f"{name}.yaml", evals / "answers" / f"{name}.json", evals / "scripts" / f"{name}.yaml"]
    for golden in sorted((evals / "goldens").glob("*.yaml")):
        if read_source(golden).fields.get("workflow") == name:
            own += [golden, golden.with_suffix(".run.json")]
    for path in own:
        if path.is_file():
            yield from _relative(folder, [path])
            texts.append(path.read_text(encoding="utf-8"))
    for found in sorted({one for text in texts for one in _REFERENCE.findall(text)}):
        if (evals / found).is_file():
            yield f"evals/{found}"


def _relative(folder: Path, paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix()
