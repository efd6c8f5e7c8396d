-- The optimistic strategy compares this; every write under it counts it up.
ALTER TABLE festivals ADD COLUMN version bigint NOT NULL DEFAULT 0;
