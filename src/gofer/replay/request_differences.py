"""The differences of requests as a person reads them: the first differing message instead of two hashes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from gofer.journal.entries import Recorded
from gofer.projections.requests.sent_requests import sent_requests
from gofer.replay.divergence import Divergence
from gofer.replay.recorded_run import RecordedRun
from gofer.values.canonical_json import as_object, encode_text
from gofer.workflows.bundle import Bundle


def readable(
    divergences: Sequence[Divergence],
    recorded: RecordedRun,
    replayed: Mapping[str, Sequence[Recorded]],
    bundles: Mapping[str, Bundle],
) -> Sequence[Divergence]:
    """Return the differences; the first one about the messages of a request shows the first differing message."""
    found = next((at for at, one in enumerate(divergences) if one.field == "messages"), None)
    if found is None:
        return divergences
    one = divergences[found]
    before = _parts(recorded.journals[one.run], recorded.bundles.get(one.run), one.address)
    after = _parts(replayed[one.run], bundles.get(one.run), one.address)
    if not before or not after:
        return divergences
    shown = list(divergences)
    shown[found] = _with_message(one, before, after)
    return shown


def _parts(entries: Sequence[Recorded], bundle: Bundle | None, address: str) -> Sequence[str]:
    """Return the tools, the system prompt and the messages of a request as texts; empty without such a request."""
    if bundle is None:
        return ()
    for sent in sent_requests(entries, bundle.loaded.system, bundle.tools):
        if sent.recorded.address == address and sent.is_exact:
            messages = [_text(json.loads(part)) for part in sent.parts]
            return [encode_text(bundle.tools), bundle.loaded.system, *messages]
    return ()


def _text(message: object) -> str:
    content = as_object(message).get("content")
    if isinstance(content, str):
        return content
    return json.dumps(message, ensure_ascii=False)


def _with_message(one: Divergence, before: Sequence[str], after: Sequence[str]) -> Divergence:
    for at, (original, replayed) in enumerate(zip_longest(before, after, fillvalue="")):
        if original != replayed:
            return replace(one, field=_name(at), original=original, replayed=replayed)
    return one


def _name(at: int) -> str:
    match at:
        case 0:
            return "tools"
        case 1:
            return "system prompt"
        case _:
            return f"message {at - 1}"
