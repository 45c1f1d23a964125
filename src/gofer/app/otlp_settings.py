"""The settings of the trace collector, from the standard variables of OpenTelemetry for traces over HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

_PROTOCOL = "http/protobuf"
_LONGEST = 10_000
"""The longest timeout in milliseconds, because all requests of a run together have no more."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Otlp:
    """The address of a collector, and the resource attributes of the spans sent to it."""

    url: str = ""
    """The address that accepts traces. Empty means that none are sent."""
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    resource: Mapping[str, str] = field(default_factory=lambda: {"service.name": "gofer"})
    timeout: float | None = None
    """Seconds that one request may take, or None for the default."""


def read_otlp(environment: Mapping[str, str]) -> Otlp:
    """Return the collector that the environment names. Raises ConfigError, which names the wrong variable."""
    _check_protocol(environment)
    resource = {"service.name": "gofer", **_pairs("OTEL_RESOURCE_ATTRIBUTES", environment)}
    if name := environment.get("OTEL_SERVICE_NAME", "").strip():
        resource["service.name"] = name
    variable = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    if not environment.get(variable):
        variable = "OTEL_EXPORTER_OTLP_HEADERS"
    headers = _pairs(variable, environment)
    secrets = {name: Secret(value) for name, value in headers.items()}
    return Otlp(_endpoint(environment), secrets, resource, _timeout(environment))


def local_collector(otlp: Otlp) -> Otlp:
    """Return `otlp` if its collector runs on this machine, and no collector otherwise.

    Simulated runs use the result, so that they never appear in the company's trace account.
    """
    return otlp if urlsplit(otlp.url).hostname in _LOOPBACK else Otlp()


def _check_protocol(environment: Mapping[str, str]) -> None:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        protocol = environment.get(name, "").strip()
        if protocol not in ("", _PROTOCOL):
            raise ConfigError(f"{name} is {protocol[:40]!r}; Gofer sends {_PROTOCOL} only.")
        if protocol:
            return


def _timeout(environment: Mapping[str, str]) -> float | None:
    """Return the timeout in seconds. The variables hold milliseconds."""
    for name in ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"):
        value = environment.get(name, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isdigit() and 0 < int(value[:9]) <= _LONGEST):
            raise ConfigError(f"{name} is not a number of milliseconds from 1 to {_LONGEST}; correct it.")
        return int(value) / 1000
    return None


def _endpoint(environment: Mapping[str, str]) -> str:
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    for_traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    for_all = "OTEL_EXPORTER_OTLP_ENDPOINT"
    # OpenTelemetry uses the endpoint for traces unchanged, and adds a path to the general one.
    if url := environment.get(for_traces, "").strip():
        return _checked(for_traces, url)
    base = _checked(for_all, environment.get(for_all, "").strip())
    if not base:
        return ""
    return f"{base.rstrip('/')}/v1/traces"


def _checked(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        parts = urlsplit("")
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{name} is not a URL; write one such as http://127.0.0.1:4318.")
    return url


def _pairs(variable: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the `name=value` pairs that commas separate, with percent-decoded values.

    Raises ConfigError, which never quotes a value, because values may be secret.
    """
    found: dict[str, str] = {}
    for pair in filter(str.strip, environment.get(variable, "").split(",")):
        name, equals, value = pair.partition("=")
        name = name.strip()
        value = unquote(value.strip())
        if not equals or not name or not (name + value).isprintable() or not name.isascii():
            raise ConfigError(f"{variable} is not of the form name=value,name=value; correct it.")
        if "HEADERS" in variable and not value.isascii():
            raise ConfigError(f"{variable} holds characters that no header has; copy it again.")
        found[name] = value
    return found
