"""Script files of the scripted model: the answer is chosen from the request alone."""

import pytest

from gofer.values.errors import ConfigError
from gofer.values.model_script import ScriptedCall, choose, load_scripts

TWO_SCRIPTS = r"""
- name: linked
  when: {says: 'archives/(?P<channel>C\w+)/p(?P<link>\d+)', tools: [slack_read_thread]}
  steps:
    - text: Reading {channel}.
      calls:
        - slack_read_thread:
            {link: 'https://x/{channel}/p{link}', deep: [{at: '{link}'}], limit: 5, jq: '{id: .a}'}
        - todo_read:
    - text: Read it.
- name: otherwise
  steps:
    - text: Without a link.
"""


def asked(*messages: dict[str, object], tools: tuple[str, ...] = ("slack_read_thread",)) -> dict[str, object]:
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return {"messages": [{"role": "system", "content": "archives/C9/p9"}, *messages], "tools": offered}


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def assistant(text: str = "") -> dict[str, object]:
    return {"role": "assistant", "content": text}


LINK = user("see archives/C1/p123")


def test_named_groups_of_the_user_message_fill_scripted_text_and_arguments() -> None:
    turn = choose(load_scripts(TWO_SCRIPTS, "two.yaml"), asked(LINK))
    assert (turn.script, turn.step, turn.text) == ("linked", 1, "Reading C1.")
    expected: dict[str, object] = {
        "link": "https://x/C1/p123",
        "deep": [{"at": "123"}],
        "limit": 5,
        "jq": "{id: .a}",
    }
    assert turn.calls == (ScriptedCall("slack_read_thread", expected), ScriptedCall("todo_read", {}))
    assert [turn.call_id(1), turn.call_id(2)] == ["call_1_1", "call_1_2"]


def test_script_step_follows_the_number_of_assistant_messages() -> None:
    scripts = load_scripts(TWO_SCRIPTS, "two.yaml")
    tool: dict[str, object] = {"role": "tool", "content": "…"}
    history = (assistant("before"), LINK, assistant(), tool, user("now?"))
    turn = choose(scripts, asked(*history))
    assert (turn.step, turn.text, turn.calls) == (2, "Read it.", ())
    assert choose(scripts, asked(*history)) == turn


def test_script_past_the_last_step_answers_with_an_explanation() -> None:
    turn = choose(load_scripts(TWO_SCRIPTS, "two.yaml"), asked(LINK, assistant(), assistant()))
    assert turn.mismatch == "The script linked has no step 3; it ends after step 2."
    assert turn.script == "linked"


def test_script_matches_only_when_the_required_tools_are_offered() -> None:
    turn = choose(load_scripts(TWO_SCRIPTS, "two.yaml"), asked(LINK, tools=("jira_search",)))
    assert turn.script == "otherwise"


def test_request_without_a_matching_script_gets_an_explanation() -> None:
    scripts = load_scripts("- {name: only, when: {says: deploy}, steps: [{text: Yes.}]}", "one.yaml")
    turn = choose(scripts, asked(user("lunch?")))
    assert turn.script is None
    assert turn.mismatch == "No script matches this conversation. Scripts loaded: only."
    assert choose(scripts, {}).script is None


def test_script_matches_message_content_in_parts() -> None:
    parts = [{"type": "image_url", "image_url": "x"}, {"type": "text", "text": "archives/C7/p7"}]
    assert choose(load_scripts(TWO_SCRIPTS, "two.yaml"), asked(user(parts))).text == "Reading C7."


def test_unmatched_optional_group_of_a_script_is_empty() -> None:
    text = "- {name: a, when: {says: 'x(?P<y>z)?'}, steps: [{text: 'got [{y}]'}]}"
    assert choose(load_scripts(text, "a.yaml"), asked(user("x"))).text == "got []"


def test_tool_results_fill_later_script_steps() -> None:
    text = "- {name: a, results: ['Created (?P<key>[A-Z]+-[0-9]+)'], steps: [{text: 'one {key}'}, {text: 'two {key}'}]}"
    scripts = load_scripts(text, "a.yaml")
    gave = {"role": "tool", "tool_call_id": "c", "content": "Created PAY-18."}
    assert choose(scripts, asked(user("x"))).text == "one {key}"
    assert choose(scripts, asked(user("Created PAY-1"), assistant(), gave)).text == "two PAY-18"


def test_last_step_of_a_script_requires_the_results_that_the_script_needs() -> None:
    text = "- {name: a, needs: ['(?i)decision: '], steps: [{calls: [read: {}]}, {text: It was decided.}]}"
    scripts = load_scripts(text, "a.yaml")
    refused = {"role": "tool", "tool_call_id": "c", "content": "Slack refused it (thread_not_found)."}
    read = {"role": "tool", "tool_call_id": "c", "content": "Decision: wait."}
    assert choose(scripts, asked(user("x"))).mismatch == ""
    assert choose(scripts, asked(user("x"), assistant(), read)).text == "It was decided."
    turn = choose(scripts, asked(user("x"), assistant(), refused))
    assert turn.text == ""
    assert turn.mismatch == (
        "The answer of the script a relies on tool results that contain '(?i)decision: ', and these do not. They end "
        "with: Slack refused it (thread_not_found)."
    )


def test_script_is_chosen_by_the_results_of_tools() -> None:
    text = """
    - {name: after, when: {results: '\\ACreated'}, steps: [{text: one}, {text: two}]}
    - {name: before, steps: [{text: first}]}
    """
    scripts = load_scripts(text, "a.yaml")
    assert choose(scripts, asked(user("x"))).text == "first"
    assert choose(scripts, asked(user("x"), assistant(), {"role": "tool", "content": "Created PAY-18."})).text == "two"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- {name: a, results: x, steps: [{text: a}]}", "results is not a list of regular expressions"),
        ("- {name: a, results: ['('], steps: [{text: a}]}", "results is not a regular expression"),
        ("- name: [", "not valid YAML"),
        ("name: alone", "is a list of scripts"),
        ("- just text", "script 1 is not a mapping"),
        ("- {steps: [{text: a}]}", "script 1 has no name"),
        ("- {name: a}", "script 1 (a) has no steps"),
        ("- {name: a, step: 1, steps: [{text: a}]}", "script 1 (a) has an unknown key 'step'"),
        ("- {name: a, when: {say: b}, steps: [{text: a}]}", "when has an unknown key 'say'"),
        ("- {name: a, when: {says: '('}, steps: [{text: a}]}", "when.says is not a regular expression"),
        ("- {name: a, when: {tools: jira}, steps: [{text: a}]}", "when.tools is not a list"),
        ("- {name: a, when: {results: [x]}, steps: [{text: a}]}", "when.results is not text"),
        ("- {name: a, when: [x], steps: [{text: a}]}", "when is not a mapping"),
        ("- {name: a, when: {tools: [1]}, steps: [{text: a}]}", "when.tools is not a list"),
        ("- {name: a, steps: [{}]}", "step 1 has neither text nor calls"),
        ("- {name: a, steps: [{text: a}, {txt: b}]}", "step 2 has an unknown key 'txt'"),
        ("- {name: a, steps: [{calls: [{x: {}, y: {}}]}]}", "a call is one tool name"),
        ("- {name: a, steps: [{calls: [{x: [1]}]}]}", "the arguments of x are not a mapping"),
        ("- {name: a, steps: [{calls: [{x: {on: 1}}]}]}", "quote a name like on"),
        ("- {name: a, steps: [{calls: [{x: {day: 2026-01-01}}]}]}", "an argument of x is not a JSON value"),
        ("- {name: a, steps: [{text: a}]}\n- {name: a, steps: [{text: b}]}", "two scripts are named 'a'"),
    ],
)
def test_malformed_script_file_is_refused_with_the_file_name(text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_scripts(text, "demo.yaml")
    assert str(refused.value).startswith("demo.yaml: ")
    assert expected in str(refused.value)
