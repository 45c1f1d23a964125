"""The alarms of template.yaml, evaluated as CloudWatch does over the metrics that functions wrote to their logs."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from support.aws.template import Json, of_type, spelled, transformed

Values = Mapping[str, Sequence[float]]
"""The values of each metric of one service, by name."""


def written(log: str) -> Values:
    """Return the values of metrics in a log that have the service as their only dimension."""
    found: dict[str, list[float]] = {}
    for line in log.splitlines():
        if not line.startswith('{"'):
            continue
        told = json.loads(line)
        for rule in told.get("_aws", {}).get("CloudWatchMetrics", []):
            assert rule["Namespace"] == "Gofer"
            if rule["Dimensions"] == [["service"]]:
                for metric in rule["Metrics"]:
                    found.setdefault(metric["Name"], []).extend(told[metric["Name"]])
    return found


def ringing(values: Values, parameters: Mapping[str, float] | None = None) -> set[str]:
    """Return the names of the alarms on Gofer's own metrics that values within one period set off."""
    alarms = of_type(transformed(), "AWS::CloudWatch::Alarm")
    return {name for name, alarm in alarms.items() if _is_own(alarm) and _rings(alarm, values, parameters or {})}


def _is_own(alarm: Json) -> bool:
    metrics = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", ()) if "MetricStat" in one]
    return {one.get("Namespace") for one in (metrics or [alarm])} == {"Gofer"}


def _rings(alarm: Json, values: Values, parameters: Mapping[str, float]) -> bool:
    threshold = alarm["Threshold"]
    if isinstance(threshold, dict):
        threshold = parameters.get(
            spelled(threshold), float(transformed()["Parameters"][spelled(threshold)]["Default"])
        )
    value = _value(alarm, values)
    if value is None:
        return alarm["TreatMissingData"] == "breaching"
    return _COMPARISONS[alarm["ComparisonOperator"]](value, float(threshold))


def _value(alarm: Json, values: Values) -> float | None:
    if "Metrics" not in alarm:
        return _statistic(alarm["Statistic"], values.get(alarm["MetricName"], ()))
    known: dict[str, float | None] = {}
    for one in alarm["Metrics"]:
        if "MetricStat" in one:
            stat = one["MetricStat"]
            known[one["Id"]] = _statistic(stat["Stat"], values.get(stat["Metric"]["MetricName"], ()))
    (returned,) = [one for one in alarm["Metrics"] if one["ReturnData"]]
    # An expression has a value only where each of its metrics has one.
    if None in known.values():
        return None
    return float(eval(_in_python(returned["Expression"]), {"IF": _if}, known))


def _in_python(expression: str) -> str:
    assert re.fullmatch(r"[\w\s().,*/+<>=-]+", expression)
    # Both branches are evaluated here, so a division by zero must not end the test.
    return expression


def _if(condition: bool, then: float, otherwise: float) -> float:
    return then if condition else otherwise


def _statistic(name: str, values: Sequence[float]) -> float | None:
    if not values:
        return None
    if name.startswith("p"):
        # Nearest rank, which differs from CloudWatch's interpolation by less than one value.
        return sorted(values)[max(0, -(-len(values) * int(name[1:]) // 100) - 1)]
    return _STATISTICS[name](values)


_STATISTICS: Mapping[str, Callable[[Iterable[float]], float]] = {
    "Sum": sum,
    "Minimum": min,
    "Maximum": max,
    "SampleCount": lambda values: float(len(list(values))),
}
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "LessThanOrEqualToThreshold": lambda value, threshold: value <= threshold,
}
