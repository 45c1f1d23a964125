"""Model endpoints: only base URLs listed by the operator receive requests and keys."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import httpx2
import pytest

from gofer.app.model_endpoints import OPENAI, Endpoints, build_model, keys_of
from gofer.app.not_set_up import closed_endpoints
from gofer.app.settings import read_settings
from gofer.models.language_model import Model, Refused
from gofer.models.served_model import Endpoint
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

DEFAULT = cast(Model, object())
OURS = "https://models.example.com/v1"


def endpoints(**environment: str) -> Endpoints:
    settings = read_settings(environment)
    return Endpoints(settings, httpx2.AsyncClient(), keys_of(settings), DEFAULT)


def at(base_url: str, key: str = "") -> Endpoint:
    return Endpoint(name="ours", base_url=base_url, key=key)


@pytest.mark.parametrize(
    ("environment", "base_url"),
    [
        ({"MODEL_BASE_URLS": f"https://other.example.com, {OURS}/"}, OURS),
        ({"OPENAI_BASE_URL": OURS}, OURS),
        ({}, OPENAI),
    ],
)
def test_listed_base_url_is_asked(environment: Mapping[str, str], base_url: str) -> None:
    reach = endpoints(**environment)
    assert reach(at(base_url)) is reach(at(base_url))


@pytest.mark.parametrize("base_url", [f"{OURS}/", f"{OURS}.evil.com", "http://models.example.com/v1", f"{OURS}/../v2"])
def test_unlisted_base_url_is_refused_even_without_a_key(base_url: str) -> None:
    with pytest.raises(Refused, match="which MODEL_BASE_URLS does not list") as error:
        endpoints(MODEL_BASE_URLS=OURS, MODEL_KEY_OURS="sk")(at(base_url))
    assert (error.value.elsewhere, error.value.final) == (True, False)


def test_default_gateway_replaces_openai() -> None:
    with pytest.raises(Refused, match="which MODEL_BASE_URLS does not list"):
        endpoints(OPENAI_BASE_URL=OURS, MODEL_KEY_OURS="sk")(at(OPENAI, "MODEL_KEY_OURS"))
    assert endpoints(OPENAI_BASE_URL=OURS, MODEL_BASE_URLS=OPENAI)(at(OPENAI))


@pytest.mark.anyio
async def test_default_endpoint_without_a_key_gets_no_prompt() -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(401)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        model = build_model(read_settings({"MODEL_BASE_URLS": OURS}), http)
        with pytest.raises(Refused, match="set OPENAI_API_KEY") as error:
            await model.ask(b"{}", 5)
    assert (asked, error.value.elsewhere, error.value.final) == ([], True, False)


@pytest.mark.anyio
async def test_organization_and_project_headers_go_to_the_default_endpoint_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "of another program")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "of another program")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: one\nAuthorization: Bearer other")
    asked: list[httpx2.Headers] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.headers)
        return httpx2.Response(401)

    of_default = {"OPENAI_API_KEY": "sk", "OPENAI_ORG_ID": "org", "OPENAI_PROJECT_ID": "project"}
    settings = read_settings({**of_default, "MODEL_KEY_OURS": "sk-ours", "MODEL_BASE_URLS": OURS})
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        default = build_model(settings, http)
        reach = Endpoints(settings, http, keys_of(settings), default)
        for model in (default, reach(at(OURS, "MODEL_KEY_OURS")), reach(at(OURS))):
            with pytest.raises(Refused):
                await model.ask(b"{}", 5)
    names = ("authorization", "openai-organization", "openai-project", "x-custom")
    assert [[headers.get(name) for name in names] for headers in asked] == [
        ["Bearer sk", "org", "project", None],
        ["Bearer sk-ours", None, None, None],
        [None, None, None, None],
    ]
    assert "org" not in str(asked[1]) + str(asked[2])


def test_missing_model_is_reported_with_the_settings_that_add_one() -> None:
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY, OPENAI_BASE_URL .* MODEL_BASE_URLS"):
        build_model(read_settings({}), httpx2.AsyncClient())


def test_missing_model_key_is_named() -> None:
    with pytest.raises(Refused, match="set MODEL_KEY_OURS"):
        endpoints(MODEL_BASE_URLS=OURS, MODEL_KEY_OTHER="sk")(at(OURS, "MODEL_KEY_OURS"))


@pytest.mark.parametrize("key", ["“sk”", "s\nk", "s k", "sk-é"])
def test_model_key_with_invalid_characters_is_named_but_not_shown(key: str) -> None:
    settings = read_settings({"MODEL_BASE_URLS": OURS})
    reach = Endpoints(settings, httpx2.AsyncClient(), lambda _: Secret(key), DEFAULT)
    with pytest.raises(Refused, match="MODEL_KEY_OURS contains characters that a key cannot have") as error:
        reach(at(OURS, "MODEL_KEY_OURS"))
    assert error.value.elsewhere
    assert key not in str(error.value)


def test_changed_model_key_is_used_at_once() -> None:
    keys = {"MODEL_KEY_OURS": "one"}
    settings = read_settings({"MODEL_BASE_URLS": OURS, **keys})
    changing = dict(settings.model_keys)
    reach = Endpoints(settings, httpx2.AsyncClient(), changing.__getitem__, DEFAULT)
    before = reach(at(OURS, "MODEL_KEY_OURS"))
    changing |= read_settings({"MODEL_KEY_OURS": "two"}).model_keys
    assert reach(at(OURS, "MODEL_KEY_OURS")) is not before


def test_serving_reports_closed_model_endpoints(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\n')
    (tmp_path / "w.md").write_text("Do it.")
    (tmp_path / "defaults.yaml").write_text(
        f"endpoints: {{ours: {{base_url: {OURS}, key: MODEL_KEY_OURS}}}}\n"
        "models: {default: [gpt-5, {name: llama, endpoint: ours}]}\n"
    )
    catalog = load_catalog(tmp_path)
    (unlisted,) = closed_endpoints(endpoints(), catalog)
    (keyless,) = closed_endpoints(endpoints(MODEL_BASE_URLS=OURS), catalog)
    assert ("MODEL_BASE_URLS does not list" in unlisted, "set MODEL_KEY_OURS" in keyless) == (True, True)
    assert closed_endpoints(endpoints(MODEL_BASE_URLS=OURS, MODEL_KEY_OURS="sk"), catalog) == []


def test_closed_endpoints_of_subagents_and_search_are_reported_too(tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    (tmp_path / "subagents").mkdir()
    agents.mkdir()
    (agents / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\nsubagents: [s]\n')
    (agents / "w.md").write_text("Do it.")
    (tmp_path / "subagents" / "s.yaml").write_text("description: d\nmodel: small\n")
    (tmp_path / "subagents" / "s.md").write_text("Do it.")
    (agents / "defaults.yaml").write_text(
        f"endpoints: {{below: {{base_url: {OURS}/a}}, finds: {{base_url: {OURS}/b}}, unused: {{base_url: {OURS}/c}}}}\n"
        "models:\n  default: gpt-5\n  small: {name: llama, endpoint: below}\n  search: {name: llama, endpoint: finds}\n"
    )
    closed = closed_endpoints(endpoints(), load_catalog(agents))
    assert [sentence.split("`")[1] for sentence in closed] == ["below", "finds"]


@pytest.mark.parametrize(
    "listed",
    [
        "https://a.example.com/v1 https://b.example.com/v1",
        "https://a.example.com/v1;https://b.example.com/v1",
        "*",
        "https://a.example.com/*",
        "https://a.example.com/v1?version=1",
        "https://a.example.com/v1?",
        "https://a.example.com/v1#",
        "https://user:secret@a.example.com/v1",
        "https://@a.example.com/v1",
        "https://<resource>.example.com/v1",
    ],
)
def test_invalid_model_base_urls_are_refused_without_being_shown(listed: str) -> None:
    with pytest.raises(ConfigError, match="MODEL_BASE_URLS") as error:
        read_settings({"MODEL_BASE_URLS": f"{OURS},{listed}"})
    assert "secret" not in str(error.value)


def test_model_keys_and_base_urls_are_read_and_invalid_ones_refused() -> None:
    settings = read_settings({"MODEL_KEY_OURS": " sk ", "MODEL_KEY_EMPTY": "", "MODEL_BASE_URLS": OURS})
    assert {name: key.reveal() for name, key in settings.model_keys.items()} == {"MODEL_KEY_OURS": "sk"}
    assert settings.has_model
    assert "sk" not in repr(settings)
    for wrong in ({"MODEL_KEY_OURS": "s k"}, {"MODEL_BASE_URLS": "models.example.com"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            read_settings(wrong)
