"""Publishing in tests: bundles and a timetable in memory, and a repository of a few files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.sources.workflow_files import WorkflowForm
from gofer.values.errors import TemporaryError
from gofer.workflows.publish.publisher import Publisher
from gofer.workflows.publish.timetable import Entry
from gofer.workflows.published import Found
from support.stand_ins import SetClock

WORKFLOW = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nplan: off\n'
SCHEDULED = 'description: d\nowner: "#o"\nwhen:\n  - schedule: {cron: "0 9 ? * MON *", zone: Europe/Berlin}\n'


def files(**prompts: str) -> dict[str, str]:
    """Return a workflow for each prompt; the first one has the mention, the others a schedule."""
    made: dict[str, str] = {}
    for at, (name, prompt) in enumerate(prompts.items()):
        made[f"agents/{name}.yaml"] = SCHEDULED if at else WORKFLOW
        made[f"agents/{name}.md"] = prompt
    return made


def no_trouble(call: str, key: str) -> None:
    """Do nothing: no fault is injected."""


@dataclass
class MemoryBundleStore:
    """A bundle store in a dictionary; a counter of writes gives the tags."""

    objects: dict[str, Found] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    trouble: Callable[[str, str], None] = no_trouble
    """Called before each call with its name and key; the call raises its exception."""

    def _call(self, name: str, key: str) -> None:
        self.calls.append((name, key))
        self.trouble(name, key)

    async def read(self, key: str) -> Found | None:
        self._call("read", key)
        return self.objects.get(key)

    async def create(self, key: str, body: bytes) -> bool:
        self._call("create", key)
        return self._write(key, body) if key not in self.objects else False

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        self._call("swap", key)
        there = self.objects.get(key)
        return self._write(key, body) if (there.tag if there else "") == tag else False

    async def keys(self, prefix: str) -> Sequence[str]:
        return sorted(key for key in self.objects if key.startswith(prefix))

    def _write(self, key: str, body: bytes) -> bool:
        self.objects[key] = Found(body, f"tag{len(self.calls)}")
        return True


@dataclass
class MemoryTimetable:
    """A timetable in a dictionary."""

    entries: dict[str, Entry] = field(default_factory=dict)
    fails: bool = False

    async def names(self) -> Sequence[str]:
        if self.fails:
            raise TemporaryError("nobody is there")
        return list(self.entries)

    async def entry(self, name: str) -> Entry | None:
        return self.entries.get(name)

    async def put(self, entry: Entry) -> None:
        self.entries[entry.name] = entry

    async def delete(self, name: str) -> None:
        self.entries.pop(name, None)


@dataclass
class PublisherSetup:
    """A publisher with its stores and clock."""

    code: Path
    clock: SetClock = field(default_factory=SetClock)
    bundles: MemoryBundleStore = field(default_factory=MemoryBundleStore)
    timetable: MemoryTimetable = field(default_factory=MemoryTimetable)

    @property
    def publisher(self) -> Publisher:
        return Publisher(self.bundles, self.timetable, self.clock, self.code, WorkflowForm)
