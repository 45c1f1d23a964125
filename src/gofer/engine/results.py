"""The entries that follow from the outcome of a call: its result, the files it made, the facts it found."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.engine.effects import Done, Later, Refused, Silence
from gofer.engine.run_files import FILE_LIMIT, Reach, RunFiles
from gofer.engine.services import Services
from gofer.files.completeness import incomplete
from gofer.files.document import EACH
from gofer.files.preview import Preview, preview
from gofer.files.tokens import estimate
from gofer.journal.entries import Entry, MessageReceived, ToolUnknown
from gofer.journal.entries import ToolResult as Result
from gofer.journal.workspace_entries import FileAdded, FileRead
from gofer.tools.definition import PREVIEW_TOKENS, AnyTool, NewFile, ToolResult
from gofer.values.canonical_json import clean, encode
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.messages import Media
from gofer.values.missing import Missing
from gofer.workflows.load import Loaded

TEXT_LIMIT = 100_000
"""Characters of one text that a model is shown at most, in every workflow."""
VALUE_LIMIT = 2_000_000
"""Bytes of what a script gets of one call at most, as JSON."""
_ASIDE = 1_000_000
"""Characters of a text from which its preview is not made in between."""
PREFIX = "result"
"""What the ids of long texts begin with."""
_KINDS = {"json": (".json", "application/json"), "text": (".txt", "text/plain")}
LOOK = "[Gofer, by code] What {} gave, to look at:"
"""Said before images that follow a result."""
CROWDED = "is not shown: what is looked at already takes the room. Load it in a later turn, by itself."
"""Said of what would make a request too large."""
SIGHTLESS = "is an image that you cannot see: your model takes no images. Say so if it matters."
"""Said of an image to a model without eyes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How much of one text a model is shown, in tokens, and what else."""

    whole: int = 10_000
    """A longer text becomes a file."""
    preview: int = 1_000
    """What is shown of one that did."""
    most: int = PREVIEW_TOKENS
    """What one result may take of the window, also where its tool has a larger preview of its own."""
    look: int = 6_000_000
    """Characters of base64 that one call may give to look at."""
    vision: bool = True
    """Whether its model looks at images."""
    pdf: bool = True
    """Whether it reads PDFs by itself."""

    def of(self, tool: AnyTool) -> "Shown":
        """Return how much is shown of what a tool gives; its own preview comes before that of the workflow."""
        if not tool.preview_tokens:
            return self
        return replace(self, preview=min(tool.preview_tokens, self.most))

    def looks_at(self, media: Media) -> bool:
        """Whether the model takes something that is no text."""
        return self.pdf if media.media_type == "application/pdf" else self.vision


@dataclass(frozen=True, slots=True)
class Taken:
    """One call as its outcome is written down."""

    call: str
    tool: str
    read: bool
    """Whether its tool only reads."""
    valued: bool
    """Whether a script asked."""
    long: bool
    """Whether a text that is too long for the window becomes a file; else it is cut."""


async def entries_of(
    taken: Taken, outcome: Done | Later | Refused | Silence, took: int, reach: Reach, run_files: RunFiles, shown: Shown
) -> Sequence[Entry]:
    """What follows from an outcome: facts, the result, what the model looks at.

    `took` is milliseconds. Raises TemporaryError.
    """
    fetched: Sequence[Entry] = reach.fetched
    match outcome:
        case Done(result=done):
            try:
                return [*fetched, *await _done(taken, done, took, run_files, shown, reach.missing)]
            except ToolError as error:
                return [*fetched, _failed(taken.call, error.message_to_model, error.code, took)]
        case Refused(text=text, code=code, access=access):
            return [*fetched, _failed(taken.call, text, code, took, access)]
        case Later(text=text, code=code):
            return [*fetched, _failed(taken.call, text, code, took)]
        case Silence(why=why):
            return [*fetched, _failed(taken.call, f"{taken.tool} got no answer: {why}", "", took)]


def shown_of(loaded: Loaded, services: Services) -> Shown:
    """Return how much of one text the models of a workflow are shown, and what else each of them takes."""
    files = loaded.workflow.files
    ability = services.ability(loaded.models)
    return Shown(whole=files.whole_tokens, preview=files.preview_tokens, vision=ability.vision, pdf=ability.pdf)


def unknown(call: str, tool: str, why: str, destination: str = "") -> ToolUnknown:
    """Return the entry of a call of unknown outcome."""
    text = f"The outcome of {tool} cannot be determined: {why.rstrip('.')}. It is not tried again."
    return ToolUnknown(call=call, text=cut(text), destination=destination)


async def shorten(
    text: str, name: str, origin: str, run_files: RunFiles, shown: Shown, *, missing: tuple[Missing, ...] = ()
) -> tuple[str, FileAdded | None]:
    """Return a text as a model is shown it: whole, or as a preview of the file that it became.

    `missing` is what the files lack that the text was made from. Raises ToolError for a text that is too large to be
    kept, before anything is made of it, and TemporaryError.
    """
    if _fits(text, shown):
        return text, None
    if len(text) > FILE_LIMIT:
        said = f"{origin} gave {len(text):,} characters, and at most {FILE_LIMIT:,} are kept; ask it for less."
        raise ToolError(said, code="too_large")
    text = clean(text)
    if len(text) < _ASIDE:
        made = preview(text, prefix=PREFIX, max_tokens=shown.preview)
    else:
        # On a thread: this takes seconds, and others are waiting.
        made = await asyncio.to_thread(preview, text, prefix=PREFIX, max_tokens=shown.preview)
    suffix, media_type = _KINDS[made.kind]
    file = NewFile(f"{name}{suffix}", media_type, text.encode(), origin, prefix=PREFIX, missing=missing)
    (added,) = await run_files.add([file])
    told = [_told(made.of_file(added.file)), incomplete(missing, added.file)]
    return "\n".join(filter(None, told)), added


def _fits(text: str, shown: Shown) -> bool:
    # What has few tokens for its length is cut at its characters, unless it is a file.
    return len(text) <= shown.whole or (len(text) <= TEXT_LIMIT and estimate(text) <= shown.whole)


def _told(made: Preview) -> str:
    """A preview as a model reads it: what is said of it, and then the part itself, without escapes."""
    fields = made.fields()
    part = fields.pop("partial_data")
    return f"{json.dumps(fields, ensure_ascii=False)}\npartial_data:\n{part}"


async def _done(
    taken: Taken, done: ToolResult, took: int, run_files: RunFiles, shown: Shown, missing: tuple[Missing, ...]
) -> Sequence[Entry]:
    # Only of reads: what took effect is not said to be an error, and such a tool gives little.
    if taken.valued and taken.read and len(encode(done.value)) > VALUE_LIMIT:
        raise ToolError(f"{taken.tool} gives more than {VALUE_LIMIT} bytes; ask for less.", code="too_large")
    media, unseen = _looked_at(done.media, shown)
    read = (fact for fact in done.facts if not (isinstance(fact, FileRead) and fact.file in unseen))
    facts: list[Entry] = [*await run_files.add(done.files), *read]
    text = done.text
    if taken.long:
        text, added = await _shortened(taken, text, run_files, shown, missing)
        facts += [added] if added else []
    text = "\n".join([text, *(f"{file} {why}" for file, why in unseen.items())])
    value = done.value if taken.valued else None
    result = Result(taken.call, "ok", cut(text), done.summary, done.details or None, took, value)
    seen = [MessageReceived(LOOK.format(taken.tool), media=media)] if media else []
    return [*facts, result, *seen]


async def _shortened(
    taken: Taken, text: str, run_files: RunFiles, shown: Shown, missing: tuple[Missing, ...]
) -> tuple[str, FileAdded | None]:
    try:
        return await shorten(text, taken.tool, taken.tool, run_files, shown, missing=missing)
    except (ToolError, TemporaryError):
        if taken.read:
            raise
        # It took effect, and that has to be known also where what it said is lost.
        return f"{text[: shown.preview]}\n[{len(text) - shown.preview} further characters could not be kept.]", None


def _failed(call: str, text: str, code: str, took: int, access: str = "") -> Result:
    details = {name: said for name, said in (("code", code), ("access", access)) if said}
    return Result(call, "error", cut(text), details=details or None, duration_ms=took)


def _looked_at(media: Sequence[Media], shown: Shown) -> tuple[tuple[Media, ...], Mapping[str, str]]:
    """What of it the model is shown, and of the other files why not."""
    seen = list[Media]()
    unseen = dict[str, str]()
    room = shown.look
    for one in media:
        if not shown.looks_at(one):
            unseen[one.file] = _unseen(one)
        elif len(one.data) > room:
            unseen[one.file] = CROWDED
        else:
            seen.append(one)
            room -= len(one.data) + EACH
    return tuple(seen), unseen


def _unseen(media: Media) -> str:
    if media.media_type == "application/pdf":
        return (
            "is a PDF that your model does not read by itself; use extract_file to get its text, or load_file with "
            "first_page to look at its pages as images."
        )
    return SIGHTLESS


def cut(text: str) -> str:
    """Text a model may be shown: at most TEXT_LIMIT characters, and it says so when it was longer."""
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[{len(text) - TEXT_LIMIT} further characters were cut; ask for less.]"
