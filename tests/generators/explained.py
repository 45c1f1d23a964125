"""The table of every payload in the tests and the one reason that `gofer explain` gives for it.

`PYTHONPATH=tests python -m generators.explained` writes explained.md anew. A test compares the two, so a reason that
changes is a row in a diff, and its reviewer says whether the new one is true.
"""

import copy
import gzip
import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from gofer.app.event_input import SOURCES, way
from gofer.check.explain import Explanation, explain
from gofer.sources.workflow_files import load_catalog
from gofer.workflows.load import Catalog
from support.sources.every_delivery import EVENTS, GARBAGE, PRESS, headers_of, places

HERE = Path(__file__).parent
TABLE = HERE / "explained.md"
UNIT = HERE.parent / "unit"
FIRST = "2026-11-23T08:00:00Z"
"""A Monday, nine o'clock in Berlin."""
INTRODUCTION = """\
# Each payload and its one reason

What `gofer explain` says of every payload in the tests, with the workflows of `agents/`.
`PYTHONPATH=tests python -m generators.explained` writes this page. A row that changes is reviewed: is the new reason
true, and does it say who can do what?
"""

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Payload:
    """One payload with the name of its row."""

    name: str
    source: str
    body: bytes
    headers: Headers = ()
    hook: str = ""

    def outcome(self) -> str:
        """Return the output of `gofer explain` as one cell."""
        come_in = way(catalog(), self.source, self.headers, self.hook)
        return "; then ".join(dict.fromkeys(map(_cell, explain("", self.body, come_in))))


@cache
def catalog() -> Catalog:
    """Return the shipped workflows."""
    return load_catalog(HERE.parents[1] / "agents")


def table() -> str:
    """Return the page."""
    sections = {
        "Recorded payloads": recorded(),
        "Payloads that the tests of the receivers make": made_in_tests(),
        "Times and calls": times_and_calls(),
        "Recorded payloads without one of their fields, where that changes the outcome": shortened(),
        "Bodies that no sender would send": garbage(),
    }
    return INTRODUCTION + "".join(_section(title, list(payloads)) for title, payloads in sections.items())


def recorded() -> Iterator[Payload]:
    """Yield the files of tests/events."""
    for event in EVENTS:
        yield Payload(event.stem, _source(event), event.read_bytes(), headers_of(event))


def made_in_tests() -> Iterator[Payload]:
    """Yield what the parametrized tests of the receivers send."""
    nothing = "test_delivery_that_starts_no_run_is_ignored_with_a_reason"
    slack, notion = _receiver("slack"), _receiver("notion")
    for changes, *_ in _values(slack, nothing):
        yield _inline("slack", "slack_app_mention", changes, slack.payload(**changes))
    for changes, *_ in _values(notion, nothing):
        yield _inline("notion", "notion_page_created", changes, notion.payload("page_created", **changes))
    for number, (body, *_) in enumerate(_values(_receiver("jira"), nothing), start=1):
        name = f"jira, body {number} of {body.get('webhookEvent') or 'no type'}"
        yield Payload(name, "jira", json.dumps(body).encode())
    for payload, *_ in _values(_module("check/test_explain"), "test_ignored_payload_is_explained_with_a_reason"):
        yield _inline("slack", "slack", _told(payload), payload)
    yield from _made_for_github(_receiver("github"), nothing)
    yield Payload("the press of a button", "slack", json.dumps(PRESS).encode())
    for event in ({"type": "tokens_revoked", "tokens": {"bot": ["U1"]}}, {"type": "app_uninstalled"}):
        yield _inline("slack", "slack", event, {"type": "event_callback", "event": event})
    yield _inline("slack", "slack", {"type": "app_rate_limited"}, {"type": "app_rate_limited"})


def _made_for_github(module: ModuleType, test: str) -> Iterator[Payload]:
    for number, (kind, change, *_) in enumerate(_values(module, test), start=1):
        body = module.payload(kind if kind in module.NAMES else "issues")
        change(body)
        headers = [("X-GitHub-Event", kind)] if kind else []
        yield Payload(f"github, change {number} of {kind or 'no type'}", "github", json.dumps(body).encode(), headers)
    merged = module.payload("pull_request")
    for action in ("labeled", "opened", "synchronize"):
        body = json.dumps(merged | {"action": action}).encode()
        yield Payload(f"github, a pull request {action}", "github", body, [("X-GitHub-Event", "pull_request")])


def times_and_calls() -> Iterator[Payload]:
    """Yield times of schedules and calls of webhooks."""
    digest = next(plan for name, plan in catalog().schedules() if name == "weekly-digest")
    schedule = f"weekly-digest cron({digest['text']}) {digest['zone']}"  # type: ignore[index]
    for body in (
        {"workflow": "weekly-digest", "scheduled": FIRST},
        {"workflow": "weekly-digest", "scheduled": "2026-11-23T08:00:01Z"},
        {"workflow": "answer-here", "scheduled": FIRST},
        {"workflow": "weekly-digest", "scheduled": "soon"},
        {"workflow": "weekly-digest", "schedule": schedule, "at": FIRST},
        {"workflow": "weekly-digest", "schedule": "weekly-digest cron(0 8 ? * MON *) UTC", "at": FIRST},
        {"workflow": "weekly-digest", "schedule": schedule, "at": "soon"},
        {"sweep": True},
        {"purge": True},
    ):
        yield _inline("schedule", "schedule", body, body)
    for body in (b'{"id": "E-1"}', b"{}", b"hello", b""):
        yield Payload(f"webhook new-hire `{body.decode()}`", "webhook", body, hook="new-hire")


def shortened() -> Iterator[Payload]:
    """Yield recorded payloads without one field, where that changes the outcome."""
    for whole in recorded():
        payload, usual = json.loads(whole.body), whole.outcome()
        for at in places(payload):
            name = f"{whole.name} without {'.'.join(map(str, at))}"
            less = Payload(name, whole.source, json.dumps(_without(payload, at)).encode(), whole.headers)
            if less.outcome() != usual:
                yield less


def garbage() -> Iterator[Payload]:
    """Yield payloads that no sender produces; sources with the same outcome share a row."""
    for name, body in {"gzip": gzip.compress(b"{}", mtime=0), **GARBAGE}.items():
        sent: dict[str, list[Payload]] = {}
        for source in SOURCES:
            headers = [("X-GitHub-Event", "push")] if source == "github" else []
            payload = Payload(source, source, body, headers, hook="new-hire")
            sent.setdefault(payload.outcome(), []).append(payload)
        for alike in sent.values():
            yield replace(alike[0], name=f"{name}, to {', '.join(payload.name for payload in alike)}")


def _section(title: str, payloads: Sequence[Payload]) -> str:
    rows = "".join(f"| {_escaped(payload.name)} | {_escaped(payload.outcome())} |\n" for payload in payloads)
    return f"\n## {title}\n\n| payload | outcome |\n|---|---|\n{rows}"


def _cell(told: Explanation) -> str:
    if told.workflows:
        return f"starts {', '.join(told.workflows)}{f'; {told.decided}' if told.decided else ''}"
    return told.ignored_because or f"error: {told.error}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").encode("ascii", "backslashreplace").decode()


def _source(event: Path) -> str:
    return event.stem.partition("_")[0]


def _inline(source: str, name: str, changes: object, body: object) -> Payload:
    return Payload(f"{name} with {json.dumps(changes)[:130]}", source, json.dumps(body).encode())


def _told(payload: dict[str, Any]) -> object:
    """Return a payload of the Events API without the fields that all of them share."""
    event = payload.get("event")
    if not isinstance(event, dict):
        return {"type": payload.get("type"), "event": event}
    usual = json.loads(next(path for path in EVENTS if path.stem == "slack_app_mention").read_bytes())["event"]
    return {name: value for name, value in event.items() if usual.get(name) != value}


def _without(payload: Any, at: Sequence[int | str]) -> Any:
    shorter = copy.deepcopy(payload)
    around = shorter
    for part in at[:-1]:
        around = around[part]
    del around[at[-1]]
    return shorter


def _receiver(source: str) -> ModuleType:
    return _module(f"sources/{source}/test_receiver")


@cache
def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"explained_{name.replace('/', '_')}", UNIT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _values(module: ModuleType, test: str) -> Iterable[tuple[Any, ...]]:
    """Return the parameters of a parametrized test."""
    (mark,) = [mark for mark in getattr(module, test).pytestmark if mark.name == "parametrize"]
    return mark.args[1]


if __name__ == "__main__":
    TABLE.write_text(table())
