"""The text of a pull request: what was seen, the edit, the case, the replays, the suite, and how to try the edit."""

import re
from dataclasses import replace

import pytest

from gofer.evals.results import CaseOutcome, CaseResult, CaseRun, SuiteResult
from gofer.learning.suggestions.evidence import evidence_of
from gofer.learning.suggestions.proof import Proof
from gofer.learning.suggestions.proposal import Edit, MustHold, Proposal
from gofer.learning.suggestions.pull_request import commit_message, must_sentence, pull_request
from gofer.learning.suggestions.replayed_pair import OneReplay, ReplayedPair
from gofer.learning.suggestions.suggestion import Suggestion
from gofer.replay.made_calls import MadeCall
from support.learning.ended_run import disliked, ended_run

RUN = "0a1b2c3d4e5f60718293a4b5"
EDIT = Edit("agents/w.md", "Find it.", "Find it by its number.")


def case(outcome: CaseOutcome, model: str) -> CaseResult:
    run = CaseRun(number=1, outcome="passed", runs=(), grades=(), evidence="live", models=(model,))
    return CaseResult(case="goldens/new", workflow="w", outcome=outcome, runs=[run], required=1, planned=1)


def proven(model: str = "gpt-5.4", words: str = "Ada wants `more` | less") -> Suggestion:
    made = OneReplay(outcome="identical", status="done", calls=[MadeCall("find", {}, is_write=False)], usd=0.01)
    suite = SuiteResult(cases=[case("passed", model)], at=0.0, seconds=1.0)
    proof = Proof(
        case("failed", model), case("passed", model), [ReplayedPair(RUN, True, made.calls, made, made)], suite, suite
    )
    return Suggestion(
        evidence=evidence_of("w", [ended_run(RUN, disliked(words))], current=1, days=7, reviews_do_not_count=""),
        outcome="proven",
        proposal=Proposal(
            "Name the number", "Ada asked for it.", EDIT, MustHold(kind="judge", run=RUN, ask="Is it right, Ada?")
        ),
        case="goldens/new",
        diff=("--- a/agents/w.md", "+++ b/agents/w.md", "@@ -1 +1 @@", "-Find it.", "+Find it by its number."),
        proof=proof,
        usd=0.25,
    )


def redact(text: str) -> str:
    return text.replace("Ada", "Kim")


def url(run: str) -> str:
    return f"https://gofer.example.com/runs/{run}"


def test_text_has_links_pseudonyms_the_diff_and_the_commands() -> None:
    text = pull_request(proven(), redact, url, ["Advice of a model."])
    assert text.startswith("# Name the number\n\n`Kim asked for it.`\n")
    assert (
        f"  - feedback of run [`0a1b2c3d`](https://gofer.example.com/runs/{RUN}): `` Kim wants `more` | less ``" in text
    )
    assert "```diff\n--- a/agents/w.md\n+++ b/agents/w.md\n@@ -1 +1 @@\n-Find it.\n+Find it by its number.\n```" in text
    assert "| `good` | `find: done` | `find: done` | `none` | `0.0100 / 0.0100 USD` |" in text
    assert "`The judge must answer yes to: Is it right, Kim?`" in text
    assert "Advice of a model." in text
    assert "gofer eval goldens/new --live --repeat 3" in text
    assert "gofer replay 0a1b2c3d --prompt agents/w.md --model live" in text
    assert "cost 0.2500 USD. Nothing merges this by itself." in text
    assert "Ada" not in text
    assert "script" not in text


def test_scripted_answers_are_named_as_no_proof_about_a_model() -> None:
    text = pull_request(proven("scripted"), redact, lambda run: "", [])
    assert "**The answers came from a script in place of a model." in text
    assert "feedback of run `0a1b2c3d`: " in text


def test_words_of_people_are_no_markup() -> None:
    text = pull_request(proven(words="```\n# Merge this now [x](https://evil.example.com)"), redact, url, [])
    (line,) = [line for line in text.splitlines() if "Merge this now" in line]
    assert line.endswith("```` ``` # Merge this now [x](https://evil.example.com) ````")


def test_commit_message_has_title_and_reason_with_pseudonyms() -> None:
    message = commit_message(proven(), redact)
    assert message == "Name the number\n\nKim asked for it.\n\nProposed by `gofer suggest w`.\n"


HOSTILE = (
    "[Approve](https://evil.example/approve) ![](https://evil.example/p.png) <img src=//evil.example/x> @acme/admins "
    "&#64;ada closes #12 and GH-13 and acme/site#14 www.evil.example `x` [skip ci]\u200b\u202e"
)


@pytest.mark.parametrize("text", [HOSTILE, HOSTILE.replace("<", "&lt;").replace("[", "&amp;#91;")])
def test_title_and_reason_reach_the_forge_as_plain_text(text: str) -> None:
    made = proven()
    assert made.proposal
    made = replace(made, proposal=replace(made.proposal, title=text, reason=text))
    title = pull_request(made, redact, url, []).splitlines()[0].removeprefix("# ")
    subject, _, reason, *_ = commit_message(made, redact).splitlines()
    assert title == subject
    for line in (subject, reason):
        assert "Approve" in line
        assert re.search(r"\]\(|!\[|<|>|`|://|www\.|(?<!\[)[@#]|GH-\d|\[skip|[\u200b\u202e]", line) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Co-authored-by: Mallory <mallory@evil.example>", "Co-authored-by - Mallory ‹mallory[@]evil[.]example›"),
        ("skip-checks: true", "skip-checks - true"),
        ("fixup! squash! Say more", "Say more"),
        ("Refunds: choose PAY with jira_search", "Refunds: choose PAY with jira_search"),
        ("Say more\n\nCo-authored-by: M <m@evil.example>", "Say more Co-authored-by: M ‹m[@]evil[.]example›"),
    ],
)
def test_title_and_reason_hold_no_order_to_git(text: str, plain: str) -> None:
    made = proven()
    assert made.proposal
    made = replace(made, proposal=replace(made.proposal, title=text, reason=text))
    assert commit_message(made, redact).splitlines() == [plain, "", plain, "", "Proposed by `gofer suggest w`."]


@pytest.mark.parametrize(
    ("must", "sentence"),
    [
        (
            MustHold(kind="call", run="r", at="2.0", tool="find", arguments={"id": 7}),
            'At call 2.0, the next answer must call find with {"id":7}.',
        ),
        (MustHold(kind="call", run="r", at="2.0", tool="find"), "At call 2.0, the next answer must call find."),
        (MustHold(kind="contains", run="r", texts=["a", "b"]), "The answer must contain 'a', 'b'."),
        (MustHold(kind="not_contains", run="r", texts=["a"]), "The answer must not contain 'a'."),
    ],
)
def test_case_in_one_sentence(must: MustHold, sentence: str) -> None:
    assert must_sentence(must) == sentence
