from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.app.otlp_settings import Otlp, local_collector, read_otlp
from gofer.app.settings import child_environment, read_settings
from gofer.values.errors import ConfigError

BASE, TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
HEADERS, ATTRIBUTES = "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES"


def revealed(otlp: Otlp) -> dict[str, str]:
    return {name: value.reveal() for name, value in otlp.headers.items()}


def test_otlp_export_is_off_without_an_endpoint() -> None:
    assert read_otlp({}) == Otlp("", {}, {"service.name": "gofer"})


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({BASE: "http://127.0.0.1:4318"}, "http://127.0.0.1:4318/v1/traces"),
        ({BASE: "https://cloud.langfuse.com/api/public/otel/"}, "https://cloud.langfuse.com/api/public/otel/v1/traces"),
        ({TRACES: "https://otlp.example/x", BASE: "http://127.0.0.1:4318"}, "https://otlp.example/x"),
        ({BASE: "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"}, ""),
    ],
)
def test_otlp_base_url_gets_the_traces_path_and_a_traces_url_is_used_unchanged(
    environment: Mapping[str, str], url: str
) -> None:
    assert read_otlp(environment).url == url


def test_otlp_headers_are_url_decoded_pairs_and_not_printed() -> None:
    otlp = read_otlp({HEADERS: "Authorization=Basic%20cGs6c2s=, x-version=4"})
    assert revealed(otlp) == {"Authorization": "Basic cGs6c2s=", "x-version": "4"}
    assert "cGs6" not in repr(otlp)
    assert revealed(read_otlp({HEADERS: "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2"})) == {"b": "2"}


def test_otlp_resource_attributes_are_read_from_the_environment() -> None:
    assert read_otlp({ATTRIBUTES: "deployment.environment.name=prod,team=caf%C3%A9"}).resource == {
        "service.name": "gofer",
        "deployment.environment.name": "prod",
        "team": "café",
    }
    named = {ATTRIBUTES: "service.name=other", "OTEL_SERVICE_NAME": "gofer-prod"}
    assert read_otlp(named).resource == {"service.name": "gofer-prod"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (BASE, "localhost:4318"),
        (TRACES, "ftp://x"),
        (BASE, "http://127.0.0.1:99999"),
        (HEADERS, "secret-key"),
        (HEADERS, "key=caf%C3%A9"),
        (HEADERS, "key=a%0Ab"),
        (ATTRIBUTES, "=prod"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "10001"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1" * 5000),
    ],
)
def test_invalid_otlp_setting_is_named_without_the_value(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name) as refused:
        read_otlp({name: value})
    assert "secret" not in str(refused.value)


def test_otlp_traces_protocol_overrides_the_general_one() -> None:
    protocols = {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert read_otlp(protocols) == read_otlp({})


def test_otlp_timeout_is_read_in_milliseconds() -> None:
    assert read_otlp({}).timeout is None
    assert read_otlp({"OTEL_EXPORTER_OTLP_TIMEOUT": "2500"}).timeout == 2.5
    both = {"OTEL_EXPORTER_OTLP_TIMEOUT": "x", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "10000"}
    assert read_otlp(both).timeout == 10


def test_otlp_export_from_the_demo_stays_on_this_machine() -> None:
    here = read_otlp({BASE: "http://localhost:6006"})
    assert local_collector(here) == here
    assert local_collector(read_otlp({BASE: "https://otlp.example", HEADERS: "key=1"})) == Otlp()


def test_child_process_of_the_demo_inherits_the_otlp_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BASE, "https://otlp.example")
    settings = read_settings({BASE: "https://otlp.example"})
    simulated = replace(settings, otlp=local_collector(settings.otlp))
    assert read_otlp(child_environment(simulated)).url == ""
    assert read_otlp(child_environment(settings)).url == "https://otlp.example/v1/traces"
