"""The shipped workflows with one model at a server of one's own."""

import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from support.app.company import ROOT, Company, company

_DEFAULTS = """
endpoints: {{ours: {{base_url: "{url}"}}}}
models: {{default: {{name: own, endpoint: ours, {keys}}}}}
preamble: preamble.md
limits: {{tool_calls: 20, llm_calls: 12, tokens: 200000, minutes: {minutes}, usd: 0.50}}
"""


@asynccontextmanager
async def at_own_model(
    folder: Path, url: str, keys: str, *, world: Mapping[str, Any] | None = None, minutes: int = 5
) -> AsyncGenerator[Company]:
    """Run Gofer with a model of these keys at a base URL; the review of runs is off, because no role names a model."""
    root = folder / "repository"
    for name in ("agents", "coordinators", "skills", "subagents"):
        shutil.copytree(ROOT / name, root / name)
    (root / "agents" / "defaults.yaml").write_text(_DEFAULTS.format(url=url, keys=keys, minutes=minutes))
    async with company(folder, root=root, world=world, MODEL_BASE_URLS=url) as made:
        yield made
