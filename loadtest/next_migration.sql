-- What a next version might bring, for a rolling upgrade under load: a column with a default and an index on it. Old instances
-- go on beside it; writes wait while it is applied.
ALTER TABLE announcements ADD COLUMN language text NOT NULL DEFAULT 'ko';
CREATE INDEX announcements_language ON announcements (festival_id, language);
