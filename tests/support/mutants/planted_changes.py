"""Changes of each kind that are planted into copies of the repository, and the gate that sees each of them.

A regression must be seen by `gofer check`, by the replay of the goldens, by `gofer eval` without a model, or, in code
that no recording has reached, by the tests of that code. A harmless change must pass the first three.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[3]
_GOFER = ("-c", "import sys; from gofer.cli.main import main; sys.exit(main(sys.argv[1:]))")
GATES: Mapping[str, Sequence[str]] = {
    "`gofer check`": (*_GOFER, "check"),
    "`gofer golden --play`": (*_GOFER, "golden", "--play"),
    "`gofer eval`": (*_GOFER, "eval"),
    "`gofer eval --changed`": (*_GOFER, "eval", "--changed", "main"),
}
"""The commands of Python that see changes without a model, in their order."""
_OWN_TESTS = ("tests/architecture/test_frozen.py", "tests/unit/engine", "tests/unit/projections", "tests/unit/tools")
"""The tests of `make test` that freeze or expect texts for models."""
_CODE = {"`make test`": ("-m", "pytest", "-q", "-p", "no:cacheprovider", *_OWN_TESTS)}
"""The gate for code of Gofer that no recording has reached."""
_COPIED = ("agents", "subagents", "skills", "coordinators", "evals", "src", "tests", "docs")
_SLACK, _ENGINE = "src/gofer/sources/slack", "src/gofer/engine"


@dataclass(frozen=True, slots=True)
class Planted:
    """A change of one file: the kind of file, what it does, and the text before and after."""

    kind: str
    change: str
    file: str
    old: str
    new: str


REGRESSIONS = (
    Planted(
        "prompt", "a step is left out", "agents/file-ticket.md", "3. Search for an open issue", "3. Think of an issue"
    ),
    Planted("prompt", "names a dead tool", "agents/file-ticket.md", "`jira_search`", "`jira_serch`"),
    Planted(
        "skill", "another project for payments", "skills/jira-routing/SKILL.md", "invoices | PAY |", "invoices | OPS |"
    ),
    Planted("YAML", "a tool is taken away", "agents/file-ticket.yaml", "  - jira_search\n", ""),
    Planted("YAML", "one model call at most", "agents/file-ticket.yaml", "llm_calls: 8", "llm_calls: 1"),
    Planted("YAML", "another emoji", "agents/file-ticket.yaml", "emoji: jira", "emoji: bug"),
    Planted(
        "script", "the emojis are swapped", "coordinators/mark_merged.py", 'pull["merged"]:', 'not pull["merged"]:'
    ),
    Planted("script", "marks twice", "coordinators/mark_merged.py", "and not _marked(message)", "or _marked(message)"),
    Planted(
        "tool",
        "a thread lacks its last message",
        f"{_SLACK}/read_thread.py",
        "render(name, messages, names",
        "render(name, messages[:-1], names",
    ),
    Planted(
        "tool", "another description", "src/gofer/sources/jira/search.py", "Find Jira issues by", "Search issues by"
    ),
    Planted(
        "tool", "another key in a result", "src/gofer/sources/jira/create_issue.py", "Created {key}. ", "Made {key}. "
    ),
    Planted(
        "engine",
        "half of the source context is gone",
        f"{_ENGINE}/first_message.py",
        "NO_REQUEST, context.read]",
        "NO_REQUEST, context.read[: len(context.read) // 2]]",
    ),
    Planted(
        "engine",
        "the words of the request are gone",
        f"{_ENGINE}/first_message.py",
        "in indented(context.words, MARK)]",
        "in [*indented(context.words, MARK)][1:]]",
    ),
    Planted(
        "engine",
        "the usage is gone from the tail",
        f"{_ENGINE}/tail.py",
        "_usage(progress, limits), context",
        '"", context',
    ),
    Planted(
        "engine",
        "the answer is cut",
        "src/gofer/runtime/deliver.py",
        'ending.answer.strip() or "I have',
        'ending.answer[:9] or "I have',
    ),
    Planted("engine", "results of tools are cut", f"{_ENGINE}/results.py", "TEXT_LIMIT = 100_000", "TEXT_LIMIT = 40"),
    Planted("prompt", "the preamble of all workflows", "agents/preamble.md", "Never invent names", "Invent names"),
    Planted("prompt", "a subagent that no case asks", "subagents/classify.md", "letter by letter", "more or less"),
    Planted("skill", "a skill that no case loads", "skills/incident-runbooks/SKILL.md", "What changed?", "Who was it?"),
    Planted("tool", "less of a file", "src/gofer/tools/files/read.py", "{text}{more}", "{text[:40]}{more}"),
    Planted(
        "engine",
        "a summary of old turns is gone",
        "src/gofer/projections/conversation.py",
        "{SUMMARY}{compacted.summary}",
        "",
    ),
    Planted(
        "engine", "open steps are not named", f"{_ENGINE}/finish_gate.py", "open items:\\n{listed}\\n", "open items.\\n"
    ),
    Planted(
        "engine", "a repeated call is not explained", f"{_ENGINE}/gates.py", "Not called: {ask.tool}", "No: {ask.tool}"
    ),
    Planted(
        "engine",
        "a finished run is called failed",
        f"{_ENGINE}/loop.py",
        'Ending("done"',
        'Ending("failed"',
    ),
    Planted("engine", "open points leave a summary", f"{_ENGINE}/compaction.py", "- open points, and the", "- the"),
    Planted("engine", "the files are not listed", f"{_ENGINE}/tail.py", "*_files(workspace), *_plan", "*_plan"),
    Planted(
        "engine",
        "attached texts are cut",
        f"{_ENGINE}/first_message.py",
        "rows = indented(found.text)",
        "rows = [*indented(found.text)][:1]",
    ),
    Planted(
        "engine", "tools are not named to a model that misses one", f"{_ENGINE}/gates.py", "here. {known}", "here."
    ),
    Planted(
        "engine",
        "a call as text is not explained",
        f"{_ENGINE}/finish_gate.py",
        "Call tools in tool_calls, or answer",
        "Answer",
    ),
    Planted(
        "engine",
        "a missing effect is not named",
        f"{_ENGINE}/finish_gate.py",
        "when a call of {tools} has",
        "when a call has",
    ),
    Planted(
        "engine",
        "a place that is not permitted is not named",
        f"{_ENGINE}/place_rules.py",
        "That file does not list",
        "It lists",
    ),
    Planted(
        "engine",
        "the rest of a long result is not announced",
        "src/gofer/files/preview.py",
        'note_to_llm": self.note_to_llm',
        'note_to_llm": ""',
    ),
    Planted(
        "tool",
        "the rest of a long file is not announced",
        "src/gofer/tools/files/read.py",
        "[Go on with start_line=",
        "[line ",
    ),
    Planted(
        "tool", "an empty plan is not explained", "src/gofer/tools/plan.py", "There is no plan yet; write", "Write"
    ),
    Planted(
        "tool",
        "missing skills are left out",
        "src/gofer/tools/skills.py",
        'f"[{sentence}]" for sentence in missing',
        '"" for _ in missing',
    ),
    Planted(
        "tool",
        "wrong arguments are not explained",
        "src/gofer/tools/definition.py",
        "was not called: {wrong}",
        "was not called.",
    ),
    Planted(
        "tool",
        "comments for some people are read",
        "src/gofer/sources/jira/get_issue.py",
        'one.get("visibility") is None or',
        "True or",
    ),
    Planted(
        "tool",
        "an issue for some people is read",
        "src/gofer/sources/jira/get_issue.py",
        "if not is_readable(call, issue):",
        "if False:",
    ),
    Planted(
        "tool",
        "the reason of a refusal",
        f"{_SLACK}/refusals.py",
        '"thread_not_found": Refusal("tell", "Slack knows no such message there',
        '"thread_not_found": Refusal("tell", "Refused',
    ),
    Planted(
        "tool",
        "replies to a comment are left out",
        "src/gofer/sources/notion/comments.py",
        "for place in places for line in texts[place]]",
        "for place in places[:1] for line in texts[place]]",
    ),
    Planted(
        "engine",
        "a cut answer is not explained",
        f"{_ENGINE}/finish_gate.py",
        "at the limit of one answer. Write a shorter one",
        "short",
    ),
    Planted("engine", "a denied call may be repeated", f"{_ENGINE}/approvals.py", "Do not repeat this call. ", ""),
    Planted(
        "engine",
        "the result of a stopped subagent is gone",
        f"{_ENGINE}/subagent_owner.py",
        "Its result so far:\\n\\n{concluded.text}",
        "",
    ),
    Planted(
        "engine",
        "an answer of another form is not explained",
        f"{_ENGINE}/finish_gate.py",
        'f"- {problem}" for problem in found',
        '"-" for _ in found',
    ),
)
HARMLESS = (
    Planted("YAML", "a comment", "agents/file-ticket.yaml", "tools:\n", "# What it may call.\ntools:\n"),
    Planted("YAML", "another description", "agents/file-ticket.yaml", "any message; its", "a message; its"),
    Planted("YAML", "another owner", "agents/file-ticket.yaml", '"#dev-experience"', '"#support"'),
    Planted("YAML", "a higher limit of costs", "agents/file-ticket.yaml", "usd: 0.30", "usd: 0.60"),
    Planted("YAML", "a channel for logs", "agents/defaults.yaml", '# ai_logs: "#ai-logs"', 'ai_logs: "#ai-logs"'),
    Planted("script", "a comment", "coordinators/mark_merged.py", "MESSAGES = 50", "# The newest ones.\nMESSAGES = 50"),
    Planted("engine", "other words of the status", "src/gofer/runtime/deliver.py", "_On it. The", "_At work. The"),
    Planted(
        "engine", "other words of a failure", "src/gofer/runtime/deliver.py", "I could not finish this", "This failed"
    ),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """The gate that saw a change, and how it ended; empty if all of them passed."""

    planted: Planted
    gate: str = ""
    code: int = 0
    said: str = ""


def seen(planted: Planted, gates: Mapping[str, Sequence[str]]) -> Seen:
    """Plant a change into a copy of the repository, and return the first gate that sees it."""
    with TemporaryDirectory() as name:
        copy = Path(name)
        for folder in _COPIED:
            shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copyfile(ROOT / "pyproject.toml", copy / "pyproject.toml")
        _git(copy, "init", "--quiet", "--initial-branch", "main")
        _commit(copy)
        _git(copy, "checkout", "--quiet", "-b", "change")
        path = copy / planted.file
        text = path.read_text(encoding="utf-8")
        if planted.old not in text:
            raise ValueError(f"{planted.file} has no {planted.old!r} any more.")
        path.write_text(text.replace(planted.old, planted.new, 1), encoding="utf-8")
        _commit(copy)
        for gate, words in gates.items():
            code, said = _ended(copy, words)
            if code:
                return Seen(planted, gate, code, said)
    return Seen(planted)


def _commit(copy: Path) -> None:
    _git(copy, "add", "--all")
    _git(copy, "-c", "user.name=planted", "-c", "user.email=planted@example.com", "commit", "--quiet", "-m", "planted")


def _git(copy: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=copy, check=True, capture_output=True)


def regressions_seen() -> Sequence[Seen]:
    """Return the first gate that sees each regression, two copies at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda planted: seen(planted, {**GATES, **_CODE}), REGRESSIONS))


def harmless_seen() -> Sequence[Seen]:
    """Return the gate that takes a harmless change for a regression, if any, two copies at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda planted: seen(planted, GATES), HARMLESS))


def _ended(copy: Path, words: Sequence[str]) -> tuple[int, str]:
    """Return the exit code of a command on a copy, and the line that says why."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "GOFER"))}
    environment = {**kept, "PYTHONPATH": f"{copy}/src:{copy}/tests", "GOFER_DATA": str(copy / ".gofer")}
    made = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    lines = [line for line in (made.stdout + made.stderr).splitlines() if line.strip() and "Hint:" not in line]
    return made.returncode, next((line for line in lines if not line.endswith("identical")), "")


def table(found: Sequence[Seen]) -> str:
    """Return the changes and the gates that saw them as a Markdown table."""
    rows = [f"| {one.planted.kind} | {one.planted.change} | {_gate(one)} |" for one in found]
    return "\n".join(["| kind | change | seen by |", "|---|---|---|", *rows])


def _gate(one: Seen) -> str:
    if not one.gate:
        return "none"
    return f"{one.gate} (exit code {one.code})"
