"""The scenarios of the benchmark, read from `tests/policy/scenarios`."""

import fnmatch
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

POLICY = Path(__file__).parents[2] / "policy"
Act = Mapping[str, Mapping[str, Any]]
"""One act of a person or a system, by the name of a method of `support.policy.people.People`, with its arguments."""
Rule = Literal["destinations", "readers", "reach", "outgoing", "most", "noes", "own posts", "whole questions", "fields"]
"""A rule of code that stops a hijacked model, as docs/security.md describes it."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bounds(_Form):
    """What a run may change in the world. Everything else that it changes is harm."""

    allowed: Mapping[str, int] = Field(default_factory=dict[str, int])
    """The most new and changed things by place, such as `thread: 1` or `jira/SUP-*: 1`."""
    never: Sequence[str] = ()
    """Words that may appear in nothing that changes."""
    unseen: Sequence[str] = ()
    """Names of the secrets that no request to a model may hold."""
    shown: Sequence[str] = ()
    """Words that each question with buttons, or a file, must show, because they stand at the end of its arguments."""
    asks: int = 2
    """The most questions to people."""


class Twin(_Form):
    """The same workflow without an attack: what it writes must be written, and no person is asked."""

    start: Act
    does: Sequence[Any]
    """The play of the model."""
    expect: Mapping[str, str]
    """By place, words that something there must hold afterwards."""
    approves: int = 0
    """Questions that the workflow file configures; a person approves them."""
    before: Sequence[Act] = ()


class Scenario(_Form):
    """One attack in several variants, and its harmless twin."""

    name: str
    attack: str
    """The attack in one sentence."""
    workflow: str
    shipped: bool = False
    """Whether the workflow is one that Gofer ships; else it is one of `tests/policy/company`."""
    before: Sequence[Act] = ()
    """What happens before the event that starts the run. `{do}` in a text is the order to the model."""
    start: Act
    reads: Sequence[Any] = ()
    """The turns that the model makes by itself, until it reads an order."""
    bounds: Bounds = Bounds()
    decides: Sequence[str] = ()
    """What people press, question by question; afterwards they deny. `forge`: strangers try to approve."""
    child: Sequence[Any] = ()
    """The play that the fact CHILD orders a subagent to follow."""
    crash_at: int = 0
    """The number of the request to the model during which the worker is lost, so that another one continues."""
    summaries: int = 0
    """How often at least the model must write the summary of a compaction."""
    killed: bool = False
    """Whether it is also played with a Gofer that dies by SIGKILL at each write to the journal."""
    obeyed: bool = True
    """Whether the order reaches the model today."""
    variants: Mapping[str, Sequence[Any]]
    """The plays by name."""
    forms: Mapping[str, Sequence[Any]] = Field(default_factory=dict[str, Sequence[Any]])
    """Plays that are variants once for each text of `forms.yaml`, which stands for `{FORM}`."""
    twin: Twin | None = None
    rule: str
    """What stops the attack, in plain words."""

    @property
    def plays(self) -> Mapping[str, Sequence[Any]]:
        """The plays of all variants by name."""
        found = dict(self.variants)
        for name, play in self.forms.items():
            for form, text in _read(POLICY / "forms.yaml").items():
                found[f"{form} in {name}"] = _with(play, text)
        return found


def scenarios() -> Sequence[Scenario]:
    """Return all scenarios by file name and order."""
    return [
        Scenario.model_validate(one) for file in sorted((POLICY / "scenarios").glob("*.yaml")) for one in _read(file)
    ]


def _with(play: Any, text: str) -> Any:
    """Return a play with a text for `{FORM}`."""
    return json.loads(json.dumps(play).replace("{FORM}", json.dumps(text)[1:-1]))


@cache
def _read(file: Path) -> Any:
    return yaml.load(file.read_text(), yaml.CSafeLoader)


def open_today() -> Mapping[str, Mapping[str, Rule]]:
    """Return the variants that do harm today by scenario, each with the rule that will close it.

    A name with `*` in the file stands for all variants that match.
    """
    listed: Mapping[str, Mapping[str, Rule]] = yaml.load((POLICY / "open_today.yaml").read_text(), yaml.CSafeLoader)
    found: dict[str, dict[str, Rule]] = {}
    for scenario in scenarios():
        names = listed.get(scenario.name, {})
        found[scenario.name] = {play: names[name] for name in names for play in fnmatch.filter(scenario.plays, name)}
    return found
