"""The redacted runs of a golden: contents by pseudonyms, and every hash made again from them."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from gofer.evals.goldens.derived_names import DerivedNames
from gofer.evals.goldens.known_names import known_names, named_in_entry, ordinary_words, parts_of
from gofer.evals.goldens.placeholders import placeholder
from gofer.evals.goldens.pseudonyms import Pseudonyms, lower
from gofer.evals.goldens.redaction import Redaction, customer_words, sensitive_in, texts_in
from gofer.evals.goldens.run_file import GoldenRun, Lines
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.journal.entries import KINDS, LlmRequest
from gofer.projections.requests.sent_requests import sent_requests
from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.errors import ConfigError

_WORD = re.compile(r"[^\W_]+")
_FIXED = frozenset(
    {"kind", "status", "effect", "tool", "code", "prefix_sha256", "media_type", "finish_reason", "workflow"}
)
"""Fields of entries that never hold words of people."""
_OF_CONTENTS: Mapping[str, Sequence[str]] = {
    "chat_completions": ("sent_sha256",),
    "responses": ("sent_sha256", "extra", "ignored", "response_id"),
    "messages": ("sent_sha256", "extra", "ignored", "response_id"),
}
"""Fields of an answer that hold or hash contents in a form that cannot be redacted, by the format of the model."""
_OWN_TEXTS = frozenset({"system", "body", "description"})
"""The keys of a bundle with texts that the company wrote: prompts, skills, and what tools and skills are for."""
_IDENTIFYING_FIELDS = ("tool", "file", "skill", "workflow", "subagent")
"""Fields of entries with names that the engine looks up."""
SHORT = 8
"""The characters of a shortened run id."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """The runs of a case after their redaction."""

    turns: Sequence[GoldenRun]
    words: int
    """The number of different words that were replaced."""
    redaction: Redaction
    names: DerivedNames

    def text(self, text: str) -> str:
        """Return a text with the pseudonyms and names of the case."""
        return self.names.text(self.redaction.text(text))


def redacted(turns: Sequence[GoldenRun], salt: bytes, given: Iterable[str] = ()) -> Redacted:
    """Return the runs with pseudonyms. `given` are words that a person wants replaced as well.

    Raises ConfigError if a given word is the name of a tool or a field, or a request cannot be built again.
    """
    bodies = [_as_value(turn) for turn in turns]
    identifiers = _identifiers(turns)
    words = [*_words(bodies, turns), *_customer(given, identifiers)]
    avoided = {lower(word) for body in bodies for text in texts_in(body) for word in _WORD.findall(text)}
    pseudonyms = Pseudonyms(salt, avoided)
    redaction = Redaction(words, pseudonyms, identifiers)
    names = DerivedNames()
    for run in dict.fromkeys(run for turn in turns for run in (*turn.earlier, turn.run)):
        names.rename(run, pseudonyms.of(run, "code"))
        names.rename(run[:SHORT], pseudonyms.of(run, "code")[:SHORT])
    contents = [_redacted_contents(turn, redaction) for turn in turns]
    for before, after in zip(turns, contents, strict=True):
        names.learn(before, after)
    renamed = [names.run(turn) for turn in contents]
    rebuilt = [_with_hashes(before, after, names) for before, after in zip(turns, renamed, strict=True)]
    return Redacted(rebuilt, len(redaction.words), redaction, names)


def _as_value(turn: GoldenRun) -> Mapping[str, object]:
    texts = [text for content in turn.bodies.values() if (text := _text(content)) is not None]
    return {"journals": turn.journals, "earlier": turn.earlier, "bundles": turn.bundles, "bodies": texts}


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _words(bodies: Sequence[object], turns: Sequence[GoldenRun]) -> Iterator[Sensitive]:
    ordinary = ordinary_words(_company_texts(turns))
    names = [name for body in bodies for name in known_names(body)]
    names += [name for turn in turns for entry in _entries(turn) for name in named_in_entry(entry)]
    by_form = [word for body in bodies for word in sensitive_in(body)]
    runs = {run for turn in turns for run in (*turn.journals, *turn.earlier)}
    for word in (*names, *parts_of([*names, *by_form], ordinary), *by_form):
        if word.word not in runs and not _is_ordinary(word, ordinary):
            yield word


def _is_ordinary(word: Sensitive, ordinary: frozenset[str]) -> bool:
    """Return whether a name is one plain word that the company's own prompts use, such as a mailbox `support`."""
    return word.form == "name" and word.word.islower() and word.word in ordinary


def _company_texts(turns: Sequence[GoldenRun]) -> Iterator[str]:
    for turn in turns:
        for bundle in turn.bundles.values():
            yield as_text(bundle.get("system"))
            for schema in as_list(bundle.get("tools")):
                yield as_text(as_object(as_object(schema).get("function")).get("description"))


def _entries(turn: GoldenRun) -> Iterator[Mapping[str, object]]:
    return (as_object(line["entry"]) for journal in _journals(turn) for line in journal)


def _journals(turn: GoldenRun) -> Sequence[Lines]:
    return [*turn.earlier.values(), *turn.journals.values()]


def _identifiers(turns: Sequence[GoldenRun]) -> frozenset[str]:
    """Return the names of entries, fields, tools, skills and files, which must stay."""
    names = {*KINDS, *_FIXED}
    for turn in turns:
        for bundle in turn.bundles.values():
            for schema in as_list(bundle.get("tools")):
                function = as_object(as_object(schema).get("function"))
                names.add(as_text(function.get("name")))
                names.update(as_object(as_object(function.get("parameters")).get("properties")))
            names.update(_keys(bundle))
        for entry in _entries(turn):
            names.update(as_text(entry.get(field)) for field in _IDENTIFYING_FIELDS)
            names.update(entry)
    return frozenset(filter(None, names))


def _keys(value: object) -> Iterator[str]:
    """Yield the keys of a JSON value; in a bundle they are the keys of workflow files, tools, subagents and skills."""
    for key, inner in as_object(value).items():
        yield key
        yield from _keys(inner)
    for item in as_list(value):
        yield from _keys(item)


def _customer(given: Iterable[str], identifiers: frozenset[str]) -> Iterator[Sensitive]:
    lowered = {lower(name) for name in identifiers}
    for word in customer_words(given):
        if lower(word.word) in lowered:
            raise ConfigError(f"--redact {word.word!r} is the name of a tool or a field; write a longer word.")
        yield word


def _redacted_contents(turn: GoldenRun, redaction: Redaction) -> GoldenRun:
    owners = _owners(turn)
    media = _media_types(turn)

    def lines(journal: Lines) -> Lines:
        return [
            {**line, "owner": owners[as_text(line["owner"])], "entry": _entry(as_object(line["entry"]), redaction)}
            for line in journal
        ]

    return GoldenRun(
        turn.run,
        {run: lines(journal) for run, journal in turn.journals.items()},
        {run: _redacted_bundle(bundle, redaction) for run, bundle in turn.bundles.items()},
        {name: _body(content, media.get(name, ""), redaction) for name, content in turn.bodies.items()},
        {run: lines(journal) for run, journal in turn.earlier.items()},
    )


def _redacted_bundle(bundle: Mapping[str, object], redaction: Redaction) -> Mapping[str, object]:
    """Return a bundle with the prompts, skills and descriptions as the repository has them.

    Changed words would make another prompt, about which no recorded answer says anything.
    """
    return as_object(_with_own_texts(bundle, redaction.value(bundle, keys=False)))


def _with_own_texts(before: object, after: object) -> object:
    if isinstance(after, dict):
        earlier = as_object(before)
        return {key: _own_text(key, earlier.get(key), value) for key, value in as_object(cast(object, after)).items()}
    if isinstance(after, list):
        pairs = zip(as_list(before), as_list(cast(object, after)), strict=True)
        return [_with_own_texts(one, other) for one, other in pairs]
    return after


def _own_text(key: str, before: object, after: object) -> object:
    if key in _OWN_TEXTS and isinstance(before, str):
        return before
    return _with_own_texts(before, after)


def _owners(turn: GoldenRun) -> Mapping[str, str]:
    """Return a plain name for each process that worked on the run, because its own name may be that of a machine."""
    found = [as_text(line["owner"]) for journal in _journals(turn) for line in journal]
    return {owner: f"owner-{number}" for number, owner in enumerate(dict.fromkeys(found), 1)}


def _media_types(turn: GoldenRun) -> Mapping[str, str]:
    added = [as_object(line["entry"]) for journal in turn.journals.values() for line in journal]
    return {as_text(one.get("body")): as_text(one.get("media_type")) for one in added if one["kind"] == "file.added"}


def _entry(entry: Mapping[str, object], redaction: Redaction) -> Mapping[str, object]:
    redacted_entry = dict(entry)
    for key, value in entry.items():
        if key == "media":
            redacted_entry[key] = [_medium(as_object(one)) for one in as_list(value)]
        elif key == "event":
            redacted_entry[key] = _event(as_object(value), redaction)
        elif key in _OF_CONTENTS.get(as_text(entry.get("api")), ()):
            del redacted_entry[key]
        elif key not in _FIXED:
            redacted_entry[key] = redaction.value(value)
    return redacted_entry


def _event(event: Mapping[str, object], redaction: Redaction) -> Mapping[str, object]:
    fixed = {key: event[key] for key in ("source", "kind") if key in event}
    digest = as_text(event.get("digest"))
    value = {**as_object(redaction.value(event)), **fixed}
    if digest:
        # The digest is a hash of the delivered contents, by which these could be guessed.
        value["digest"] = hashlib.sha256(encode([value, "redacted"])).hexdigest()
    return value


def _medium(medium: Mapping[str, object]) -> Mapping[str, object]:
    shown = placeholder(as_text(medium.get("media_type")))
    return {**medium, "data": base64.b64encode(shown).decode()}


def _body(content: bytes, media_type: str, redaction: Redaction) -> bytes:
    text = _text(content)
    if text is None:
        return placeholder(media_type)
    return redaction.text(text).encode()


def _with_hashes(before: GoldenRun, after: GoldenRun, names: DerivedNames) -> GoldenRun:
    """Return the run with the hashes of its bundles and of the prefixes of its requests made again."""
    journals: dict[str, Sequence[Mapping[str, object]]] = {}
    for run in before.journals:
        new = names.text(run)
        lines = after.journals[new]
        if run in before.bundles:
            lines = _with_bundle_hash(lines, before.bundles[run], after.bundles[new])
        journals[new] = lines
        _refuse_inexact(before, run)
    whole = replace(after, journals=journals)
    return replace(whole, journals={run: _with_prefixes(whole, run) for run in journals})


def _with_bundle_hash(
    lines: Sequence[Mapping[str, object]], old: Mapping[str, object], new: Mapping[str, object]
) -> Sequence[Mapping[str, object]]:
    if old == new:
        return lines
    digest = hashlib.sha256(encode(new)).hexdigest()
    return [_replaced(line, "run.started", bundle=digest) for line in lines]


def _replaced(line: Mapping[str, object], kind: str, **fields: str) -> Mapping[str, object]:
    entry = as_object(line["entry"])
    if entry["kind"] != kind:
        return line
    return {**line, "entry": {**entry, **fields}}


def _refuse_inexact(facts: GoldenRun, run: str) -> None:
    bundle = facts.bundles.get(run)
    if bundle is None:
        return
    for sent in sent_requests(facts.entries(run), as_text(bundle.get("system")), _tools(bundle)):
        if not sent.is_exact:
            raise ConfigError(
                f"Request {sent.number} of run {run} cannot be built again by this version of Gofer, so the run cannot "
                "become a golden. Record the run again with this version."
            )


def _with_prefixes(facts: GoldenRun, run: str) -> Sequence[Mapping[str, object]]:
    """Return the journal of a run with the hash of each request, as its redacted journal and bundle make it."""
    bundle = facts.bundles.get(run)
    if bundle is None:
        return facts.journals[run]
    hashes = {
        sent.recorded.address: hashlib.sha256(sent.prefix).hexdigest()
        for sent in sent_requests(facts.entries(run), as_text(bundle.get("system")), _tools(bundle))
        if isinstance(sent.recorded.entry, LlmRequest)
    }
    lines: list[Mapping[str, object]] = []
    for line in facts.journals[run]:
        digest = hashes.get(f"{line['n']}.{line['i']}")
        if digest is None:
            lines.append(line)
        else:
            lines.append(_replaced(line, "llm.request", prefix_sha256=digest))
    return lines


def _tools(bundle: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    return cast(Sequence[Mapping[str, object]], as_list(bundle.get("tools")))
