"""Tool calls that a model writes as text, in the forms of each family, and answers that only mention calls."""

import json
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.call_forms import before_call, written_call
from support.models.offered import OFFERED

SEARCH = '{"name": "search", "arguments": {"query": "deploy"}}'
CREATE = '{"project": "OPS", "summary": "The deploy fails", "labels": ["build"]}'

MARKED = [
    ("cut off", 'Sure!<tool_call>{"name": "search"', "search"),
    ("not offered", '<tool_call>\n{"name": "not_offered", "arguments": {}}', "not_offered"),
    ("empty", "<tool_call>", ""),
    ("Hermes", f"<tool_call>\n{SEARCH}\n</tool_call>", "search"),
    ("Qwen coder", "<tool_call>\n<function=search>\n<parameter=query>\nx\n</parameter>\n</function>", "search"),
    ("GLM", "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", "search"),
    ("Llama", '<function=search>{"query": "x"}</function>', "search"),
    ("Llama tag", '<|python_tag|>{"name": "search", "parameters": {"query": "x"}}', "search"),
    ("Mistral", f"[TOOL_CALLS][{SEARCH}]", "search"),
    ("Mistral names", '[TOOL_CALLS]search{"query": "x"}', "search"),
    ("Claude", '<function_calls>\n<invoke name="search">', "search"),
    ("Phi", f"<|tool_call|>[{SEARCH}]<|/tool_call|>", "search"),
    ("Kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0", ""),
    ("gpt-oss", '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "x"}', "search"),
    ("DeepSeek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function", ""),
    ("DeepSeek 3.2", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">', "search"),
    ("MiniMax", '<minimax:tool_call>\n<invoke name="search">', "search"),
    ("Seed", "<seed:tool_call>\n<function=search>", "search"),
    ("LFM", '<|tool_call_start|>[search(query="x")]<|tool_call_end|>', "search"),
    ("FunctionGemma", "<start_function_call>call:search{query:<escape>x<escape>}", "search"),
    ("Command R7B", '<|START_ACTION|>[{"tool_name": "search", "parameters": {"query": "x"}}]', "search"),
    ("Nemotron", f"<TOOLCALL>[{SEARCH}]</TOOLCALL>", "search"),
]

FITTING = [
    ("whole", SEARCH),
    ("whole list", f"[{SEARCH}, {SEARCH}]"),
    ("whole fence", f"```json\n{SEARCH}\n```"),
    ("after words", f"I look for it.\n\n{SEARCH}"),
    ("before words", f"{SEARCH}\n\nThis finds the deploys."),
    ("in a sentence", f"Let me do this: {SEARCH} and then answer."),
    ("fence between words", f"I call the tool:\n\n```json\n{SEARCH}\n```\n\nThen I answer."),
    ("fence of tildes", f"First:\n~~~tool_call\n{SEARCH}\n~~~\nThen more."),
    ("inline code", f"I call `{SEARCH}` now."),
    ("several objects", f'{SEARCH}\n{SEARCH}\n{{"name": "todo_read", "arguments": {{}}}}'),
    ("one that fits among others", f'[{{"name": "Kim", "arguments": {{}}}}, {SEARCH}]'),
    ("mark in a fence between words", f"Look:\n```xml\n<tool_call>\n{SEARCH}\n</tool_call>\n```\nDone."),
    ("OpenAI", ('Now:\n{"tool_calls": [{"id": "c", "type": "function", "function": '
     '{"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}}]}')),
    ("OpenAI function_call", 'Now {"function_call": {"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}}'),
    ("OpenAI Responses", ('Now {"type": "function_call", "call_id": "c", "name": "search", "arguments": '
     '"{\\"query\\": \\"x\\"}"}')),
    ("OpenAI parallel", 'Now {"tool_uses": [{"recipient_name": "functions.search", "parameters": {"query": "x"}}]}'),
    ("Claude", 'Now [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "x"}}]'),
    ("Gemini", 'Now {"functionCall": {"name": "search", "args": {"query": "x"}}}'),
    ("Llama", 'Now:\n{"type": "function", "name": "search", "parameters": {"query": "x", "limit": "3"}}'),
    ("Command R", 'Plan: search.\nAction: ```json\n[{"tool_name": "search", "parameters": {"query": "x"}}]\n```'),
    ("LangChain", 'Thought: look\n```\n{"action": "search", "action_input": {"query": "x"}}\n```'),
    ("LangChain text", 'Now {"action": "search", "action_input": "deploy"}'),
    ("name as key", 'Now {"search": {"query": "x"}}'),
    ("arguments beside the name", 'Now {"tool": "search", "query": "x"}'),
    ("arguments first", 'Now {"arguments": {"query": "x"}, "name": "search"}'),
    ("quotes of Python", "Now {'name': 'search', 'arguments': {'query': \"it's\", 'limit': 3,}}"),
    ("keys without quotes", 'Now {name: "search", arguments: {query: "x"}}'),
    ("doubled braces", f"Now {{{SEARCH}}}"),
    ("line break in a string", 'Now {"name": "search", "arguments": {"query": "two\nlines"}}'),
    ("quote in a sentence before", f'The sign {{" is no JSON. {SEARCH}'),
    ("broken object before", f"{{a: 1, }} [b: [1, 2 {SEARCH}"),
    ("Internlm", f"Now <|action_start|><|plugin|>{SEARCH}<|action_end|>"),
    ("Apertus", 'Now <|tools_prefix|>[{"search": {"query": "x"}}]<|tools_suffix|>'),
    ("Gemma", 'I look.\n```tool_code\nsearch(query="deploy", limit=3)\n```\n'),
    ("Gemma print", 'I look.\n```tool_code\nprint(default_api.search(query="deploy"))\n```'),
    ("Llama 4", '[search(query="x"), slack_post(channel="C1", text="hello")]'),
    ("Olmo", '<functions>search(query="x")</functions>'),
    ("Python after words", 'I call search(query="deploy") now.'),
    ("Python in inline code", "I call `search(query='deploy')` now."),
    ("Python positions", 'I look.\n\nresult = search("deploy", 3)'),
    ("Python three quotes", 'Now:\nslack_post(channel="C1", text="""Two\n"builds" failed.""")'),
    ("Python without arguments", "```python\ntodo_read()\n```\nThen I answer."),
    ("Python await", 'await functions.search({"query": "deploy"})'),
    ("JavaScript", "```js\nconst found = await functions.search({ query: 'deploy', limit: 3 });\n```\nok"),
    ("nested in a call", 'asyncio.run(gather(search(query="x"), other))'),
    ("Llama call", 'brave: search.call(query="deploy")'),
    ("ReAct", 'Thought: I look.\nAction: search\nAction Input: {"query": "deploy"}\nObservation:'),
    ("ReAct text", "Thought: I look.\nAction: search\nAction Input: deploy"),
    ("ReAct bold", '**Action:** search\n**Action Input:** {"query": "deploy"}'),
    ("ReAct fence", 'Action: `search`\nAction Input:\n```json\n{"query": "deploy"}\n```'),
    ("ReAct numbered", "Thought 1: look\nAction 1: search\nAction Input 1: deploy"),
    ("ReAct brackets", "Thought: I look.\nAction: search[deploy failures]"),
    ("ReAct call", 'Action: search({"query": "deploy"})'),
    ("Qwen", '✿FUNCTION✿: search\n✿ARGS✿: {"query": "deploy"}\n✿RESULT✿'),
    ("Functionary", '>>>search\n{"query": "deploy"}'),
    ("GLM 4", 'search\n{"query": "deploy"}'),
    ("Kimi in a fence", '```\n<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "x"}\n```'),
    ("DeepSeek in a fence", 'Now:\n````\nfunction<｜tool▁sep｜>search\n```json\n{"query": "x"}\n```\n````\nok'),
    ("gpt-oss without marks", 'assistantcommentary to=functions.search json{"query": "deploy"}'),
    ("Mistral in inline code", 'I call `[TOOL_CALLS]search[ARGS]{"query": "x"}` now.'),
    ("labels", 'Tool: search\nArguments: {"query": "deploy"}'),
    ("words and JSON", 'I will call the `search` tool with the following arguments:\n\n```json\n{"query": "x"}\n```'),
    ("arrow of a shell", 'Calling tool: search with arguments: {"query": "deploy"}'),
    ("YAML", "I look.\n```yaml\ntool: search\narguments:\n  query: deploy\n  limit: 3\n```\n"),
    ("YAML list", "- tool: search\n  arguments:\n    query: deploy"),
    ("YAML beside", "I look.\n```yaml\ntool: search\nquery: deploy\nlimit: 3\n```"),
    ("YAML by name", "I look.\nsearch:\n  query: deploy\n  limit: 3\n"),
    ("ReAct parentheses", 'Thought: I look.\nAction: search("deploy")'),
    ("ReAct without quotes", "Thought: I look.\nAction: search(deploy failures)"),
    ("ReAct without arguments", "Thought: I look.\nAction: todo_read\nAction Input: {}"),
    ("empty tag", "I look.\n<todo_read/>"),
    ("tag without content", "I look.\n```\n<todo_read></todo_read>\n```"),
    ("call of a call", 'I look. call_tool("search", {"query": "deploy"})'),
    ("pair", 'I look. ["search", {"query": "deploy"}]'),
    ("quoted lines", '> {\n>   "name": "search",\n>   "arguments": {"query": "x"}\n> }'),
    ("comment", '{"name": "search", // the tool\n "arguments": {"query": "x"}} now'),
    ("quotes of a text processor", "Now {“name”: “search”, “arguments”: {“query”: “x”}}"),
    ("f-string", 'Now:\nslack_post(channel="C1", text=f"Two {builds} failed.")'),
    ("joined strings", 'Now:\nslack_post(\n    channel="C1",\n    text=("Two "\n          "failed."),\n)'),
    ("tool_args", 'Now {"tool_name": "search", "tool_args": {"query": "x"}}'),
    ("escaped tag", f"&lt;tool_call&gt;{SEARCH}&lt;/tool_call&gt;"),
    ("numbered", '1. search(query="a")\n2. search(query="b")'),
    ("Cline", "I look.\n<search>\n<query>deploy</query>\n</search>"),
    ("Cline values with signs", "<slack_post><channel>C1</channel><text>a < b, and search more</text></slack_post>"),
    ("Claude in a fence", '```xml\n<invoke name="search">\n<parameter name="query">x</parameter>\n</invoke>\n```'),
    ("Qwen coder in a fence", "Now:\n```\n<function=search>\n<parameter=query>\nx\n</parameter>\n</function>\n```"),
    ("GLM in inline code",
     "I call `<tool_call>search<arg_key>query</arg_key><arg_value>x</arg_value></tool_call>` now."),
    ("tool with params", '<tool name="search"><param name="query">x</param><param name="limit">3</param></tool>'),
    ("tool with name", "<tool><name>search</name><parameters><query>x</query></parameters></tool>"),
    ("tool_use", "<use>\n<tool_name>search</tool_name>\n<arguments>\n{\"query\": \"x\"}\n</arguments>\n</use>"),
    ("attributes", 'I look: <search query="deploy" limit="3"/>'),
    ("list in a tag", ('In code: `<jira_create_issue><project>OPS</project><summary>x</summary>'
     '<labels>["a"]</labels></jira_create_issue>`')),
    ("cut off", 'I look.\n{"name": "search", "arguments": {"query": "dep'),
    ("without its last brace", 'I look.\n```json\n{"name": "search", "arguments": {"query": "deploy"}\n```'),
    ("Python cut off", 'I post.\nslack_post(channel="C1", text="Two bu'),
]  # fmt: skip

ANSWERS = [
    ("empty", ""),
    ("empty object", "{}"),
    ("empty list", "[]"),
    ("person", '{"name": "Kim", "arguments": "none"}'),
    ("only a name", '{"name": "search"}'),
    ("not offered", '{"name": "deploy", "arguments": {"query": "x"}}'),
    ("not offered in a fence", '```json\n{"name": "deploy", "input": {"stage": "prod"}}\n```'),
    ("one of two not offered", '[{"name": "search", "arguments": {}}, {"name": "Kim", "arguments": {}}]'),
    ("unknown argument", 'A call:\n```json\n{"name": "search", "arguments": {"words": "x"}}\n```\nEnd.'),
    ("missing argument", 'A call: `{"name": "search", "arguments": {}}`'),
    ("wrong type", 'A call: `{"name": "search", "arguments": {"query": "x", "limit": "many"}}`'),
    ("wrong pattern", 'So: `{"name": "jira_create_issue", "arguments": {"project": "ops", "summary": "x"}}`'),
    ("ellipsis", 'A call is written as `{"name": "search", "arguments": {...}}`.'),
    ("tag in code", "Write it as `<tool_call>{...}</tool_call>`."),
    ("tag in a fence", 'Write it like this:\n\n```\n<tool_call>\n{"name": "search"}\n</tool_call>\n```\n'),
    ("tag in a sentence", "The tag <tool_call> begins a call."),
    ("Mistral in words", "Models of Mistral write `[TOOL_CALLS]` first."),
    ("retold", 'I called search with {"query": "deploy"} and found two.'),
    ("retold result", 'search returned {"query": "deploy", "limit": 3}.'),
    ("retold result of all", 'The tool search found: {"count": 2}.'),
    ("mention", "I used `search()` and `todo_read()` for this."),
    ("mention with an argument", 'The function search("deploy") is called twice in deploy.py.'),
    ("list of mentions", "- `todo_read()`: reads the plan\n- `search(query)`: searches"),
    ("signature", "```python\ndef search(query: str, limit: int = 10) -> list[str]:\n    ...\n```"),
    ("variables", "```python\nfound = search(query=words, limit=most)\n```\nThe call has no check."),
    ("method of a client", '```python\nclient.search(query="deploy")\nself.search(query="x")\n```'),
    ("other function", '```python\nresearch(query="deploy")\nsearch_all(query="x")\n```'),
    ("number", "```python\nsearch(1)\n```"),
    ("definition of a tool", ('```json\n{"name": "search", "description": "Search.", "parameters": {"type": "object", '
     '"properties": {"query": {"type": "string"}}}}\n```\nThis is the schema.')),
    ("configuration", '```json\n{"tools": ["search", "slack_post"], "model": "gpt-5.4"}\n```'),
    ("configuration by name", '```json\n{"tools": {"search": {}, "todo_read": {"enabled": true}}}\n```'),
    ("workflow file", "```yaml\ntools:\n  - search\n  - slack_post\nlimits:\n  minutes: 5\n```"),
    ("minutes", "Minutes\n\nAction: Kim moves the search to the new server.\nAction Input: needed from Lee.\n"),
    ("minutes with a label", "Action: search\nOwner: Kim\nDue: Friday"),
    ("minutes as a list", "- Action: slack_post is too loud\n- Decision: fewer posts"),
    ("log", '2026-11-28T10:00:00Z INFO tool=search status=ok {"took_ms": 12, "count": 2}'),
    ("trace", '{"level": "info", "tool": "search", "status": "ok", "ms": 12}'),
    ("trace in words", 'The log says:\n> {"event": "call", "name": "search", "ms": 12}'),
    ("Slack", "Hello <@U12345>, see <#C1|search> and <https://x.example/search?query=a|search> :search: :tada:"),
    ("Slack broadcast", "<!here> the search is back :white_check_mark: {thanks}"),
    ("HTML", '<form action="search"><input name="query" value="x"></form>'),
    ("HTML element", "```html\n<search>\n<form><label>Query</label></form>\n</search>\n```"),
    ("XML of a build", "```xml\n<target name=\"search\"><echo>done</echo></target>\n```"),
    ("table", "| tool | calls |\n|---|---|\n| search | 2 |\n| slack_post | 1 |"),
    ("shell", "```sh\ncurl -d '{\"query\": \"deploy\"}' https://x.example/search\n```"),
    ("SQL", "```sql\nSELECT search('deploy'), count(*) FROM t;\n```"),
    ("braces of a template", "Write {{query}} where search stands, or {% search %}."),
    ("JSON of two people", '[{"name": "Kim", "args": {"a": 1}}, {"name": "Lee", "args": {}}]'),
    ("commit", "search: limit results (#12)\n\nIt takes {limit} and {query} now."),
    ("cut off words", 'The tool search( is written as {"name": "search"'),
]  # fmt: skip


def cases(table: list[tuple[str, ...]]) -> list[object]:
    return [pytest.param(*row[1:], id=row[0]) for row in table]


@pytest.mark.parametrize(("text", "tool"), cases([*MARKED]))
def test_call_with_the_marks_of_a_template_is_recognized(text: str, tool: str) -> None:
    assert written_call(text, OFFERED) == tool


@pytest.mark.parametrize("text", cases([*FITTING]))
def test_call_of_an_offered_tool_with_fitting_arguments_is_recognized_in_every_form(text: str) -> None:
    assert written_call(text, OFFERED) in OFFERED


@pytest.mark.parametrize("text", cases([*FITTING]))
def test_words_before_a_call_contain_no_part_of_the_call(text: str) -> None:
    words = before_call(text, OFFERED)
    assert text.startswith(words)
    for part in ("search", "slack_post", '{"', "```", "~~~", "Action:", "<|", "tool_c", "to=", "`"):
        assert part not in words.replace('{" is no JSON', "").replace("Plan: search.", "")


@pytest.mark.parametrize("text", cases([*ANSWERS]))
def test_answer_about_tools_stays_an_answer(text: str) -> None:
    assert written_call(text, OFFERED) is None
    assert before_call(text, OFFERED) == text


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ('{"name": "search", "arguments": {"words": 1}}', "search"),
        ('{"name": "search", "parameters": "{}"}', "search"),
        ('```\n<tool_call>{"name": "search", "arguments": {}}</tool_call>\n```', "search"),
        ('{"type": "function", "function": {"name": "search", "arguments": {}}}', "search"),
    ],
)
def test_whole_answer_that_names_an_offered_tool_is_a_call_even_with_wrong_arguments(text: str, tool: str) -> None:
    assert written_call(text, OFFERED) == tool


def test_call_of_a_tool_with_many_arguments_is_recognized_by_its_own_schema() -> None:
    call = f'{{"name": "jira_create_issue", "arguments": {CREATE}}}'
    assert written_call(f"I file it.\n{call}", OFFERED) == "jira_create_issue"
    assert written_call(f"I file it.\n{call.replace('OPS', 'ops')}", OFFERED) is None


@given(st.text(max_size=200))
def test_ordinary_text_contains_no_tool_call(text: str) -> None:
    assert written_call(text, OFFERED) is None


PIECES = [
    "<tool_call>", "</", "<", ">", "[TOOL_CALLS]", "```", "`", "\n", " ", "{", "}", "[", "]", "(", ")", '"', "'", ",",
    ":", "\\", '"""', "=", "search", "todo_read", "query", "name", "arguments", "Action: ", "Action Input: ", "tool: ",
    "<search>", "</search>", "<query>", "</query>", "x", "1", "-", "{\"name\": \"search\"", '"arguments": {', "é",
    "\ud800",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_raises_and_words_before_a_call_are_the_beginning_of_the_text(text: str) -> None:
    words = before_call(text, OFFERED)
    assert text.startswith(words)
    if written_call(text, OFFERED) is None:
        assert words == text


@given(st.sampled_from(FITTING), st.text(alphabet="abc .,\n", max_size=60), st.text(alphabet="abc .,\n", max_size=60))
def test_words_around_a_call_do_not_hide_the_call(form: tuple[str, str], before: str, after: str) -> None:
    if "cut off" not in form[0]:
        assert written_call(f"{before}\n{form[1]}\n{after}", OFFERED) in OFFERED


@given(
    st.recursive(
        st.none() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner)
    )
)
def test_json_that_names_no_offered_tool_is_no_tool_call(value: object) -> None:
    assert written_call(json.dumps(value), OFFERED) is None


def function_calls(work: Callable[[], object]) -> int:
    """Return how many functions a piece of work calls, also those of regular expressions."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


HEAVY = [
    "{", "[", "(", '{"', "{'", '{"a":', '{"a":[', '{"a": "{', '{\\"', "{}", '{"a": {}}', '"', "search(",
    "search(query=",
    "search{", 'search {"query": 1} ', 'search(query="', '{"name": "search", "arguments": {', "<search>", "<search></",
    "<search><query>", "Action: search\nAction Input:\n ", "  tool: search\n  arguments:\n", "search: ", "search\n",
    '{"name": "search", "arguments": "{', "`search", "```\nsearch(", '"""', "a=", "search=", "<search query='",
]  # fmt: skip


@pytest.mark.parametrize("piece", HEAVY)
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    short = f"search {piece * (3_000 // len(piece))}"
    long = f"search {piece * (12_000 // len(piece))}"
    written_call(short, OFFERED)
    few = function_calls(lambda: written_call(short, OFFERED))
    assert function_calls(lambda: written_call(long, OFFERED)) <= 5 * few + 1_000


@pytest.mark.parametrize("piece", [*HEAVY, "<tool_call>", "`<tool_call>{", "[TOOL_CALLS]", "\n", "```\n", "~~~\n"])
def test_many_characters_of_one_form_are_read_without_hanging(piece: str) -> None:
    # No time is asserted: with a quadratic number of steps this test would never end.
    text = "search " + piece * (200_000 // len(piece))
    assert text.startswith(before_call(text, OFFERED))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Two builds failed.", "Two builds failed."),
        (f"Two builds failed.\n\n<tool_call>{SEARCH}</tool_call> Done.", "Two builds failed."),
        (f"<tool_call>{SEARCH}</tool_call>", ""),
        (SEARCH, ""),
        ("Write `<function=search>` for a call.", "Write `<function=search>` for a call."),
        (f"Two builds failed.\n\n```json\n{SEARCH}\n```\nDone.", "Two builds failed."),
        (f"Two builds failed. {SEARCH}", "Two builds failed."),
        ("Two builds failed.\nAction: search\nAction Input: deploy", "Two builds failed."),
        ('Two builds failed.\n```tool_code\nprint(search(query="x"))\n```', "Two builds failed."),
        ('Two builds failed.\nfound = await search(query="x")', "Two builds failed."),
        ("Two builds failed.\n<tool><name>search</name><query>x</query></tool>", "Two builds failed."),
        (f"Ask <@U123> [now]: {SEARCH}", "Ask <@U123> [now]:"),
    ],
)
def test_text_before_a_written_tool_call_is_kept(text: str, before: str) -> None:
    assert before_call(text, OFFERED) == before
