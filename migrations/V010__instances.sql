-- Processes that serve from this database: each writes its row every few seconds, and sweeps those that no longer do.
CREATE TABLE instances (
  name       text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL,
  holding    bigint NOT NULL, -- locks
  waiting    bigint NOT NULL, -- for locks
  in_flight  bigint NOT NULL  -- requests
) WITH (fillfactor = 50);
