"""What a function is told, how often it asks, and what happens when somebody changes it."""

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


def test_parameters_stand_below_the_environment_and_only_those_that_are_named_are_asked_for() -> None:
    store = Kept({"/gofer/prod/A": "1", "/gofer/prod/B": "2", "/gofer/prod/C": "3"})
    told = Parameters({"GOFER_PARAMETERS": "/gofer/prod/", "B": "own"}, store, SetClock()).values_of(["A", "B", "D"])
    assert (told["A"], told["B"], "C" in told, "D" in told) == ("1", "own", False, False)
    assert store.asked == [["/gofer/prod/A", "/gofer/prod/D"]]


def test_without_a_path_nothing_is_asked_for() -> None:
    store = Kept({})
    assert Parameters({"A": "1"}, store, SetClock()).values_of(["A", "B"]) == {"A": "1"}
    assert store.asked == []


def test_what_is_known_is_asked_for_again_after_five_minutes_missing_ones_too() -> None:
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


def test_a_store_that_does_not_answer_is_asked_again_half_a_minute_later_not_with_each_request(
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
    # One that was never read is no setting that holds.
    with pytest.raises(TemporaryError):
        parameters.values_of(["A", "B"])
    store.away = False
    clock.advance(AGAIN)
    assert parameters.values_of(["A"])["A"] == "2"


def test_what_is_made_of_settings_is_made_anew_only_when_they_changed() -> None:
    values = {"A": "1"}
    made: list[str] = []
    following = Following[Mapping[str, str], object](lambda told: made.append(told["A"]) or object())
    first = following.current(lambda: dict(values))
    assert following.current(lambda: dict(values)) is first
    values["A"] = "2"
    assert following.current(lambda: dict(values)) is not first
    assert made == ["1", "2"]


def test_settings_that_are_wrong_or_cannot_be_read_leave_what_there_was(caplog: pytest.LogCaptureFixture) -> None:
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
