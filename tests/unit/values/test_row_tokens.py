"""Row tokens: equal for equal names, different for each use, and opaque without the installation key."""

import hashlib
import hmac

from gofer.values.canonical_json import encode
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.routes import fits

TOKENS = Tokens(InstallationKey(Secret("k" * 64)))
THREAD = "slack:T0ACME00:C0DEPLOY0:1795262400.000100"


def test_row_token_depends_on_name_and_installation_key() -> None:
    assert TOKENS.conversation(THREAD) == Tokens(InstallationKey(Secret("k" * 64))).conversation(THREAD)
    assert TOKENS.conversation(THREAD) != Tokens(InstallationKey(Secret("l" * 64))).conversation(THREAD)


def test_row_token_holds_neither_the_name_nor_an_unkeyed_hash() -> None:
    token = TOKENS.conversation(THREAD)
    for name in (THREAD, THREAD.rpartition(":")[0], "T0ACME00", "C0DEPLOY0"):
        assert name not in token
        assert hashlib.sha256(name.encode()).hexdigest()[:12] not in token


def test_row_tokens_differ_between_uses() -> None:
    made = [
        TOKENS.run("slack", "a", ("b",), "w"),
        TOKENS.conversation("slack:a:b"),
        TOKENS.usage("slack", "a", "b"),
        TOKENS.once("slack", "a", "b"),
        TOKENS.memory("notion status", "slack", "a", "b"),
        TOKENS.value("slack", "a", "b"),
        TOKENS.failure("slack", "a", "b"),
        TOKENS.item("slack", "a", "b"),
    ]
    assert len({token[:24] for token in made}) == len(made)


def test_channel_pattern_matches_tokens_of_threads_in_that_channel_only() -> None:
    pattern = TOKENS.conversations("slack:T0ACME00:C0DEPLOY0:*")
    assert fits(pattern, TOKENS.conversation(THREAD))
    assert fits(pattern, TOKENS.conversation("slack:T0ACME00:C0DEPLOY0:1.0"))
    assert not fits(pattern, TOKENS.conversation("slack:T0ACME00:C0DEPLOY1:1.0"))
    assert not fits(TOKENS.conversations("slack:T0ACME00:C0DEPLOY0:1.0"), TOKENS.conversation(THREAD))


def test_row_tokens_of_runs_and_memos_stay_stable_across_versions() -> None:
    """Other tokens would answer a mention again and repeat an effect after an update."""

    def before(*said: object) -> str:
        return hmac.new(b"k" * 64, encode(list(said)), hashlib.sha256).hexdigest()

    assert (
        TOKENS.run("slack", "slack.mention", ("T", "C", "1"), "w")
        == before("slack", "slack.mention", "T", "C", "1", "w")[:24]
    )
    assert TOKENS.once("w", "jira_create_issue", "slack", "T") == before("once", "w", "jira_create_issue", "slack", "T")
    assert TOKENS.memory("notion status", "p", "s", "w") == before("notion status", "p", "s", "w")
    assert TOKENS.value("p", "s", None) == before("value", "p", "s", None)
