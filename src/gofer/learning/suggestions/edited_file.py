"""The rules of an edit, checked in code: one place in one Markdown file of the workflow, and small."""

from collections.abc import Mapping
from difflib import SequenceMatcher, unified_diff

from gofer.learning.suggestions.proposal import Edit, MustHold
from gofer.runtime.run_record import RunRecord
from gofer.workflows.frontmatter import divide

MOST_LINES = 20
"""The most lines that an edit may remove or add."""
MOST_CHARACTERS = 1_500
"""The most characters that an edit may remove or add."""


class Refused(Exception):
    """An edit or a case that breaks a rule. The message says which, for the model and for people."""


def edited_text(edit: Edit, texts: Mapping[str, str]) -> str:
    """Return the file after an edit. `texts` are the files that may be edited, by path. Raises Refused."""
    before = texts.get(edit.file)
    if before is None:
        raise Refused(f"The file {edit.file!r} may not be edited; choose one of {', '.join(texts)}.")
    found = before.count(edit.old)
    if found != 1:
        raise Refused(f"The old text occurs {found} times in {edit.file}; quote a text that occurs exactly once.")
    after = before.replace(edit.old, edit.new)
    if after.split() == before.split():
        raise Refused("The edit changes no word.")
    _refuse_large(before, after)
    if edit.file.startswith("skills/") and _front_matter(before) != _front_matter(after):
        raise Refused("The edit changes the front matter of the skill; change only the text below it.")
    return after


def refuse_wrong_case(must: MustHold, records: Mapping[str, RunRecord]) -> None:
    """Raise Refused for a case about an unknown run, call or tool, or without its texts."""
    record = records.get(must.run)
    if record is None or record.bundle is None:
        raise Refused(f"The run {must.run!r} is not among the runs; choose one of {', '.join(records)}.")
    match must.kind:
        case "call":
            known = record.setups[record.run].tool_names
            if must.tool not in known:
                raise Refused(f"The run has no tool {must.tool!r}; its tools are {', '.join(known)}.")
            if not must.at:
                raise Refused("The case has no `at`; name the call of the run at which the next answer must differ.")
        case "contains" | "not_contains":
            if not must.texts:
                raise Refused("The case has no `texts`.")
        case "judge":
            if not must.ask:
                raise Refused("The case has no `ask`.")


def diff_lines(edit: Edit, before: str) -> list[str]:
    """Return an edit of a file as a unified diff, without line ends."""
    after = before.replace(edit.old, edit.new)
    names = (f"a/{edit.file}", f"b/{edit.file}")
    return [line.rstrip("\n") for line in unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")]


def _refuse_large(before: str, after: str) -> None:
    old = before.splitlines()
    new = after.splitlines()
    removed = 0
    added = 0
    characters = 0
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += last - first
            added += new_last - new_first
            characters = max(characters, len("\n".join(old[first:last])), len("\n".join(new[new_first:new_last])))
    if max(removed, added) > MOST_LINES or characters > MOST_CHARACTERS:
        raise Refused(
            f"The edit removes {removed} and adds {added} lines; it may change at most {MOST_LINES} lines and "
            f"{MOST_CHARACTERS} characters."
        )


def _front_matter(text: str) -> Mapping[str, object] | None:
    """Return the front matter of a skill; None for a file without one."""
    try:
        fields, _ = divide(text)
    except ValueError:
        return None
    return fields
