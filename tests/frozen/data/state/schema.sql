CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE frames (
    run TEXT NOT NULL, n INTEGER NOT NULL, frame BLOB NOT NULL, PRIMARY KEY (run, n)
);
CREATE TABLE heads (
    run TEXT PRIMARY KEY, workflow TEXT NOT NULL, conversation TEXT NOT NULL, accepted_at INTEGER NOT NULL,
    status TEXT NOT NULL, private INTEGER NOT NULL, updated_at INTEGER NOT NULL, reason TEXT NOT NULL,
    wakes_at INTEGER NOT NULL, frames INTEGER NOT NULL, retention TEXT NOT NULL,
    facts TEXT NOT NULL DEFAULT '', by_person INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE inbox (
    run TEXT NOT NULL, id TEXT NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE TABLE leases (
    conversation TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE marks (schedule TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE memos (
    key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE queue_messages (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, visible_at REAL NOT NULL, receives INTEGER NOT NULL,
    people INTEGER NOT NULL DEFAULT 1, workflow TEXT NOT NULL DEFAULT ''
);
CREATE TABLE usage (
    scope TEXT NOT NULL, run TEXT NOT NULL, at INTEGER NOT NULL, usd REAL NOT NULL, PRIMARY KEY (scope, run)
) WITHOUT ROWID;
CREATE INDEX dead_letters_by_age ON dead_letters (at);
CREATE INDEX heads_abandoned ON heads (accepted_at DESC, run)
    WHERE status = 'needs_attention' AND facts = '';
CREATE INDEX heads_by_age ON heads (accepted_at DESC, run);
CREATE INDEX heads_ended ON heads (retention, max(accepted_at, updated_at), run)
    WHERE status NOT IN ('queued', 'running', 'parked');
CREATE INDEX heads_ended_private ON heads (retention, max(accepted_at, updated_at), run)
    WHERE private = 1 AND status NOT IN ('queued', 'running', 'parked');
CREATE INDEX heads_of_conversation ON heads (conversation, workflow, accepted_at DESC);
CREATE INDEX heads_parked ON heads (conversation) WHERE status = 'parked';
CREATE INDEX heads_public ON heads (accepted_at DESC, run) WHERE private = 0;
CREATE INDEX heads_rated ON heads (accepted_at DESC, run)
    WHERE instr(facts, '"good":') OR instr(facts, '"bad":');
CREATE INDEX heads_runnable ON heads (conversation, accepted_at, run)
    WHERE status IN ('queued', 'running');
CREATE INDEX heads_unfinished ON heads (max(accepted_at, updated_at, wakes_at), run)
    WHERE status IN ('queued', 'running', 'parked');
CREATE INDEX memos_expiring ON memos (at);
CREATE INDEX queue_messages_in_line ON queue_messages (people, workflow, visible_at);
CREATE INDEX queue_messages_of_run ON queue_messages (run, visible_at);
CREATE INDEX usage_by_age ON usage (scope, at, run);
CREATE INDEX usage_expiring ON usage (at);
CREATE INDEX usage_of_run ON usage (run);
PRAGMA user_version=8;
