from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.app.embedded.entrance import Entrance, entrance
from gofer.app.pages.readers import LocalReaders
from gofer.app.pages.signed_in_readers import SignedInReaders
from gofer.app.settings import read_settings
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import ConfigError
from support.stand_ins import KEY, make_outside

APP = {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "s", "SLACK_BOT_TOKEN": "xoxb-1"}
ADDRESS = {"GOFER_URL": "https://gofer.example.com"}


def opened(environment: Mapping[str, str], *, simulated: bool = False) -> Entrance:
    settings = replace(read_settings(environment), simulated=simulated)
    return entrance(settings, KEY, make_outside(), MemoryStore(), "0.0.0.0")


def test_settings_of_a_sign_in_open_the_pages_to_members() -> None:
    found = opened({**APP, **ADDRESS})
    assert found.signs_in
    assert isinstance(found.readers, SignedInReaders)
    assert [route.path for route in found.guard.routes()] == ["/sign-in", "/sign-in/callback", "/sign-out"]
    with found.evals() as stores:
        assert stores is None


@pytest.mark.parametrize(("environment", "simulated"), [(ADDRESS, False), ({}, False), ({**APP, **ADDRESS}, True)])
def test_pages_without_a_sign_in_answer_to_this_machine(environment: Mapping[str, str], simulated: bool) -> None:
    found = opened(environment, simulated=simulated)
    assert not found.signs_in
    assert isinstance(found.readers, LocalReaders)
    assert found.guard.routes() == []


@pytest.mark.parametrize(
    ("environment", "lacking"),
    [
        ({"SLACK_CLIENT_ID": "1.2"}, "SLACK_CLIENT_SECRET and SLACK_BOT_TOKEN and GOFER_URL"),
        ({"SLACK_CLIENT_SECRET": "s", **ADDRESS}, "SLACK_CLIENT_ID and SLACK_BOT_TOKEN"),
        (APP, "GOFER_URL"),
        ({**APP, "GOFER_URL": "http://gofer.example.com"}, "an https address in GOFER_URL"),
    ],
)
def test_half_of_a_sign_in_names_the_rest(environment: Mapping[str, str], lacking: str) -> None:
    with pytest.raises(ConfigError, match=f"^Sign-in needs {lacking}[;,]"):
        opened(environment)
