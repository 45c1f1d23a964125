"""`gofer check` and startup over files with one part replaced by a part of another file: sentences, no exceptions."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.app.catalog import checked_catalog, known_tools
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.check.folder import check_folder
from gofer.models.price_library import look_up
from gofer.sources.triggers import KINDS
from gofer.values.canonical_json import as_list, as_object
from gofer.values.errors import ConfigError
from gofer.workflows.load import DEFAULTS
from gofer.workflows.mistake import RULES
from gofer.workflows.yaml_source import read_source
from support.stand_ins import SetClock

ROOT = Path(__file__).parents[3]


def parts(value: object) -> list[object]:
    """Return a value with everything inside."""
    inner = [*as_object(value).values(), *as_list(value)]
    return [value, *(part for one in inner for part in parts(one))]


FILES = [value for file in sorted((ROOT / "agents").glob("*.yaml")) if as_object(value := read_source(file).value)]
BROKEN = [
    value for file in sorted((ROOT / "tests" / "broken").rglob("*.yaml")) if as_object(value := read_source(file).value)
]
EVALS = [value for file in sorted((ROOT / "evals").glob("*.yaml")) if as_object(value := read_source(file).value)]
NAMES = sorted({str(name) for file in FILES + BROKEN + EVALS for part in parts(file) for name in as_object(part)})
VALUES = [
    *(part for file in FILES + BROKEN + EVALS for part in parts(file)),
    None,
    True,
    0,
    -1,
    10**30,
    "",
    [],
    {},
    [[]],
    [{}],
]
PARTS = st.sampled_from(KINDS) | st.sampled_from(VALUES)
BARE = {"description": "d", "owner": "#o", "model": "gpt-5"}


@st.composite
def mutated(draw: st.DrawFn, value: object, depth: int = 0) -> object:
    """Draw a value in which one part is replaced, removed or renamed."""
    deeper = depth == 0 or draw(st.booleans())
    if (fields := as_object(value)) and deeper:
        name = draw(st.sampled_from(sorted(fields, key=str)))
        others = {key: inner for key, inner in fields.items() if key != name}
        match draw(st.sampled_from(["inside", "inside", "removed", "renamed", "added"])):
            case "inside":
                return {**fields, name: draw(mutated(fields[name], depth + 1))}
            case "removed":
                return others
            case "renamed":
                return {**others, draw(st.sampled_from(NAMES)): fields[name]}
            case _:
                return {**fields, draw(st.sampled_from(NAMES)): draw(PARTS)}
    if (items := as_list(value)) and deeper:
        at = draw(st.integers(0, len(items) - 1))
        return [*items[:at], draw(mutated(items[at], depth + 1)), *items[at + 1 :]]
    return draw(PARTS)


def check(folder: Path, name: str, value: object) -> None:
    """Check a folder with one file: each mistake is of a known rule, and startup raises nothing but ConfigError."""
    (folder / name).write_text(json.dumps(value, default=str))
    for mistake in check_folder(folder, known_tools(), look_up):
        assert mistake.rule in RULES
        assert len(mistake.message + mistake.hint) < 500
    with contextlib.suppress(ConfigError):
        checked_catalog(folder)


def prepare(folder: Path) -> None:
    (folder / "w.md").write_text("Do it.")
    (folder / DEFAULTS).write_text("models: {default: gpt-5, reviewer: gpt-5-mini}\n")


@given(st.sampled_from(FILES + BROKEN).flatmap(mutated))
@example({**BARE, "when": ["slack.mention"], "model": ""})
@example({**BARE, "when": ["slack.reaction", "webhook", "slack.message", "notion.status", "schedule"]})
def test_workflow_with_a_part_of_another_file_is_checked_without_an_exception(tmp_path: Path, value: object) -> None:
    prepare(tmp_path)
    check(tmp_path, "w.yaml", value)


@given(mutated(read_source(ROOT / "agents" / DEFAULTS).value))
def test_defaults_with_a_part_of_another_file_are_checked_without_an_exception(tmp_path: Path, value: object) -> None:
    prepare(tmp_path)
    (tmp_path / "w.yaml").write_text(json.dumps({**BARE, "when": ["slack.mention"]}))
    check(tmp_path, DEFAULTS, value)


@given(st.sampled_from(EVALS).flatmap(mutated))
def test_eval_with_a_part_of_another_file_is_checked_without_an_exception(tmp_path: Path, value: object) -> None:
    prepare(tmp_path)
    agents = tmp_path / "agents"
    for folder in (agents, tmp_path / "evals"):
        folder.mkdir(exist_ok=True)
    (agents / "file-ticket.yaml").write_text(json.dumps({**BARE, "when": ["slack.mention"]}))
    (agents / "file-ticket.md").write_text("Do it.")
    (tmp_path / "evals" / "e.yaml").write_text(json.dumps(value, default=str))
    assert all(mistake.rule in RULES for mistake in eval_mistakes(agents, SetClock()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["[{}]", "[{}: ]", "[{}: {{}}]", "{}", "{{{}: }}", "\n  - {}\n  - {}:\n"])
def test_trigger_without_conditions_is_a_workflow_or_one_sentence_for_each(
    tmp_path: Path, kind: str, form: str
) -> None:
    prepare(tmp_path)
    when = form.replace("{}", kind).replace("{{", "{").replace("}}", "}")
    keys = "".join(f"{name}: {json.dumps(value)}\n" for name, value in BARE.items())
    (tmp_path / "w.yaml").write_text(f"{keys}when: {when}\n")
    unrelated = ("unpriced-model", "changed-meaning")
    found = [one for one in check_folder(tmp_path, known_tools(), look_up) if one.rule not in unrelated]
    places = [mistake.place for mistake in found]
    assert len(places) == len(set(places)), [str(mistake) for mistake in found]
    assert all(mistake.hint.endswith(".") for mistake in found)
