import pytest

from gofer.values.proxies import DIRECT, Proxies
from gofer.values.secret import Secret

HTTPS, HTTP = "http://secure:1", "http://plain:2"


def through(*direct: str) -> Proxies:
    return Proxies(Secret(HTTPS), Secret(HTTP), direct)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api.example.com/v1", HTTPS),
        ("wss://socket.example.com", HTTPS),
        ("http://api.example.com/v1", HTTP),
        ("ws://socket.example.com", HTTP),
        ("http://localhost:80/", ""),
        ("http://demo.localhost/", ""),
        ("https://127.0.0.1:8443/", ""),
        ("http://127.9.9.9/", ""),
        ("http://[::1]:8765/", ""),
    ],
)
def test_proxy_follows_the_scheme_and_never_takes_loopback(url: str, proxy: str) -> None:
    assert through().of(url).reveal() == proxy
    assert DIRECT.of(url).reveal() == ""


@pytest.mark.parametrize(
    ("entry", "url", "is_direct"),
    [
        ("*", "https://a.example", True),
        ("a.example", "https://a.example", True),
        ("a.example", "https://A.EXAMPLE./x", True),
        ("a.example", "https://b.a.example", True),
        (".a.example", "https://b.a.example", True),
        (".a.example", "https://a.example", True),
        ("*.a.example", "https://b.a.example", True),
        ("A.Example", "https://a.example", True),
        ("a.example", "https://ba.example", False),
        ("a.example:8443", "https://a.example:8443", True),
        ("a.example:443", "https://a.example", True),
        ("a.example:8443", "https://a.example", False),
        ("10.0.0.0/8", "http://10.1.2.3:9000", True),
        ("10.0.0.0/8", "http://11.1.2.3", False),
        ("10.1.2.3", "http://10.1.2.3", True),
        ("10.1.2.3:80", "http://10.1.2.3", True),
        ("fd00::/8", "http://[fd00::5]/", True),
        ("[fd00::5]:80", "http://[fd00::5]/", True),
        ("[fd00::5]:81", "http://[fd00::5]/", False),
        ("fd00::5", "http://[fd00::5]/", True),
        (".", "https://a.example", False),
    ],
)
def test_host_of_the_list_is_reached_directly(entry: str, url: str, is_direct: bool) -> None:
    assert bool(through("unrelated.example", entry).of(url)) is not is_direct


def test_scheme_without_a_proxy_goes_directly() -> None:
    assert Proxies(https=Secret(HTTPS)).of("http://a.example").reveal() == ""
    assert Proxies(http=Secret(HTTP)).of("https://a.example").reveal() == ""
