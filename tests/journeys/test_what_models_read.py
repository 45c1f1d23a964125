"""The requests printed in docs/context.md, compared with those that models get today."""

from pathlib import Path

import pytest

from generators.what_models_read import PAGE, captured, page, written

pytestmark = pytest.mark.anyio
FIXED = 2_200
"""The most tokens of the first request of a mention, without the texts of people."""


async def test_context_document_prints_todays_requests_to_models(tmp_path: Path) -> None:
    requests = await captured(tmp_path)
    assert requests["A mention in Slack"].fixed() <= FIXED
    text = PAGE.read_text()
    assert written(text, page(requests)) == text, (
        "review what changed: PYTHONPATH=tests python -m generators.what_models_read"
    )
