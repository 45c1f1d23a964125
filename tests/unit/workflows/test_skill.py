"""Skills in the open format: the same verdicts as the reference validator, with reasons."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skills_ref.validator import validate

from gofer.check.code_in_markdown import code_in
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.skill import FILES, SIZE_LIMIT, Skill, read_skill, read_skills, skill_from_json

ROOT = Path(__file__).parents[3]
SHIPPED = sorted(path.name for path in (ROOT / "skills").iterdir())
FOR_CODING_AGENTS = sorted(path.name for path in (ROOT / ".agents" / "skills").iterdir())
GOOD = "---\nname: routing\ndescription: Where things go.\n---\nPayments go to PAY.\n"


def made(folder: Path, text: str | bytes, name: str = "routing", file: str = "SKILL.md") -> Path:
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return home


def refused(home: Path) -> str:
    """Return the reason why a skill is refused, empty when it loads."""
    try:
        read_skill(home)
    except ConfigError as error:
        return str(error)
    return ""


def refused_by_the_reference(home: Path) -> bool:
    try:
        return bool(validate(home))
    except Exception:  # noqa: BLE001
        return True  # it stumbles over files that are no text


def field(key: str, value: str) -> str:
    return f"---\nname: routing\ndescription: d\n{key}: {value}\n---\nbody"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "---\nname: ' routing '\ndescription: d\n---",
        "---\nname: routing\ndescription: |\n  Two\n  lines.\n---\n",
        "---\nname: routing\ndescription: >- # folded\n  Two\n  lines.\n---\n",
        "---\nname: routing\ndescription: 12\n---\n",
        "---   \nname: routing\ndescription: d --- and the rest is body",
        f"---\nname: routing\ndescription: {'d' * 1024}\n---\n",
        field("license", "Apache-2.0"),
        field("license", "\n  - MIT\n  - Apache-2.0"),
        field("compatibility", "c" * 500),
        field("compatibility", ""),
        field("metadata", "\n  author: us\n  version: 1.0"),
        field("metadata", "plain"),
        field("allowed-tools", "jira_search file_read"),
        "---\n# said before\nname: routing # and beside\ndescription: d\n---\n",
    ],
)
def test_skill_accepted_by_the_reference_is_loaded(tmp_path: Path, text: str) -> None:
    home = made(tmp_path, text)
    assert not refused_by_the_reference(home)
    assert read_skill(home).name == "routing"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Payments go to PAY.\n", "does not begin with a line of `---`"),
        ("\ufeff" + GOOD, "byte order mark"),
        (b"\xff\xfe---", "not UTF-8"),
        ("---\nname: routing\n", "no line of `---` after its fields"),
        ("---\n---\nbody", "no fields between"),
        ("---\n- routing\n---\nbody\n", "no fields between"),
        ("---\nname: routing\n---\nbody\n", "`description` is missing"),
        ("---\ndescription: d\n---\nbody\n", "`name` is missing"),
        ("---\nname:\ndescription: d\n---\nbody\n", "`name` is not text"),
        ("---\nname: routing\ndescription: ''\n---\n", "`description` is not text"),
        ("---\nname: routing\ndescription:\n  a: b\n---\n", "`description` is not text"),
        ("---\nname: routing\ndescription: =\n---\n", "`description` is not text"),
        (f"---\nname: routing\ndescription: {'d' * 1025}\n---\n", "longer than 1024"),
        ("---\nname: other\ndescription: d\n---\n", "is not the name of its folder"),
        ("---\nname: Routing\ndescription: d\n---\n", "lower case"),
        ("---\nname: -routing\ndescription: d\n---\n", "begins or ends with a hyphen"),
        ("---\nname: rou--ting\ndescription: d\n---\n", "two hyphens"),
        ("---\nname: rou_ting\ndescription: d\n---\n", "characters other than letters, digits and hyphens"),
        (f"---\nname: {'r' * 65}\ndescription: d\n---\n", "longer than 64"),
        (field("compatibility", "c" * 501), "`compatibility` is longer than 500"),
        (field("compatibility", "\n  - c"), "`compatibility` is not text"),
        (field("author", "us"), "Unknown fields: author"),
        (field("license", "[MIT]"), "`[…]`"),
        (field("metadata", "{a: b}"), "`{…}`"),
        (field("license", "&a MIT"), "anchor"),
        (field("license", "*a"), "alias"),
        (field("license", "!!str MIT"), "tag"),
        (field("name", "routing"), "the key `name` twice"),
        (field("license", "a: b"), "not YAML in line 4: a value holds a colon before a space; put it in quotes"),
        (field("license", "@a"), "a value begins with a sign of YAML; put it in quotes"),
        (field("license", "*.md"), "a value begins with `*` or `&`; put it in quotes"),
        (field("license", "a\tb"), "tab"),
        (field("license", "|#"), "right after"),
        (field("metadata", "\n  a: b\nlicense:\n   a: b"), "indented in different ways"),
        (field("metadata", "\n  ? - a\n  : b"), "as a key"),
        (field("license", "a\n...\nname: x"), "not YAML in line 6"),
        (field("license", "\x07"), "character that YAML does not allow"),
    ],
)
def test_skill_refused_by_the_reference_is_refused_with_a_reason(tmp_path: Path, text: str | bytes, told: str) -> None:
    home = made(tmp_path, text)
    assert refused_by_the_reference(home)
    assert told in refused(home)


WORDS = st.text(alphabet="abc XYZ09-_:#'\"{}[]&*!|>%@`,?~\t\\/=.üß٣\n", max_size=12)
ODD = ["", "'q'", "| \n  text", "true", "- a", "\n  - a\n  - b", "\n  k: v", "\n   k: v\n   j: 2", "\n k: v\n k: v"]
ODDER = ["[a]", "{a: b}", "&a b", "*a", "!!str a", "a --- b", "c" * 501, ">-\n  fold\n  ed", "\n  ? a\n  : b"]
VALUES = WORDS | st.sampled_from([*ODD, *ODDER])
KEYS = st.sampled_from(["license", "compatibility", "metadata", "allowed-tools", "name", "description", "x", '"name"'])
BEGUN = "---\nname: routing\ndescription: d\n"
BEGINNINGS = st.sampled_from([BEGUN, BEGUN, BEGUN, "---\n", "--- \nname: routing\n", "", "--"])
FIELDS = st.lists(st.tuples(KEYS, VALUES), max_size=2).map(lambda pairs: "".join(f"{k}: {v}\n" for k, v in pairs))
ENDS = st.sampled_from(["---\nbody", "---\nbody", "---", "", "\n--- x", "...\n---\n"])


@settings(deadline=None)
@given(st.tuples(BEGINNINGS, FIELDS, ENDS).map("".join))
@example(field("license", " \t#"))
@example(field("license", '"\nname: "\t'))
@example(BEGUN + "\ufeff\n---\nbody")
def test_verdict_on_any_skill_equals_that_of_the_reference(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = made(Path(folder), text)
        assert bool(refused(home)) == refused_by_the_reference(home)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/."), min_size=1, max_size=70))
@example("größe")
@example("ﬁle")
@example("routing-2")
def test_verdict_on_any_skill_name_equals_that_of_the_reference(name: str) -> None:
    if len(name.encode()) > 200:
        return  # no folder is called so
    with tempfile.TemporaryDirectory() as folder:
        quoted = name.replace("'", "''")
        home = made(Path(folder), f"---\nname: '{quoted}'\ndescription: d\n---\n", name)
        assert bool(refused(home)) == refused_by_the_reference(home)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (field("<<", "\n  author: us"), "the key `<<`"),
        (field("license", "a\x85b"), "line separator"),
        (field("license", "a\u2028b"), "line separator"),
    ],
)
def test_ambiguous_skill_is_refused_although_the_reference_accepts(tmp_path: Path, text: str, told: str) -> None:
    home = made(tmp_path, text)
    assert not refused_by_the_reference(home)
    assert told in refused(home)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_skill_is_valid_for_the_reference(name: str) -> None:
    assert validate(ROOT / "skills" / name) == []
    skill = read_skill(ROOT / "skills" / name)
    assert 50 < len(skill.description) < 400
    assert 400 < len(skill.body) < 6_000


@pytest.mark.parametrize("name", FOR_CODING_AGENTS)
def test_skill_for_coding_agents_is_valid_and_names_existing_files(name: str) -> None:
    home = ROOT / ".agents" / "skills" / name
    assert validate(home) == []
    spans = code_in((home / "SKILL.md").read_text()).spans
    named = [span.text for span in spans if re.fullmatch(r"[a-z]+(?:/[\w.-]+)+", span.text)]
    assert named
    assert [file for file in named if "NAME" not in file and not (ROOT / file).exists()] == []


def test_skills_for_coding_agents_are_in_no_workflow() -> None:
    assert FOR_CODING_AGENTS
    for loaded in load_catalog(ROOT / "agents").workflows.values():
        assert not loaded.skills.keys() & set(FOR_CODING_AGENTS)
        assert not any(name in loaded.system for name in FOR_CODING_AGENTS)


def test_skill_file_may_have_a_lower_case_name(tmp_path: Path) -> None:
    assert read_skill(made(tmp_path, GOOD, file="skill.md")).body == "Payments go to PAY."


def test_skill_folder_without_a_skill_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "routing").mkdir()
    assert "SKILL.md" in refused(tmp_path / "routing")


def test_skill_includes_all_files_of_the_folder_except_hidden_and_linked_ones(tmp_path: Path) -> None:
    home = made(tmp_path, GOOD)
    (home / "references").mkdir()
    (home / "references" / "fields.md").write_text("Fields.")
    (home / "logo.png").write_bytes(b"\x89PNG\xff")
    (home / ".git").mkdir()
    (home / ".git" / "config").write_text("hidden")
    (tmp_path / "secret").write_text("secret")
    (home / "secret.md").symlink_to(tmp_path / "secret")
    (home / "elsewhere").symlink_to(tmp_path)
    skill = read_skill(home)
    assert {path: skill.text(path) for path in skill.files} == {"logo.png": None, "references/fields.md": "Fields."}
    assert skill_from_json("routing", skill.to_json()) == skill


def test_skill_folder_above_the_limits_of_size_or_files_is_refused(tmp_path: Path) -> None:
    home = made(tmp_path, GOOD)
    (home / "film").write_bytes(b"x" * (SIZE_LIMIT + 1))
    assert f"{SIZE_LIMIT} bytes" in refused(home)
    (home / "film").unlink()
    for number in range(FILES + 1):
        (home / f"{number}.md").write_text("x")
    assert f"{FILES} files and" in refused(home)


def test_skill_with_circular_links_or_unprintable_file_names_is_refused(tmp_path: Path) -> None:
    home = made(tmp_path, GOOD)
    (home / "round").symlink_to(home / "round")
    assert "cannot be read" in refused(home)
    (home / "round").unlink()
    (home / "two\nlines.md").write_text("x")
    assert "cannot be printed" in refused(home)


def test_deeply_nested_files_are_not_part_of_a_skill(tmp_path: Path) -> None:
    home = made(tmp_path, GOOD)
    deep = home.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("x")
    assert read_skill(home).files == {}


def test_skills_of_a_folder_are_sorted_by_name(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        made(tmp_path, f"---\nname: {name}\ndescription: d\n---\n", name)
    (tmp_path / "README.md").write_text("Not a skill.")
    assert read_skills(tmp_path) == {name: Skill(name, "d", "") for name in "abc"}
    assert list(read_skills(tmp_path)) == ["a", "b", "c"]
    assert read_skills(tmp_path / "none") == {}
