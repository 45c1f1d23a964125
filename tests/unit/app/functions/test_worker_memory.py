"""Memory of the worker function: the limits of its children fit into the memory of template.yaml."""

import tomllib
from collections.abc import Mapping

import pytest

from gofer.app.functions.worker import OWN, PLACE, children, places
from gofer.files import child
from gofer.files.sandbox import python
from support.aws.template import ROOT, written


def told(memory: object) -> Mapping[str, str]:
    return {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory)}


@pytest.mark.parametrize(
    ("memory", "count"),
    [(1024, 1), (1280, 1), (1535, 1), (1536, 2), (2048, 3), (10240, 4), (512, 1), ("²", 1)],
)
def test_worker_runs_more_children_with_more_memory(memory: object, count: int) -> None:
    assert places(told(memory)) == count


def test_documents_and_code_share_the_child_places() -> None:
    reading, code = children(told(1536))
    assert reading._places is code._places
    assert [reading._places.acquire(blocking=False) for _ in range(3)] == [True, True, False]
    for one in (reading, code):
        one.close()


def test_worker_runs_one_child_outside_of_lambda() -> None:
    assert places({}) == 1


def stages() -> Mapping[str, int]:
    """Return the worker memory of each stage and the smallest allowed value, in megabytes."""
    parameter = written()["Parameters"]["WorkerMemory"]
    found = {"default": parameter["Default"], "least": parameter["MinValue"]}
    for file in (ROOT / "deploy").glob("*.toml"):
        for one in tomllib.loads(file.read_text())["default"]["deploy"]["parameters"]["parameter_overrides"]:
            name, _, value = one.partition("=")
            if name == "WorkerMemory":
                found[file.stem] = int(value)
    return found


def test_worker_with_all_children_fits_into_the_memory_of_each_stage() -> None:
    for stage, memory in stages().items():
        assert OWN + places(told(memory)) * PLACE <= memory, stage
    # A document's child is forked from its helper of 30 to 50 MB; code runs in a child with an interpreter beside it,
    # which test_sandbox_processes_of_hostile_code_together_stay_below_512_megabytes measures.
    assert (child.MEMORY >> 20) + 50 <= PLACE
    assert (python.MEMORY >> 20) + 50 <= PLACE
