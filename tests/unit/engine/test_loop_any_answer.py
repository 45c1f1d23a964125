"""Any answers of a model: the run ends, and every request is valid for a provider."""

import asyncio
import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.loop import Ending
from gofer.engine.model_order import Parked
from gofer.journal.entries import LlmRequest, LlmResponse, ToolResult
from gofer.models.formats.chat_completions import parse_answer
from gofer.models.language_model import Answer, Unusable
from gofer.projections import conversation
from gofer.runtime.deliver import answer_text
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import ARGUMENTS_LIMIT, ToolAsk, Usage
from support.engine.memory_run import PROVENANCE, MemoryRun, coordinate, memory_run, says
from support.models.strict_provider import complaints

NESTED = '{"text": ' + "[" * 5_000 + "]" * 5_000 + "}"
HUGE = '{"text": "' + "x" * 5_000_000 + '"}'
AGAIN = "Please ask again, and tell #o if that does not help."
MISUSED = f"I could not finish this. The language model did not use its tools correctly three times. {AGAIN}"
SILENT = f"I could not finish this. The language model gave no answer three times. {AGAIN}"
TOO_LONG = "I could not finish this. The answers were too long for this workflow. Please ask for less, or tell #o."
USELESS = "3 answers of the model in a row were useless: the last one "
SO_FAR = "\n\n_Here is what I have:_\n\n"
IDS = ["", "c", "c0", "é", "two words", "line\n", "x" * 65, "g00001000", "g00001001", "g00002000", "\x00"]
TOOLS = ["look", "post", "fly", "", "look!", "功能", "n" * 100, "look\n", "a.b/c"]
ARGUMENTS = [
    "{}",
    '{"text": "1"}',
    '{"text": "é\\u00e9"}',
    '{"txt": 1}',
    "",
    " ",
    "{",
    '{"text": "cut of',
    "[1]",
    "null",
    '"text"',
    "NaN",
    '{"text": NaN}',
    '{"text": -Infinity}',
    '{"text": 1e999}',
    '{"text": ' + "9" * 5_000 + "}",
    '{"text": "a", "text": "b"}',
    '{"text": "\\ud800"}',
    '{"text": "\ud800"}',
    '{"\\udfff": 1}',
    "{'text': 1}",
    "<html>",
    NESTED,
]


def asks() -> st.SearchStrategy[ToolAsk]:
    return st.builds(
        ToolAsk,
        st.sampled_from(IDS) | st.text(max_size=70),
        st.sampled_from(TOOLS) | st.text(max_size=70),
        st.sampled_from(ARGUMENTS) | st.text(max_size=20),
    )


def answers() -> st.SearchStrategy[Answer]:
    return st.builds(
        Answer,
        st.sampled_from(["", " \n", "words", "half \ud800 a character"]) | st.text(max_size=10),
        st.lists(asks(), max_size=4).map(tuple),
        st.sampled_from(["stop", "tool_calls", "length", "content_filter", "refusal", "", "end_turn"]),
        st.just("m"),
        st.builds(Usage, st.integers(0, 100), st.integers(0, 100)),
    )


def failures() -> st.SearchStrategy[Exception]:
    return st.sampled_from(
        [TemporaryError("busy"), TemporaryError("busy", retry_after=3600), Unusable("HTML"), RunStopped("refused")]
    )


@dataclass
class EndlessModel:
    """A model that repeats the same answers."""

    replies: Sequence[Answer | Exception]
    requests: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        reply = self.replies[len(self.requests) % len(self.replies)]
        self.requests.append(body)
        if isinstance(reply, Exception):
            raise reply
        return reply


def with_tools(*replies: Answer | Exception, models: tuple[str, ...] = ("m",)) -> MemoryRun:
    made = memory_run(*replies)
    made.tool("look", "read")
    made.tool("post", "blind")
    made.models = models
    return made


def ended(*replies: Answer | Exception) -> tuple[MemoryRun, Ending]:
    made = with_tools(*replies)
    return made, asyncio.run(made.run())


def history(made: MemoryRun) -> list[dict[str, object]]:
    """Return the messages of the last request between the system prompt and the tail."""
    return json.loads(made.model.requests[-1])["messages"][1:-1]


@given(st.lists(answers() | answers() | failures(), min_size=1, max_size=6), st.integers(1, 3))
def test_any_model_answers_end_the_run_with_valid_requests_only(replies: list[Answer | Exception], chain: int) -> None:
    made = with_tools(models=tuple(f"m{n}" for n in range(chain)))
    made.model = EndlessModel(replies)
    made.patience = type(made.patience)(backoff=0)
    try:
        ending = asyncio.run(made.run())
    except (RunStopped, Parked):
        pass
    else:
        assert answer_text(ending).strip()
        assert ending.status == "done" or ending.reason
    assert [complaint for body in made.model.requests for complaint in complaints(body)] == []
    asyncio.run(proven(made))


async def proven(made: MemoryRun) -> None:
    """Check that the history and the prefix of each request follow from the journal."""
    journal = list(await made.journal())
    sent = [item.entry for item in journal if isinstance(item.entry, LlmRequest)]
    # A request without a response is sent again unchanged: consecutive equal bodies belong to one entry.
    bodies = [body for body, _ in itertools.groupby(made.model.requests)]
    assert len(bodies) == len(sent)
    for body, entry in zip(bodies, sent, strict=True):
        prefix = body[: -len(entry.tail.encode())]
        assert hashlib.sha256(prefix).hexdigest() == entry.prefix_sha256
        assert json.loads(body)["model"] == entry.params["model"]
        until = next(i for i, item in enumerate(journal) if item.address == entry.through)
        assert prefix.endswith(b",".join(conversation.project(journal[: until + 1]).parts))


def test_five_megabytes_of_arguments_are_refused_and_never_sent_back() -> None:
    made, ending = ended(says("", ("post", HUGE)), says("Sorry."))
    assert ending == Ending("done", "Sorry.")
    assert made.acted == []
    assert len(made.model.requests[-1]) < 10_000
    assert f"longer than {ARGUMENTS_LIMIT} characters" in str(history(made)[-1]["content"])


def test_broken_arguments_are_quoted_once_and_not_repeated_in_the_history() -> None:
    broken = '{"text": "the deploy is blo' + "x" * 900
    made, _ = ended(says("", ("post", broken)), says("Sorry."))
    assistant, outcome = history(made)[-2:]
    assert assistant["tool_calls"][0]["function"]["arguments"] == "{}"
    assert str(outcome["content"]).startswith(
        'post was not called: its arguments are not JSON. They began with \'{"text": "the deploy is blo'
    )
    assert len(str(outcome["content"])) < 400


def test_calls_of_a_truncated_answer_are_refused() -> None:
    cut = says("", ("post", {"text": "1"}), ("post", '{"text": "2'))
    made, ending = ended(Answer("", cut.asks, "length", "m", Usage()), says("Done."))
    assert ending.status == "done"
    assert made.acted == []
    told = "Not called: your answer was cut off at the limit of one answer"
    assert [str(message["content"])[: len(told)] for message in history(made)[-2:]] == [told, told]


def test_deprecated_function_call_is_refused() -> None:
    message = {"content": None, "function_call": {"name": "post", "arguments": '{"text": "1"}'}}
    choice = {"finish_reason": "function_call", "message": message}
    made, ending = ended(parse_answer(json.dumps({"choices": [choice]}).encode()), says("Sorry."))
    assert (ending, made.acted) == (Ending("done", "Sorry."), [])
    assistant, outcome = history(made)[-2:]
    assert assistant["tool_calls"][0]["function"] == {"name": "post", "arguments": '{"text": "1"}'}
    assert "deprecated function_call" in str(outcome["content"])


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "post", "arguments": {"text": "1"}}\n</tool_call>',
        'I post it.\n<tool_call>{"name": "post", "arguments": {"text": "1"',
        "<function=post><parameter=text>1</parameter></function>",
        '{"name": "post", "arguments": {"text": "1"}}',
        '```json\n[{"name": "post", "parameters": {"text": "1"}}]\n```',
        '[TOOL_CALLS][{"name": "post", "arguments": {}}]',
        'I post it now.\n\n```json\n{"name": "post", "arguments": {"text": "1"}}\n```\nThen I answer.',
        'I call `post(text="1")`.',
        '```tool_code\nprint(post(text="1"))\n```',
        'Thought: I must post.\nAction: post\nAction Input: {"text": "1"}',
        "I post it.\n<post><text>1</text></post>",
        "tool: post\narguments:\n  text: 1",
    ],
)
def test_tool_call_written_as_text_is_refused_and_not_shown(text: str) -> None:
    made, ending = ended(says(text), says("Sorry."))
    assert (ending, made.acted) == (Ending("done", "Sorry."), [])
    assert str(history(made)[-1]["content"]).startswith(
        "[Gofer, by code] Your last answer has a call of post written as text."
    )
    assert (asyncio.run(made.kinds()))[1] == ["LlmResponse", "MessageReceived", "LlmRequest"]
    made, ending = ended(says("Found two.", ("look", {})), says(text), says(text), says(text))
    assert answer_text(ending) == f"{MISUSED}{SO_FAR}Found two."


def test_truncated_tool_call_written_as_text_is_not_shown() -> None:
    cut = Answer('I post it.\n<tool_call>{"name": "post", "argum', (), "length", "m", Usage())
    made, ending = ended(says("Found two.", ("look", {})), cut, cut, cut)
    assert "has a call of post written as text" in str(history(made)[-1]["content"])
    assert answer_text(ending) == f"{MISUSED}{SO_FAR}Found two."
    beside = says('<tool_call>{"name": "post"}</tool_call>', ("look", {}))
    _, ending = ended(beside, says(""), says(""), says(""))
    assert answer_text(ending) == SILENT


def test_text_before_a_written_tool_call_is_shown_without_other_text() -> None:
    text = 'The deploy is blocked.\n<tool_call>{"name": "post", "arguments": {"text": "1"}}</tool_call>'
    _, ending = ended(says(text), says(text), says(text))
    assert answer_text(ending) == f"{MISUSED}{SO_FAR}The deploy is blocked."


def test_half_a_call_as_bare_json_is_not_shown() -> None:
    cut = Answer('The deploy is blocked.\n{"name": "post", "arguments": {"text": "Two', (), "length", "m", Usage())
    made, ending = ended(cut, cut, cut)
    assert "has a call of post written as text" in str(history(made)[-1]["content"])
    assert answer_text(ending) == f"{MISUSED}{SO_FAR}The deploy is blocked."


@pytest.mark.parametrize(
    "text",
    [
        'A call:\n\n```json\n{"name": "post", "arguments": {"words": "1"}}\n```',
        'A call:\n\n```json\n{"name": "fly", "arguments": {"text": "1"}}\n```',
        "I used `post()` once.",
    ],
)
def test_example_of_a_call_that_no_tool_takes_stays_an_answer(text: str) -> None:
    made, ending = ended(says(text))
    assert (ending, made.acted) == (Ending("done", text), [])


def test_text_written_before_a_failure_is_shown() -> None:
    _, ending = ended(says("Two builds failed.", ("look", {})), says(""), says(""), says(""))
    assert answer_text(ending) == f"{SILENT}{SO_FAR}Two builds failed."


def test_typed_answer_may_look_like_a_tool_call() -> None:
    said = '{"name": "look", "arguments": {}}'
    made = with_tools(says(said))
    made.output = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert asyncio.run(made.run()).output == {"name": "look", "arguments": {}}


def test_thoughts_are_journaled_and_not_part_of_the_answer() -> None:
    raw = json.dumps({"choices": [{"message": {"content": "<think>Hm.</think>\n\nYes."}}]}).encode()
    made, ending = ended(parse_answer(raw))
    assert ending.answer == "Yes."
    (response,) = [item.entry for item in asyncio.run(made.journal()) if isinstance(item.entry, LlmResponse)]
    assert (response.text, response.thoughts) == ("Yes.", "<think>Hm.</think>")


def test_thoughts_before_a_tool_call_are_resent_in_place() -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": "{}"}}
    said = "<think>Hm.</think>\nI look."
    raw = json.dumps({"choices": [{"message": {"content": said, "tool_calls": [call]}}]}).encode()
    made, _ = ended(parse_answer(raw), says("Done."))
    assert history(made)[-2]["content"] == said


def test_missing_or_repeated_call_ids_are_replaced_by_generated_ids() -> None:
    asked = tuple(ToolAsk(id_, "look", "{}") for id_ in ("", "kept", "kept"))
    made, _ = ended(Answer("", asked, "stop", "m", Usage()), Answer("", asked, "stop", "m", Usage()), says("Done."))
    ids = [call["id"] for message in history(made) for call in message.get("tool_calls", ())]
    assert ids == ["g00001000", "kept", "g00001002", "g00002000", "g00002001", "g00002002"]


def test_journal_keeps_the_answer_of_the_model_unchanged() -> None:
    asked = (ToolAsk("", "look!", '{"text": "cut'),)
    made, _ = ended(Answer("", asked, "length", "m", Usage()), says("Done."))
    journal = asyncio.run(made.journal())
    (first, _) = [item.entry for item in journal if isinstance(item.entry, LlmResponse)]
    assert (first.tool_calls, first.finish_reason) == (asked, "length")


def test_unknown_tool_is_named_as_written_but_shortened() -> None:
    made, _ = ended(says("", ("fly me!" + "x" * 5_000, "{}")), says("Sorry."))
    assistant, outcome = history(made)[-2:]
    assert str(assistant["tool_calls"][0]["function"]["name"]).startswith("fly_me_xxx")
    assert str(outcome["content"]).startswith("There is no tool 'fly me!xxx")
    assert "The tools of this workflow: look, post." in str(outcome["content"])
    assert len(str(outcome["content"])) < 200


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (says(""), "Your last answer was empty."),
        (says(" \n"), "Your last answer was empty."),
        (Answer("Half of", (), "length", "m", Usage()), "Your last answer was cut off"),
        (Answer("", (), "length", "m", Usage()), "Your last answer was cut off"),
    ],
)
def test_useless_answer_is_explained_in_the_frame_of_the_answer(first: Answer, told: str) -> None:
    made, ending = ended(first, says("The answer."))
    assert ending == Ending("done", "The answer.")
    assert told in str(history(made)[-1]["content"])
    assert (asyncio.run(made.kinds()))[1] == ["LlmResponse", "MessageReceived", "LlmRequest"]


@pytest.mark.parametrize(
    ("useless", "status", "reason", "said"),
    [
        (says(""), "failed", f"{USELESS}was empty; use another model", SILENT),
        (
            Answer("So far: 17", (), "length", "m", Usage()),
            "limited",
            (
                "stopped after 3 useless answers in a row, the last one cut off at its limit; "
                "a larger max_output_tokens helps"
            ),
            "_The answer was too long for one piece. This is its beginning:_\n\nSo far: 17",
        ),
        (
            Answer("", (), "length", "m", Usage()),
            "failed",
            f"{USELESS}was cut off before its first word; a larger max_output_tokens helps",
            TOO_LONG,
        ),
        (
            says("", ("fly", {})),
            "failed",
            f"{USELESS}called a tool that does not exist; use a model that is better at calling tools",
            MISUSED,
        ),
        (
            says('<tool_call>{"name": "post", "arguments": {}}</tool_call>'),
            "failed",
            f"{USELESS}was a tool call written as text; use a model that is better at calling tools",
            MISUSED,
        ),
    ],
)
def test_three_useless_answers_explain_the_problem_to_operator_and_colleague(
    useless: Answer, status: str, reason: str, said: str
) -> None:
    made, ending = ended(useless, useless, useless, says("too late"))
    assert (ending.status, ending.reason, answer_text(ending)) == (status, reason, said)
    assert len(made.model.requests) == 3


def test_text_before_a_written_call_beside_real_calls_is_shown() -> None:
    beside = says('Two builds failed.\n<tool_call>{"name": "post", "arguments": {}}</tool_call>', ("look", {}))
    _, ending = ended(beside, says(""), says(""), says(""))
    assert answer_text(ending) == f"{SILENT}{SO_FAR}Two builds failed."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I cannot {help}.", "The language model declined to answer: “I cannot {help}.”"),
        ("", "The language model declined to answer."),
        ('<tool_call>{"name": "post"}</tool_call>', "The language model declined to answer."),
        ('I will not.\n<tool_call>{"name": "post"}', "The language model declined to answer: “I will not.”"),
    ],
)
def test_model_refusal_quotes_the_words_of_the_model(text: str, said: str) -> None:
    _, ending = ended(Answer(text, (), "refusal", "m", Usage()))
    assert (ending.status, answer_text(ending)) == ("failed", said)


def test_useful_answer_restarts_the_count_of_useless_answers() -> None:
    made, ending = ended(
        says(""), says("", ("fly", {})), says("", ("look", {}), ("fly", {})), says(""), says(""), says("The answer.")
    )
    assert ending == Ending("done", "The answer.")
    assert made.acted == ["look:"]


def test_useless_answers_are_counted_across_a_restart() -> None:
    made = with_tools(says(""), says(""))
    with pytest.raises(IndexError):
        asyncio.run(made.run())
    made.model.answers = [says(""), says("too late")]

    async def go_on() -> Ending:
        return await coordinate(await made.step("second"), made.bundle(), PROVENANCE)

    assert asyncio.run(go_on()).status == "failed"
    assert len(made.model.answers) == 1


def test_model_refusal_ends_the_run_and_is_answered_but_not_listed() -> None:
    asked = (ToolAsk("c", "post", '{"text": "1"}'),)
    made, ending = ended(Answer("I will not do that. " * 50, asked, "refusal", "m", Usage()))
    assert made.acted == []
    assert (ending.status, ending.reason) == ("failed", "the model refused")
    assert answer_text(ending).startswith("The language model declined to answer: “I will not do that.")
    assert len(answer_text(ending)) < 400


def test_filtered_answer_ends_the_run_without_the_text() -> None:
    _, ending = ended(Answer("half of something", (), "content_filter", "m", Usage()))
    assert ending.reason == "the filter of the model's provider stopped its answer; ask in other words"
    assert answer_text(ending) == "The content filter of the model's provider stopped this. Please ask in other words."


def test_call_of_an_unknown_tool_is_recorded_as_refused() -> None:
    made, _ = ended(says("", ("fly", {})), says("Sorry."))
    outcomes = [item.entry for item in asyncio.run(made.journal()) if isinstance(item.entry, ToolResult)]
    assert [outcome.status for outcome in outcomes] == ["refused"]
