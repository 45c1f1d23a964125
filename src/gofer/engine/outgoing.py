"""The gate for texts that people read: which addresses a run may link, and its texts with only these as links."""

from dataclasses import replace
from functools import lru_cache

from gofer.engine.owned_run import OwnedRun
from gofer.journal.entries import RunConcluded
from gofer.sources.outgoing_text import rebuilt
from gofer.sources.registry import SHARED_HOSTS
from gofer.values.addresses import Live, host_of, keys_in


def live_addresses(run: OwnedRun) -> Live:
    """Return the addresses that a run may link.

    They stood whole in its prompt or in what it or a run above it read, or they are on a host of the installation or
    of the key `links`. An address that the model of any of these runs wrote first is none of them.
    """
    runs = [run]
    while (above := runs[-1].above) is not None:
        runs.append(above)

    def is_read(key: str) -> bool:
        if any(key in one.addresses.written for one in runs):
            return any(key in prompt_keys(one) for one in runs)
        return any(key in one.addresses.read or key in prompt_keys(one) for one in runs)

    links = run.services.links
    listed = [host for one in runs if one.bundle for host in one.bundle.loaded.workflow.links]
    return Live(is_read, frozenset({*links.hosts, host_of(links.base_url), *listed}) - SHARED_HOSTS - {""})


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
