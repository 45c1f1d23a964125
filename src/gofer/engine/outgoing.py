"""The gate for texts that people read: which addresses a run may link, and its texts with only these as links."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import cast

from gofer.engine.known_asker import words_of_asker
from gofer.engine.owned_run import OwnedRun
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import RunConcluded, ToolResult
from gofer.sources.outgoing_text import plain_words, rebuilt
from gofer.sources.registry import SHARED_HOSTS
from gofer.values.addresses import Live, host_of, keys_in
from gofer.values.errors import ToolError

_UNREAD = (
    "Not called: no source that this run read has the address {address!r}. Use an address as it stands in the request, "
    "a page or a result. The owner of the workflow can permit all pages of a host with `links`."
)


def live_addresses(run: OwnedRun) -> Live:
    """Return the addresses that a run may link.

    They stood whole in its prompt or in what it or a run above it read, or they are on a host of the installation or
    of the key `links`. An address that the model of any of these runs wrote first is none of them.
    """
    runs = _with_above(run)

    def is_read(key: str) -> bool:
        if any(key in one.addresses.written for one in runs):
            return any(key in prompt_keys(one) for one in runs)
        return any(key in one.addresses.read or key in prompt_keys(one) for one in runs)

    links = run.services.links
    listed = [host for one in runs if one.bundle for host in one.bundle.loaded.workflow.links]
    hosts = frozenset({*links.hosts, host_of(links.base_url), *listed}) - SHARED_HOSTS - {""}
    return Live(is_read, hosts, lambda key: key not in run.addresses.requested and _is_choice(run, key, hosts))


def chooses_address(run: OwnedRun, item: Permitted) -> bool:
    """Return whether a call of a private run tells a host which of the addresses that others wrote its model chose."""
    if not item.tool.target.reach:
        return False
    asked = run.addresses.asked.get(item.call, frozenset())
    return any(map(live_addresses(run).chosen, asked))


def _is_choice(run: OwnedRun, key: str, hosts: frozenset[str]) -> bool:
    """Return whether a model chose an address in a private run, and neither a person nor a file named it."""
    is_scripted = run.bundle is not None and run.bundle.loaded.workflow.coordinator_script
    if not run.is_private or is_scripted or (host_of(key) in hosts and "?" not in key):
        return False
    if any(key in prompt_keys(one) for one in _with_above(run)):
        return False
    return key not in keys_in(words_of_asker(run))


def _with_above(run: OwnedRun) -> Sequence[OwnedRun]:
    runs = [run]
    while (above := runs[-1].above) is not None:
        runs.append(above)
    return runs


def prompt_keys(run: OwnedRun) -> frozenset[str]:
    """Return the addresses in the prompt of a run, or in its script."""
    if run.bundle is None:
        return frozenset()
    loaded = run.bundle.loaded
    script = run.services.scripts.get(loaded.workflow.coordinator_script)
    sources = tuple(script.sources.values()) if script else ()
    return _keys_of(loaded.system, sources)


@lru_cache(maxsize=64)
def _keys_of(system: str, sources: tuple[str, ...]) -> frozenset[str]:
    return frozenset(key for text in (system, *sources) for key in keys_in(text))


def rebuilt_answer(run: OwnedRun, concluded: RunConcluded) -> RunConcluded:
    """Return the end of the work with its text as people may read it."""
    return replace(concluded, text=rebuilt(concluded.text, live_addresses(run)))


def read_addresses_in(run: OwnedRun, text: str) -> frozenset[str]:
    """Return the keys of the addresses in a text that a run or a run above it read."""
    return frozenset(filter(live_addresses(run).read, keys_in(text)))


def rebuilt_call(run: OwnedRun, item: Permitted) -> Permitted | ToolResult:
    """Return a call with its texts as people may read them, or its refusal.

    A call that waits for an approval keeps the arguments that people were shown, even if the run has read more since.
    """
    target = item.tool.target
    for approval in run.progress.approvals.values():
        if approval.requested.call == item.call:
            return _with(item, approval.requested.arguments)
    if not (target.markdown or target.texts or target.addresses):
        return item
    live = live_addresses(run)
    given = item.arguments.model_dump(mode="json", exclude_unset=True)
    for name in target.addresses & given.keys():
        if given[name] and not live(str(given[name])):
            text = _UNREAD.format(address=str(given[name])[:200])
            return ToolResult(item.call, "refused", text, details={"code": "unread_address"})
    changed = {
        name: _rebuilt(value, partial(rebuilt if name in target.markdown else plain_words, live=live))
        for name, value in given.items()
        if name in target.markdown | target.texts
    }
    if all(given[name] == value for name, value in changed.items()):
        return item
    try:
        return _with(item, {**given, **changed})
    except ToolError as error:
        return ToolResult(item.call, "refused", error.message_to_model, details={"code": "broken"})


def _with(item: Permitted, arguments: Mapping[str, object] | None) -> Permitted:
    """Return a call with other arguments, or unchanged without any. Raises ToolError."""
    if arguments is None:
        return item
    return replace(item, arguments=item.tool.parse(arguments), recorded=arguments, rebuilt=True)


def _rebuilt(value: object, rebuild: Callable[[str], str]) -> object:
    """Return a JSON value with each of its texts rebuilt."""
    match value:
        case str():
            return rebuild(value)
        case dict():
            return {name: _rebuilt(inner, rebuild) for name, inner in cast(Mapping[str, object], value).items()}
        case list():
            return [_rebuilt(inner, rebuild) for inner in cast(Sequence[object], value)]
        case _:
            return value
