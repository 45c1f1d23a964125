"""The texts of sources in the help of commands."""

from pathlib import Path

import pytest

from gofer.app.event_input import way
from gofer.check.explain import explain
from gofer.sources.manual import Manual
from gofer.sources.manuals import MANUALS
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.workflow_files import load_catalog

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("manual", MANUALS.values(), ids=MANUALS.keys())
def test_payload_of_examples_starts_a_workflow_and_comes_with_that_workflow(manual: Manual) -> None:
    # `gofer init` writes the payloads of a workflow's evals into the repository of a company, and no other ones.
    assert Path(manual.payload).parent == Path("evals/payloads")
    name, _, value = BY_SOURCE[manual.source].kind_header.partition(": ")
    headers = [(name, value)] if name else []
    delivery = way(load_catalog(ROOT / "agents"), manual.source, headers)
    (explained,) = explain(manual.payload, (ROOT / manual.payload).read_bytes(), delivery)
    (workflow,) = explained.workflows
    assert Path(manual.payload).name.startswith(f"{workflow}-")
