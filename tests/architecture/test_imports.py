"""Import contracts: they hold for the source, and each one fails when broken."""

import ast
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support.code.syntax import called, nodes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gofer"
MODULES = sorted(SOURCE.rglob("*.py"))
LINT = """
import sys
sys.path[:0] = ["src", "."]
from importlinter.cli import lint_imports_command
lint_imports_command(["--no-cache"])
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floors")
    shutil.copytree(SOURCE, folder / "src" / "gofer", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SOURCE.parent / "gofer_simulators", folder / "src" / "gofer_simulators")
    shutil.copytree(ROOT / "handlers", folder / "handlers")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", LINT], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


BROKEN = [
    ("src/gofer/journal/log.py", "import gofer.engine.step", "Each package imports only from lower layers"),
    ("src/gofer/somewhere.py", "", "Each package imports only from lower layers"),
    ("src/gofer/engine/gates.py", "import gofer.engine.loop", "No circles between packages"),
    ("src/gofer/workflows/load.py", "import gofer.check.folder", "Each package imports only from lower layers"),
    ("src/gofer/sources/slack/receiver.py", "import pydantic", "Receivers stay light"),
    ("src/gofer/app/worker.py", "import gofer.models.price_library", "Functions read prices that were published"),
    ("src/gofer/app/serving.py", "import pytest", "The product never imports pytest or its plugin"),
]


@pytest.mark.parametrize(("path", "line", "contract"), BROKEN)
def test_broken_import_contract_is_reported(copy: Path, path: str, line: str, contract: str) -> None:
    target = copy / path
    before = target.read_text() if target.exists() else None
    target.write_text(f"{before or ''}\n{line}\n")
    try:
        kept = [row for row in lint(copy).splitlines() if row.startswith(contract)]
        assert any(row.endswith("BROKEN") or row == contract for row in kept), lint(copy)
    finally:
        target.unlink() if before is None else target.write_text(before)


def test_import_contracts_hold(copy: Path) -> None:
    assert "5 kept, 0 broken" in lint(copy)


HEAVY = {
    "slack_bolt",
    "slack_sdk",
    "aiohttp",
    "jwt",
    "pydantic",
    "openai",
    "httpx2",
    "yaml",
    "starlette",
    "uvicorn",
    "gofer.engine",
    "gofer.tools",
    "gofer.models",
    "markdown_it",
    "boto3",
    "botocore.session",
    "botocore.client",
    "mcp",
    "pypdfium2",
    "lxml",
    "gofer.runtime.worker",
    "gofer.runtime.telemetry",
}


@pytest.mark.parametrize("module", ["gofer.app.ingress", "gofer.app.functions.receiver"])
def test_ingress_and_receiver_function_load_no_heavy_module(module: str) -> None:
    program = f"import sys, {module}; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "gofer.runtime.receive" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_workflow_files_are_read_without_tools_and_clients() -> None:
    program = "import sys, gofer.sources.workflow_files; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "gofer.sources.slack.triggers" in loaded
    assert {"gofer.sources.registry", "gofer.tools", "markdown_it"}.isdisjoint(loaded)


LATER = {
    "chardet": "import gofer.files.ranked_encodings",
    "google.protobuf": "import gofer.runtime.telemetry.otlp",
    "gofer_simulators": "import gofer.app.embedded.simulators",
    "jsonschema": "import gofer.workflows.json_schema",
    "markdown_it": "import gofer.sources.markdown_parser",
    "openai": "import gofer.models.openai_client",
    "re2": "import gofer.files.line_pattern",
    "uvicorn": "import gofer.app.embedded.server",
}
"""Libraries and parts that a run may never need, each with the program that loads it."""


@pytest.mark.parametrize("module", ["gofer.embed", "gofer.app.functions.worker"])
def test_worker_loads_libraries_of_rare_steps_later(module: str) -> None:
    program = f"import sys, {module}; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "gofer.engine.loop" in loaded
    assert LATER.keys().isdisjoint(loaded)


@pytest.mark.parametrize(
    "module",
    ["gofer.app.functions.dashboard", "gofer.app.embedded.stack", "gofer.app.demo.tour", "gofer.replay", "gofer.evals"],
)
def test_process_that_asks_no_model_loads_no_client_of_a_vendor(module: str) -> None:
    program = f"import sys, {module}; print('openai' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )


@pytest.mark.parametrize("name", LATER)
def test_later_program_loads_its_library(name: str) -> None:
    program = f"{LATER[name]}; import sys; assert {name!r} in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0


@cache
def attributes(path: Path) -> set[str]:
    return {ast.unparse(node) for node in nodes(path) if isinstance(node, ast.Attribute)}


def found(names: set[str], outside: str, of=attributes) -> list[str]:
    """Modules outside a folder that use one of the names."""
    return [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if not str(path.relative_to(SOURCE)).startswith(outside) and names & of(path)
    ]


def test_only_app_settings_read_the_environment() -> None:
    environment = {"os.environ", "os.getenv", "os.environb"}
    assert found(environment, "app/") == []
    assert found(environment, "nowhere") == ["app/settings.py"]


def test_only_values_outside_reads_clocks_and_random_numbers() -> None:
    names = {"time.time", "time.monotonic", "datetime.now", "datetime.utcnow", "uuid.uuid4", "random.random"}
    names |= {"secrets.token_hex", "secrets.token_bytes"}
    # A key is drawn once per installation.
    assert found(names, "values/outside.py") == ["app/embedded/state.py"]


def test_only_benchmarks_measure_time() -> None:
    # A busy machine would fail such a test; `support.steps` counts the steps of a piece of work.
    names = {"time.monotonic", "time.perf_counter", "time.process_time", "time.thread_time", "timeit"}
    folders = ("unit", "contracts", "architecture", "journeys", "survival")
    tests = [path for folder in folders for path in (ROOT / "tests" / folder).rglob("*.py")]
    assert [str(path) for path in tests if names & attributes(path)] == []


def test_only_the_owned_run_the_claim_and_the_copy_write_a_journal() -> None:
    appending = {"self._journal.commit", "self._journal.add", "self._store.create", "store.create", "store.claim"}
    assert found(appending, "nowhere", called) == ["engine/owned_run.py", "journal/copied_journal.py", "journal/log.py"]
    assert found({"write_copy"}, "nowhere", called) == ["app/embedded/eval_state.py"]
    assert found({"claim"}, "nowhere", called) == ["engine/own_step.py", "runtime/claimed_start.py"]


def test_only_the_two_steps_make_tool_calls() -> None:
    steps = ["engine/own_step.py", "engine/working_step.py"]
    assert found({"make_calls"}, "nowhere", called) == steps
    assert found({"attempt"}, "nowhere", called) == ["engine/effects.py", "engine/own_step.py"]
    assert found({"self.attempt", "self.own.attempt"}, "nowhere", called) == steps
    assert found({"carry_out"}, "nowhere", called) == ["engine/step.py"]


def test_imports_are_at_the_top_of_each_module() -> None:
    hidden = [
        f"{path.relative_to(SOURCE)}:{inner.lineno}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []
