"""Where the run of a case begins: a delivery, words, or the middle of a run; and the world around it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from gofer.workflows.form_parts import Name, Strict, mistake

JsonObject = Mapping[str, object]


def form_of(value: object) -> str:
    """Return the alternative that a value has: a mapping, or else a text."""
    if isinstance(value, Mapping):
        return "mapping"
    return "text"


FileOrData = Annotated[
    Annotated[str, Tag("text")] | Annotated[JsonObject, Tag("mapping")],
    Discriminator(form_of),
]
"""A file, as a path relative to the eval file, or the data itself."""


class Trigger(Strict):
    """The delivery that starts a run: a payload as its sender sends it, as `gofer run --event` takes it, or words."""

    payload: FileOrData | None = None
    """The payload itself, or the path of its file from the folder of the eval file. A schedule needs none."""
    source: str = ""
    """The sender, if the workflow has triggers of several sources: the name before the point of a trigger."""
    hook: str = ""
    """The webhook that is called, if the workflow has several."""
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])
    """The headers of the delivery, such as the one that names the kind of event."""
    text: str | None = Field(default=None, min_length=1)
    """Instead of a payload: the words of a person in the chat, as typed. Gofer is mentioned if the workflow waits for
    that."""
    channel: str = ""
    """The channel of the words, by name or id; by default the thread of the case, or the first channel of Gofer."""
    user: str = ""
    """The person who writes the words, by name or id; by default the first one of the world."""

    @model_validator(mode="after")
    def _words_or_a_payload(self) -> "Trigger":
        of_words = self.model_fields_set & {"channel", "user"}
        beside = self.model_fields_set - {"text", "channel", "user"}
        if self.text is not None and beside:
            name = min(beside)
            raise mistake(f"`text` makes the whole delivery, so `{name}` means nothing.", f"Remove `{name}` or `text`.")
        if self.text is None and of_words:
            raise mistake(f"`{min(of_words)}` belongs to words.", f"Add `text`, or remove `{min(of_words)}`.")
        return self


class EarlierCall(Strict):
    """A call in the history of a decision point, with its result."""

    tool: Name
    """The tool that was called."""
    arguments: JsonObject = Field(default_factory=dict[str, object])
    """The arguments of the call."""
    text: str = ""
    """The result as the model reads it."""
    status: Literal["ok", "error", "refused"] = "ok"
    """The outcome of the call."""


class EarlierTurn(Strict):
    """One answer of the model in the history of a decision point."""

    text: str = ""
    """The words of the model."""
    calls: tuple[EarlierCall, ...] = ()
    """The calls of the model, in order."""


class DecisionPoint(Strict):
    """The middle of a run: the case asks the model only for its next step after this history."""

    history: tuple[EarlierTurn, ...] = ()
    """The answers of the model so far, with the results of their calls."""
    plan: tuple[Mapping[str, str], ...] = ()
    """The steps of the plan: `id`, `description`, `status`, and `needs`."""
