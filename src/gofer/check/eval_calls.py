"""Mistakes in the calls and mocks of eval files: tools, arguments, matchers, and the form of mocks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.check.mock_forms import differences, form_of
from gofer.check.tools import Holder, argument_hint, granted, tool_hint
from gofer.evals.case_begin import DecisionPoint
from gofer.evals.eval_file import Case, Eval, Expectations, Mocks, RequiredCall
from gofer.evals.matcher_mistakes import check_matcher
from gofer.tools.definition import AnyTool
from gofer.tools.mocks import Override
from gofer.values.canonical_json import as_list
from gofer.workflows.mistake import Mistake
from gofer.workflows.yaml_source import Loc, Source


@dataclass(frozen=True, slots=True)
class Granted:
    """The tools that exist, and those that the runs of one workflow and of its subagents may call."""

    every: Mapping[str, AnyTool]
    workflow: Source
    subagents: Sequence[Source]
    """All subagents of the repository."""
    skills: Collection[str]

    def has(self, tool: AnyTool) -> bool:
        """Return whether a run of the workflow, or of a subagent that the workflow may ask, has a tool."""
        holder = Holder(self.workflow, "workflow")
        asked = (source for source in self._asked(holder))
        return holder.has_tool(tool, self.skills) or any(tool.name in granted(source) for source in asked)

    def _asked(self, holder: Holder) -> Sequence[Source]:
        asked = [source for source in self.subagents if holder.has_subagent(source.file.stem)]
        for source in asked:
            named = as_list(source.fields.get("subagents"))
            asked += [other for other in self.subagents if other.file.stem in named and other not in asked]
        return asked


@dataclass(frozen=True, slots=True)
class CallChecks:
    """The checks of the calls, mocks and matchers of one eval file."""

    source: Source
    tools: Granted

    def case(self, case: Case, loc: Loc) -> Iterator[Mistake]:
        """Yield the mistakes in the calls, mocks and matchers of a case."""
        yield from self.mocks(case.mocks, (*loc, "mocks"))
        yield from self.expectations(case.expect, (*loc, "expect"))
        for at, turn in enumerate(case.then):
            yield from self.expectations(turn.expect, (*loc, "then", at, "expect"))
        if not isinstance(case.rubric.require_actions, bool):
            yield from self.calls(case.rubric.require_actions, (*loc, "rubric", "require_actions"))
        for name in case.approve:
            yield from self._tool(name, (*loc, "approve", name))
        if case.decision is not None:
            yield from self.history(case.decision, (*loc, "decision", "history"))

    def unmocked(self, of: Eval) -> Iterator[Mistake]:
        """Yield a hint for each tool of the workflow that writes and that no mock answers for in some case."""
        played = [case for case in of.cases if case.trigger is not None and case.decision is None]
        for name, tool in self.tools.every.items():
            is_refused = tool.effect != "read" and tool.mock is None and self.tools.has(tool)
            if is_refused and any(name not in {*of.mocks, *case.mocks} for case in played):
                message = f"`{name}` writes and has no mock, so plays of this eval refuse its calls."
                hint = f"Add a mock to the tool with `@{name}.mock`, or its result under `mocks`."
                yield Mistake(self.source.file, self.source.place(("workflow",)), "unmocked-tool", message, hint)

    def mocks(self, mocks: Mocks, loc: Loc) -> Iterator[Mistake]:
        """Yield the mistakes in the results of mocked tools."""
        for name, entries in mocks.items():
            here = (*loc, name)
            tool = self.tools.every.get(name)
            yield from self._tool(name, here)
            if tool is not None and tool.base:
                message = f"`{name}` reaches no system, so there is nothing to mock."
                yield Mistake(self.source.file, self.source.key(here), "unknown-tool", message, "Remove it.")
            elif tool is not None:
                for at, entry in enumerate(entries):
                    inner = self._item(here, at)
                    yield from self._arguments(tool, entry.arguments, (*inner, "arguments"))
                    yield from self._form(tool, entry, inner)

    def _form(self, tool: AnyTool, entry: Override, loc: Loc) -> Iterator[Mistake]:
        form = form_of(tool)
        if form is None:
            return
        for found in differences(entry, form):
            path = (*loc, *found.loc)
            message = f"`{found.loc[-1]}` {found.message}."
            hint = f"Write the form that the mock of `{tool.name}` has."
            yield Mistake(self.source.file, self.source.key(path), "mock-form", message, hint)

    def history(self, decision: DecisionPoint, loc: Loc) -> Iterator[Mistake]:
        """Yield the mistakes in the history of a decision point."""
        for at, turn in enumerate(decision.history):
            for number, call in enumerate(turn.calls):
                here = (*loc, at, "calls", number)
                yield from self._tool(call.tool, (*here, "tool"), is_value=True)
                if tool := self.tools.every.get(call.tool):
                    yield from self._arguments(tool, call.arguments, (*here, "arguments"))

    def expectations(self, expect: Expectations, loc: Loc) -> Iterator[Mistake]:
        """Yield the mistakes in the calls and matchers of what one run must do."""
        here = (*loc, "tools")
        yield from self.calls(expect.tools.required, (*here, "required"))
        # An eval may forbid a tool that the workflow does not have, so that granting it later fails the eval.
        yield from self.calls(expect.tools.forbidden, (*here, "forbidden"), must_have=False)
        yield from self.calls(expect.tools.in_order, (*here, "in_order"))
        yield from self.calls(expect.tools.only or (), (*here, "only"))
        yield from self.calls(expect.next or (), (*loc, "next"))
        yield from self._matchers(expect.world.added, (*loc, "world", "added"))
        yield from self._matchers(expect.world.changed, (*loc, "world", "changed"))
        yield from self._matchers(expect.output.json_fields, (*loc, "output", "json"))

    def calls(self, calls: Sequence[RequiredCall], loc: Loc, *, must_have: bool = True) -> Iterator[Mistake]:
        """Yield the mistakes in calls. `must_have`: the workflow must have their tools."""
        for at, call in enumerate(calls):
            here = self._item(loc, at)
            if isinstance(call, str):
                yield from self._tool(call, here, is_value=True, must_have=must_have)
                continue
            for name, expectation in call.items():
                path = (*here, name)
                yield from self._tool(name, path, must_have=must_have)
                if tool := self.tools.every.get(name):
                    yield from self._arguments(tool, expectation.arguments, (*path, "arguments"))
                yield from self._matchers(expectation.arguments, (*path, "arguments"))

    def _tool(self, name: str, loc: Loc, *, is_value: bool = False, must_have: bool = True) -> Iterator[Mistake]:
        """Yield a mistake if there is no such tool, or if the workflow must have it and does not."""
        place = self.source.key(loc)
        if is_value:
            place = self.source.place(loc)
        tool = self.tools.every.get(name)
        if tool is None:
            message = f"There is no tool `{name[:80]}`."
            yield Mistake(self.source.file, place, "unknown-tool", message, tool_hint(name, self.tools.every))
        elif must_have and not self.tools.has(tool):
            message = f"The workflow `{self.tools.workflow.file.stem}` does not have the tool `{name}`."
            hint = "Add it to `tools` of the workflow, or remove it here."
            yield Mistake(self.source.file, place, "tool-not-granted", message, hint)

    def _arguments(self, tool: AnyTool, arguments: Collection[str], loc: Loc) -> Iterator[Mistake]:
        fields = list(tool.arguments.model_fields)
        for name in arguments:
            if name not in fields and not tool.unusable:
                message = f"`{tool.name}` has no argument `{name[:80]}`."
                place = self.source.key((*loc, name))
                yield Mistake(self.source.file, place, "unknown-argument", message, argument_hint(name, fields))

    def _matchers(self, matchers: Mapping[str, object], loc: Loc) -> Iterator[Mistake]:
        for name, matcher in matchers.items():
            for found in check_matcher(matcher, (*loc, name)):
                place = self.source.key(found.loc)
                yield Mistake(self.source.file, place, "invalid-matcher", found.message, found.hint)

    def _item(self, loc: Loc, at: int) -> Loc:
        """Return the path of an item of a list; a single item may be written without a list."""
        if (*loc, at) in self.source.values:
            return (*loc, at)
        return loc
