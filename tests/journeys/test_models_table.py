"""The table of docs/models.md: eight models at endpoints of their own, and the request that each was sent."""

from pathlib import Path

import pytest

from generators import models_bill, models_table
from generators.models_table import MODELS, PAGE

pytestmark = pytest.mark.anyio


async def test_models_document_shows_the_request_that_each_model_gets(tmp_path: Path) -> None:
    found = await models_table.proofs(tmp_path)
    agents = tmp_path / "repository" / "agents"
    assert models_table.page(models_table.rows(found, agents), PAGE.read_text()) == PAGE.read_text()
    for role, model in MODELS.items():
        for proof in found[role].values():
            endpoint = str(model["endpoint"])
            assert (proof.endpoint, proof.credential) == (endpoint, f"Bearer sk-{endpoint}")
            assert proof.request.params["endpoint"] == endpoint
            assert proof.body["model"] == proof.response.model == model["name"]
            assert proof.body.get("top_p") == (0.5 if role == "three" else None)


async def test_models_document_shows_the_bill_of_a_run_with_each_model(tmp_path: Path) -> None:
    found = await models_bill.bills(tmp_path)
    text = PAGE.read_text()
    assert models_table.page(models_bill.rows(found), text, models_bill.BEGIN, models_bill.HEADINGS) == text
    for bill in found.values():
        assert bill.run.cost_usd == pytest.approx(bill.owed or 0.0, abs=1e-9)
        assert len(bill.requests) == bill.run.llm_calls == 3
        assert bill.effort == (bill.model.effort or "none sent")
