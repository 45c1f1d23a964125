"""The form of the key `feedback` in `agents/defaults.yaml`."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, model_validator

from gofer.values.emoji_names import names_of
from gofer.workflows.feedback_emoji import BAD, GOOD, FeedbackEmoji
from gofer.workflows.form_parts import Name, Strict, listed, mistake

_COLONS = "Write the name of the emoji without colons and without a skin tone, such as `thumbsup`."


def _plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of emoji in lower case. Raise the error of a validator for colons and spaces."""
    for name in names:
        if ":" in name or len(name.split()) != 1:
            raise mistake(f"`{name[:40]}` is not the name of an emoji.", _COLONS)
    return tuple(unicodedata.normalize("NFC", name.strip().lower()) for name in names)


EmojiNames = Annotated[
    tuple[Name, ...],
    BeforeValidator(listed, json_schema_input_type=Name | tuple[Name, ...]),
    AfterValidator(_plain_names),
]


class Feedback(Strict):
    """The emoji with which people say what they think of an answer. With two empty lists, no emoji is feedback."""

    good: EmojiNames = GOOD
    """The names of emoji that say that an answer was good."""
    bad: EmojiNames = BAD
    """The names of emoji that say that an answer was bad."""

    @model_validator(mode="after")
    def _apart(self) -> "Feedback":
        for name in self.good:
            if not {*self.bad}.isdisjoint(names_of(name)):
                raise mistake(
                    f"The emoji `{name}` is in both lists, so it says nothing about an answer.",
                    "Leave it in `good` or in `bad`.",
                )
        return self

    @property
    def emoji(self) -> FeedbackEmoji:
        """The emoji as plain data."""
        return FeedbackEmoji(self.good, self.bad)
