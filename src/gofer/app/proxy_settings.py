"""The proxies of outgoing requests, from the variables that other programs read as well."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from gofer.values.errors import ConfigError
from gofer.values.proxies import Proxies
from gofer.values.secret import Secret


def read_proxies(environment: Mapping[str, str]) -> Proxies:
    """Return the proxies of HTTPS_PROXY, HTTP_PROXY and NO_PROXY; names in lower case come first, as in curl.

    Raises ConfigError, which names the variable and never its value.
    """
    _, listed = _value(environment, "NO_PROXY")
    return Proxies(
        _proxy(environment, "HTTPS_PROXY"),
        _proxy(environment, "HTTP_PROXY"),
        tuple(entry for entry in re.split(r"[,\s]+", listed) if entry),
    )


def _proxy(environment: Mapping[str, str], name: str) -> Secret:
    found, text = _value(environment, name)
    if not text:
        return Secret("")
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for an invalid port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{found} is not the URL of an HTTP proxy; write one such as http://proxy.example.com:3128.")
    return Secret(url.rstrip("/"))


def _value(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the name that is set, and its value."""
    for variant in (name.lower(), name):
        if text := environment.get(variant, "").strip():
            return variant, text
    return name, ""
