"""Mocks that keep state: the systems of a company in worlds of evals."""

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.evals.eval_mistakes import eval_mistakes
from gofer.app.evals.player import Playing, open_player
from gofer.app.evals.suite_parts import PlayerPlays, RulesAndJudge
from gofer.app.settings import read_settings
from gofer.evals.load import load_evals
from gofer.evals.plan import PlannedCase, plan
from gofer.evals.results import CaseRun
from gofer.tool import sample_call
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mocks import MockedSystems, mocked
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import not_json
from gofer.values.errors import ToolError
from support.property_examples import examples
from support.stand_ins import AnsweringHttp, SetClock, unreachable

pytestmark = pytest.mark.anyio

DEFAULTS = """\
models: {default: gpt-5.4-mini}
limits: {tool_calls: 9, llm_calls: 9, tokens: 90000, minutes: 5, usd: 1}
"""
WORKFLOW = """\
description: Lend tools of the workshop.
owner: "#workshop"
when: [{webhook: {name: desk}}]
tools: [shed_find, shed_lend]
"""
TOOLS = '''\
from typing import Any

from gofer.tool import Arguments, Call, Origin, Place, ToolError, ToolResult, tool


class Item(Arguments):
    item: str


def shed(origin: Origin, arguments: Item) -> Place:
    return Place("shed", "other", "shed")


@tool(effect="read")
async def shed_find(call: Call, arguments: Item) -> ToolResult:
    """Find an item."""
    raise ToolError("The shed is closed.")


@shed_find.mock
def _find(arguments: Item, state: dict[str, Any]) -> ToolResult:
    return ToolResult(f"{arguments.item}: {state['items'][arguments.item]}", "found an item")


@tool(effect="keyed", place=shed)
async def shed_lend(call: Call, arguments: Item) -> ToolResult:
    """Lend an item."""
    raise ToolError("The shed is closed.")


@shed_lend.mock
def _lend(call: Call, arguments: Item, state: dict[str, Any]) -> ToolResult:
    state["items"][arguments.item] = "lent"
    if arguments.item == "anvil":
        raise ToolError("The anvil stays.")
    return ToolResult("Lent.", "lent an item")
'''
EVAL = """\
workflow: lend
world: {shed: {items: {drill: here, anvil: here}}}
cases:
  - name: drill
    trigger: {payload: {text: The drill please}}
    expect:
      tools: {required: [shed_find]}
      world: {changed: {/shed/items/drill: lent}, unchanged: [/shed/items/anvil]}
"""
SCRIPT = [
    {"calls": [{"shed_lend": {"item": "drill"}}]},
    {"calls": [{"shed_find": {"item": "drill"}}]},
    {"text": "Done"},
]

NOT_JSON = "The mock of shed_lend put into the state of `shed` what is not JSON:"
PUT_IN = "Put in texts, numbers, true, false, None, lists, and dicts with texts as keys."


def workshop(root: Path, *, tools: str = TOOLS, evals: str = EVAL, steps: object = SCRIPT) -> Path:
    for folder in ("agents", "tools", "evals/scripts"):
        (root / folder).mkdir(parents=True)
    (root / "agents" / "defaults.yaml").write_text(DEFAULTS)
    (root / "agents" / "lend.yaml").write_text(WORKFLOW)
    (root / "agents" / "lend.md").write_text("Lend what is asked for.")
    (root / "tools" / "shed.py").write_text(tools)
    (root / "evals" / "lend.yaml").write_text(evals)
    (root / "evals" / "scripts" / "lend.yaml").write_text(yaml.safe_dump([{"name": "any", "steps": steps}]))
    return root


async def played(root: Path, times: int = 1) -> list[CaseRun]:
    """Play the first case at the same time as often as said, with its script, and grade the plays."""
    (loaded,) = load_evals(root / "evals")
    async with open_player(read_settings({}), root, Playing("scripted", record=True)) as player:
        case: PlannedCase = plan([loaded], {})[0]
        plays = await asyncio.gather(*(PlayerPlays(player).play(case, number) for number in range(1, times + 1)))
        return [await RulesAndJudge("recorded", root=root).graded(case, 1, play) for play in plays]


def failed(run: CaseRun) -> dict[str, str]:
    return {grade.dimension: grade.happened for grade in run.grades if not grade.passed}


async def test_the_world_of_a_companys_system_is_graded_like_that_of_slack(tmp_path: Path) -> None:
    workshop(tmp_path)
    assert eval_mistakes(tmp_path / "agents", SetClock(0)) == []
    (run,) = await played(tmp_path)
    assert (run.outcome, failed(run)) == ("passed", {})


async def test_the_wrong_item_fails_by_the_world(tmp_path: Path) -> None:
    workshop(
        tmp_path,
        steps=[{"calls": [{"shed_lend": {"item": "anvil"}}, {"shed_find": {"item": "anvil"}}]}, {"text": "Done"}],
    )
    (run,) = await played(tmp_path)
    # The mock refused after it had changed its state, and a refusal changes nothing.
    assert run.outcome == "failed"
    assert failed(run)["world.changed"] == "the run changed nothing"


async def test_plays_at_the_same_time_share_no_state(tmp_path: Path) -> None:
    runs = await played(workshop(tmp_path), times=5)
    assert [run.outcome for run in runs] == ["passed"] * 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'state["items"]["saw"]',
            "tools/shed.py:33: The mock of shed_lend failed with KeyError: 'saw'. Correct it.",
        ),
        (
            'state["items"]["saw"] = {1, 2}',
            f"{NOT_JSON} /items/saw is of the type set. {PUT_IN}",
        ),
        (
            'state[3] = "x"',
            f"{NOT_JSON} / has the key 3, which is no text. {PUT_IN}",
        ),
    ],
)
async def test_a_mock_that_cannot_answer_fails_its_case_with_one_sentence(tmp_path: Path, line: str, said: str) -> None:
    broken = TOOLS.replace('state["items"][arguments.item] = "lent"', line)
    (run,) = await played(workshop(tmp_path, tools=broken))
    assert (run.outcome, run.problem) == ("failed", said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{shed: {items", "{shde: {items", "There is no simulator of `shde`. Write `shed`."),
        ("/shed/items/drill", "/shde/items/drill", "There is no simulator of `shde`. Write `shed`."),
        ("{shed: {items: {drill: here, anvil: here}}}", "{shed: 3}", "The state of `shed` is no mapping"),
        (
            "world: {shed: {items: {drill: here, anvil: here}}}\n",
            "world: demo\n",
            "The world of the case has no `shed`",
        ),
    ],
)
def test_the_check_knows_the_systems_of_a_company(tmp_path: Path, old: str, new: str, said: str) -> None:
    workshop(tmp_path, evals=EVAL.replace(old, new))
    assert said in " ".join(map(str, eval_mistakes(tmp_path / "agents", SetClock(0))))


def test_the_check_says_that_no_mock_keeps_the_state_of_a_system(tmp_path: Path) -> None:
    workshop(tmp_path, tools=TOOLS.replace("state: dict", "other: dict"))
    (first, *_) = map(str, eval_mistakes(tmp_path / "agents", SetClock(0)))
    assert "No mock keeps the state of `shed`, so nothing can change there." in first


GRADED = EVAL.replace("    expect:\n", "    grade: evals/graders.py:lent\n    expect:\n")
GRADER = "def lent(play):\n    return play.after['shed']['items']['drill'] == 'lent', 'the drill is in the shed'\n"


async def test_a_grader_of_the_company_sees_the_world(tmp_path: Path) -> None:
    workshop(tmp_path, evals=GRADED, steps=[{"calls": [{"shed_find": {"item": "drill"}}]}, {"text": "Done"}])
    (tmp_path / "evals" / "graders.py").write_text(GRADER)
    assert eval_mistakes(tmp_path / "agents", SetClock(0)) == []
    (run,) = await played(tmp_path)
    assert failed(run)["grade"] == "the drill is in the shed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GRADER.replace("lent(", "held("), "cannot be used: evals/graders.py has no function lent."),
        (f"{GRADER}import nowhere_at_all\n", "evals/graders.py:3 cannot be imported: ModuleNotFoundError"),
    ],
)
def test_the_check_imports_graders(tmp_path: Path, text: str, said: str) -> None:
    workshop(tmp_path, evals=GRADED)
    (tmp_path / "evals" / "graders.py").write_text(text)
    (mistake,) = eval_mistakes(tmp_path / "agents", SetClock(0))
    assert (mistake.rule, mistake.place.line) == ("case-grader", 6)
    assert said in str(mistake)


class Key(Arguments):
    """A key and its value."""

    key: str
    value: int


def nowhere(origin: Origin, arguments: Key) -> Place:
    return Place("store", "other", "store")


@tool(effect="keyed", system="Store", place=nowhere)
async def put(call: Call, arguments: Key) -> ToolResult:
    """Put a value."""
    raise ToolError("There is no store.")


@put.mock
def _put(arguments: Key, state: dict[str, Any]) -> ToolResult:
    state.setdefault("kept", {})[arguments.key] = [arguments.value]
    return ToolResult("Put.", "put", {"kept": state["kept"]})


CALLS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.integers(0, 9)), max_size=12)


@examples(0.2)
@given(CALLS)
def test_each_play_sees_only_its_own_changes(calls: list[tuple[int, str, int]]) -> None:
    begin: dict[str, dict[str, Any]] = {"store": {"kept": {"a": [0]}}}
    before = copy.deepcopy(begin)
    plays = [MockedSystems(dict(begin)) for _ in range(3)]
    expected: list[dict[str, Any]] = [{"a": [0]} for _ in plays]
    bound = put.bind(None, system="Store")

    async def play() -> None:
        for number, key, value in calls:
            act = mocked({"put": bound}, {}, plays[number])["put"].act
            await act(sample_call(AnsweringHttp(unreachable), {}), Key(key=key, value=value))
            expected[number][key] = [value]

    asyncio.run(play())
    assert [one.states["store"]["kept"] for one in plays] == expected
    assert begin == before


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        ({"a": [1, None, True, "x", 1.5]}, ""),
        ({"a": [float("nan")]}, "/a/0 is nan"),
        ({"a": (1,)}, "/a is of the type tuple"),
        ([{"b": b"x"}], "/0/b is of the type bytes"),
    ],
)
def test_values_without_a_form_in_json_are_named(value: object, flaw: str) -> None:
    assert not_json(value) == flaw


def test_a_value_that_contains_itself_is_not_json() -> None:
    round_and_round: list[object] = []
    round_and_round.append(round_and_round)
    assert "deeper than 100 levels" in not_json(round_and_round)
