-- Times are nanoseconds since 1970 in UTC, 0 where there is none. Amounts are
-- millionths of a US dollar.

CREATE TABLE records (
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

-- What there is one of: the clock's mark, the journal that was taken over.
CREATE TABLE facts (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE grants (
  id             TEXT PRIMARY KEY,
  name           TEXT NOT NULL,
  scopes         TEXT NOT NULL,
  max_hours      REAL NOT NULL,
  max_concurrent INTEGER NOT NULL,
  templates      TEXT NOT NULL,
  profile        TEXT NOT NULL,
  burst          TEXT NOT NULL,
  rate           INTEGER NOT NULL,
  not_before     INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  disabled       INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  revoked_at     INTEGER NOT NULL
) WITHOUT ROWID;

-- A name is free again once its grant is revoked.
CREATE UNIQUE INDEX grants_name ON grants (name) WHERE revoked_at = 0;

CREATE TABLE credentials (
  id            TEXT PRIMARY KEY,
  grant_id      TEXT NOT NULL REFERENCES grants (id),
  hash          BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  hint          TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER NOT NULL,
  overlap_until INTEGER NOT NULL,
  revoked_at    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX credentials_grant ON credentials (grant_id);

CREATE TABLE connections (
  id         TEXT PRIMARY KEY,
  grant_id   TEXT NOT NULL REFERENCES grants (id),
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX connections_grant ON connections (grant_id);

CREATE TABLE budgets (
  id          INTEGER PRIMARY KEY,
  level       TEXT NOT NULL CHECK (level IN ('grant', 'profile', 'global')),
  owner       TEXT NOT NULL,
  limit_micro INTEGER CHECK (limit_micro >= 0),
  period      TEXT NOT NULL CHECK (period IN ('none', 'day', 'week', 'month')),
  since       INTEGER NOT NULL,
  spent_micro INTEGER NOT NULL DEFAULT 0 CHECK (spent_micro >= 0),
  held_micro  INTEGER NOT NULL DEFAULT 0 CHECK (held_micro >= 0),
  over_limit  INTEGER NOT NULL DEFAULT 0, -- a settlement went past the limit
  lowered     INTEGER NOT NULL DEFAULT 0, -- the limit was set below what was spent and held
  passed      INTEGER NOT NULL DEFAULT 0, -- the highest threshold told of in this period
  UNIQUE (level, owner)
);

CREATE TABLE orders (
  id              TEXT PRIMARY KEY,
  grant_id        TEXT NOT NULL REFERENCES grants (id),
  state           TEXT NOT NULL CHECK (state IN ('held', 'creating', 'in_doubt', 'running', 'settled', 'released')),
  profile         TEXT NOT NULL,
  host            TEXT NOT NULL,
  region          TEXT NOT NULL,
  template        TEXT NOT NULL,
  version         TEXT NOT NULL,
  name            TEXT NOT NULL,
  size_mib        INTEGER NOT NULL,
  snapshot_mgb    INTEGER NOT NULL,
  burst           TEXT NOT NULL,
  local           INTEGER NOT NULL,
  unpriced        INTEGER NOT NULL,
  sandbox         TEXT NOT NULL,
  hold_micro      INTEGER NOT NULL CHECK (hold_micro >= 0),
  settled_micro   INTEGER CHECK (settled_micro >= 0),
  would_micro     INTEGER NOT NULL,
  compute_micro   INTEGER NOT NULL,
  launch_micro    INTEGER NOT NULL,
  cycles_micro    INTEGER NOT NULL,
  storage_micro   INTEGER NOT NULL,
  total_micro     INTEGER NOT NULL,
  life_s          INTEGER NOT NULL,
  idle_s          INTEGER NOT NULL,
  asked_at        INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  max_end_at      INTEGER NOT NULL,
  ended_at        INTEGER NOT NULL,
  end_reason      TEXT NOT NULL,
  prices          TEXT NOT NULL,
  resolved_at     INTEGER NOT NULL DEFAULT 0, -- settled or released
  CHECK ((state = 'settled') = (settled_micro IS NOT NULL))
);

CREATE INDEX orders_asked ON orders (asked_at, id);
CREATE INDEX orders_grant ON orders (grant_id, asked_at, id);
CREATE INDEX orders_open ON orders (asked_at, id, grant_id) WHERE state IN ('held', 'creating', 'in_doubt', 'running');
CREATE INDEX orders_resolved ON orders (resolved_at);

CREATE TABLE entries (
  seq          INTEGER PRIMARY KEY,
  event_id     TEXT NOT NULL,
  order_id     TEXT NOT NULL REFERENCES orders (id),
  budget_id    INTEGER NOT NULL REFERENCES budgets (id),
  kind         TEXT NOT NULL CHECK (kind IN ('hold', 'adjust', 'settle', 'release')),
  amount_micro INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  UNIQUE (event_id, budget_id)
);

CREATE INDEX entries_order ON entries (order_id);
CREATE INDEX entries_budget ON entries (budget_id, kind, at);

CREATE TABLE idempotency (
  grant_id   TEXT NOT NULL REFERENCES grants (id),
  tool       TEXT NOT NULL,
  implicit   INTEGER NOT NULL,
  key        TEXT NOT NULL, -- of an implicit one, the fingerprint
  hash       TEXT NOT NULL,
  order_id   TEXT NOT NULL REFERENCES orders (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, -- 0 while the order is open
  PRIMARY KEY (grant_id, tool, implicit, key)
) WITHOUT ROWID;

CREATE INDEX idempotency_order ON idempotency (order_id);
CREATE INDEX idempotency_expires ON idempotency (expires_at) WHERE expires_at > 0;

CREATE TABLE events (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  at       INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  severity TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  subject  TEXT NOT NULL,
  origin   TEXT NOT NULL,
  data     TEXT NOT NULL
);

CREATE INDEX events_at ON events (at, seq);
CREATE INDEX events_grant ON events (grant_id, at, seq);
