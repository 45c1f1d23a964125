"""The variables of a company's tools on AWS: parameters of the same names, without which all else works."""

import logging
from collections.abc import Mapping, Sequence

import pytest

from gofer.app.functions.parameters import Parameters
from gofer.app.functions.worker import named_by_tools
from gofer.values.errors import TemporaryError
from support.stand_ins import SetClock


class Store:
    def __init__(self, values: Mapping[str, str] | None) -> None:
        self.values = values

    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        if self.values is None:
            raise TemporaryError("The parameters cannot be read now (AccessDeniedException).")
        return {name: self.values[name] for name in names if name in self.values}


def parameters(values: Mapping[str, str] | None) -> Parameters:
    return Parameters({"GOFER_PARAMETERS": "/gofer/prod/"}, Store(values), SetClock())


def test_a_tool_is_given_the_parameters_of_the_names_that_it_declares() -> None:
    found = named_by_tools(parameters({"/gofer/prod/ONCALL_TOKEN": "letmein"}), ["ONCALL_TOKEN", "ONCALL_URL"])
    assert found["ONCALL_TOKEN"] == "letmein"
    assert "ONCALL_URL" not in found


def test_parameters_that_the_role_may_not_read_leave_all_else_working(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert named_by_tools(parameters(None), ["ONCALL_TOKEN"]) == {}
    assert "ONCALL_TOKEN" in caplog.text
    assert "template.yaml" in caplog.text
