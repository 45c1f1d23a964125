"""The typed answer of a workflow with `output`: instructions for the model, parsing, and validation.

Every schema here has passed `output_schema.flaws`.
"""

from collections.abc import Mapping

from gofer.values.canonical_json import encode_text
from gofer.values.messages import arguments
from gofer.workflows.output_schema import Schema, validation

ANSWER_LIMIT = 40_000
"""The longest answer that Gofer parses, in characters."""
PEOPLE = "Gofer turns its values into text for people; programs read the object."
"""The sentence about the readers of a workflow's answer."""
ASKER = "The agent or script that called you reads the object."
"""The sentence about the readers of a subagent's answer."""
PROBLEMS = 10
"""The most mistakes that one message to the model lists."""


def instructions(schema: Schema, readers: str) -> str:
    """Return the section of the system prompt about the form and the readers of the answer."""
    return (
        "# Output\n\nAnswer with one JSON object that is valid under this JSON Schema, and nothing else. "
        f"{readers}\n\n```json\n{encode_text(schema)}\n```"
    )


def read_answer(text: str) -> Mapping[str, object]:
    """Return the JSON object of an answer, which may be in a Markdown code fence.

    Raises ValueError whose message says what the answer is instead.
    """
    if len(text) > ANSWER_LIMIT:
        raise ValueError(f"longer than {ANSWER_LIMIT} characters")
    return arguments(_unfenced(text.strip()))


def problems(schema: Schema, value: Mapping[str, object]) -> list[str]:
    """Return up to PROBLEMS mistakes of a value, each with its place; empty when the value is valid."""
    try:
        return validation().mistakes(schema, value, PROBLEMS)
    except OverflowError:
        # `multipleOf` divides, and JSON integers may be too large for a float.
        return ["the whole answer: a number is too large"]


def _unfenced(text: str) -> str:
    begin = text.find("```")
    end = text.rfind("```")
    if text.startswith("{") or begin == end:
        return text
    # The first line of a fence may name the language.
    return text[begin + 3 : end].partition("\n")[2].strip()
