-- A token carries the version of its account's password; one with an earlier version has ended. The database counts, so that a
-- change counts whoever makes it: this version of the service, an older one beside it, or an operator.
ALTER TABLE councils
  ADD COLUMN password_version    bigint NOT NULL DEFAULT 0,
  ADD COLUMN password_changed_at timestamptz; -- NULL: never
ALTER TABLE users
  ADD COLUMN password_version    bigint NOT NULL DEFAULT 0,
  ADD COLUMN password_changed_at timestamptz;

-- Every instance reads the recent changes once a second.
CREATE INDEX councils_password_changed ON councils (password_changed_at) WHERE password_changed_at IS NOT NULL;
CREATE INDEX users_password_changed ON users (password_changed_at) WHERE password_changed_at IS NOT NULL;

CREATE FUNCTION count_password_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.password_version := greatest(NEW.password_version, OLD.password_version + 1);
  NEW.password_changed_at := clock_timestamp();
  RETURN NEW;
END $$;

CREATE TRIGGER councils_count_password_change BEFORE UPDATE OF password_hash, password_version ON councils
  FOR EACH ROW WHEN (OLD.password_hash <> NEW.password_hash OR OLD.password_version <> NEW.password_version)
  EXECUTE FUNCTION count_password_change();
CREATE TRIGGER users_count_password_change BEFORE UPDATE OF password_hash, password_version ON users
  FOR EACH ROW WHEN (OLD.password_hash <> NEW.password_hash OR OLD.password_version <> NEW.password_version)
  EXECUTE FUNCTION count_password_change();
