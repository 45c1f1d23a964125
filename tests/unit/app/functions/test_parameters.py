"""Parameters of a function: reading, caching and changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from gofer.app.functions.parameters import AGAIN, FRESH, Following, Parameters
from gofer.values.errors import ConfigError, TemporaryError
from support.stand_ins import SetClock


@dataclass
class Kept:
    """Parameters in a dictionary."""

    values: dict[str, str]
    asked: list[Sequence[str]] = field(default_factory=list)
    away: bool = False

    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        if self.away:
            self.asked.append(names)
            raise TemporaryError("away")
        self.asked.append(names)
        return {name: self.values[name] for name in names if name in self.values}


def test_parameters_are_read_for_names_missing_in_the_environment() -> None:
    store = Kept({"/gofer/prod/A": "1", "/gofer/prod/B": "2", "/gofer/prod/C": "3"})
    told = Parameters({"GOFER_PARAMETERS": "/gofer/prod/", "B": "own"}, store, SetClock()).values_of(["A", "B", "D"])
    assert (told["A"], told["B"], "C" in told, "D" in told) == ("1", "own", False, False)
    assert store.asked == [["/gofer/prod/A", "/gofer/prod/D"]]


def test_parameters_are_not_read_without_a_path() -> None:
    store = Kept({})
    assert Parameters({"A": "1"}, store, SetClock()).values_of(["A", "B"]) == {"A": "1"}
    assert store.asked == []


def test_parameters_are_cached_for_five_minutes_missing_names_included() -> None:
    clock, store = SetClock(), Kept({"/p/A": "1"})
    parameters = Parameters({"GOFER_PARAMETERS": "/p/"}, store, clock)
    for _ in range(3):
        parameters.values_of(["A", "B"])
    clock.advance(FRESH - 1)
    parameters.values_of(["A", "B"])
    assert len(store.asked) == 1
    store.values["/p/A"] = "2"
    clock.advance(1)
    assert parameters.values_of(["A", "B"])["A"] == "2"
    assert len(store.asked) == 2


def test_failed_parameter_read_is_repeated_after_half_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, store = SetClock(), Kept({"/p/A": "1"}, away=True)
    parameters = Parameters({"GOFER_PARAMETERS": "/p/"}, store, clock)
    with pytest.raises(TemporaryError):
        parameters.values_of(["A"])
    store.away = False
    assert parameters.values_of(["A"])["A"] == "1"
    clock.advance(FRESH)
    store.away, store.values["/p/A"] = True, "2"
    assert [parameters.values_of(["A"])["A"] for _ in range(5)] == ["1"] * 5
    assert len(store.asked) == 3
    assert "the previous settings stay in use" in caplog.text
    # A parameter that was never read has no previous value.
    with pytest.raises(TemporaryError):
        parameters.values_of(["A", "B"])
    store.away = False
    clock.advance(AGAIN)
    assert parameters.values_of(["A"])["A"] == "2"


def test_values_built_from_settings_are_rebuilt_only_on_change() -> None:
    values = {"A": "1"}
    made: list[str] = []
    following = Following[Mapping[str, str], object](lambda told: made.append(told["A"]) or object())
    first = following.current(lambda: dict(values))
    assert following.current(lambda: dict(values)) is first
    values["A"] = "2"
    assert following.current(lambda: dict(values)) is not first
    assert made == ["1", "2"]


def test_wrong_or_unreadable_settings_keep_the_previous_value(caplog: pytest.LogCaptureFixture) -> None:
    def make(told: str) -> str:
        if told == "wrong":
            raise ConfigError("A is wrong; correct it.")
        return told

    def away() -> str:
        raise TemporaryError("away")

    following = Following(make)
    with pytest.raises(TemporaryError):
        following.current(away)
    with pytest.raises(ConfigError):
        following.current(lambda: "wrong")
    assert following.current(lambda: "right") == "right"
    assert following.current(lambda: "wrong") == "right"
    assert following.current(away) == "right"
    assert "A is wrong; correct it." in caplog.text
