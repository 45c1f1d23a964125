"""The key `checks` of a workflow file: its own limits for the checks of its runs."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from gofer.projections.checks.check_settings import DEFAULTS
from gofer.workflows.form_parts import Number, Strict, Whole, mistake


class Limited(Strict):
    """A setting of a check that compares a number of the run with a limit."""

    measured_p95: Number | None = Field(default=None, ge=0)
    """The value that 95 % of the runs stayed below when you measured them. A limit above the default needs it."""
    off: bool = False
    """Whether the check is not made."""


class CountLimit(Limited):
    """A setting of a check that counts."""

    limit: Whole | None = Field(default=None, ge=1)
    """The workflow's own limit; by default that of all workflows."""


class ShareLimit(Limited):
    """A setting of a check of a share."""

    limit: Number | None = Field(default=None, gt=0, le=1)
    """The workflow's own limit, from 0 to 1; by default that of all workflows."""


class SecondsLimit(Limited):
    """A setting of a check of a duration."""

    limit: Number | None = Field(default=None, gt=0)
    """The workflow's own limit in seconds; by default that of all workflows."""


class Switch(Strict):
    """A check without a limit."""

    off: bool = False
    """Whether the check is not made."""


Setting = CountLimit | ShareLimit | SecondsLimit | Switch
"""The setting of one check."""


def _off(value: object) -> object:
    """Return the setting that `off` stands for; YAML reads a bare off as false."""
    if value is False or value == "off":
        return {"off": True}
    return value


_Off = Literal["off"]
_Count = Annotated[CountLimit, BeforeValidator(_off, json_schema_input_type=CountLimit | _Off)]
_Share = Annotated[ShareLimit, BeforeValidator(_off, json_schema_input_type=ShareLimit | _Off)]
_Seconds = Annotated[SecondsLimit, BeforeValidator(_off, json_schema_input_type=SecondsLimit | _Off)]
_Switch = Annotated[Switch, BeforeValidator(_off, json_schema_input_type=Switch | _Off)]


class Checks(Strict):
    """The checks of each run after its end. Each check can be switched `off`, and some have a limit."""

    MEMBER: ClassVar[str] = "a check of runs"

    context_window_headroom: _Share = Field(default=ShareLimit(), alias="context-window-headroom")
    """The share of the context window that no request may reach; by default 0.9. An error."""
    no_tool_loops: _Count = Field(default=CountLimit(), alias="no-tool-loops")
    """How often a tool is called with the same arguments until that is an error; by default 3."""
    no_orphaned_tools: _Switch = Field(default=Switch(), alias="no-orphaned-tools")
    """Whether each call has an outcome, and each outcome a call. An error."""
    no_state_violations: _Switch = Field(default=Switch(), alias="no-state-violations")
    """Whether the run made only allowed transitions between its states. An error."""
    llm_call_budget: _Count = Field(default=CountLimit(), alias="llm-call-budget")
    """The most model calls without a warning; by default 10."""
    plan_call_budget: _Count = Field(default=CountLimit(), alias="plan-call-budget")
    """The most calls about the plan without a warning; by default 10."""
    execution_time: _Seconds = Field(default=SecondsLimit(), alias="execution-time")
    """The most seconds that workers spend on the run without a warning; by default 30."""
    no_invented_names: _Switch = Field(default=Switch(), alias="no-invented-names")
    """Whether each id, channel, table and property in a call was seen before. A warning."""
    no_empty_evidence: _Switch = Field(default=Switch(), alias="no-empty-evidence")
    """Whether the answer rests on at least one result that is not empty. A warning."""

    @field_validator("*")
    @classmethod
    def _measured(cls, value: Setting, info: ValidationInfo) -> Setting:
        default = DEFAULTS.get(str(cls.model_fields[str(info.field_name)].alias))
        if not isinstance(value, Switch) and value.limit is not None and default is not None:
            _refuse_unmeasured(value.limit, value.measured_p95, default)
        return value

    def settings(self) -> Iterator[tuple[str, Setting]]:
        """Yield each check with its setting."""
        for name, field in type(self).model_fields.items():
            setting: Setting = getattr(self, name)
            yield str(field.alias), setting

    @property
    def own_limits(self) -> Mapping[str, float]:
        """The limits that the file sets, by check."""
        return {
            check: setting.limit
            for check, setting in self.settings()
            if not isinstance(setting, Switch) and setting.limit is not None
        }

    @property
    def switched_off(self) -> frozenset[str]:
        """The checks that the file switches off."""
        return frozenset(check for check, setting in self.settings() if setting.off)


def _refuse_unmeasured(limit: float, measured: float | None, default: float) -> None:
    """Raise the mistake of a limit above the default without a measured value, or with one that reaches the limit."""
    if measured is None and limit > default:
        raise mistake(
            f"The limit {limit:g} is looser than the default {default:g}.",
            "Write beside it what you measured, as in `measured_p95: 9`, or leave out the limit.",
        )
    if measured is not None and measured >= limit:
        raise mistake(
            f"The limit {limit:g} does not lie above the measured p95 {measured:g}, so one run in twenty fails.",
            "Write a limit above the measured value, or make the runs cheaper.",
        )
