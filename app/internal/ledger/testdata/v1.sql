-- A ledger of version 1: one of everything.
PRAGMA application_id = 1098018405;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "budgets" VALUES(1,'global','',NULL,'none',0,120000,186627,0,0,0);
INSERT INTO "budgets" VALUES(2,'grant','owner',NULL,'none',0,0,0,0,0,0);
INSERT INTO "budgets" VALUES(3,'grant','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01',5000000,'week',1780876800000000000,120000,186627,0,0,0);
INSERT INTO "budgets" VALUES(4,'profile','work',NULL,'none',0,120000,186627,0,0,0);
CREATE TABLE connections (
  id         TEXT PRIMARY KEY,
  grant_id   TEXT NOT NULL REFERENCES grants (id),
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "connections" VALUES('con_1','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01',1781092800000000000);
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
INSERT INTO "credentials" VALUES('crd_1','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01',X'0707070707070707070707070707070707070707070707070707070707070707','aB3x',1781092800000000000,0,0,0);
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
INSERT INTO "entries" VALUES(1,'hold:settled','settled',3,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(2,'hold:settled','settled',4,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(3,'hold:settled','settled',1,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(4,'settle:settled','settled',3,'settle',120000,1781092800000000000);
INSERT INTO "entries" VALUES(5,'settle:settled','settled',4,'settle',120000,1781092800000000000);
INSERT INTO "entries" VALUES(6,'settle:settled','settled',1,'settle',120000,1781092800000000000);
INSERT INTO "entries" VALUES(7,'hold:released','released',3,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(8,'hold:released','released',4,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(9,'hold:released','released',1,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(10,'release:released','released',3,'release',186627,1781092800000000000);
INSERT INTO "entries" VALUES(11,'release:released','released',4,'release',186627,1781092800000000000);
INSERT INTO "entries" VALUES(12,'release:released','released',1,'release',186627,1781092800000000000);
INSERT INTO "entries" VALUES(13,'hold:running','running',3,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(14,'hold:running','running',4,'hold',186627,1781092800000000000);
INSERT INTO "entries" VALUES(15,'hold:running','running',1,'hold',186627,1781092800000000000);
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
INSERT INTO "events" VALUES(1,'evt_1',1781092800000000000,'create.refused','warn','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','','local','{"code":"budget_exceeded"}');
CREATE TABLE facts (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "facts" VALUES('clock','1781092800000000000');
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
INSERT INTO "grants" VALUES('grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','agent','["read","rent"]',1.5,4,'["default"]','','strict',0,0,1812628800000000000,0,1781092800000000000,0);
INSERT INTO "grants" VALUES('owner','owner','["read","rent","manage","billing"]',0.0,0,'[]','','strict',0,0,0,0,1781092800000000000,0);
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
INSERT INTO "idempotency" VALUES('grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','create_sandbox',0,'key','h1','running',1781092800000000000,0);
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
INSERT INTO "orders" VALUES('settled','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','settled','work','claude','','default','','',0,0,'strict',0,0,'vm-settled',186627,120000,0,120000,0,0,0,120000,3600,0,1781092800000000000,1781092800000000000,1781096400000000000,1781092800000000000,'asked','',1781092800000000000);
INSERT INTO "orders" VALUES('released','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','released','work','claude','','default','','',0,0,'strict',0,0,'',186627,NULL,0,0,0,0,0,0,3600,0,1781092800000000000,0,1781096400000000000,1781092800000000000,'failed','',1781092800000000000);
INSERT INTO "orders" VALUES('running','grt_5f0c7c1e-3a55-4b6e-9a43-6f2c0d6f7f01','running','work','claude','','default','','',0,0,'strict',0,0,'vm-running',186627,NULL,0,0,0,0,0,0,3600,0,1781092800000000000,1781092800000000000,1781096400000000000,0,'','',0);
INSERT INTO "orders" VALUES('local','owner','held','work','claude','','default','','',0,0,'strict',1,0,'',0,NULL,0,0,0,0,0,0,3600,0,1781092800000000000,0,1781096400000000000,0,'','',0);
CREATE TABLE records (
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
INSERT INTO "records" VALUES('box','b1',X'7B226E223A317D');
CREATE UNIQUE INDEX grants_name ON grants (name) WHERE revoked_at = 0;
CREATE INDEX credentials_grant ON credentials (grant_id);
CREATE INDEX connections_grant ON connections (grant_id);
CREATE INDEX orders_asked ON orders (asked_at, id);
CREATE INDEX orders_grant ON orders (grant_id, asked_at, id);
CREATE INDEX orders_open ON orders (asked_at, id, grant_id) WHERE state IN ('held', 'creating', 'in_doubt', 'running');
CREATE INDEX orders_resolved ON orders (resolved_at);
CREATE INDEX entries_order ON entries (order_id);
CREATE INDEX entries_budget ON entries (budget_id, kind, at);
CREATE INDEX idempotency_order ON idempotency (order_id);
CREATE INDEX idempotency_expires ON idempotency (expires_at) WHERE expires_at > 0;
CREATE INDEX events_at ON events (at, seq);
CREATE INDEX events_grant ON events (grant_id, at, seq);
COMMIT;
