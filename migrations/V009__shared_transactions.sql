-- Claims that were granted together carry the fence of their hold and their place in it, by which the claim of each is found
-- again when the acknowledgement of their COMMIT was lost.
ALTER TABLE coupon_claims
  ADD COLUMN fence   bigint,
  ADD COLUMN ordinal int;

-- The lab's claims are looked up by user, too.
CREATE INDEX coupon_claims_unguarded ON coupon_claims (coupon_id, user_id) WHERE unguarded;
