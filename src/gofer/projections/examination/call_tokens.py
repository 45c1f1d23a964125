"""The tokens and the cost of each call of a model: the words that asked for it, and its place in later requests.

A provider counts the tokens of a whole request. They are divided among its parts by their estimated tokens, in the
order of the request, so that the first parts are those that the provider read from its cache, and the next ones those
that it wrote to it. The cost of a request is
divided by the price of each kind of token. So the shares of one request add up to what the provider counted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal import entries as e
from gofer.journal.workspace_entries import ContextCompacted
from gofer.projections import conversation as conversation_projection
from gofer.projections.conversation import Conversation
from gofer.projections.prompted_run import PromptedRun
from gofer.projections.requests.request_parts import MESSAGE, RequestWeights
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.messages import Usage
from gofer.values.tokens import estimate

AS_TEXT = "text/{}"
"""The id of a call that a model wrote as text, by its turn."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The prices of one model in any unit. Only their proportions matter, because each answer has its cost."""

    input: float = 1.0
    cached: float = 1.0
    written: float = 1.0
    output: float = 1.0


FREE = Rates(input=0.0, cached=0.0, written=0.0, output=0.0)


@dataclass(slots=True)
class Spent:
    """Tokens and their cost. Input tokens are those that no cache read or wrote."""

    input: float = 0.0
    cached: float = 0.0
    written: float = 0.0
    output: float = 0.0
    usd: float = 0.0

    def add(self, other: "Spent") -> None:
        """Add other tokens and their cost."""
        self.input += other.input
        self.cached += other.cached
        self.written += other.written
        self.output += other.output
        self.usd += other.usd

    @property
    def tokens(self) -> float:
        """All tokens."""
        return self.input + self.cached + self.written + self.output


@dataclass(slots=True)
class CallTokens:
    """The tokens of the calls of one run, and those of the run itself without its subagent runs."""

    calls: dict[str, Spent] = field(default_factory=dict[str, Spent])
    """By call id."""
    total: Spent = field(default_factory=Spent)
    is_priced: bool = True
    """Whether the cost of each answer is known."""

    def of(self, call: str) -> Spent:
        """Return the tokens of a call, to read and to add to."""
        return self.calls.setdefault(call, Spent())


Owner = tuple[str, int]
"""A call, and its estimated tokens in a message."""


@dataclass(slots=True)
class _Layout:
    """The messages of a request with their calls."""

    model: str
    fixed: int
    """Estimated tokens of the system prompt and the tools, which come first."""
    parts: Sequence[int]
    """Estimated tokens of each message."""
    owners: Sequence[Sequence[Owner]]
    total: int


def call_tokens(run: PromptedRun) -> CallTokens:
    """Return the tokens of the calls of a run."""
    division = _Division(RequestWeights(run.system, run.tools), _rates(run.bundle))
    for recorded in run.entries:
        division.fold(recorded)
    return division.result


def _rates(bundle: Mapping[str, object]) -> Mapping[str, Rates]:
    """Return the prices of the models in a bundle, by their names."""
    found: dict[str, Rates] = {}
    for model in map(as_object, as_list(bundle.get("models"))):
        price = as_object(model.get("price"))
        if price:
            found[as_text(model.get("name"))] = Rates(
                input=_number(price, "input"),
                cached=_number(price, "cached_input"),
                written=_number({"cache_write": price.get("input"), **price}, "cache_write"),
                output=_number(price, "output"),
            )
    return found


def _number(price: Mapping[str, object], name: str) -> float:
    value = price.get(name)
    if isinstance(value, int | float):
        return max(0.0, float(value))
    return 0.0


class _Division:
    """The division of each request among the calls of a run."""

    def __init__(self, weights: RequestWeights, rates: Mapping[str, Rates]) -> None:
        self.result = CallTokens()
        self._weights = weights
        self._rates = rates
        self._conversation = Conversation()
        self._owners: list[Sequence[Owner]] = []
        self._calls: dict[str, str] = {}
        """The calls by their ids in the history."""
        self._layout: _Layout | None = None
        self._answer: e.LlmResponse | None = None
        self._prices = FREE
        """US dollars per token of the last answer."""

    def fold(self, recorded: e.Recorded) -> None:
        """Divide the tokens of one more entry."""
        match recorded.entry:
            case e.LlmRequest() as request:
                self._layout = self._lay_out(request)
            case e.SubagentFinished(run="", usage=usage, cost_usd=cost):
                self._count(usage, cost)
            case ContextCompacted(kept=kept, folded=folded):
                self._owners[kept : kept + folded] = [()]
            case e.LlmResponse() as answer:
                self._charge(answer)
            case _:
                pass
        conversation_projection.fold(self._conversation, recorded)
        if isinstance(recorded.entry, e.LlmResponse):
            self._calls |= {name: call for call, name in self._conversation.ids.items()}
        self._assign()
        if isinstance(recorded.entry, e.MessageReceived) and recorded.entry.code == "call_as_text":
            self._charge_text()

    def _lay_out(self, request: e.LlmRequest) -> _Layout:
        parts = tuple(self._weights.parts(self._conversation))
        total = sum(self._weights.weigh(self._conversation, request.tail).roles.values())
        fixed = sum(self._weights.weigh(self._conversation).roles.values()) - sum(parts)
        return _Layout(str(request.params.get("model", "")), fixed, parts, tuple(self._owners), total)

    def _count(self, usage: Usage, cost: float | None) -> Spent:
        """Add the usage of an answer to that of the run, and return it."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        written = min(usage.written_tokens, usage.input_tokens - cached)
        fresh = usage.input_tokens - cached - written
        spent = Spent(input=fresh, cached=cached, written=written, output=usage.output_tokens, usd=cost or 0.0)
        self.result.total.add(spent)
        self.result.is_priced = self.result.is_priced and cost is not None
        return spent

    def _charge(self, answer: e.LlmResponse) -> None:
        spent = self._count(answer.usage, answer.cost_usd)
        layout = self._layout
        self._answer = answer
        self._layout = None
        if layout is None:
            return
        self._prices = _prices(spent, self._rates.get(layout.model, Rates()))
        for call, share in _shares_of_request(layout, spent):
            self._add(call, share)
        for call, part in _shares_of_answer(self._conversation.turn + 1, answer):
            self._add(call, Spent(output=spent.output * part))

    def _add(self, call: str, share: Spent) -> None:
        prices = self._prices
        share.usd = _units(share, prices)
        self.result.of(call).add(share)

    def _assign(self) -> None:
        """Note the calls of the messages that entered the history."""
        for part in self._conversation.parts[len(self._owners) :]:
            self._owners.append(tuple(self._owners_of(part)))

    def _owners_of(self, part: bytes) -> Iterator[Owner]:
        message = as_object(json.loads(part))
        answered = self._calls.get(as_text(message.get("tool_call_id")))
        if answered is not None:
            yield answered, estimate(as_text(message.get("content"))) + MESSAGE
        for asked in map(as_object, as_list(message.get("tool_calls"))):
            call = self._calls.get(as_text(asked.get("id")))
            if call is not None:
                function = as_object(asked.get("function"))
                yield call, _asked_tokens(as_text(function.get("name")), as_text(function.get("arguments")))

    def _charge_text(self) -> None:
        """Charge the last answer to a call of its own, because it is a call that the model wrote as text."""
        state = self._conversation
        if self._answer is None or not state.starts or self._answer.tool_calls:
            return
        call = AS_TEXT.format(state.turn)
        self._add(call, Spent(output=self._answer.usage.output_tokens))
        weights = self._weights.parts(state)
        for index in range(state.starts[-1], len(state.parts)):
            self._owners[index] = ((call, weights[index]),)


def _prices(spent: Spent, rates: Rates) -> Rates:
    """Return the US dollars per token of an answer, in the proportions of its prices."""
    units = _units(spent, rates)
    if not units:
        return FREE
    unit = spent.usd / units
    return Rates(
        input=unit * rates.input,
        cached=unit * rates.cached,
        written=unit * rates.written,
        output=unit * rates.output,
    )


def _units(spent: Spent, rates: Rates) -> float:
    read = spent.input * rates.input + spent.cached * rates.cached
    return read + spent.written * rates.written + spent.output * rates.output


def _shares_of_request(layout: _Layout, spent: Spent) -> Iterator[tuple[str, Spent]]:
    """Yield the counted input tokens of each call in each message of a request."""
    if not layout.total:
        return
    scale = (spent.input + spent.cached + spent.written) / layout.total
    begin = layout.fixed * scale
    for tokens, owners in zip(layout.parts, layout.owners, strict=True):
        end = begin + tokens * scale
        cached = max(0.0, min(end, spent.cached) - begin)
        written = max(0.0, min(end, spent.cached + spent.written) - max(begin, spent.cached))
        fresh = end - begin - cached - written
        for call, weight in owners:
            share = min(1.0, weight / max(1, tokens))
            yield call, Spent(input=fresh * share, cached=cached * share, written=written * share)
        begin = end


def _shares_of_answer(turn: int, answer: e.LlmResponse) -> Iterator[tuple[str, float]]:
    """Yield the share of each call in the output of an answer. Thoughts are divided like the rest."""
    weights = [_asked_tokens(ask.tool, ask.arguments) for ask in answer.tool_calls]
    whole = sum(weights) + estimate(answer.text)
    for index, weight in enumerate(weights):
        yield f"{turn}.{index}", weight / whole


def _asked_tokens(tool: str, arguments: str) -> int:
    return estimate(f"{tool} {arguments}") + MESSAGE
