import re
from pathlib import Path
from typing import get_args

import pytest

from gofer.engine.services import Links
from gofer.sources.workflow_files import decode_bundle, load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes
from gofer.workflows.schema import Plan
from gofer.workflows.subagent import LoadedSubagent
from support.stand_ins import mention
from support.workflows.started_workflows import started

ROOT = Path(__file__).parents[3]
MINIMAL = 'description: d\nowner: "#o"\nwhen: [slack.mention]\n'


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return tmp_path


def names(loaded: Loaded | LoadedSubagent) -> tuple[str, ...]:
    return tuple(model.name for model in loaded.models)


def load(tmp_path: Path, yaml: str, **files: str) -> Catalog:
    return load_catalog(folder(tmp_path, w__yaml=yaml, w__md="Do it.", **files))


def test_shipped_workflows_load_and_route() -> None:
    catalog = load_catalog(ROOT / "agents")
    assert "answer-here" in catalog.workflows
    assert started(read_routes(catalog.routes()), mention()) == ["answer-here"]


def test_minimal_workflow_file_has_defaults(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL + "plan: off\n").workflows["w"]
    assert (loaded.system, names(loaded), loaded.workflow.reply) == ("Do it.", ("default",), "thread")
    assert loaded.workflow.limits.llm_calls == 12


def test_defaults_yaml_applies_key_by_key(tmp_path: Path) -> None:
    defaults = "models: {default: big, small: little}\npreamble: house.md\nlimits: {usd: 2, llm_calls: 3}\n"
    yaml = MINIMAL + "model: {name: small, temperature: 0}\nlimits: {usd: 0.1}\nplan: off\n"
    loaded = load(tmp_path, yaml, defaults__yaml=defaults, house__md="House rules.").workflows["w"]
    assert loaded.system == "House rules.\n\nDo it."
    assert names(loaded) == ("little",)
    assert (loaded.workflow.limits.usd, loaded.workflow.limits.llm_calls) == (0.1, 3)


def test_output_schema_is_inline_or_in_a_file_and_shown_to_the_model(tmp_path: Path) -> None:
    inline = load(tmp_path, MINIMAL + "output: {type: object, required: [a]}\n").workflows["w"]
    named = load(tmp_path, MINIMAL + "output: w.json\n", w__json='{"type":"object","required":["a"]}').workflows["w"]
    assert inline == named
    assert inline.workflow.output == {"type": "object", "required": ["a"]}
    assert "\n\nDo it.\n\n# Output\n" in inline.system
    assert '{"required":["a"],"type":"object"}' in inline.system
    assert decode_bundle(encode_bundle(Bundle(inline, []))).loaded == inline


def test_prompt_describes_plans_by_the_plan_setting(tmp_path: Path) -> None:
    told = {plan: load(tmp_path, f"{MINIMAL}plan: {plan}\n").workflows["w"].system for plan in get_args(Plan)}
    assert told["off"] == "Do it."
    assert "three or more steps" in told["optional"]
    assert "other tools refuse" in told["required"]


@pytest.mark.parametrize(
    ("output", "file", "hint"),
    [
        ("{type: array}", "", "w.yaml:4:16: `output.type` cannot be used: an answer must be one object"),
        (
            "{type: object, required: a}",
            "",
            "w.yaml:4:34: `output.required` cannot be used: 'a' is not of type 'array'",
        ),
        ("w.json", "{", "w.json:1:2: A key in double quotes is missing"),
        ("w.json", "[]", "w.json:1:1: The schema cannot be used: it is not a mapping"),
        ("w.json", '{"type": "object",\n "items": 5}', "w.json:2:11: `items` cannot be used: 5 is not of type"),
        ("v.json", "{}", "w.yaml:4:9: There is no file `v.json` in the folder of this file. Write `output: w.json`"),
        ("../w.json", "{}", "w.yaml:4:9: `../w.json` is a path"),
    ],
)
def test_unusable_output_schema_names_the_file_and_place(tmp_path: Path, output: str, file: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, f"{MINIMAL}output: {output}\n", w__json=file)
    assert hint in str(error.value)


def test_trigger_without_conditions_has_three_equal_spellings(tmp_path: Path) -> None:
    plain = load(tmp_path, MINIMAL)
    braces = load(tmp_path, MINIMAL.replace("[slack.mention]", "[{slack.mention: {}}]"))
    colon = load(tmp_path, MINIMAL.replace("[slack.mention]", "\n  - slack.mention:"))
    assert plain == braces == colon


@pytest.mark.parametrize(
    ("yaml", "hint"),
    [
        ("description: [", "earlier bracket is not closed"),
        ("just text", "not a list of keys"),
        (MINIMAL + "tols: []\n", "Write `tools`"),
        (MINIMAL + "limits: {usd: -1}\n", "limits.usd"),
        (MINIMAL.replace("slack.mention", "slack.telepathy"), "is not a trigger"),
        ("description: d\nowner: o\n", "`when` is missing"),
        (MINIMAL + "prompt: missing.md\n", r"missing\.md cannot be read"),
        (MINIMAL + "coordinator: magic\n", "coordinator"),
        (MINIMAL + "limits: {minutes: .inf}\n", "limits.minutes"),
        (MINIMAL + "limits: {usd: .nan}\n", "limits.usd"),
    ],
)
def test_wrong_workflow_file_is_named_with_the_mistake(tmp_path: Path, yaml: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint) as raised:
        load(tmp_path, yaml)
    assert str(tmp_path) in str(raised.value)


def test_mistakes_of_all_workflow_files_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, MINIMAL + "tols: []\nreply: 5\n", defaults__yaml="limits: [\n", x__yaml="owner: #o\n")
    told = str(raised.value).splitlines()
    assert told[0] == "6 mistakes are in the workflow files; correct each of them."
    assert [line.split("/")[-1].split(": ")[0] for line in told[1:]] == [
        "defaults.yaml:2:1",
        "w.yaml:4:1",
        "w.yaml:5:8",
        "x.yaml:1:1",
        "x.yaml:1:1",
        "x.yaml:1:7",
    ]


def test_missing_agents_folder_error_names_the_place_to_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in the repository"):
        load_catalog(tmp_path / "agents")


def test_prompt_in_another_encoding_is_named(tmp_path: Path) -> None:
    folder(tmp_path, w__yaml=MINIMAL)
    (tmp_path / "w.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"w\.md cannot be read as text"):
        load_catalog(tmp_path)


@pytest.mark.parametrize("template", ["https://g/{branch}/{file}", "https://g/{file}", "https://g/}{"])
def test_prompt_link_template_fills_in_the_file_only(template: str) -> None:
    url = Links("http://x", template).provenance("w", "agents/w.md", "r", private=True).prompt_url
    assert url == template.replace("{file}", "agents/w.md")


def test_bundle_is_read_back_as_pinned(tmp_path: Path) -> None:
    loaded = load(tmp_path, MINIMAL + "model: {name: m, seed: 7}\ntools: [look]\n").workflows["w"]
    bundle = Bundle(loaded, [{"type": "function", "function": {"name": "look"}}])
    assert decode_bundle(encode_bundle(bundle)) == bundle
    assert [one.params for one in bundle.chain()] == [{"model": "m", "seed": 7, "stream": False}]


def test_model_role_lists_models_in_the_order_of_use(tmp_path: Path) -> None:
    defaults = "models: {default: [little, big], small: little}\n"
    roles = load(tmp_path, MINIMAL, defaults__yaml=defaults, x__yaml=MINIMAL + "model: other\n", x__md="Do.").workflows
    assert (names(roles["w"]), names(roles["x"])) == (("little", "big"), ("other",))
    bundle = Bundle(roles["w"], [])
    assert decode_bundle(encode_bundle(bundle)) == bundle
    params = [one.params for one in bundle.chain()]
    assert params == [{"model": "little", "stream": False}, {"model": "big", "stream": False}]


@pytest.mark.parametrize("chain", ["[]", '[""]', '""', "[little, 7]", "{a: b}"])
def test_model_role_without_a_model_is_a_mistake(tmp_path: Path, chain: str) -> None:
    with pytest.raises(ConfigError, match=r"models\.default"):
        load(tmp_path, MINIMAL, defaults__yaml=f"models: {{default: {chain}}}\n")


SCRIPTED = """
description: d
owner: "#o"
when: [slack.mention]
coordinator: script
coordinator_script: coordinators/s.py
"""


def scripted(tmp_path: Path, script: str | None = "from coordinators import near\n", yaml: str = SCRIPTED) -> Path:
    for folder in ("agents", "coordinators", "subagents"):
        (tmp_path / folder).mkdir()
    (tmp_path / "agents" / "w.yaml").write_text(yaml)
    (tmp_path / "agents" / "defaults.yaml").write_text("models: {small: [a, b]}\n")
    if script is not None:
        (tmp_path / "coordinators" / "s.py").write_text(script)
    (tmp_path / "coordinators" / "near.py").write_text("import coordinators.far\nfrom coordinators.near import x\n")
    (tmp_path / "coordinators" / "far.py").write_text("")
    (tmp_path / "coordinators" / "unused.py").write_text("")
    (tmp_path / "subagents" / "s.yaml").write_text("description: d\nmodel: {name: small, temperature: 0}\n")
    (tmp_path / "subagents" / "s.md").write_text("Be brief.\n")
    return tmp_path / "agents"


def test_script_workflow_without_a_prompt_loads_imported_scripts_and_subagents(tmp_path: Path) -> None:
    catalog = load_catalog(scripted(tmp_path))
    loaded, script = catalog.workflows["w"], catalog.scripts["coordinators/s.py"]
    assert set(script.sources) == {"s", "near", "far"}
    assert (loaded.system, loaded.prompt_file, loaded.script_sha256) == ("", "coordinators/s.py", script.sha256)
    subagent = loaded.subagents["s"]
    assert (subagent.system, names(subagent)) == ("Be brief.", ("a", "b"))
    assert subagent.chain()[1].params == {"model": "b", "temperature": 0, "stream": False}
    assert decode_bundle(encode_bundle(Bundle(loaded, []))).loaded == loaded


def test_script_hash_covers_imported_scripts_only(tmp_path: Path) -> None:
    folder = scripted(tmp_path)
    before = load_catalog(folder).workflows["w"].script_sha256
    (tmp_path / "coordinators" / "unused.py").write_text("x = 1")
    assert load_catalog(folder).workflows["w"].script_sha256 == before
    (tmp_path / "coordinators" / "far.py").write_text("x = 1")
    assert load_catalog(folder).workflows["w"].script_sha256 != before


@pytest.mark.parametrize(
    ("script", "yaml", "said"),
    [
        (None, SCRIPTED, "coordinators/s.py cannot be read as text"),
        ("x = (", SCRIPTED, "coordinators/s.py is not valid Python in line 1"),
        ("", SCRIPTED.replace("coordinators/", "scripts/"), "a script is a file coordinators/<name>.py"),
        ("", SCRIPTED.replace("coordinator_script", "# "), "a script is a file coordinators/<name>.py"),
    ],
)
def test_unusable_coordinator_script_is_named(tmp_path: Path, script: str | None, yaml: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_catalog(scripted(tmp_path, script, yaml))


def test_missing_output_or_prompt_of_a_subagent_is_named(tmp_path: Path) -> None:
    folder = scripted(tmp_path)
    (tmp_path / "subagents" / "s.yaml").write_text("description: d\noutput: s.json\n")
    with pytest.raises(ConfigError, match=r"s\.json"):
        load_catalog(folder)
    (tmp_path / "subagents" / "s.json").write_text('{"type": "object"}')
    assert load_catalog(folder).workflows["w"].subagents["s"].output == {"type": "object"}
    (tmp_path / "subagents" / "s.md").unlink()
    with pytest.raises(ConfigError, match=r"The prompt .*s\.md cannot be read"):
        load_catalog(folder)
