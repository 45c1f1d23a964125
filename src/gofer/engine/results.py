"""The journal entries of a call's outcome: its result, the files it made, and the facts it found."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.engine.effects import Done, Later, NoAnswer, Refused
from gofer.engine.run_files import FILE_LIMIT, CallFiles, RunFiles
from gofer.engine.services import Services
from gofer.files.completeness import incomplete
from gofer.files.document import EACH
from gofer.files.preview import Preview, preview
from gofer.journal.entries import Entry, MessageReceived, ToolUnknown
from gofer.journal.entries import ToolResult as Result
from gofer.journal.workspace_entries import FileAdded, FileRead
from gofer.tools.definition import PREVIEW_TOKENS, AnyTool, NewFile, ToolResult
from gofer.values.canonical_json import clean, encode
from gofer.values.errors import ConfigError, TemporaryError, ToolError
from gofer.values.messages import Media
from gofer.values.missing import Missing
from gofer.values.tokens import estimate
from gofer.workflows.load import Loaded

TEXT_LIMIT = 100_000
"""Longest text that a model is shown, in characters, in every workflow."""
VALUE_LIMIT = 2_000_000
"""Largest value of one call for a script, in bytes of JSON."""
_ON_A_THREAD = 1_000_000
"""Characters from which on the preview of a text is made on a thread."""
PREFIX = "result"
"""The prefix of the file ids of long texts."""
_KINDS = {"json": (".json", "application/json"), "text": (".txt", "text/plain")}
MEDIA_NOTE = "[Gofer, by code] Images and documents that {} returned:"
"""The message before the images and documents of a result."""
NO_ROOM = "is not shown, because other images and documents take the room. Load it alone in a later turn."
"""The note for a file that would make the request too large."""
NO_VISION = "is an image that you cannot see, because your model takes no images. Say so if it matters."
"""The note for an image when the model takes no images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayLimits:
    """The display limits of one result, in tokens, and the kinds of media that the model takes."""

    whole: int = 10_000
    """Longest text that is shown whole; a longer text becomes a file."""
    preview: int = 1_000
    """Length of the preview of such a file."""
    most: int = PREVIEW_TOKENS
    """Longest preview of one result, even if its tool sets a larger one."""
    media: int = 6_000_000
    """Characters of base64 that one call may add as images and documents."""
    vision: bool = True
    """Whether the model takes images."""
    pdf: bool = True
    """Whether the model takes PDFs."""

    def of(self, tool: AnyTool) -> "DisplayLimits":
        """Return the display limits for a tool; its own preview length takes precedence over the workflow's."""
        if not tool.preview_tokens:
            return self
        return replace(self, preview=min(tool.preview_tokens, self.most))

    def looks_at(self, media: Media) -> bool:
        """Return whether the model takes an image or a PDF."""
        if media.media_type == "application/pdf":
            return self.pdf
        return self.vision


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The properties of a call that decide how its outcome is recorded."""

    call: str
    tool: str
    read: bool
    """Whether the tool only reads."""
    for_script: bool
    """Whether a script made the call."""
    long_as_file: bool
    """Whether a text that is too long for the window becomes a file; if not, the text is cut."""


async def entries_of(
    recorded: RecordedCall,
    outcome: Done | Later | Refused | NoAnswer,
    duration_ms: int,
    reach: CallFiles,
    run_files: RunFiles,
    shown: DisplayLimits,
) -> Sequence[Entry]:
    """Return the entries of an outcome: files and facts, the result, and the images for the model.

    Raises TemporaryError.
    """
    fetched: Sequence[Entry] = reach.fetched
    match outcome:
        case Done(result=done):
            try:
                return [*fetched, *await _done(recorded, done, duration_ms, run_files, shown, reach.missing)]
            except ToolError as error:
                return [*fetched, _failed(recorded.call, error.message_to_model, error.code, duration_ms)]
        case Refused(text=text, code=code, access=access):
            return [*fetched, _failed(recorded.call, text, code, duration_ms, access)]
        case Later(text=text, code=code):
            return [*fetched, _failed(recorded.call, text, code, duration_ms)]
        case NoAnswer(reason=reason):
            return [*fetched, _failed(recorded.call, f"{recorded.tool} got no answer: {reason}", "", duration_ms)]


def display_limits_of(loaded: Loaded, services: Services) -> DisplayLimits:
    """Return the display limits that a workflow sets, and the kinds of media that all its models take."""
    files = loaded.workflow.files
    ability = services.ability(loaded.models)
    return DisplayLimits(whole=files.whole_tokens, preview=files.preview_tokens, vision=ability.vision, pdf=ability.pdf)


def unknown(call: str, tool: str, reason: str, destination: str = "") -> ToolUnknown:
    """Return the entry of a call of unknown outcome."""
    text = f"The outcome of {tool} cannot be determined: {reason.rstrip('.')}. It is not tried again."
    return ToolUnknown(call=call, text=cut(text), destination=destination)


async def shorten(
    text: str, name: str, origin: str, run_files: RunFiles, shown: DisplayLimits, *, missing: tuple[Missing, ...] = ()
) -> tuple[str, FileAdded | None]:
    """Return a text whole, or the preview and the entry of the file that it became.

    `missing` lists the parts that the sources of the text lack. Raises ToolError for a text that is too large to be
    kept, and TemporaryError.
    """
    if _fits(text, shown):
        return text, None
    if len(text) > FILE_LIMIT:
        problem = f"{origin} returned {len(text):,} characters, and at most {FILE_LIMIT:,} are kept; ask for less."
        raise ToolError(problem, code="too_large")
    text = clean(text)
    if len(text) < _ON_A_THREAD:
        made = preview(text, prefix=PREFIX, max_tokens=shown.preview)
    else:
        # The preview of such a text takes seconds, and other calls share this event loop.
        made = await asyncio.to_thread(preview, text, prefix=PREFIX, max_tokens=shown.preview)
    suffix, media_type = _KINDS[made.kind]
    file = NewFile(f"{name}{suffix}", media_type, text.encode(), origin, prefix=PREFIX, missing=missing)
    (added,) = await run_files.add([file])
    parts = [_preview_text(made.of_file(added.file)), incomplete(missing, added.file)]
    return "\n".join(filter(None, parts)), added


def _fits(text: str, shown: DisplayLimits) -> bool:
    # A text with few tokens for its length would still be cut at TEXT_LIMIT, so it becomes a file.
    return len(text) <= shown.whole or (len(text) <= TEXT_LIMIT and estimate(text) <= shown.whole)


def _preview_text(made: Preview) -> str:
    """Return the text of a preview: its description as JSON, then the partial data without escapes."""
    fields = made.fields()
    part = fields.pop("partial_data")
    return f"{json.dumps(fields, ensure_ascii=False)}\npartial_data:\n{part}"


async def _done(
    recorded: RecordedCall,
    done: ToolResult,
    duration_ms: int,
    run_files: RunFiles,
    shown: DisplayLimits,
    missing: tuple[Missing, ...],
) -> Sequence[Entry]:
    # The limit applies to reads only, because a write that took effect must not be reported as an error.
    if recorded.for_script and recorded.read and len(encode(done.value)) > VALUE_LIMIT:
        raise ToolError(f"{recorded.tool} returned more than {VALUE_LIMIT} bytes; ask for less.", code="too_large")
    media, unseen = _visible_media(done.media, shown)
    read = (fact for fact in done.facts if not (isinstance(fact, FileRead) and fact.file in unseen))
    facts: list[Entry] = [*await run_files.add(done.files), *read]
    text = done.text
    if recorded.long_as_file:
        text, added = await _shortened(recorded, text, run_files, shown, missing)
        if added is not None:
            facts.append(added)
    text = "\n".join([text, *(f"{file} {reason}" for file, reason in unseen.items())])
    value = done.value if recorded.for_script else None
    result = Result(recorded.call, "ok", cut(text), done.summary, done.details or None, duration_ms, value)
    if not media:
        return [*facts, result]
    return [*facts, result, MessageReceived(MEDIA_NOTE.format(recorded.tool), media=media)]


async def _shortened(
    recorded: RecordedCall, text: str, run_files: RunFiles, shown: DisplayLimits, missing: tuple[Missing, ...]
) -> tuple[str, FileAdded | None]:
    try:
        return await shorten(text, recorded.tool, recorded.tool, run_files, shown, missing=missing)
    except (ToolError, TemporaryError, ConfigError):
        if recorded.read:
            raise
        # The write took effect, so the model must learn of it even if its long answer is lost.
        return f"{text[: shown.preview]}\n[{len(text) - shown.preview} further characters could not be kept.]", None


def _failed(call: str, text: str, code: str, duration_ms: int, access: str = "") -> Result:
    details = {name: value for name, value in (("code", code), ("access", access)) if value}
    return Result(call, "error", cut(text), details=details or None, duration_ms=duration_ms)


def _visible_media(media: Sequence[Media], shown: DisplayLimits) -> tuple[tuple[Media, ...], Mapping[str, str]]:
    """Return the media that the model is shown, and for each other file the reason why it is not shown."""
    seen = list[Media]()
    unseen = dict[str, str]()
    room = shown.media
    for one in media:
        if not shown.looks_at(one):
            unseen[one.file] = _unseen_reason(one)
        elif len(one.data) > room:
            unseen[one.file] = NO_ROOM
        else:
            seen.append(one)
            room -= len(one.data) + EACH
    return tuple(seen), unseen


def _unseen_reason(media: Media) -> str:
    if media.media_type == "application/pdf":
        return (
            "is a PDF, which your model does not take. Use extract_file to get its text, or load_file with "
            "first_page to see its pages as images."
        )
    return NO_VISION


def cut(text: str) -> str:
    """Return a text cut to TEXT_LIMIT characters, with a note if it was longer."""
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[{len(text) - TEXT_LIMIT} further characters were cut; ask for less.]"
