"""The output of commands and what deployments hold: schemas, bundles, a publication, findings and explanations."""

import contextlib
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from frozen.lines import line, lines, pretty
from frozen.names import EXCEPTED
from gofer.app.catalog import mistakes
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.event_input import way
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.check.explain import DeliveryPath
from gofer.check.explain import explain as explained
from gofer.cli.main import main
from gofer.engine.services import Links, Services
from gofer.models.price_library import look_up
from gofer.models.served_model import Prices
from gofer.sources.workflow_files import WorkflowForm, load_catalog
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.definition import Tool
from gofer.workflows.bundle import encode_bundle
from gofer.workflows.mistake import Mistake
from gofer.workflows.publication import publication, read_files
from support.sources.every_delivery import EVENTS, headers_of
from support.stand_ins import KEY, NOON, SetClock, make_outside

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "tests" / "broken"
SCHEMAS: Mapping[str, Sequence[str]] = {
    "workflow": (),
    "defaults": ("--defaults",),
    "subagent": ("--subagent",),
    "eval": ("--eval",),
}
CHECKS = (
    ("tests/broken/80-many-at-once",),
    ("--json", "tests/broken/80-many-at-once"),
    ("--sarif", "tests/broken/80-many-at-once"),
    ("--models",),
)
"""Calls of `gofer check` whose output is frozen as it is printed."""
HOOK = b'{"id": "E-1"}'
TIME = b'{"workflow": "weekly-digest", "scheduled": "2026-11-23T08:00:00Z"}'


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the schemas of the files people write, and those of the tools as models get them."""
    for name, options in SCHEMAS.items():
        _, printed = command("schema", *options)
        yield f"schemas/{name}.json", printed
    tools = sorted(build_tools(read_settings({})).values(), key=_name)
    yield "schemas/tools.jsonl", lines(tool.schema() for tool in tools)


def bundles() -> Iterator[tuple[str, str]]:
    """Yield the bundle of each shipped workflow and the hash that names it."""
    catalog = load_catalog(ROOT / "agents", look_up=look_up)
    services = Services(
        Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(SetClock())),
        None,  # type: ignore[arg-type]
        build_tools(read_settings({})),
        Prices({}),
        Links("http://localhost"),
        make_outside(),
        scripts=catalog.scripts,
        installation_key=KEY,
    )
    hashes: dict[str, str] = {}
    for name, loaded in sorted(catalog.workflows.items()):
        raw = encode_bundle(services.new_bundle(loaded))
        hashes[name] = hashlib.sha256(raw).hexdigest()
        yield f"bundles/{name}.json", raw.decode()
    yield "bundles.json", pretty(hashes)


def published() -> Iterator[tuple[str, str]]:
    """Yield the small part of a publication of the shipped workflows, which receivers read."""
    made, _ = publication(read_files(ROOT), ROOT, NOON, WorkflowForm)
    yield "published.json", made.routes().decode()


def check() -> Iterator[tuple[str, str]]:
    """Yield what `gofer check` finds in each broken folder and in this repository, and what it prints."""
    found: list[str] = []
    for folder in [*sorted(BROKEN.iterdir()), ROOT]:
        found.append(f"# {folder.relative_to(BROKEN.parents[1])}\n")
        found += map(_finding, _compared(_agents_of(folder)))
    with contextlib.chdir(ROOT):
        for words in CHECKS:
            code, printed = command("check", *words)
            found.append(f"# gofer check {' '.join(words)}\n{printed}exit code {code}\n")
    yield "check.txt", "".join(found)


def explain() -> Iterator[tuple[str, str]]:
    """Yield what `gofer explain` prints for each recorded payload, for a webhook and for a time."""
    catalog = load_catalog(ROOT / "agents")
    printed: list[str] = []
    for event in EVENTS:
        come_in = way(catalog, event.stem.partition("_")[0], headers_of(event))
        printed += _explained(event.name, event.read_bytes(), come_in)
    printed += _explained("webhook", HOOK, way(catalog, "webhook", hook="new-hire"))
    printed += _explained("schedule", TIME, way(catalog, "schedule"))
    yield "explain.txt", "".join(printed)


def command(*words: str) -> tuple[int, str]:
    """Return the exit code of a command and what it printed on stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(words)
    return code, out.getvalue()


def _explained(name: str, raw: bytes, come_in: DeliveryPath) -> Iterator[str]:
    for explanation in explained(name, raw, come_in):
        yield f"{explanation.to_json()}\n"


def _name(tool: Tool[object]) -> str:
    return tool.name


def _agents_of(folder: Path) -> Path:
    inner = folder / "agents"
    return inner if inner.is_dir() else folder


def _compared(agents: Path) -> list[Mistake]:
    found = [*mistakes(agents), *eval_mistakes(agents, SetClock())]
    return [mistake for mistake in found if not _is_excepted(mistake)]


def _is_excepted(mistake: Mistake) -> bool:
    in_prose = mistake.file.suffix == ".md" or mistake.is_hint
    return in_prose and mistake.rule in EXCEPTED


def _finding(mistake: Mistake) -> str:
    value = line(mistake.to_json())
    return f"{mistake}\n{value}\n".replace(f"{ROOT}/", "")
