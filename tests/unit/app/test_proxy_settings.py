import pytest

from gofer.app.proxy_settings import read_proxies
from gofer.values.errors import ConfigError


def test_proxies_are_read_with_their_exceptions() -> None:
    found = read_proxies(
        {"HTTPS_PROXY": "http://user:pass@proxy:3128/", "HTTP_PROXY": "proxy:3128", "NO_PROXY": "a.example, 10.0.0.0/8"}
    )
    assert found.https.reveal() == "http://user:pass@proxy:3128"
    assert found.http.reveal() == "http://proxy:3128"
    assert found.direct == ("a.example", "10.0.0.0/8")
    assert "pass" not in repr(found)


def test_name_in_lower_case_comes_first_and_an_empty_value_is_none() -> None:
    found = read_proxies({"HTTPS_PROXY": "http://upper:1", "https_proxy": "http://lower:1", "HTTP_PROXY": " "})
    assert found.https.reveal() == "http://lower:1"
    assert not found.http
    assert not read_proxies({}).https


@pytest.mark.parametrize("value", ["socks5://user:pass@proxy:1", "http://", "http://proxy:port", "http://[::1"])
def test_wrong_proxy_is_named_without_its_value(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^https_proxy is not the URL of an HTTP proxy") as raised:
        read_proxies({"https_proxy": value})
    assert "pass" not in str(raised.value)
