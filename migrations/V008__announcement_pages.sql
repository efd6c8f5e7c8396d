-- Pages of a festival's announcements begin at (festival_id, id) and go back from there. Such pairs are compared as a whole,
-- which an index serves only if it has both in the same direction.
CREATE INDEX announcements_of_festival ON announcements (festival_id, id) WHERE deleted_at IS NULL;
DROP INDEX announcements_newest;
