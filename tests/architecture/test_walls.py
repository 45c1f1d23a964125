"""Each library, and each part of Gofer that few may use, is imported by the modules listed here and by no other.

The tables list the allowed importers. The tests search all modules, so a new one is found without being listed.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from gofer.sources.receivers import PATHS
from support.code.syntax import imports, nodes

ROOT = Path(__file__).parents[2]
NETWORK = {"ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "ssl", "telnetlib", "urllib.request", "xmlrpc"}
"""Modules of the standard library that open connections."""
PROCESSES = {"multiprocessing", "subprocess"}
LIBRARIES: Mapping[str, Sequence[str]] = {
    "PIL": ["gofer.files.extract.picture"],
    "aiohttp": ["gofer.sources.slack.socket_mode"],
    "aws_lambda_powertools": ["gofer.app.functions"],
    "boto3": ["gofer.app.aws"],
    "botocore": ["gofer.app.aws", "gofer.app.functions", "gofer.stores.aws.calls"],
    "chardet": ["gofer.files.ranked_encodings"],
    "cryptography": ["gofer.app.backup.sealed_keys", "gofer.journal.seal", "gofer.sources.webhook.jwt_bearer"],
    "genai_prices": ["gofer.models.price_library"],
    "google": ["gofer.runtime.telemetry"],
    "h11": ["gofer.app.embedded.connection_limits"],
    "http": ["gofer.app.functions.aws_http"],
    "httpx2": ["gofer.app", "gofer.models.openai_client", "gofer.models.remote", "gofer.models.transport"],
    "jq": ["gofer.files.jq_child"],
    "jsonschema": ["gofer.workflows.json_schema"],
    "jwt": ["gofer.sources.webhook.jwt_bearer"],
    "lxml": ["gofer.files.extract.xml_package"],
    "markdown_it": ["gofer.sources"],
    "olefile": ["gofer.files.extract.outlook"],
    "openai": ["gofer.models.openai_client"],
    "opentelemetry": ["gofer.runtime.telemetry"],
    "pydantic": [
        "gofer.app.backup",
        "gofer.check",
        "gofer.evals",
        "gofer.learning.suggestions.question",
        "gofer.sources",
        "gofer.tool",
        "gofer.tools",
        "gofer.workflows",
    ],
    "pydantic_core": ["gofer.tools", "gofer.workflows"],
    "pytest": ["gofer_pytest"],
    "pydantic_monty": ["gofer.files.sandbox"],
    "pypdfium2": ["gofer.files.extract"],
    "python_calamine": ["gofer.files.extract.sheets"],
    "re2": ["gofer.evals.patterns", "gofer.files"],
    "selectolax": ["gofer.files.extract.html"],
    "slack_bolt": ["gofer.sources.slack.socket_mode"],
    "slack_sdk": ["gofer.sources.slack.socket_mode"],
    "socket": ["gofer.app.embedded.server", "gofer.app.http", "gofer.files", "gofer.models.unreached"],
    "ssl": ["gofer.app.functions.aws_http", "gofer.app.http", "gofer.models.unreached"],
    "starlette": ["gofer.app"],
    "subprocess": [
        "gofer.app.evals.repository",
        "gofer.app.new_repository.installing",
        "gofer.app.new_repository.locking",
        "gofer.app.new_repository.upgrade",
        "gofer.app.packaging",
        "gofer.app.suggestions.git",
        "gofer.files.child",
    ],
    "typing_extensions": ["gofer", "gofer_pytest"],
    "uvicorn": ["gofer.app.embedded"],
    "yaml": [
        "gofer.app.evals",
        "gofer.cli",
        "gofer.evals",
        "gofer.learning.promotion.subagent_draft",
        "gofer.tools.mocks",
        "gofer.values.model_script",
        "gofer.workflows",
    ],
}
"""Each library, and each module of the standard library that reaches outside the process, with its importers."""
PARTS: Mapping[str, Sequence[str]] = {
    "gofer_pytest": ["gofer_pytest"],
    "gofer_simulators": [
        "gofer.app.demo",
        "gofer.app.evals",
        "gofer.app.embedded",
        "gofer.cli.demo",
        "gofer.cli.run",
        "gofer_simulators",
    ],
    "gofer.models.formats": ["gofer.models"],
    "gofer.models.openai_client": [],
    "gofer.models.remote": ["gofer.app"],
    "gofer.models.transport": ["gofer.models.openai_client", "gofer.models.remote"],
    "gofer.models.price_library": ["gofer.app.catalog"],
    "gofer.files.extract": ["gofer.files"],
    "gofer.files.sandbox": ["gofer.app", "gofer.files.sandbox", "gofer.tools.python"],
    "gofer.app.functions": ["gofer.app.functions", "handlers"],
    "gofer.app.embedded": ["gofer.app", "gofer.cli", "gofer.embed"],
    "gofer.stores.memory": ["gofer.app.embedded.runner", "gofer.app.evals.player", "gofer.replay"],
    "gofer.stores.one_place": ["gofer.app", "gofer.engine.services", "gofer.replay", "gofer.runtime"],
    "gofer.stores.queue": ["gofer.app", "gofer.runtime", "gofer.stores"],
    "gofer.stores.sqlite": ["gofer.app", "gofer.stores.sqlite"],
    "gofer.stores.aws": ["gofer.app", "gofer.stores.aws"],
    "gofer.cli": ["gofer.__main__", "gofer.cli"],
    "gofer.embed": [],
    "gofer.app": ["gofer.app", "gofer.cli", "gofer.embed", "gofer_pytest", "handlers"],
}
"""Parts of Gofer with those that may import them."""
WHOLE: Mapping[str, Sequence[str]] = {
    "gofer_simulators": ["gofer_simulators", "gofer.values"],
    "handlers": ["gofer.app"],
    "gofer.values": ["gofer.values"],
    "gofer.files": ["gofer.files", "gofer.values"],
    "gofer.models": ["gofer.models", "gofer.values"],
}
"""Parts with all of Gofer that they may import."""

VENDORS = tuple(PATHS)
"""Names that the engine and the runtime do not contain: a vendor is known in its room and in the registry."""
VENDORLESS = ("engine", "runtime")
VENDORS_NAMED: Mapping[str, int] = {}
"""How often modules of these rooms still name a vendor; the figures may fall and never rise."""


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports, as `package.module.name`."""
    for node in imports(path):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{name.name}" for name in names)
            case _:
                pass


def sources() -> Iterator[tuple[str, set[str]]]:
    """Yield each module of the project with what it imports."""
    for base in ("src", "."):
        packages = ("gofer", "gofer_pytest", "gofer_simulators") if base == "src" else ("handlers",)
        for path in (file for package in packages for file in sorted((ROOT / base / package).rglob("*.py"))):
            name = ".".join(path.relative_to(ROOT / base).with_suffix("").parts).removesuffix(".__init__")
            yield name, set(imported(path))


MODULES = dict(sources())


def within(name: str, parts: Sequence[str] | set[str]) -> bool:
    """Return whether a dotted name is one of the parts, or lies in one."""
    return any(f"{name}.".startswith(f"{part}.") for part in parts)


def outside_library(name: str) -> str:
    """Return the library of an import, or an empty text for our own modules and for those without outside effects."""
    top = name.partition(".")[0]
    if top in ("gofer", "gofer_pytest", "gofer_simulators", "handlers"):
        return ""
    if top in sys.stdlib_module_names:
        return top if within(name, NETWORK | PROCESSES) else ""
    return top


def importers(part: str) -> set[str]:
    """Return the modules that import a part or a library."""
    return {module for module, names in MODULES.items() if any(within(name, [part]) for name in names)}


def strangers(part: str, may: Sequence[str]) -> set[str]:
    """Return the importers of a part that are not among those that may."""
    return {module for module in importers(part) if not within(module, may)}


def test_used_libraries_are_the_listed_ones() -> None:
    product = {module: names for module, names in MODULES.items() if not within(module, ["gofer_simulators"])}
    used = {library for names in product.values() for name in names if (library := outside_library(name))}
    assert used == set(LIBRARIES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_library_is_imported_by_exactly_the_listed_modules(library: str) -> None:
    assert strangers(library, [*LIBRARIES[library], "gofer_simulators"]) == set()
    unused = [may for may in LIBRARIES[library] if not any(within(one, [may]) for one in importers(library))]
    assert unused == []


@pytest.mark.parametrize("part", PARTS)
def test_internal_package_is_imported_by_exactly_the_listed_modules(part: str) -> None:
    assert strangers(part, PARTS[part]) == set()
    unused = [may for may in PARTS[part] if not any(within(one, [may]) for one in importers(part))]
    assert unused == []


def reads(path: Path, name: str) -> bool:
    """Return whether a module reads an attribute of this name."""
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes(path))


def test_engine_uses_no_queue() -> None:
    """The stores of a worker include a queue, but only the worker enqueues."""
    rooms = [ROOT / "src/gofer" / room for room in ("engine", "tools", "sources")]
    assert [str(path) for room in rooms for path in sorted(room.rglob("*.py")) if reads(path, "queue")] == []
    assert reads(ROOT / "src/gofer/runtime/worker.py", "queue")


@pytest.mark.parametrize("part", WHOLE)
def test_internal_package_imports_only_the_listed_packages(part: str) -> None:
    ours = ["gofer", "gofer_simulators", "handlers"]
    names = {name for module, found in MODULES.items() if within(module, [part]) for name in found}
    assert {name for name in names if within(name, ours) and not within(name, WHOLE[part])} == set()


def test_unlisted_importer_of_a_library_or_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "gofer.engine.new", {"httpx2", "gofer_simulators.slack"})
    assert strangers("httpx2", [*LIBRARIES["httpx2"], "gofer_simulators"]) == {"gofer.engine.new"}
    assert strangers("gofer_simulators", PARTS["gofer_simulators"]) == {"gofer.engine.new"}


def vendors_in(text: str) -> int:
    """Return how often a text names a vendor, be it in code, in a string, in a docstring or in a comment."""
    return sum(text.lower().count(vendor) for vendor in VENDORS)


def test_listed_vendors_equal_the_vendor_sources() -> None:
    folders = {path.parent.name for path in (ROOT / "src" / "gofer" / "sources").glob("*/source.py")}
    assert folders - {"program", "runs", "schedule", "webhook"} == set(VENDORS)


def test_engine_and_runtime_name_no_vendor() -> None:
    source = ROOT / "src" / "gofer"
    files = [path for room in VENDORLESS for path in sorted((source / room).rglob("*.py"))]
    counts = {path.relative_to(source).as_posix(): vendors_in(path.read_text()) for path in files}
    assert {name: count for name, count in counts.items() if count} == VENDORS_NAMED


def test_vendor_name_is_found_in_names_strings_and_comments() -> None:
    assert vendors_in('from gofer.sources.slack import parts\nx = "jira_get_issue"  # as Notion does\n') == 3


# --- Names of vendors -----------------------------------------------------------------------------------------------

ALWAYS = (
    *(
        f"sources/{name}.py"
        for name in ("registry", "receivers", "triggers", "apps", "connections", "manuals", "sign_ins")
    ),
    *("app/demo/", "cli/demo.py", "app/embedded/simulated.py", "app/embedded/simulators.py"),
    *(
        "sources/webhook/senders.py",
        "workflows/webhook_form.py",
        "values/parts.py",
        "app/new_repository/contents.py",
        "app/new_repository/writing.py",
    ),
)
"""The registries, the demo, well-known senders of webhooks, the parts to install and the pipelines to write, all about
vendors by name."""


def naming(vendor: str) -> list[str]:
    """Return the modules outside the room of a vendor that name it in code, text or a comment."""
    source = ROOT / "src" / "gofer"
    files = {path.relative_to(source).as_posix(): path for path in sorted(source.rglob("*.py"))}
    elsewhere = {name: path for name, path in files.items() if not name.startswith((f"sources/{vendor}/", *ALWAYS))}
    return [name for name, path in elsewhere.items() if vendor in path.read_text().lower()]


@pytest.mark.parametrize("vendor", PATHS)
def test_vendor_is_named_only_in_the_source_folder_and_the_registries(vendor: str) -> None:
    assert naming(vendor) == []
