"""SARIF 2.1.0 output for code hosts. The shapes below are those that its schema requires."""

from pathlib import Path

from gofer.check.sarif import sarif
from gofer.workflows.mistake import RULES, Mistake, Place

MISTAKE = Mistake(
    Path("agents/größe 1.yaml"), Place(3, 7), "unknown-key", "`tols` is not a key here.", "Write `tools`."
)


def test_sarif_log_without_mistakes_holds_one_run() -> None:
    log = sarif([])
    assert (log["version"], list(log)) == ("2.1.0", ["$schema", "version", "runs"])
    (run,) = log["runs"]
    assert run["results"] == []
    assert run["tool"]["driver"]["name"] == "gofer check"


def test_sarif_log_declares_every_rule_with_a_description() -> None:
    (run,) = sarif([])["runs"]
    declared = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert declared == dict(RULES)


def test_sarif_result_has_rule_message_and_place_of_the_mistake() -> None:
    (run,) = sarif([MISTAKE])["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "unknown-key"
    assert result["level"] == "error"
    assert result["message"] == {"text": "`tols` is not a key here. Write `tools`."}
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "agents/gr%C3%B6%C3%9Fe%201.yaml"},
                "region": {"startLine": 3, "startColumn": 7},
            }
        }
    ]
