"""`gofer check` of whole folders: each folder of tests/broken lists its mistakes in `expected`."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.app.catalog import checked_catalog, known_tools, mistakes
from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.check.folder import check_folder
from gofer.models.price_library import look_up
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import SIZE_LIMIT
from gofer.workflows.mistake import RULES, Mistake
from gofer.workflows.yaml_source import read_source
from support.stand_ins import SetClock
from support.workflows.author_mistakes import TABLE, found

ROOT = Path(__file__).parents[3]
BROKEN = sorted((ROOT / "tests" / "broken").iterdir())
MINIMAL = 'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: gpt-5\n'


def agents_of(folder: Path) -> Path:
    """Return the folder of the workflow files: `agents/` where a broken folder has more than workflows."""
    return folder / "agents" if (folder / "agents").is_dir() else folder


def with_evals(agents: Path) -> list[Mistake]:
    """Return the mistakes of the workflows and of the evals beside them."""
    return [*mistakes(agents), *eval_mistakes(agents, SetClock())]


def expected(folder: Path) -> list[tuple[str, str, str]]:
    lines = (folder / "expected").read_text().splitlines()
    found = [re.fullmatch(r"(.+?:\d+:\d+) (\S+) (.+)", line) for line in lines]
    return [(match[1], match[2], match[3]) for match in found if match]


def placed(mistake: Mistake) -> str:
    return f"{mistake.file.name}:{mistake.place.line}:{mistake.place.column}"


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.name)
def test_broken_folder_has_exactly_the_expected_mistakes(folder: Path) -> None:
    found = with_evals(agents_of(folder))
    wanted = sorted(expected(folder))
    assert sorted((placed(m), m.rule) for m in found) == [(place, rule) for place, rule, _ in wanted]
    for place, rule, part in wanted:
        assert any(part in str(m) for m in found if (placed(m), m.rule) == (place, rule)), part


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.name)
def test_mistake_of_a_broken_folder_is_one_line_of_plain_sentences(folder: Path) -> None:
    for mistake in with_evals(agents_of(folder)):
        assert str(mistake).isprintable()
        assert mistake.message[0] in "`" + mistake.message[0].upper()
        assert mistake.message.endswith(".")
        assert mistake.hint.endswith(".")
        assert len(str(mistake)) < 500


def test_each_rule_of_the_check_has_a_broken_folder_or_a_row_of_the_table(tmp_path: Path) -> None:
    shown = {rule for folder in BROKEN for _, rule, _ in expected(folder)}
    rows = [row for rows in TABLE.values() for row in rows]
    listed = {mistake.rule for at, row in enumerate(rows) for mistake in found(tmp_path / str(at) / "agents", row)}
    assert len(BROKEN) >= 40
    # `check --models` asks the endpoints for their models.
    assert shown | listed | {"unknown-model"} == set(RULES)


def test_shipped_workflows_have_no_mistake() -> None:
    assert mistakes(ROOT / "agents") == []


@pytest.mark.parametrize(("name", "yaml"), [("w.yaml", MINIMAL + "#" * SIZE_LIMIT), ("w.md", MINIMAL)])
def test_workflow_or_prompt_above_the_size_limit_is_not_read(tmp_path: Path, name: str, yaml: str) -> None:
    found = checked(tmp_path, yaml.encode(), b"x" * (SIZE_LIMIT + 1))
    assert [(placed(m), m.rule) for m in found] == [(f"{name}:1:1", "too-large")]


def test_file_of_thousands_of_aliases_is_one_mistake(tmp_path: Path) -> None:
    aliases = "".join(f"  - *a{number}\n" for number in range(5_000))
    found = checked(tmp_path, f"{MINIMAL}tools:\n{aliases}".encode())
    assert [(placed(m), m.rule) for m in found] == [("w.yaml:6:5", "anchor")]
    assert "the first of 5,000 anchors and aliases" in found[0].message


def prepared(folder: Path) -> Path:
    """Return a folder that uses each kind of file that an author writes."""
    for name in ("agents", "subagents", "coordinators", "skills/citing", "evals", "tools"):
        (folder / name).mkdir(parents=True)
    texts = {
        "agents/w.yaml": f"{MINIMAL}output: form.json\nsubagents: [s]\nskills: {{allowed: [citing]}}\n",
        "agents/w.md": "Do it.",
        "agents/form.json": SCHEMA.decode(),
        "agents/defaults.yaml": "preamble: all.md\n",
        "agents/all.md": "Be brief.",
        "agents/h.yaml": f"{MINIMAL}coordinator: script\ncoordinator_script: coordinators/h.py\n",
        "coordinators/h.py": "async def coordinate(run):\n    return None\n",
        "subagents/s.yaml": "description: d\nmodel: gpt-5\n",
        "subagents/s.md": "Do it.",
        "skills/citing/SKILL.md": "---\nname: citing\ndescription: Cites.\n---\nCite.\n",
        "tools/oncall.py": "",
        "evals/e.yaml": "workflow: w\nworld: world.yaml\ncases:\n  - {name: a, trigger: {payload: p.json}}\n",
        "evals/world.yaml": "slack: {}\n",
        "evals/p.json": "{}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        *("agents/w.yaml", "agents/w.md", "agents/form.json", "agents/defaults.yaml", "agents/all.md"),
        *("coordinators/h.py", "subagents/s.yaml", "subagents/s.md", "skills/citing/SKILL.md", "tools/oncall.py"),
        *("evals/e.yaml", "evals/world.yaml", "evals/p.json"),
    ],
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipe_or_device_in_the_place_of_a_file_is_a_mistake(tmp_path: Path, name: str, kind: str) -> None:
    folder = prepared(tmp_path)
    before = with_evals(folder / "agents")
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    found = set(with_evals(folder / "agents")) - set(before)
    # A payload that is a link to a device is also a link out of its folder.
    assert any(re.search("pipe or a device|is not below the folder", str(mistake)) for mistake in found)
    assert len(found) <= 2


def test_schema_file_above_the_size_limit_is_not_read(tmp_path: Path) -> None:
    found = checked_schema(tmp_path, SCHEMA + b" " * SIZE_LIMIT)
    assert [(placed(m), m.rule) for m in found] == [("form.json:1:1", "too-large")]


def test_file_name_with_control_characters_is_reported_printably(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m\nb.yaml").write_text(MINIMAL + "\u202eb: 1\n")
    found = mistakes(tmp_path)
    assert {m.rule for m in found} == {"file-name", "missing-prompt", "unknown-key"}
    assert all(str(m).isprintable() for m in found)


def test_each_model_without_a_price_is_one_hint(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(MINIMAL.replace("gpt-5", "default"))
    (tmp_path / "w.md").write_text("Do it.")
    (tmp_path / "defaults.yaml").write_text("models: {default: [gpt-5, llama-9, llama-10]}\nlimits: {usd: 1}\n")
    unpriced = [m for m in mistakes(tmp_path) if m.rule == "unpriced-model"]
    assert [(m.place.column, m.is_hint) for m in unpriced] == [(27, True), (36, True)]


def test_script_may_call_tools_of_every_run_without_a_grant(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "coordinators").mkdir()
    script = "coordinator: script\ncoordinator_script: coordinators/s.py\n"
    (tmp_path / "agents" / "w.yaml").write_text(f'description: d\nowner: "#o"\nwhen: [slack.mention]\n{script}')
    call = 'async def coordinate(run):\n    await run.call("{}", file="file_1")\n'
    for tool, rules in (("file_read", []), ("load_file", ["tool-not-granted"]), ("slack_get_file", ["unknown-tool"])):
        (tmp_path / "coordinators" / "s.py").write_text(call.format(tool))
        assert [mistake.rule for mistake in mistakes(tmp_path / "agents")] == rules


def checked(folder: Path, yaml: bytes, prompt: bytes = b"Do it.") -> list[Mistake]:
    (folder / "w.yaml").write_bytes(yaml)
    (folder / "w.md").write_bytes(prompt)
    return check_folder(folder, known_tools(), look_up)


SHIPPED = (ROOT / "agents" / "answer-here.yaml").read_text()
TOKENS = """when limits usd description owner slack.mention yes 0x10 1e999 2026-13-45 1:1:1 , : [ ] { } * & | > % @
` ' " # \\ ~ - ? << *a &a !!int --- ..."""
WORDS = st.sampled_from([*TOKENS.split(), ": ", "\n", "\n  ", "\t", "- ", "? ", " "])


@given(st.text() | st.lists(WORDS).map("".join))
@example("[" * 50_000)
@example("{a: " * 20_000)
@example("- " * 40_000)
@example("? " * 30_000)
@example("a: " + "9" * 90_000)
@example("limits: {usd: 1." + "0" * 5_000 + "}")
@example("a: &a [*a]")
@example("a: &" + "a" * 9_000)
@example(("b" * 900 + ": 1\n") * 2)
@example("tools: [" + ("c" * 900 + ",") * 2 + "]\nmodel: " + "d" * 900 + "\nwhen: [" + ("e" * 900 + ",") * 2 + "]")
@example("when: [{slack.mention: {? [a] : b}}]")
@example("a: 2026-13-45\nb: 0b\nc: 1_:_\nd: =\n")
@example("\ud800")
@example("\x85a: b\u2028c: d")
@example("%YAML 9.9\n---\na: b")
def test_workflow_file_of_any_text_is_checked_without_an_exception(tmp_path: Path, text: str) -> None:
    for mistake in checked(tmp_path, text.encode(errors="surrogatepass")):
        assert mistake.rule in RULES
        assert len(mistake.message + mistake.hint) < 500
        assert mistake.place.line >= 1
        assert mistake.place.column >= 1


@given(st.binary(max_size=60), st.integers(0, len(SHIPPED)), st.binary(max_size=30))
def test_damaged_workflow_file_is_checked_without_an_exception(
    tmp_path: Path, dirt: bytes, at: int, prompt: bytes
) -> None:
    assert all(m.rule in RULES for m in checked(tmp_path, SHIPPED[:at].encode() + dirt + SHIPPED[at:].encode(), prompt))


SCHEMA = b'{"type": "object",\n "properties": {"a": {"type": "string", "pattern": "^a"}}, "$defs": {"b": {}}}\n'
PARTS = [*'{}[],:"', "1", "-1.5", "1e999", "NaN", "true", "null", "//", "\\", "\ufeff", "\0"]
PARTS += [f'"{word}"' for word in ("type", "object", "$ref", "#/$defs/b", "$defs", "b", "pattern", "(", "allOf", "not")]


def checked_schema(folder: Path, schema: bytes) -> list[Mistake]:
    (folder / "form.json").write_bytes(schema)
    return checked(folder, f"{MINIMAL}output: form.json\n".encode())


@given(st.binary() | st.lists(st.sampled_from(PARTS)).map(lambda parts: " ".join(parts).encode()))
@example(b"[" * 90_000)
@example(b'{"type": "object", "not": ' + b'{"not": ' * 60_000)
@example(b'{"type": "object", "items": ' * 90 + b"{}" + b"}" * 90)
@example(b'{"a": ' * 16_000)
@example(b'{"type": "object", "' + b"a" * 9_000 + b'": 1, "' + b"a" * 9_000 + b'": 2, "type": "' + b"t" * 900 + b'"}')
@example(b'{"type": "object", "$ref": "' + b"r" * 9_000 + b'", "pattern": "(' + b"p" * 9_000 + b'"}')
@example(b'{"type": "object", "properties": {"' + b"k" * 9_000 + b'": {"type": "' + b"t" * 9_000 + b'"}}}')
@example(b'{"type": "object", "default": ' + b"9" * 90_000 + b"}")
@example(b'{"type": "object", "title": "\\ud800", "$ref": "\\ud800"}')
@example(b'{"type": "object", "\\ud800": 1, "properties": {"\\ud800": 5}}')
def test_schema_file_of_any_bytes_is_checked_without_an_exception(tmp_path: Path, schema: bytes) -> None:
    for mistake in checked_schema(tmp_path, schema):
        assert mistake.rule in RULES
        assert mistake.file.name == "form.json"
        assert str(mistake).isprintable()
        assert len(mistake.message + mistake.hint) < 500
        assert min(mistake.place.line, mistake.place.column) >= 1


@given(st.binary(max_size=30), st.integers(0, len(SCHEMA)))
def test_damaged_schema_file_is_checked_without_an_exception(tmp_path: Path, dirt: bytes, at: int) -> None:
    found = checked_schema(tmp_path, SCHEMA[:at] + dirt + SCHEMA[at:])
    assert all(m.rule in RULES for m in found)
    if not dirt:
        assert found == []


@given(st.text(max_size=40))
@example("a" * 300)
@example("..")
@example("\0")
def test_schema_file_name_of_any_text_is_checked_without_an_exception(tmp_path: Path, name: str) -> None:
    found = checked(tmp_path, f"{MINIMAL}output: {json.dumps(name)}\n".encode())
    assert found or (tmp_path / name).is_file()


def test_startup_refuses_a_schema_with_the_messages_of_the_check(tmp_path: Path) -> None:
    checked_schema(tmp_path, b'{"type": "object",\n "required": "a", "$ref": "https://example.com/a.json"}')
    found = mistakes(tmp_path)
    assert [placed(m) for m in found] == ["form.json:2:14", "form.json:2:27"]
    for start in (checked_catalog, load_catalog):
        with pytest.raises(ConfigError) as refused:
            start(tmp_path)
        assert str(refused.value).splitlines()[1:] == [f"  {m}" for m in found]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["description", "owner", "when", "prompt", "model", "tools", "reply", "limits", "output", "x"])


@given(st.dictionaries(KEYS, VALUES))
def test_workflow_key_with_any_value_is_checked_without_an_exception(tmp_path: Path, values: dict[str, object]) -> None:
    flow = json.dumps(values)
    assert all(m.rule in RULES for m in checked(tmp_path, flow.encode()))


@pytest.mark.parametrize("prompt", [True, False])
def test_script_workflow_needs_no_prompt_but_may_have_one(tmp_path: Path, prompt: bool) -> None:
    for name in ("agents", "coordinators"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "w.yaml").write_text(SCRIPTED.replace("model: gpt-5\n", "limits: {usd: 1}\n"))
    (tmp_path / "coordinators" / "s.py").write_text("async def coordinate(run):\n    return None\n")
    if prompt:
        (tmp_path / "agents" / "w.md").write_text("Do it.")
    assert mistakes(tmp_path / "agents") == []
    (tmp_path / "agents" / "w.yaml").write_text(MINIMAL)
    assert [mistake.rule for mistake in mistakes(tmp_path / "agents")] == ([] if prompt else ["missing-prompt"])


PYTHON = r"""async def coordinate ( run : Run ) -> str : await run . call ( 'slack_read_thread' , ts = 1 ) import time
from coordinators import x . gofer os \d f"{ " ''' lambda @ := * ** [ ] { } match case class return 0b # ; print ü"""
CODE = st.sampled_from([*PYTHON.split(), "\n", "\n    ", "\t", "\\\n"])
SCRIPTED = MINIMAL + "coordinator: script\ncoordinator_script: coordinators/s.py\n"


@given(st.text() | st.lists(CODE).map(" ".join))
@example("(" * 5_000)
@example("x = " + "-" * 50_000 + "1")
@example("def coordinate(run: " + "+".join(["a"] * 5_000) + "): pass")
@example("x" + ".y" * 20_000)
@example("import " + "a" * 5_000 + "\nfrom " + "b" * 5_000 + " import c\nfrom . import d\nfrom coordinators import *")
@example("async def coordinate(run):\n run.call('" + "c" * 5_000 + "')\n run.subagent('" + "d" * 5_000 + "')")
@example("x = '\\d'\n\x00")
@example("\ufeffx = 1\r\ny = 2\x0c")
def test_script_of_any_text_is_checked_without_an_exception(tmp_path: Path, text: str) -> None:
    for name in ("agents", "coordinators"):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "coordinators" / "s.py").write_bytes(text.encode(errors="surrogatepass"))
    for mistake in checked(tmp_path / "agents", SCRIPTED.encode()):
        assert mistake.rule in RULES
        assert len(mistake.message + mistake.hint) < 500
        assert mistake.place.line >= 1
        assert mistake.place.column >= 1


def test_yaml_dates_and_times_stay_text_and_keys_like_on_stay_names(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text("on: 2026-01-01\nno: 1:30\ny: 0o7\nf: 1_000\ng: -0.5\nh: ~\ni: 'yes'\nj: yes\nk: 1e3\n")
    assert read_source(file).value == {
        "on": "2026-01-01",
        "no": "1:30",
        "y": "0o7",
        "f": 1000,
        "g": -0.5,
        "h": None,
        "i": "yes",
        "j": True,
        "k": "1e3",
    }
