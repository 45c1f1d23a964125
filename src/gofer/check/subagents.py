"""Has each file of `subagents/` its form, and a prompt beside it?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gofer.workflows.form import fill
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.output_file import read_output
from gofer.workflows.schema import Subagent
from gofer.workflows.source import Source
from gofer.workflows.text import read_text


def check_subagents(sources: Sequence[Source]) -> Iterator[Mistake]:
    """What is wrong with subagents and their prompts."""
    for source in sources:
        yield from fill(source, Subagent)[1]
        yield from read_output(source)[1]
        yield from _check_prompt(source.file, source.file.with_suffix(".md"))


def _check_prompt(file: Path, prompt: Path) -> Iterator[Mistake]:
    if not prompt.is_file():
        message = f"There is no file `{prompt.name[:80]}` beside this one."
        yield Mistake(file, START, "missing-prompt", message, "Create it: what the model is told before the question.")
        return
    text, mistakes = read_text(prompt)
    yield from mistakes
    if text is not None and not text.strip():
        yield Mistake(prompt, START, "empty-prompt", "The prompt is empty.", "Say what is to be done.")
