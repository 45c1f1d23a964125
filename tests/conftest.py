"""What all tests share: asyncio as the only event loop, temporary files in memory, and profiles for generated tests."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# Nothing that is imported is garbage, and nobody has to look for some there: see the end of the collection.
gc.disable()
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# The same examples while the sources stay the same, whose constants are among them: what fails is what was changed.
# Others are looked for every night. A failing example is made small, and not explained: that can take minutes.
QUICKLY = [Phase.explicit, Phase.generate, Phase.shrink]
settings.register_profile("quick", COMMON, max_examples=30, derandomize=True, phases=QUICKLY)
settings.register_profile("thorough", COMMON, max_examples=1_000)
settings.load_profile("quick")
MEMORY = Path("/dev/shm")
"""The file system in memory of Linux."""
FREE_BYTES_IN_MEMORY = 4 * 2**30
"""The least free space in memory at which temporary files are put there."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_collection_finish() -> None:
    """From here on there is garbage; what is there already is kept, and not looked through again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def everywhere(request: pytest.FixtureRequest) -> bool:
    """Whether nothing is left out, as in `make test-long`: every place is broken, on both sides."""
    return bool(request.config.getoption("--everywhere"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--schedules", type=int, default=200, help="simulated schedules (200)")
    parser.addoption("--everywhere", action="store_true", help="break every place, not a spread of them")
    parser.addoption("--seed", type=int, default=None, help="play one schedule again")
    parser.addoption("--store", choices=["memory", "sqlite", "dynamodb"], default="memory", help="on this store")
    parser.addoption("--benchmarks", action="store_true", help="run tests/benchmarks, which print ratios")


def pytest_configure(config: pytest.Config) -> None:
    """Put temporary files into memory, and declare the markers.

    `support/replay/replayed_runs.py` reads `not_replayed`, and tests/architecture/test_rehearsals.py `rehearsal`.
    """
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= FREE_BYTES_IN_MEMORY:
        # No test simulates a power cut, and SQLite waits for the disk at each commit.
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
    config.addinivalue_line("markers", "not_replayed(reason): the runs of this test are not replayed")
    config.addinivalue_line(
        "markers", "rehearsal(test, ...): runs with --everywhere only; the tests prove the same rule"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Benchmarks and rehearsals run only when asked for; they are deselected, so that a skip always means trouble."""
    left_out = [item for item in items if _left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _left_out(item: pytest.Item) -> bool:
    if "benchmarks" in item.path.parts:
        return not item.config.getoption("--benchmarks")
    return bool(item.get_closest_marker("rehearsal")) and not item.config.getoption("--everywhere")
