"""Models as defaults.yaml describes them: what a file says counts, and what it leaves out is looked up."""

from pathlib import Path

import pytest

from gofer.models.served_model import Endpoint, Listed, Price, ServedModel, model_from_json
from gofer.sources.workflow_files import decode_bundle, load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.model_roles import FILE, Recorder

PAID = Price(input=1.0, cached_input=0.1, output=4.0, above=((1_000, Price(input=2, cached_input=0.2, output=8)),))
MODELS = """
endpoints: {ours: {base_url: "https://models.example.com/v1/", key: MODEL_KEY_OURS}}
models:
  default:
    - gpt-5.4-mini
    - name: llama
      endpoint: ours
      price: {input: 2, output: 3}
      window: 8000
      reads: [image]
      parameters: {top_p: 0.5, temperature: 1}
"""


def look_up(model: str, base_url: str) -> Listed | None:
    return Listed(price=PAID, window=400_000) if (model, base_url) == ("gpt-5.4-mini", "") else None


def agents(tmp_path: Path, defaults: str) -> Path:
    (tmp_path / "w.yaml").write_text(
        'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: {name: default, temperature: 0}\n'
    )
    (tmp_path / "w.md").write_text("Do it.")
    (tmp_path / "defaults.yaml").write_text(defaults)
    return tmp_path


@pytest.mark.parametrize("value", [".nan", ".inf", "[{deep: -.inf}]"])
def test_a_parameter_that_no_request_can_hold_is_a_mistake(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="Write a finite number"):
        load_catalog(agents(tmp_path, f"models: {{default: {{name: gpt-5, parameters: {{x: {value}}}}}}}\n"))


def test_a_file_wins_over_the_price_list_and_the_table(tmp_path: Path) -> None:
    loaded = load_catalog(agents(tmp_path, MODELS), look_up=look_up).workflows["w"]
    plain, described = loaded.models
    assert plain.ability is not None
    assert (plain.endpoint, plain.price, plain.ability.window, plain.ability.pdf) == (Endpoint(), PAID, 400_000, True)
    assert described.ability is not None
    assert (described.ability.window, described.ability.reads) == (8_000, ["image"])
    assert described.price == Price(input=2, cached_input=2, output=3)
    assert described.endpoint == Endpoint(name="ours", base_url="https://models.example.com/v1", key="MODEL_KEY_OURS")


def test_a_workflow_says_more_exactly_what_a_model_is_asked_with(tmp_path: Path) -> None:
    bundle = Bundle(load_catalog(agents(tmp_path, MODELS)).workflows["w"], ())
    assert [one.params for one in bundle.chain()] == [
        {"model": "gpt-5.4-mini", "temperature": 0, "stream": False},
        {"model": "llama", "endpoint": "ours", "top_p": 0.5, "temperature": 0, "stream": False},
    ]


def test_a_bundle_keeps_what_is_known_of_its_models(tmp_path: Path) -> None:
    loaded = load_catalog(agents(tmp_path, MODELS), look_up=look_up).workflows["w"]
    assert decode_bundle(encode_bundle(Bundle(loaded, ()))).loaded.models == loaded.models


def test_a_bundle_of_an_earlier_gofer_has_names_only() -> None:
    assert model_from_json("gpt-5") == ServedModel("gpt-5")


def test_published_files_bring_the_prices_that_were_looked_up(tmp_path: Path) -> None:
    folder = agents(tmp_path, MODELS)
    recorder = Recorder(look_up)
    before = load_catalog(folder, look_up=recorder)
    (folder / FILE).write_text(recorder.text())
    assert load_catalog(folder).workflows["w"].models == before.workflows["w"].models
    (folder / FILE).write_text("[")
    assert load_catalog(folder).workflows["w"].models[0].price is None


@pytest.mark.parametrize(
    ("defaults", "said"),
    [
        (MODELS.replace("endpoint: ours", "endpoint: our"), "has no endpoint `our`. Write `ours`."),
        (MODELS.replace("endpoint: ours", "endpoint: x"), "Add `endpoints: {x: {base_url: …, key: MODEL_KEY_…}}`."),
        (MODELS.replace("MODEL_KEY_OURS", "SLACK_BOT_TOKEN"), "This is not the name of a variable for a model key."),
        (MODELS.replace("MODEL_KEY_OURS", "sk-abc"), "This is not the name of a variable for a model key."),
        (MODELS.replace("https://models.example.com/v1/", "models.example.com"), "This is not a base URL."),
        (MODELS.replace("https://models.", "https://user:pass@models."), "This is not a base URL."),
        (MODELS.replace("top_p: 0.5", "messages: []"), "Gofer writes the parameter `messages` itself."),
        (MODELS.replace("ours", "openai"), "`openai` is the endpoint that the deployment sets up."),
        (MODELS.replace("reads: [image]", "reads: [audio]"), "`audio`"),
        (MODELS.replace("window: 8000", "windw: 8000"), "Write `window`"),
    ],
)
def test_what_is_wrong_with_a_model_is_said_at_its_place(tmp_path: Path, defaults: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_catalog(agents(tmp_path, defaults))
    assert said in str(error.value)
    assert "defaults.yaml:" in str(error.value)


def test_a_workflow_that_names_a_model_gets_it_as_a_role_describes_it(tmp_path: Path) -> None:
    described = "models: {default: gpt-5, small: {name: own, price: {input: 2, output: 3}, window: 8000}}\n"
    folder = agents(tmp_path, described)
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: own\n')
    (model,) = load_catalog(folder).workflows["w"].models
    assert model.price == Price(input=2, cached_input=2, output=3)
    assert model.ability
    assert model.ability.window == 8000


def test_a_model_described_at_another_endpoint_is_not_the_one_that_a_workflow_names(tmp_path: Path) -> None:
    folder = agents(tmp_path, MODELS)
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: llama\n')
    (model,) = load_catalog(folder).workflows["w"].models
    assert (model.endpoint, model.price) == (Endpoint(), None)
