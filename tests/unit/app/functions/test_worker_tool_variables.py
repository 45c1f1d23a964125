"""Variables of a company's tools on AWS: parameters of the same names, optional for all other tools."""

import logging
from collections.abc import Mapping, Sequence

import pytest

from gofer.app.functions.parameters import Parameters
from gofer.app.functions.worker import named_by_tools, settings_of
from gofer.values.errors import TemporaryError
from support.stand_ins import SetClock


class Store:
    def __init__(self, values: Mapping[str, str], denied: str) -> None:
        self.values = values
        self.denied = f"/gofer/prod/{denied}"
        self.reads: list[Sequence[str]] = []
        self.away = False

    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        self.reads.append(names)
        if self.away or self.denied in names:
            raise TemporaryError("The parameters cannot be read now (AccessDeniedException).")
        return {name: self.values[name] for name in names if name in self.values}


def parameters(values: Mapping[str, str], denied: str = "") -> Parameters:
    return Parameters({"GOFER_PARAMETERS": "/gofer/prod/"}, Store(values, denied), SetClock())


def test_tool_variables_are_read_from_the_parameters_of_the_same_names() -> None:
    found = named_by_tools(parameters({"/gofer/prod/ONCALL_TOKEN": "letmein"}), ["ONCALL_TOKEN", "ONCALL_URL"])
    assert found["ONCALL_TOKEN"] == "letmein"
    assert "ONCALL_URL" not in found


def test_unreadable_tool_variable_leaves_the_other_tools_working(caplog: pytest.LogCaptureFixture) -> None:
    known = {"/gofer/prod/ONCALL_TOKEN": "letmein", "/gofer/prod/WIKI_TOKEN": "sesame"}
    with caplog.at_level(logging.ERROR):
        found = named_by_tools(parameters(known, denied="WIKI_TOKEN"), ["ONCALL_TOKEN", "WIKI_TOKEN"])
    assert found["ONCALL_TOKEN"] == "letmein"
    assert "WIKI_TOKEN" not in found
    (line,) = caplog.messages
    assert "WIKI_TOKEN" in line
    assert "ONCALL_TOKEN" not in line
    assert "template.yaml" in line


def test_cold_worker_reads_its_settings_and_the_variables_of_tools_together() -> None:
    store = Store({"/gofer/prod/ONCALL_TOKEN": "letmein", "/gofer/prod/GOFER_URL": "https://gofer"}, denied="")
    found = settings_of(Parameters({"GOFER_PARAMETERS": "/gofer/prod/"}, store, SetClock()), ["ONCALL_TOKEN"])
    assert (found["ONCALL_TOKEN"], found["GOFER_URL"]) == ("letmein", "https://gofer")
    assert len(store.reads) == 1


def test_cold_worker_does_without_a_denied_variable_of_a_tool_but_not_without_its_settings() -> None:
    store = Store({"/gofer/prod/GOFER_URL": "https://gofer"}, denied="WIKI_TOKEN")
    known = Parameters({"GOFER_PARAMETERS": "/gofer/prod/"}, store, SetClock())
    assert settings_of(known, ["WIKI_TOKEN"])["GOFER_URL"] == "https://gofer"
    away = Store({}, denied="")
    away.away = True
    with pytest.raises(TemporaryError):
        settings_of(Parameters({"GOFER_PARAMETERS": "/gofer/prod/"}, away, SetClock()), ["WIKI_TOKEN"])
    # A service that is away gets no request for each name.
    assert len(away.reads) == 2
