"""The names that follow from the contents of a run by a hash, made again after the contents were redacted.

Ids of files, calls of scripts, look-ups of places, subagent runs and bodies are hashes of what people wrote. A hash is
made again only if the rule gives the recorded hash for the recorded contents.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import cast

from gofer.evals.goldens.base64_texts import within_base64
from gofer.evals.goldens.run_file import GoldenRun, Lines
from gofer.journal.codec import from_json
from gofer.journal.lineage import child_of
from gofer.journal.workspace_entries import FileAdded
from gofer.tools.definition import NewFile
from gofer.values.canonical_json import as_list, as_object, as_text, encode

_SCRIPT_CALL = re.compile(r"0(?:\.\d+-\d+)*:(?P<name>[^:]+:[0-9a-f]{12}):\d+")
_PLACE_CALL = re.compile(r"(?:read|write)-place/(?P<digest>[0-9a-f]{16})/\d+")
_HASH = 12
_PLACE_HASH = 16


class DerivedNames:
    """The derived names of one case: the recorded ones, with those that follow from the redacted contents."""

    def __init__(self) -> None:
        self.renamed: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def rename(self, old: str, new: str) -> None:
        """Remember that a name changes."""
        if old and old != new:
            self.renamed[old] = new
            self._pattern = None

    def text(self, text: str) -> str:
        """Return a text with the new names."""
        if not self.renamed:
            return text
        return within_base64(self._renamed(text), self._renamed)

    def _renamed(self, text: str) -> str:
        if self._pattern is None:
            longest_first = sorted(self.renamed, key=lambda name: -len(name))
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(lambda found: self.renamed[found[0]], text)

    def value(self, value: object) -> object:
        """Return a JSON value with the new names in its texts and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            fields = cast(Mapping[str, object], value)
            return {self.text(key): self.value(inner) for key, inner in fields.items()}
        if isinstance(value, list):
            return [self.value(item) for item in cast(list[object], value)]
        return value

    def run(self, turn: GoldenRun) -> GoldenRun:
        """Return a run with the new names."""

        def lines(journal: Lines) -> Lines:
            return [{**line, "entry": self.value(line["entry"])} for line in journal]

        return GoldenRun(
            self.text(turn.run),
            {self.text(run): lines(journal) for run, journal in turn.journals.items()},
            {self.text(run): as_object(self.value(bundle)) for run, bundle in turn.bundles.items()},
            {self.text(name): self._content(content) for name, content in turn.bodies.items()},
            {self.text(run): lines(journal) for run, journal in turn.earlier.items()},
        )

    def learn(self, before: GoldenRun, after: GoldenRun) -> None:
        """Add the derived names of a run, given as recorded and with redacted contents."""
        self._journal(before.run, before, after)

    def _journal(self, run: str, before: GoldenRun, after: GoldenRun) -> None:
        lines = zip(before.journals.get(run, ()), after.journals.get(run, ()), strict=True)
        for old, new in lines:
            old_entry = as_object(old["entry"])
            new_entry = as_object(self.value(new["entry"]))
            match old_entry["kind"]:
                case "file.added":
                    self._file(old_entry, new_entry, before.bodies, after.bodies)
                case "tool.call":
                    self._script_call(old_entry, old_entry.get("arguments"), new_entry.get("arguments"))
                    self._place_call(old_entry, new_entry)
                case "subagent.started":
                    self._script_call(old_entry, _question(old_entry), _question(new_entry))
                    self._subagent_run(run, old_entry, before, after)
                case _:
                    pass

    def _file(
        self,
        old: Mapping[str, object],
        new: Mapping[str, object],
        before: Mapping[str, bytes],
        after: Mapping[str, bytes],
    ) -> None:
        body = as_text(old.get("body"))
        if body in after:
            self.rename(body, hashlib.sha256(self._content(after[body])).hexdigest())
        recorded = _file_id(old, before.get(body))
        if recorded == old["file"]:
            content = after.get(body)
            if content is not None:
                content = self._content(content)
            self.rename(recorded, _file_id(new, content))

    def _content(self, content: bytes) -> bytes:
        try:
            return self.text(content.decode()).encode()
        except UnicodeDecodeError:
            return content

    def _script_call(self, old: Mapping[str, object], old_arguments: object, new_arguments: object) -> None:
        found = _SCRIPT_CALL.fullmatch(as_text(old.get("call")))
        if found is None:
            return
        tool, _, digest = found["name"].partition(":")
        if _digest(old_arguments, _HASH) == digest:
            self.rename(found["name"], f"{tool}:{_digest(new_arguments, _HASH)}")

    def _place_call(self, old: Mapping[str, object], new: Mapping[str, object]) -> None:
        found = _PLACE_CALL.fullmatch(as_text(old.get("call")))
        if found is None:
            return
        if _digest([old["tool"], old.get("arguments")], _PLACE_HASH) == found["digest"]:
            self.rename(found["digest"], _digest([new["tool"], new.get("arguments")], _PLACE_HASH))

    def _subagent_run(self, run: str, old: Mapping[str, object], before: GoldenRun, after: GoldenRun) -> None:
        child = as_text(old.get("run"))
        call = as_text(old.get("call"))
        if not child:
            return
        if child_of(run, call) == child:
            self.rename(child, child_of(self.text(run), self.text(call)))
        self._journal(child, before, after)


def _question(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments with which a script asks a subagent."""
    return {"prompt": as_text(entry.get("prompt")), "files": as_list(entry.get("files"))}


def _file_id(entry: Mapping[str, object], content: bytes | None) -> str:
    added = from_json(dict(entry))
    assert isinstance(added, FileAdded)  # noqa: S101
    prefix = added.file.rpartition("_")[0]
    file = NewFile(
        added.name,
        added.media_type,
        content,
        added.origin,
        source=added.source,
        prefix=prefix,
        missing=added.missing,
    )
    return file.id


def _digest(value: object, length: int) -> str:
    return hashlib.sha256(encode(value)).hexdigest()[:length]
