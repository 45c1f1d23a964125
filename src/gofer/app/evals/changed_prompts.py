"""The review of the prompts, skills and evals that changed since a commit."""

from collections.abc import Sequence
from pathlib import Path

from gofer.app.catalog import model_roles
from gofer.app.evals.repository import changed_paths, text_before
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.settings import Settings
from gofer.evals.judging.judge_role import JUDGE_ROLE, judge_of
from gofer.evals.prompt_review import NO_MODEL, ChangedFile, Review, changed_file, is_reviewed, not_reviewed, review
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError, RunStopped
from gofer.workflows.file_text import read_text

RULES = "AGENTS.md"
"""The file with the rules of the repository."""


async def review_changes(root: Path, reference: str, settings: Settings) -> Review:
    """Return the remarks of the role `judge` about the changes since this branch left `reference`.

    Raises ConfigError for an unknown reference and for workflow files that cannot be loaded.
    """
    if not settings.has_model:
        return NO_MODEL
    served = judge_of(model_roles(load_catalog(root / "agents")))
    if served is None:
        return not_reviewed(f"agents/defaults.yaml has no role `{JUDGE_ROLE}`")
    files = _changed_files(root, reference)
    rules, _ = read_text(root / RULES)
    async with http_client(settings.proxies) as http:
        try:
            model = models_of(settings, http).of(served.endpoint)
        except RunStopped:
            return not_reviewed(f"the endpoint of the role `{JUDGE_ROLE}` is not set up")
        return await review(files, rules or "", served, model)


def _changed_files(root: Path, reference: str) -> Sequence[ChangedFile]:
    files: list[ChangedFile] = []
    for path in filter(is_reviewed, changed_paths(root, reference)):
        file = root / path
        # A link may lead out of the repository.
        if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
            continue
        text, _ = read_text(file)
        if text is None:
            raise ConfigError(f"{path} cannot be read as text; correct it or remove it.")
        files.append(changed_file(path, text_before(root, reference, path), text))
    return files
