-- Claims that wait in a queue. `queue` names it; claims that were granted at once have none.
ALTER TABLE coupon_claims
  ADD COLUMN queue        text,
  ADD COLUMN published_at timestamptz; -- the queue has confirmed it; NULL: to be published again

CREATE INDEX coupon_claims_new ON coupon_claims (coupon_id, id) WHERE state = 'NEW';
CREATE INDEX coupon_claims_unfinished ON coupon_claims (queue, id) WHERE state IN ('NEW', 'PROCESSED');
