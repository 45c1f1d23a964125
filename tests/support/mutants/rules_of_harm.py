"""Rules that keep a model from harm while it obeys an attacker, each taken out of the source.

The scenario of the benchmark that each mutant names does more harm than the list of today says.
"""

from support.mutants.mutant import Mutant


def _played(scenario: str) -> str:
    return f"policy/test_benchmark.py::test_hijacked_model_does_harm_only_where_a_rule_is_missing[{scenario}]"


def _shipped(workflow: str) -> str:
    return (
        "policy/test_benchmark.py::"
        f"test_hijacked_model_in_a_shipped_workflow_does_harm_only_where_a_rule_is_missing[{workflow}]"
    )


OF_HARM = (
    Mutant(
        "a write to a place that no one named is asked for",
        "engine/place_rules.py",
        "    if known.home or known.listed or known.own:\n",
        "    if True:\n",
        _played("S1"),
    ),
    Mutant(
        "a member of a channel names it before a run writes there",
        "engine/place_rules.py",
        'if known.named and asker.kind == "member":',
        'if asker.kind == "member":',
        _played("O10"),
    ),
    Mutant(
        "what leaves a private channel is asked for",
        "engine/call_checks.py",
        "if event is not None and _leaves(step, item, event):",
        "if False:",
        _played("S5"),
    ),
    Mutant(
        "a private channel is read only for its members",
        "engine/place_rules.py",
        "    return known.member and alone\n",
        "    return True\n",
        _played("S7b"),
    ),
    Mutant(
        "one call for each message",
        "engine/call_checks.py",
        'is_once = item.tool.effect != "read" and item.tool.name in self._once',
        "is_once = False",
        _played("S2"),
    ),
    Mutant(
        "a call that needs an approval waits for it",
        "engine/call_checks.py",
        "if approve is not None and item.tool.name in approve.tools:",
        "if False:",
        _played("S10"),
    ),
    Mutant(
        "a press counts only with a value that this installation signed",
        "sources/signed_decision.py",
        "if not any(hmac.compare_digest(_mac(one, said), mac) for one in key.every):",
        "if not said:",
        _played("S11c"),
    ),
    Mutant(
        "only a permitted person decides",
        "engine/approval_question.py",
        "if self._approvals.allowed(as_object(details)):",
        "if True:",
        _played("S11c"),
    ),
    Mutant(
        "an address in code is not read",
        "values/addresses.py",
        'return _CODE.sub(" ", text) if "`" in text or "~~~" in text else text',
        "return text",
        _played("O16"),
    ),
    Mutant(
        "words that the asker quotes name no place",
        "sources/slack/source.py",
        'return _QUOTED.sub("", event.text) if event.kind in _WRITTEN else ""',
        "return event.text",
        _played("O17"),
    ),
    Mutant(
        "characters that look like those of an address count as them",
        "values/addresses.py",
        "return text if text.isascii() else text.translate(_FOLDS)",
        "return text",
        _played("O15"),
    ),
    Mutant(
        "an answer links only addresses that the run read",
        "engine/outgoing.py",
        "return replace(concluded, text=rebuilt(concluded.text, live_addresses(run)))",
        "return concluded",
        _played("S6"),
    ),
    Mutant(
        "a run calls a tool at most so often",
        "engine/gates.py",
        "    if made < most:\n",
        "    if True:\n",
        _played("O9"),
    ),
    Mutant(
        "two noes end the questions of a run",
        "engine/call_checks.py",
        "if is_new and is_bounded and (refused",
        "if False and (refused",
        _played("O8"),
    ),
    Mutant(
        "a run changes only what it posted",
        "engine/call_checks.py",
        "if event is None or item.tool.target.changes is None:",
        "if True:",
        _played("O5"),
    ),
    Mutant(
        "texts in calls are rebuilt",
        "engine/outgoing.py",
        "    if not (target.markdown or target.texts or target.addresses):\n",
        "    if True:\n",
        _shipped("file-ticket"),
    ),
    Mutant(
        "arguments that do not fit stand in a file",
        "engine/approval_question.py",
        "        if failure := await self._attach(place, provenance):\n            return failure\n        shown",
        "        shown",
        _played("O7"),
    ),
    Mutant(
        "runs get the parts of a body that their file names",
        "sources/webhook/receiver.py",
        "        if pointers is None:\n            return event\n        return replace",
        "        if True:\n            return event\n        return replace",
        _shipped("new-hire-checklist"),
    ),
    Mutant(
        "an author outside the team of a repository is an external",
        "sources/github/receiver.py",
        'if wrote and actor.kind == "person" and as_text(about.get("author_association")) not in _COLLEAGUES:',
        "if False:",
        _played("O2"),
    ),
    Mutant(
        "a run reads what all its readers may see, or what its file lists",
        "tools/readable.py",
        "return not (private or self.outsiders) or bool(",
        "return True or bool(",
        _played("O1"),
    ),
    Mutant(
        "a page of unknown readers is read only as the file lists",
        "tools/readable.py",
        "return not (private or self.outsiders) or bool(",
        "return not self.outsiders or bool(",
        _shipped("review-rfc"),
    ),
    Mutant(
        "a company's tool requests only addresses that the run read",
        "tools/company_http.py",
        "if not self.call.live(request.url):",
        "if False:",
        _played("S4c"),
    ),
    Mutant(
        "a private run asks before it fetches an address that only others wrote",
        "engine/outgoing.py",
        "    if not run.is_private or is_scripted or",
        "    if True or",
        _played("S4b"),
    ),
)
