"""The run of a complaint at a terminal: filters of `gofer runs`, conversations of a day, and `gofer stats`."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from support.app.command_line import EVENT, gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")

NOW = datetime.now().astimezone().isoformat(timespec="minutes")


def private_run(capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    """Run the workflow on a mention in a private channel, and return the run."""
    payload = json.loads(Path(EVENT).read_text())
    payload["event"]["channel"] = "C0LEADS00"
    event = folder / "private.json"
    event.write_text(json.dumps(payload))
    _, out, _ = gofer(capsys, "run", "answer-here", "--event", str(event), "--json")
    return json.loads(out)["run"]


@pytest.mark.parametrize(
    "filters",
    [
        ("--around", NOW),
        ("--since", "1h"),
        ("--channel", "#general"),
        ("--channel", "C0GENERA0"),
        ("--person", "U0NEWCO0"),
        ("--person", "New Colleague"),
        ("--text", "what can you do"),
        ("--workflow", "answer-here"),
        ("--status", "done"),
        ("--around", NOW, "--channel", "#general", "--person", "U0NEWCO0", "--text", "hello", "--status", "done"),
    ],
    ids=" ".join,
)
def test_run_is_found_by_each_filter_and_private_runs_by_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, filters: tuple[str, ...]
) -> None:
    run = run_json(capsys)["run"]
    private = private_run(capsys, tmp_path)
    code, out, err = gofer(capsys, "runs", *filters, "--json")
    assert code == 0
    (row,) = json.loads(out)
    assert (row["run"], row["status"]) == (run, "done")
    assert row["person"] == {"id": "U0NEWCO0", "name": "New Colleague"}
    assert row["channel"] == {"id": "C0GENERA0", "name": "general"}
    code, listed, told = gofer(capsys, "runs", *filters)
    assert listed.startswith(f"{run}  done")
    assert "#general (C0GENERA0)  New Colleague (U0NEWCO0)" in listed
    assert private not in out + err + listed + told
    assert "hidden" not in err + told


@pytest.mark.parametrize(
    "filters",
    [
        ("--around", "2020-01-01T14:00"),
        ("--channel", "#leads"),
        ("--person", "@nemo"),
        ("--tool", "jira_create_issue"),
        ("--skill", "none"),
        ("--check", "no-tool-loops"),
        ("--text", "unwritten words"),
        ("--workflow", "file-ticket"),
        ("--status", "failed"),
    ],
    ids=" ".join,
)
def test_filter_without_a_match_finds_no_run(capsys: pytest.CaptureFixture[str], filters: tuple[str, ...]) -> None:
    run_json(capsys)
    assert json.loads(gofer(capsys, "runs", *filters, "--json")[1]) == []
    code, out, err = gofer(capsys, "runs", *filters)
    assert (code, out) == (0, "")
    assert "No run that may be listed meets all conditions." in err


def test_conversations_show_questions_and_answers_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    first = run_json(capsys)["run"]
    second = run_json(capsys)["run"]
    _, out, _ = gofer(capsys, "runs", "--conversations", "--json")
    (conversation,) = json.loads(out)
    assert [run["run"] for run in conversation["runs"]] == [first, second]
    assert conversation["runs"][0]["question"] == "@Gofer hello, what can you do for me here?"
    assert conversation["runs"][0]["answer"].startswith("[offline model] Hello!")
    _, shown, _ = gofer(capsys, "runs", "--conversations")
    assert "a conversation in #general (C0GENERA0), runs: 2" in shown
    assert "    New Colleague (U0NEWCO0): @Gofer hello" in shown
    assert "    Gofer: [offline model] Hello!" in shown


REACTION = Path(EVENT).with_name("slack_reaction.json")


def test_conversations_name_the_author_and_show_only_posted_answers_as_words_of_gofer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    again = tmp_path / "again.json"
    again.write_text(REACTION.read_text().replace("U0CAPTN0", "U0NEWCO0"))
    for event in (REACTION, again):
        gofer(capsys, "run", "file-ticket", "--event", str(event), "--json")
    _, shown, _ = gofer(capsys, "runs", "--conversations")
    assert "    started by Release Captain (U0CAPTN0)\n    New Colleague: (no text)\n    Gofer: [offline" in shown
    assert "    Gofer told the person alone that an earlier run had done this.\n    conclusion, not posted: " in shown
    (conversation,) = json.loads(gofer(capsys, "runs", "--conversations", "--json")[1])
    first, second = conversation["runs"]
    assert (first["person"]["name"], first["author"]) == ("Release Captain", "New Colleague")
    assert (bool(first["answer"]), first["conclusion_not_posted"]) == (True, "")
    assert (second["answer"], bool(second["conclusion_not_posted"])) == ("", True)


def test_unknown_name_of_a_check_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        gofer(capsys, "runs", "--check", "no-tool-lops")
    assert stopped.value.code == 2
    assert "'no-tool-loops'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--around", "soon"), "--around is 'soon'; write a time such as 14:00"),
        (("--since", "soon"), "--since is 'soon'; write 90m"),
        (("--stuck", "--person", "@ada"), "--stuck lists all stuck runs; leave the other filters out."),
    ],
)
def test_unusable_filter_is_refused_with_advice(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    run_json(capsys)
    code, out, err = gofer(capsys, "runs", *words)
    assert (code, out) == (2, "")
    assert problem in err


def test_statistics_count_public_runs_with_names_of_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run_json(capsys)
    run_json(capsys)
    private_run(capsys, tmp_path)
    _, out, err = gofer(capsys, "stats", "--by", "person", "--json")
    found = json.loads(out)
    assert (found["total"]["runs"], found["total"]["errors"], found["total"]["llm_calls"]) == (2, 0, 2)
    assert found["total"]["answer_ms"]["runs"] == 2
    (group,) = found["groups"]
    assert group["person"] == {"source": "slack", "id": "U0NEWCO0", "name": "New Colleague"}
    assert (group["runs"], found["forecast"], found["days_seen"]) == (2, None, 0)
    _, shown, told = gofer(capsys, "stats", "--by", "person")
    assert "runs 2: 2 done" in shown
    assert "New Colleague (U0NEWCO0)     2       0" in shown
    assert "No forecast of a month: it needs 7 complete days, and there are 0." in shown
    assert "private" not in shown + told + err


@pytest.mark.parametrize("by", ["workflow", "person", "week", "tool", "skill"])
def test_statistics_by_each_group_are_printed_and_json(capsys: pytest.CaptureFixture[str], by: str) -> None:
    run_json(capsys)
    code, shown, _ = gofer(capsys, "stats", "--by", by)
    assert (code, "runs 1: 1 done" in shown) == (0, True)
    assert json.loads(gofer(capsys, "stats", "--by", by, "--json")[1])["by"] == by


def test_statistics_of_a_time_without_runs_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    run_json(capsys)
    assert gofer(capsys, "stats", "--since", "2090-01-01")[1].startswith("There are no runs since 2090-01-01")
