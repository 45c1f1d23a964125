"""Conditions of triggers that no event can meet, or that probably do not mean what they say."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from gofer.check.triggers import Claim, claims
from gofer.sources.webhook.senders import differing
from gofer.workflows.mistake import Mistake, Rule
from gofer.workflows.routes import fits
from gofer.workflows.sentences import close_match
from gofer.workflows.when import Conditions, OddWord
from gofer.workflows.yaml_source import Source

Finding = tuple[Rule, str, str]
"""The rule, what is wrong, and what to write instead."""


def check_conditions(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Yield the odd words in the conditions of each valid trigger."""
    names = {"workflows": ["any", *(source.file.stem for source in workflows)]}
    for claim in (claim for source in workflows for claim in claims(source)):
        if isinstance(claim.trigger.conditions, Conditions):
            yield from _odd_words(claim, claim.trigger.conditions, names)
            yield from _changed(claim, claim.trigger.conditions)
        if claim.trigger.hook is not None:
            for sender in differing(claim.trigger.hook.auth):
                message = f"{sender.name} has this header, with another form of proof."
                hint = f"If it is the sender, write `auth: {sender.written()}`."
                yield Mistake(claim.source.file, claim.source.place(claim.loc), "unlikely-condition", message, hint)
        if claim.trigger.times is not None:
            place = claim.source.place(claim.loc)
            for finding in claim.trigger.times.uneven():
                yield Mistake(claim.source.file, place, "unlikely-condition", *finding)


def _odd_words(claim: Claim, conditions: Conditions, names: Mapping[str, Collection[str]]) -> Iterator[Mistake]:
    source = claim.source
    for loc, word in source.words.items():
        if loc[: len(claim.loc)] != claim.loc or loc == claim.loc:
            continue
        condition = str(loc[len(claim.loc)])
        published = conditions.KNOWN.get(condition, ())
        known = names.get(condition) or published
        finding = odd_word(word, conditions.ODD.get(condition, ()))
        finding = finding or _unknown(word, condition, known, never=bool(published))
        if finding is not None:
            yield Mistake(source.file, source.place(loc), *finding)


def _changed(claim: Claim, conditions: Conditions) -> Iterator[Mistake]:
    if (changed := conditions.changed()) is not None:
        message, hint = changed
        place = claim.source.key(claim.loc)
        yield Mistake(claim.source.file, place, "changed-meaning", f"`{claim.trigger.kind}` {message}", hint)


def odd_word(word: str, forms: Sequence[OddWord]) -> Finding | None:
    """Return what is wrong with a word by the first form that it has; None for a word without such a form."""
    for one in forms:
        if found := one.form.fullmatch(word.strip(":")):
            rule: Rule = "unlikely-condition"
            if one.never:
                rule = "impossible-condition"
            return rule, f"`{word[:80]}` {one.wrong}.", found.expand(one.hint)[:200]
    return None


def _unknown(word: str, condition: str, known: Collection[str], *, never: bool) -> Finding | None:
    """Return what is wrong with a word that is not known.

    It is a mistake if it resembles a known one or if there are no others (`never`), and else worth a hint.
    """
    if not known or any(fits(word, one) for one in known):
        return None
    message = f"`{word[:80]}` is none of the words that `{condition}` can match."
    rule: Rule = "impossible-condition" if never else "unlikely-condition"
    if meant := close_match(word, known):
        return "impossible-condition", message, f"Write `{meant}`."
    listed = ", ".join(f"`{one}`" for one in sorted(known))
    return rule, message, f"Write one of these: {listed}."
