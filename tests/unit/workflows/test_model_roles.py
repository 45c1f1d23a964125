"""Models in defaults.yaml: described values win, and missing ones are looked up."""

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
      window: 9000
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
def test_non_finite_model_parameter_is_a_mistake(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="Write a finite number"):
        load_catalog(agents(tmp_path, f"models: {{default: {{name: gpt-5, parameters: {{x: {value}}}}}}}\n"))


def test_model_described_in_defaults_wins_over_the_price_list_and_the_table(tmp_path: Path) -> None:
    loaded = load_catalog(agents(tmp_path, MODELS), look_up=look_up).workflows["w"]
    plain, described = loaded.models
    assert plain.ability is not None
    assert (plain.endpoint, plain.price, plain.ability.window, plain.ability.pdf) == (Endpoint(), PAID, 400_000, True)
    assert described.ability is not None
    assert (described.ability.window, described.ability.reads) == (9_000, ["image"])
    assert described.price == Price(input=2, cached_input=2, output=3)
    assert described.endpoint == Endpoint(name="ours", base_url="https://models.example.com/v1", key="MODEL_KEY_OURS")


def test_model_parameters_of_a_workflow_win_over_the_parameters_of_the_role(tmp_path: Path) -> None:
    bundle = Bundle(load_catalog(agents(tmp_path, MODELS)).workflows["w"], ())
    assert [one.params for one in bundle.chain()] == [
        {"model": "gpt-5.4-mini", "temperature": 0, "stream": False},
        {"model": "llama", "endpoint": "ours", "top_p": 0.5, "temperature": 0, "stream": False},
    ]


def test_bundle_keeps_endpoint_price_and_ability_of_the_models(tmp_path: Path) -> None:
    loaded = load_catalog(agents(tmp_path, MODELS), look_up=look_up).workflows["w"]
    assert decode_bundle(encode_bundle(Bundle(loaded, ()))).loaded.models == loaded.models


def test_model_of_an_earlier_bundle_is_a_plain_name() -> None:
    assert model_from_json("gpt-5") == ServedModel("gpt-5")


def test_published_files_carry_the_prices_that_were_looked_up(tmp_path: Path) -> None:
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
        (MODELS.replace("window: 9000", "windw: 9000"), "Write `window`"),
        (MODELS.replace("window: 9000", "window: 8191"), "A window of 8,191 tokens is too small: "),
        (MODELS.replace("window: 9000", "window: 4096"), "Start the model's server with 8,192 tokens or more"),
        (MODELS.replace("window: 9000", "window: -1"), "Write a number that is at least 8192."),
    ],
)
def test_model_mistake_in_defaults_is_reported_at_the_place(tmp_path: Path, defaults: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_catalog(agents(tmp_path, defaults))
    assert said in str(error.value)
    assert "defaults.yaml:" in str(error.value)


def test_model_named_in_a_workflow_gets_the_description_of_the_role(tmp_path: Path) -> None:
    described = "models: {default: gpt-5, small: {name: own, price: {input: 2, output: 3}, window: 9000}}\n"
    folder = agents(tmp_path, described)
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: own\n')
    (model,) = load_catalog(folder).workflows["w"].models
    assert model.price == Price(input=2, cached_input=2, output=3)
    assert model.ability
    assert model.ability.window == 9000


def test_model_described_at_another_endpoint_does_not_apply_to_a_plain_name(tmp_path: Path) -> None:
    folder = agents(tmp_path, MODELS)
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: llama\n')
    (model,) = load_catalog(folder).workflows["w"].models
    assert (model.endpoint, model.price) == (Endpoint(), None)
