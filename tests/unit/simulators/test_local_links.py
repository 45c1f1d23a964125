"""Links into simulated systems open on this machine, and others stay."""

import pytest

from gofer_simulators.local_links import LocalLinks


@pytest.mark.parametrize(
    ("written", "opened"),
    [
        ("https://github.com/acme/shop/pull/41", "http://127.0.0.1:5/acme/shop/pull/41"),
        ("https://github.com", "http://127.0.0.1:5"),
        ("https://github.community/acme", "https://github.community/acme"),
        ("https://example.com/?to=https://github.com/acme", "https://example.com/?to=https://github.com/acme"),
    ],
)
def test_links_into_simulated_systems_open_on_this_machine(written: str, opened: str) -> None:
    links = LocalLinks()
    links.use({"https://github.com": "http://127.0.0.1:5"})
    assert links.opened(written) == opened
