"""The ports of the demo follow each other, and a taken port is named."""

import socket

import pytest

from gofer.app.demo.ports import LAST, SYSTEMS, ports_from
from gofer.app.embedded.server import LOCAL
from gofer.values.errors import ConfigError


def test_free_ports_are_chosen_for_port_zero() -> None:
    assert ports_from(0) == {}


def test_highest_first_port_leaves_room_for_each_system() -> None:
    assert LAST + len(SYSTEMS) == 65535


def test_taken_port_of_a_simulated_system_is_named_with_the_option() -> None:
    with socket.create_server((LOCAL, 0)) as taken:
        port: int = taken.getsockname()[1]
        first = port - 1
        with pytest.raises(ConfigError, match=rf"Port ({port}|{first}) on 127\.0\.0\.1 is already in use.*--port"):
            ports_from(first)
